package changeset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stchat/internal/change/safefile"
)

// save writes into a file in place, at a time.
func save(t *testing.T, path, text string, at time.Time) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// A save of the same size within one tick of the disk's clock leaves the file's stamp the
// same: the content shows it.
func TestSavedWithinATick(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		age        time.Duration // of the file that is edited
		err        error
	}{
		{"another text", "one 2", 0, safefile.ErrChanged},
		{"the same text", "one 1", 0, nil},
		{"a file that is older than a tick", "one 2", time.Hour, nil}, // its stamp would tell
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.json")
			saved := time.Now().Add(-tt.age)
			save(t, path, "one 1", saved)
			p := &plan{Step: Step{Do: Replace, Path: path}, real: path, byMeaning: true, edit: Bytes(func(old []byte) ([]byte, error) {
				return append(old, '!'), nil
			})}
			all := *p
			all.edits = []*plan{p}
			c := &commitment{call: &call{Options: Options{NoSync: true}}, root: newRoot(filepath.Dir(path))}
			if err := c.render(t.Context(), &all); err != nil {
				t.Fatal(err)
			}
			defer all.draft.discard()
			save(t, path, tt.text, saved)
			var err error
			if all.was, err = safefile.StampPath(path); err != nil { // as a coarse clock has it
				t.Fatal(err)
			}
			if err := all.look(); !errors.Is(err, tt.err) {
				t.Errorf("%v, want %v", err, tt.err)
			}
		})
	}
}

// An edit that is made anew, since a file that was saved just now gave way to an older one meanwhile,
// goes by that one's stamp alone.
func TestRenderedAnewOfOlder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	p := &plan{Step: Step{Do: Replace, Path: path}, real: path, byMeaning: true, edit: Bytes(func(old []byte) ([]byte, error) {
		return append(old, '!'), nil
	})}
	all := *p
	all.edits = []*plan{p}
	c := &commitment{call: &call{Options: Options{NoSync: true}}, root: newRoot(filepath.Dir(path))}
	for _, age := range []time.Duration{0, time.Hour} {
		save(t, path, "one 1", time.Now().Add(-age))
		if err := c.render(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		if err := all.look(); err != nil {
			t.Errorf("saved %s ago: %v", age, err)
		}
	}
	all.draft.discard()
}

// Where the clock counts whole seconds, undo knows a file by its content as well.
func TestUndoSavedWithinATick(t *testing.T) {
	second := time.Unix(1_800_000_000, 0)
	disk := safefile.System()
	sync := disk.Sync
	disk.Sync = func(f *os.File) error {
		return errors.Join(sync(f), os.Chtimes(f.Name(), second, second))
	}
	for text, want := range map[string]bool{"one 1!": true, "one 2!": false} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a.json")
		save(t, path, "one 1", second)
		opt := Options{Now: time.Now(), disk: &disk}
		out := Run(t.Context(), []Unit{{Root: dir, Draft: func(_ context.Context, s *Set) error {
			return s.Edit(path, safefile.Stamp{}, Bytes(func(old []byte) ([]byte, error) { return append(old, '!'), nil }), "it")
		}}}, opt)[0]
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		save(t, path, text, second)
		u, err := Undo(dir, "", false)
		if err != nil {
			t.Fatal(err)
		}
		err = Run(t.Context(), []Unit{u.Unit}, opt)[0].Err
		left, _ := os.ReadFile(path)
		switch since := new(SinceError); {
		case want && (err != nil || string(left) != "one 1"):
			t.Errorf("%s: %v, left %s", text, err, left)
		case !want && (!errors.As(err, &since) || string(left) != text):
			t.Errorf("%s: %v, left %s", text, err, left)
		}
	}
}

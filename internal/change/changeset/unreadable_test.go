package changeset

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stchat/internal/change/safefile"
)

// A .stchat that cannot be listed is an error for all that read it, not an empty one; and so is a
// file that cannot be examined.
func TestFolderUnreadable(t *testing.T) {
	for name, spoil := range map[string]func(own string) error{
		"a file": func(own string) error { return errors.Join(os.RemoveAll(own), os.WriteFile(own, nil, 0o600)) },
		"locked": func(own string) error { return os.Chmod(own, 0o300) },
	} {
		t.Run(name, func(t *testing.T) {
			c, id := recorded(t)
			own := newRoot(c.dir).own("")
			if err := spoil(own); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(own, 0o700) })
			if _, err := os.ReadDir(own); err == nil {
				t.Skip("this user may list it all the same")
			}
			for what, read := range map[string]func() error{
				"Recover":    func() error { _, err := Recover(t.Context(), c.dir, Options{}); return err },
				"Unfinished": func() error { _, err := Unfinished(t.Context(), c.dir); return err },
				"Records":    func() error { _, _, err := Records(c.dir); return err },
				"KeptFiles":  func() error { _, _, err := KeptFiles(c.dir); return err },
				"Undo":       func() error { _, err := Undo(c.dir, id, false); return err },
				"Prune": func() error {
					_, err := Prune(t.Context(), c.dir, Options{}, func(Record) bool { return true })
					return err
				},
				"Discard": func() error { _, err := Discard(t.Context(), c.dir, id, Options{}); return err },
				"Adopt":   func() error { _, err := Adopt(t.Context(), c.dir, id, Options{}); return err },
				"Run": func() error {
					return Run(t.Context(), []Unit{replacing(c.dir, "group chats/Else.jsonl", "touched", nil)}, Options{Now: time.Now()})[0].Err
				},
			} {
				if err := read(); err == nil || errors.Is(err, ErrNothing) || errors.Is(err, ErrNoRecord) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if text, err := os.ReadFile(filepath.Join(c.dir, "group chats", "Else.jsonl")); string(text) != "not touched" {
				t.Errorf("it is changed: %s, %v", text, err)
			}
		})
	}
	const bad = "\x00" // no system has such a file
	if _, err := (store{bad}).has(); err == nil {
		t.Error("there is no .stchat in a folder that cannot be examined")
	}
	if err := free(bad); err == nil {
		t.Error("a name that cannot be examined is free")
	}
	if _, err := (&commitment{relied: []reliance{{path: bad}}}).look(); err == nil {
		t.Error("a file that cannot be examined is as it was")
	}
}

// Where .stchat cannot be written, what only creates does so, and says that it is not recorded;
// what cannot be read is not removed, as nothing tells what it was.
func TestFolderLocked(t *testing.T) {
	c, _ := recorded(t)
	own, last := newRoot(c.dir).own(""), filepath.Join(c.dir, "group chats", "Else.jsonl")
	if err := os.Chmod(last, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(last); err == nil {
		t.Skip("this user may read all files")
	}
	goes := Unit{Root: c.dir, Draft: func(_ context.Context, s *Set) error {
		was, err := safefile.StampPath(last)
		return errors.Join(err, s.Remove(last, was, "goes"))
	}}
	if out := Run(t.Context(), []Unit{goes}, Options{NoSync: true, Now: time.Now()}); !errors.Is(out[0].Err, fs.ErrPermission) || absent(last) {
		t.Errorf("%+v", out[0])
	}
	if err := os.Chmod(own, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(own, 0o700) })
	made := filepath.Join(c.dir, "worlds", "New.json")
	comes := Unit{Root: c.dir, Draft: func(_ context.Context, s *Set) error {
		_, err := s.Create(made, "new")
		return err
	}}
	if out := Run(t.Context(), []Unit{comes}, Options{NoSync: true, Now: time.Now()}); out[0].Err != nil || out[0].NoRecord == nil || absent(made) {
		t.Errorf("%+v", out[0])
	}
}

// A record of which a part cannot be read is not taken back in part, unless that is asked for.
func TestPartUnreadable(t *testing.T) {
	c := newCrashed(t, true).again(t)
	edit := func(name string) Unit { return replacing(c.dir, name, "touched", nil) }
	units := []Unit{edit("group chats/Else.jsonl"), edit("group chats/Old.jsonl")}
	id := ""
	for _, o := range Run(t.Context(), units, Options{NoSync: true, Now: time.Now(), group: 1}) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		id = o.ID
	}

	second := newRoot(c.dir).own(id + ".2" + recordSuffix)
	if err := os.WriteFile(second, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Undo(c.dir, id, false); err == nil {
		t.Error("a part is taken back")
	}
	if _, err := Undo(c.dir, id, true); err != nil {
		t.Errorf("not even by force: %v", err)
	}
}

package changeset

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A folder that was on a disk with times of two seconds is undone all the same, since the files'
// content is known; a file that was saved later is not.
func TestRoundedTimes(t *testing.T) {
	dir, away := t.TempDir(), t.TempDir()
	crashWorld(t, dir)
	old := files(t, dir)
	if out := Run(t.Context(), []Unit{crashUnit(dir)}, Options{NoSync: true, Now: time.Now()}); out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
	if err := os.CopyFS(away, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		rounded := info.ModTime().Truncate(2 * time.Second)
		return os.Chtimes(filepath.Join(away, rel), rounded, rounded)
	})
	if err != nil {
		t.Fatal(err)
	}
	undo := func() []string {
		u, err := Undo(away, "", true)
		if err != nil {
			t.Fatal(err)
		}
		if out := Run(t.Context(), []Unit{u.Unit}, Options{NoSync: true, DryRun: true, Now: time.Now()}); out[0].Err != nil {
			t.Fatal(out[0].Err)
		}
		return u.Left
	}
	recap := filepath.Join(away, "group chats", "Recap.jsonl")
	was, err := os.Stat(recap)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(recap)
	if err != nil {
		t.Fatal(err)
	}
	save := func(data []byte, at time.Time) {
		t.Helper()
		if err := os.WriteFile(recap, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(recap, at, at); err != nil {
			t.Fatal(err)
		}
	}
	save(append([]byte("x"), content[1:]...), was.ModTime())
	if diff := cmp.Diff([]string{recap}, undo()); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	save(content, was.ModTime().Add(time.Minute))
	if left := undo(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	u, err := Undo(away, "", true)
	if err != nil {
		t.Fatal(err)
	}
	if out := Run(t.Context(), []Unit{u.Unit}, Options{NoSync: true, Now: time.Now()}); out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
	if diff := cmp.Diff(old, files(t, away)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

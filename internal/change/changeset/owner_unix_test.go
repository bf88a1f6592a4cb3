//go:build unix

package changeset

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"stchat/internal/change/safefile"
)

// Whatever root makes in a user's folder belongs to the user: folders, files, what is kept and recorded
// of them, and what undo brings back, also where there are no hard links and files are copied.
func TestOwnerOfAll(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const user, group = 4321, 4322
	eachDisk(t, func(t *testing.T, links bool) {
		dir := t.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		old, gone, made := in("chats/M/old.jsonl"), in("chats/M/gone.jsonl"), in("chats/N/O/new.jsonl")
		if err := os.MkdirAll(filepath.Dir(old), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{old, gone} {
			if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
				t.Fatal(err)
			}
		}
		eachPath(t, dir, func(path string, _ *syscall.Stat_t) {
			if err := os.Chown(path, user, group); err != nil {
				t.Fatal(err)
			}
		})

		at := time.Now()
		do := func(unit Unit) {
			t.Helper()
			disk, _ := failing(forGood, 0, links)
			at = at.Add(time.Hour)
			for _, o := range Run(t.Context(), []Unit{unit}, Options{NoSync: true, Now: at, disk: disk}) {
				if o.Err != nil {
					t.Fatal(o.Err)
				}
			}
			eachPath(t, dir, func(path string, st *syscall.Stat_t) {
				if st.Uid != user || st.Gid != group {
					t.Errorf("%s: owner %d, group %d", path, st.Uid, st.Gid)
				}
			})
		}
		do(Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
			was, err := safefile.StampPath(gone)
			if err != nil {
				return err
			}
			if err := s.Remove(gone, was, "the chat"); err != nil {
				return err
			}
			edit := Bytes(func(old []byte) ([]byte, error) { return append(old, " and new"...), nil })
			if err := s.Edit(old, safefile.Stamp{}, edit, "the chat"); err != nil {
				return err
			}
			d, err := s.Create(made, "the new chat", InFolder())
			if err != nil {
				return err
			}
			_, err = d.Write([]byte("new"))
			return err
		}})
		for range 2 { // undo, and redo
			records, _, err := Records(dir)
			if err != nil || len(records) == 0 {
				t.Fatal(records, err)
			}
			u, err := Undo(dir, records[0].ID, false)
			if err != nil {
				t.Fatal(err)
			}
			do(u.Unit)
		}
		for path, want := range map[string]string{old: "old and new", made: "new"} {
			if data, err := os.ReadFile(path); string(data) != want {
				t.Errorf("%s: %q, %v", path, data, err)
			}
		}
	})
}

// eachPath calls do for a folder and all that is in it.
func eachPath(t *testing.T, dir string, do func(path string, st *syscall.Stat_t)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		do(path, info.Sys().(*syscall.Stat_t))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

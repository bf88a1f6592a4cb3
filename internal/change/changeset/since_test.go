package changeset_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/change/changeset"
)

// What somebody only touched, or saved again with the same bytes, is undone; what has other bytes
// of the same size and time is not. Of a file that is too large to be hashed, the inode decides.
func TestContentDecides(t *testing.T) {
	for _, tt := range []struct {
		size  int
		moved bool // it was there before, under another name
	}{{10, false}, {2 << 20, false}, {2 << 20, true}, {64<<20 + 1, false}} {
		size := tt.size
		dir := world(t, map[string]string{"chats/Mira/A.jsonl": "a"})
		path := filepath.Join(dir, "chats/Mira/B.jsonl")
		content := make([]byte, size)
		old := path + ".old.jsonl"
		if tt.moved {
			put(t, old, string(content))
		}
		before := tree(t, dir)
		unit := changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
			if tt.moved {
				return s.Move(old, path, stamp(t, old), "it")
			}
			d, err := s.Create(path, "it")
			if err == nil {
				_, err = d.Write(content)
			}
			return err
		}}
		if out := run(t, changeset.Options{NoSync: true}, unit); out[0].Err != nil {
			t.Fatal(out[0].Err)
		}
		was, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		save := func(first byte) {
			t.Helper()
			content[0] = first
			temp := path + ".new"
			if err := errors.Join(os.WriteFile(temp, content, 0o666), os.Chtimes(temp, was.ModTime(), was.ModTime()), os.Rename(temp, path)); err != nil {
				t.Fatal(err)
			}
		}
		tries := map[string]func(){"touched": func() {
			if err := os.Chtimes(path, time.Time{}, was.ModTime().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}}
		if size <= 64<<20 {
			tries["saved again"] = func() { save(0) }
		}
		refused := func() bool {
			u, err := changeset.Undo(dir, "", false)
			if err != nil {
				t.Fatal(err)
			}
			return errors.As(run(t, changeset.Options{DryRun: true}, u.Unit)[0].Err, new(*changeset.SinceError))
		}
		for name, try := range tries {
			if try(); refused() {
				t.Errorf("%d bytes, %s: it is not undone", size, name)
			}
		}
		if save(1); !refused() {
			t.Errorf("%d bytes: other content is taken for the same", size)
		}
		if size <= 64<<20 {
			save(0)
			undo(t, dir)
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Error(diff)
			}
		}
	}
}

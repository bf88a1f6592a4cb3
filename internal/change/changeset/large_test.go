package changeset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/change/safefile"
)

// Files of which no hash is kept are recognised by size and time, also where there are no hard
// links: a change of them that is killed after its decision is completed, and can be undone.
func TestLargeKilledAnywhere(t *testing.T) {
	eachDisk(t, func(t *testing.T, links bool) {
		was := map[string]string{"chats/M/A.jsonl": strings.Repeat("a", hashedKept+1), "chats/M/B.jsonl": strings.Repeat("b", hashedKept+1)}
		for n, done := 1, false; !done; n++ {
			dir := t.TempDir()
			unit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
				a, b := filepath.Join(dir, "chats/M/A.jsonl"), filepath.Join(dir, "chats/M/B.jsonl")
				stampOf := func(path string) safefile.Stamp {
					stamp, err := safefile.StampPath(path)
					if err != nil {
						t.Fatal(err)
					}
					return stamp
				}
				if err := s.Remove(a, stampOf(a), "one"); err != nil {
					return err
				}
				d, err := s.Replace(b, stampOf(b), "the other")
				if err != nil {
					return err
				}
				_, err = d.Write([]byte("new"))
				return err
			}}
			for name, text := range was {
				path := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			done = !killed(n, links, nil, func(opt Options) { Run(t.Context(), []Unit{unit}, opt) })
			ended, err := Recover(t.Context(), dir, Options{NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range ended {
				if e.Result != Forward {
					t.Fatalf("stop %d: %+v", n, e)
				}
			}
			if now := files(t, dir); cmp.Equal(was, now) {
				continue
			} else if diff := cmp.Diff(map[string]string{"chats/M/B.jsonl": "new"}, now); diff != "" {
				t.Fatalf("stop %d: neither old nor new:\n%s", n, diff)
			}
			u, err := Undo(dir, "", false)
			if err != nil {
				t.Fatal(err)
			}
			killed(0, links, nil, func(opt Options) {
				if out := Run(t.Context(), []Unit{u.Unit}, opt); out[0].Err != nil || !cmp.Equal(was, files(t, dir)) {
					t.Fatalf("stop %d: not undone: %v", n, out[0].Err)
				}
			})
		}
	})
}

// A file that is renamed, since it is too large to be copied where there are no hard links, gets
// its old name back.
func TestLargeMoved(t *testing.T) {
	dir, chat := aFolder(t)
	if err := os.Truncate(chat, copied+1); err != nil {
		t.Fatal(err)
	}
	was, err := safefile.StampPath(chat)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(filepath.Dir(chat), "new.jsonl")
	unit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error { return s.Move(chat, to, was, "it") }}
	for _, name := range []string{to, chat} {
		killed(0, false, nil, func(opt Options) {
			if out := Run(t.Context(), []Unit{unit}, opt); out[0].Err != nil {
				t.Error(out[0].Err)
			}
		})
		if now, err := safefile.StampPath(name); err != nil || !now.SameFile(was) {
			t.Fatalf("%s is not the file: %v", name, err)
		}
		if name == to {
			u, err := Undo(dir, "", false)
			if err != nil {
				t.Fatal(err)
			}
			unit = u.Unit
		}
	}
}

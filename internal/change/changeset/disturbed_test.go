package changeset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/change/safefile"
)

// setsOf are the files of the three sets of groupOf.
var setsOf = [][]string{
	{"worlds/Unconcerned.json"},
	{"group chats/New.jsonl", "groups/1.json", "group chats/Recap.jsonl"},
	{"group chats/Else.jsonl"},
}

// A file of a group that another program has written after a kill holds up only its own set: the
// next call, killed or not, makes the others, and takes this one back but for that file. The others
// can be undone.
func TestGroupDisturbed(t *testing.T) {
	alone(t)
	eachDisk(t, func(t *testing.T, links bool) {
		whole, backs := newCrashed(t, links), 0
		whole = whole.again(t)
		killed(0, links, nil, func(opt Options) { Run(t.Context(), groupOf(whole.dir, nil), opt) })
		whole.new = files(t, whole.dir)
		for _, set := range setsOf {
			name := set[len(set)-1]
			for way, save := range strangersWays {
				for n, done := 1, false; !done; n++ {
					c := whole.again(t)
					done = !killed(n, links, nil, func(opt Options) { Run(t.Context(), groupOf(c.dir, nil), opt) })
					if names, _ := newRoot(c.dir).list(); !slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, journalSuffix) }) {
						continue
					}
					if err := save(filepath.Join(c.dir, filepath.FromSlash(name))); err != nil {
						t.Fatal(err)
					}
					c.disturbed(t, fmt.Sprintf("%s, %s, stop %d", name, way, n), name, set, links, n)
					backs++
				}
			}
		}
		if backs == 0 {
			t.Error("nothing was taken back")
		}
	})
}

// disturbed lets the next call end a group of which somebody has written the file name, and has all
// taken back.
func (c *crashed) disturbed(t *testing.T, when, name string, set []string, links bool, n int) {
	t.Helper()
	if n%3 > 0 {
		killed(1+n%13, links, nil, func(opt Options) { _, _ = Recover(t.Context(), c.dir, opt) })
	}
	next := replacing(c.dir, "group chats/Child.jsonl", "parent=A, later", nil)
	out := Run(t.Context(), []Unit{next}, Options{NoSync: true, Now: time.Now().Add(time.Hour)})[0]
	if out.Err != nil {
		t.Fatalf("%s: the next call: %v", when, out.Err)
	}
	want := maps.Clone(c.new)
	for _, own := range set {
		if delete(want, own); c.old[own] != "" {
			want[own] = c.old[own]
		}
	}
	want[name], want["group chats/Child.jsonl"] = "a stranger's", "parent=A, later"
	if diff := cmp.Diff(want, files(t, c.dir)); diff != "" {
		t.Fatalf("%s (-want +is):\n%s", when, diff)
	}
	for range 2 {
		u, err := Undo(c.dir, "", false)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if out := Run(context.Background(), []Unit{u.Unit}, Options{NoSync: true, Now: time.Now()}); out[0].Err != nil {
			t.Fatalf("%s: undo: %v", when, out[0].Err)
		}
	}
	if left, err := Unfinished(t.Context(), c.dir); err != nil || len(left) > 0 {
		t.Fatalf("%s: %+v, %v", when, left, err)
	}
	if diff := cmp.Diff(mapsWith(c.old, name, "a stranger's"), files(t, c.dir)); diff != "" {
		t.Fatalf("%s, undone (-want +is):\n%s", when, diff)
	}
	if list := c.orphans(t); len(list) > 0 {
		t.Fatalf("%s: left in .stchat: %q", when, list)
	}
	if temps, _ := filepath.Glob(filepath.Join(c.dir, "[a-z]*", ".stchat-*")); len(temps) > 0 {
		t.Fatalf("%s: left: %q", when, temps)
	}
}

// Where one set of a group is stuck, the record of the others is on the disk before they leave the
// journal; if it cannot be brought there, the journal stays as it is, and with it what failed.
func TestRecordBeforeJournal(t *testing.T) {
	alone(t)
	for _, fails := range []bool{false, true} {
		c := newCrashed(t, true).again(t)
		made := filepath.Join(c.dir, "group chats", "New.jsonl")
		disk := safefile.System()
		var log []string
		disk.Rename = func(from, to string, sync bool) error {
			switch filepath.Base(to) {
			case "1.json": // the second step of a set, of which the first cannot be taken back
				disk.Remove = func(path string) error {
					if path == made {
						return errKilled
					}
					return os.Remove(path)
				}
				return errKilled
			case "Old.jsonl":
				return errKilled
			}
			log = append(log, filepath.Ext(to))
			return safefile.System().Rename(from, to, sync)
		}
		disk.SyncDir = func(dir string) error {
			if log = append(log, filepath.Base(dir)); fails && slices.Contains(log, recordSuffix) {
				return errKilled
			}
			return nil
		}
		units := append(groupOf(c.dir, nil), replacing(c.dir, "group chats/Old.jsonl", "new", nil))
		out := Run(t.Context(), units, Options{Now: time.Now(), disk: &disk})
		if out[0].Err != nil || !isStuck(out[1].Err) || out[2].Err != nil || !errors.Is(out[3].Err, errKilled) || isStuck(out[3].Err) != fails {
			t.Fatalf("%+v", out)
		}
		want := []string{recordSuffix, folder, journalSuffix}
		if fails {
			want = want[:2]
		}
		if diff := cmp.Diff(want, log[max(0, slices.Index(log, recordSuffix)):]); diff != "" {
			t.Errorf("fails %v (-want +got):\n%s", fails, diff)
		}
	}
}

package changeset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/change/safefile"
)

// A kill is a panic before a primitive; the disk does nothing after it.
var errKilled = errors.New("killed")

// killer is a disk that kills before its n-th primitive; with n = 0 it counts them.
type killer struct {
	n, at int
	dead  bool
	each  func() // called before each
}

func (k *killer) step() error {
	if k.dead {
		return errKilled
	}
	if k.each != nil {
		k.each()
	}
	if k.at++; k.at == k.n {
		k.dead = true
		panic(errKilled)
	}
	return nil
}

func (k *killer) disk(links bool) *safefile.Disk {
	d := safefile.System()
	real := d
	d.Write = func(f *os.File, p []byte) (int, error) {
		if err := k.step(); err != nil {
			return 0, err
		}
		return real.Write(f, p)
	}
	one := func(do func(string) error) func(string) error {
		return func(path string) error {
			if err := k.step(); err != nil {
				return err
			}
			return do(path)
		}
	}
	two := func(do func(a, b string) error) func(a, b string) error {
		return func(a, b string) error {
			if err := k.step(); err != nil {
				return err
			}
			if !links {
				return errors.ErrUnsupported
			}
			return do(a, b)
		}
	}
	three := func(do func(a, b string, sync bool) error) func(a, b string, sync bool) error {
		return func(a, b string, sync bool) error {
			if err := k.step(); err != nil {
				return err
			}
			return do(a, b, sync)
		}
	}
	d.Link, d.Claim = two(real.Link), two(real.Claim)
	d.Rename, d.RenameNew = three(real.Rename), three(real.RenameNew)
	d.Remove = one(real.Remove)
	return &d
}

// killed runs do on a disk that kills before its n-th primitive, and says whether it did.
func killed(n int, links bool, each func(), do func(opt Options)) (dead bool) {
	k := &killer{n: n, each: each}
	defer func() {
		if e := recover(); e != nil {
			if e != any(errKilled) {
				panic(e)
			}
			dead = true
		}
	}()
	do(Options{NoSync: true, Now: time.Now(), Command: []string{"rename"}, disk: k.disk(links)})
	return k.dead
}

// crashWorld is a group chat that is renamed, with all that leads to it: the shape of
// every larger change.
func crashWorld(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"group chats/A.jsonl":      "the chat",
		"group chats/A.side":       "beside it",
		"group chats/Child.jsonl":  "parent=A",
		"group chats/Old.jsonl":    "goes",
		"groups/1.json":            "list=A",
		"group chats/Else.jsonl":   "not touched",
		"group chats/Recap.jsonl":  "is rewritten",
		"worlds/Unconcerned.json":  "{}",
		"characters/Unconcerned.x": "{}",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
		old := time.Unix(1_700_000_000, 0)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

func crashUnit(dir string) Unit {
	in := func(name string) string { return filepath.Join(dir, "group chats", name) }
	return Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
		stamp := func(path string) safefile.Stamp {
			now, _ := safefile.StampPath(path)
			return now
		}
		to := func(from, to string) Bytes {
			return func(old []byte) ([]byte, error) { return bytes.ReplaceAll(old, []byte(from), []byte(to)), nil }
		}
		replace := func() error {
			d, err := s.Replace(in("Recap.jsonl"), stamp(in("Recap.jsonl")), "its recap")
			if err == nil {
				_, err = d.Write([]byte("was rewritten"))
			}
			return err
		}
		create := func() error {
			d, err := s.Create(in("New.jsonl"), "new")
			if err == nil {
				_, err = d.Write([]byte("new"))
			}
			return err
		}
		return errors.Join(
			s.Remove(in("Old.jsonl"), stamp(in("Old.jsonl")), "goes"),
			s.Move(in("A.jsonl"), in("B.jsonl"), stamp(in("A.jsonl")), "the chat"),
			s.Move(in("A.side"), in("B.side"), stamp(in("A.side")), "beside it"),
			s.Edit(in("Child.jsonl"), safefile.Stamp{}, to("=A", "=B"), "its parent"),
			s.Edit(filepath.Join(dir, "groups/1.json"), safefile.Stamp{}, to("=A", "=B"), "its name in the list"),
			replace(), create(),
		)
	}}
}

// files returns what everybody sees below a folder: neither drafts nor .stchat.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // a draft, by now
			return nil
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".stchat":
			return fs.SkipDir
		}
		if e.IsDir() || safefile.IsTemp(e.Name()) {
			return nil
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// dangles returns the names that lead nowhere.
func dangles(all map[string]string) (list []string) {
	for name, text := range all {
		if _, to, ok := strings.Cut(text, "="); ok && all["group chats/"+to+".jsonl"] == "" {
			list = append(list, name+" names "+to)
		}
	}
	return list
}

// crashed is one way in which the change can be killed.
type crashed struct {
	dir      string
	old, new map[string]string
}

// newCrashed returns what the change makes of the files.
func newCrashed(t *testing.T, links bool) crashed {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a panic plays the kill here, and Windows lets nobody touch what it leaves open; TestKilled of cmd/stchat kills processes")
	}
	c := crashed{dir: t.TempDir()}
	crashWorld(t, c.dir)
	c.old = files(t, c.dir)
	killed(0, links, nil, func(opt Options) {
		if out := Run(t.Context(), []Unit{crashUnit(c.dir)}, opt); out[0].Err != nil {
			t.Fatal(out[0].Err)
		}
	})
	c.new = files(t, c.dir)
	if cmp.Equal(c.old, c.new) || len(dangles(c.new)) > 0 {
		t.Fatalf("%v", c.new)
	}
	return c
}

// again is the same in a fresh folder, where the change has not been made.
func (c crashed) again(t *testing.T) crashed {
	t.Helper()
	c.dir = t.TempDir()
	crashWorld(t, c.dir)
	return c
}

// judge reports whether the files are the old or the new ones.
func (c *crashed) judge(t *testing.T, when string) string {
	t.Helper()
	now := files(t, c.dir)
	switch {
	case maps.Equal(now, c.old):
		return "old"
	case maps.Equal(now, c.new):
		return "new"
	}
	t.Fatalf("%s: neither old nor new: (-new +is)\n%s", when, cmp.Diff(c.new, now))
	return ""
}

func eachDisk(t *testing.T, test func(t *testing.T, links bool)) {
	t.Run("links", func(t *testing.T) { test(t, true) })
	t.Run("no links", func(t *testing.T) { test(t, false) })
}

// orphans returns what is in .stchat and belongs to no record.
func (c *crashed) orphans(t *testing.T) (list []string) {
	t.Helper()
	names, err := newRoot(c.dir).list()
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	records, _, err := Records(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		for _, j := range rec.sets {
			for _, s := range j.Steps {
				kept[s.Kept] = true
			}
		}
	}
	for _, name := range names {
		if name != ".gitignore" && name != heldName && !safefile.IsTemp(name) && !strings.HasSuffix(name, recordSuffix) && !kept[name] {
			list = append(list, name)
		}
	}
	return list
}

// Killed before any primitive, the next call ends the change: old or new; and at no
// moment does a name lead nowhere, also while that call is at it, and also if it is killed.
func TestKilledAnywhere(t *testing.T) {
	eachDisk(t, func(t *testing.T, links bool) {
		whole, ends := newCrashed(t, links), map[string]int{}
		for n, done := 1, false; !done; n++ {
			recovered := false
			for m := firstStop(n); !recovered; m += stopStep() {
				c := whole.again(t)
				look := func() {
					if list := dangles(files(t, c.dir)); len(list) > 0 {
						t.Fatalf("stop %d, %d: %q", n, m, list)
					}
				}
				done = !killed(n, links, look, func(opt Options) { Run(t.Context(), []Unit{crashUnit(c.dir)}, opt) })
				look()
				recovered = !killed(m, links, look, func(opt Options) {
					if _, err := Recover(t.Context(), c.dir, opt); err != nil {
						t.Fatal(err)
					}
				})
				look()
				ended, err := Recover(t.Context(), c.dir, Options{NoSync: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range ended {
					if e.Result != Forward && e.Result != Back {
						t.Fatalf("stop %d, %d: %+v", n, m, e)
					}
				}
				ends[c.judge(t, fmt.Sprintf("stop %d, %d", n, m))]++
				if list := c.orphans(t); len(list) > 0 {
					t.Fatalf("stop %d, %d: left in .stchat: %q", n, m, list)
				}
				if done {
					break
				}
			}
		}
		t.Log(ends)
		if ends["old"] == 0 || ends["new"] == 0 {
			t.Errorf("ends: %v", ends)
		}
	})
}

// Where a new name has to be reserved with an empty file first, as on exFAT, the next call gives
// it to the file that it is for.
func TestKilledReserving(t *testing.T) {
	whole, ends := newCrashed(t, false), map[string]int{}
	for n, done := 1, false; !done; n++ {
		c := whole.again(t)
		done = !killed(n, false, nil, func(opt Options) {
			opt.disk.RenameNew = func(_, _ string, _ bool) error { return errors.ErrUnsupported }
			Run(t.Context(), []Unit{crashUnit(c.dir)}, opt)
		})
		if _, err := Recover(t.Context(), c.dir, Options{NoSync: true}); err != nil {
			t.Fatal(err)
		}
		ends[c.judge(t, fmt.Sprintf("stop %d", n))]++
	}
	if t.Log(ends); ends["old"] == 0 || ends["new"] == 0 {
		t.Errorf("ends: %v", ends)
	}
}

// strangersWays are the ways in which another program saves a file.
var strangersWays = map[string]func(path string) error{
	"in place": func(path string) error { return os.WriteFile(path, []byte("a stranger's"), 0o666) },
	"whole": func(path string) error {
		return errors.Join(os.WriteFile(path+".x", []byte("a stranger's"), 0o666), os.Rename(path+".x", path))
	},
}

// A stranger's bytes that are written between the kill and the next call are never lost, and nothing
// waits for a person: all else is new, or old, no name of it leads nowhere, and what can be undone is
// not held up. Killed itself, that call is ended by the one after it.
func TestStrangerBetween(t *testing.T) {
	step := 4 * stopStep()
	eachDisk(t, func(t *testing.T, links bool) {
		whole, ends := newCrashed(t, links), map[string]int{}
		for _, name := range slices.Sorted(maps.Keys(whole.new)) {
			for way, save := range strangersWays {
				for n, done := 1, false; !done; n++ {
					for m, ended := 0, false; !ended; m += step + n%5 {
						c := whole.again(t)
						done = !killed(n, links, nil, func(opt Options) { Run(t.Context(), []Unit{crashUnit(c.dir)}, opt) })
						if err := save(filepath.Join(c.dir, filepath.FromSlash(name))); err != nil {
							t.Fatal(err)
						}
						ended = m > 0 && !killed(m, links, nil, func(opt Options) { _, _ = Recover(t.Context(), c.dir, opt) })
						ends[c.strangerStands(t, fmt.Sprintf("%s, %s, stop %d, %d", name, way, n, m), name)]++
						if done {
							break
						}
					}
				}
			}
		}
		if t.Log(ends); ends["old"] == 0 || ends["new"] == 0 || ends["old, and a file is left"] == 0 {
			t.Error("not all ways to end were tried")
		}
	})
}

// strangerStands ends the change of which a stranger has saved the file name, and returns how.
func (c *crashed) strangerStands(t *testing.T, when, name string) string {
	t.Helper()
	ended, err := Recover(t.Context(), c.dir, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	how := ""
	for _, e := range ended {
		if e.Result != Forward && e.Result != Back || e.Err != nil {
			t.Fatalf("%s: %+v", when, e)
		}
		if len(e.Left) > 0 {
			how = ", and a file is left"
		}
	}
	now := files(t, c.dir)
	if !slices.Contains(slices.Collect(maps.Values(now)), "a stranger's") {
		t.Fatalf("%s: the stranger's bytes are lost: %+v, %v", when, ended, now)
	}
	his := []string{name} // with the other name, where it moves
	for old, new := range map[string]string{"group chats/A.jsonl": "group chats/B.jsonl", "group chats/A.side": "group chats/B.side"} {
		if name == old || name == new {
			his = []string{old, new}
		}
	}
	is := func(all map[string]string) bool {
		same := func(a string) bool { return now[a] == all[a] || slices.Contains(his, a) }
		for _, m := range []map[string]string{now, all} {
			for a := range m {
				if !same(a) {
					return false
				}
			}
		}
		return true
	}
	switch {
	case is(c.new):
		how = "new" + how
	case is(c.old):
		how = "old" + how
	default:
		t.Fatalf("%s: the other files are neither old nor new: %+v (-new +is)\n%s", when, ended, cmp.Diff(c.new, now))
	}
	if list := dangles(now); len(list) > 0 {
		t.Fatalf("%s: %s, %q", when, how, list)
	}
	if begun, err := Unfinished(t.Context(), c.dir); err != nil || len(begun) > 0 {
		t.Fatalf("%s: %+v, %v", when, begun, err)
	}
	if list := c.orphans(t); len(list) > 0 {
		t.Fatalf("%s: left in .stchat: %q", when, list)
	}
	if _, err := Undo(c.dir, "", false); errors.Is(err, ErrNothing) == (how == "new") || err != nil && !errors.Is(err, ErrNothing) {
		t.Fatalf("%s: %s, and undo: %v", when, how, err)
	}
	if how == "old, and a file is left" && c.old[name] != "" && !strings.Contains(name, "A.") {
		kept, _, err := KeptFiles(c.dir)
		if err != nil || len(kept) != 1 || kept[0].Path != filepath.Join(c.dir, filepath.FromSlash(name)) || kept[0].Gone {
			t.Fatalf("%s: the old file is not kept: %+v, %v", when, kept, err)
		}
		if text, err := os.ReadFile(kept[0].File); string(text) != c.old[name] {
			t.Fatalf("%s: kept is %q, %v", when, text, err)
		}
	}
	return how
}

// Somebody's other file under the old name of one that has moved does not hold the rest up: all goes forward,
// and that file stays.
func TestStrangerUnderOldName(t *testing.T) {
	eachDisk(t, func(t *testing.T, links bool) {
		whole, forward := newCrashed(t, links), 0
		for n, done := 1, false; !done; n++ {
			c := whole.again(t)
			done = !killed(n, links, nil, func(opt Options) { Run(t.Context(), []Unit{crashUnit(c.dir)}, opt) })
			moved := files(t, c.dir)["group chats/B.jsonl"] == "the chat"
			if err := strangersWays["whole"](filepath.Join(c.dir, "group chats", "A.jsonl")); err != nil {
				t.Fatal(err)
			}
			how := c.strangerStands(t, fmt.Sprintf("stop %d", n), "group chats/A.jsonl")
			if moved && how != "new" {
				t.Fatalf("stop %d: %s", n, how)
			}
			if moved {
				forward++
			}
		}
		if forward == 0 {
			t.Error("no file had moved")
		}
	})
}

// A file that was only linked, to be moved or kept, and is then saved in place still has its
// old name: such a save leaves nothing stuck, and all else is as it was.
func TestSavedInPlaceBetween(t *testing.T) {
	whole, backs := newCrashed(t, true), 0
	for _, name := range []string{"group chats/A.jsonl", "group chats/A.side", "group chats/Old.jsonl"} {
		for n, done := 1, false; !done; n++ {
			c := whole.again(t)
			done = !killed(n, true, nil, func(opt Options) { Run(t.Context(), []Unit{crashUnit(c.dir)}, opt) })
			path := filepath.Join(c.dir, filepath.FromSlash(name))
			if absent(path) {
				continue
			}
			if err := os.WriteFile(path, []byte("a stranger's"), 0o666); err != nil {
				t.Fatal(err)
			}
			ended, err := Recover(t.Context(), c.dir, Options{NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range ended {
				if e.Result != Back {
					t.Fatalf("%s, stop %d: %+v", name, n, e)
				}
				backs++
			}
			want := maps.Clone(c.old)
			want[name] = "a stranger's"
			if diff := cmp.Diff(want, files(t, c.dir)); diff != "" {
				t.Fatalf("%s, stop %d (-want +is):\n%s", name, n, diff)
			}
			if list := c.orphans(t); len(list) > 0 {
				t.Fatalf("%s, stop %d: left in .stchat: %q", name, n, list)
			}
		}
	}
	if backs == 0 {
		t.Error("nothing was taken back")
	}
}

// What was done is undone byte for byte, and that is undone too; killed anywhere, the
// undoing is all or nothing as well.
func TestUndoKilledAnywhere(t *testing.T) {
	eachDisk(t, func(t *testing.T, links bool) {
		whole := newCrashed(t, links)
		for n, done := 1, false; !done; n++ {
			c := whole.again(t)
			killed(0, links, nil, func(opt Options) { Run(t.Context(), []Unit{crashUnit(c.dir)}, opt) })
			undo := func(opt Options, id string) {
				u, err := Undo(c.dir, id, false)
				if err != nil {
					t.Fatal(err)
				}
				if out := Run(t.Context(), []Unit{u.Unit}, opt); out[0].Err != nil {
					t.Fatal(out[0].Err)
				}
			}
			done = !killed(n, links, nil, func(opt Options) { undo(opt, "") })
			if _, err := Recover(t.Context(), c.dir, Options{NoSync: true}); err != nil {
				t.Fatal(err)
			}
			now := c.judge(t, fmt.Sprintf("stop %d", n))
			records, _, err := Records(c.dir)
			if err != nil {
				t.Fatal(err)
			}
			if now == "new" {
				continue
			}
			killed(0, links, nil, func(opt Options) { undo(opt, records[0].ID) })
			if now := c.judge(t, "redo"); now != "new" {
				t.Fatalf("stop %d: undo of the undo: %s", n, now)
			}
			killed(0, links, nil, func(opt Options) { undo(opt, "") })
			if now := c.judge(t, "again"); now != "old" {
				t.Fatalf("stop %d: undone again: %s", n, now)
			}
		}
	})
}

// A save that comes after the last look at a file, while the commit makes itself ready, is
// noticed: what is written down is what was judged, not what stands there now.
func TestSavedWhileCommitting(t *testing.T) {
	for _, name := range []string{"group chats/Recap.jsonl", "group chats/Old.jsonl", "group chats/A.jsonl"} {
		dir := t.TempDir()
		crashWorld(t, dir)
		path := filepath.Join(dir, name)
		d := safefile.System()
		d.Link = func(old, new string) error {
			if filepath.Base(old) == ".gitignore" {
				if err := os.WriteFile(path, []byte("a stranger's"), 0o666); err != nil {
					t.Error(err)
				}
			}
			return os.Link(old, new)
		}
		was := files(t, dir)
		out := Run(t.Context(), []Unit{crashUnit(dir)}, Options{NoSync: true, Now: time.Now(), disk: &d})[0]
		was[name] = "a stranger's"
		if !errors.Is(out.Err, safefile.ErrChanged) {
			t.Errorf("%s: %v", name, out.Err)
		}
		if diff := cmp.Diff(was, files(t, dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A draft that somebody removes while the commit makes itself ready fails the whole change.
func TestDraftRemovedWhileCommitting(t *testing.T) {
	dir := t.TempDir()
	crashWorld(t, dir)
	d := safefile.System()
	d.Link = func(old, new string) error {
		if filepath.Base(old) == ".gitignore" {
			drafts, err := filepath.Glob(filepath.Join(dir, "groups", ".stchat-*"))
			if err != nil || len(drafts) != 1 {
				t.Error(drafts, err)
			}
			for _, draft := range drafts {
				if err := os.Remove(draft); err != nil {
					t.Error(err)
				}
			}
		}
		return os.Link(old, new)
	}
	was := files(t, dir)
	out := Run(t.Context(), []Unit{crashUnit(dir)}, Options{NoSync: true, Now: time.Now(), disk: &d})[0]
	if !errors.Is(out.Err, fs.ErrNotExist) {
		t.Error(out.Err)
	}
	if diff := cmp.Diff(was, files(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A file with a new folder for it is there or not after a kill at any primitive; so is it after undo,
// which takes the folder too, unless the kill comes between the two; and undo of that brings it back.
func TestFolderKilledAnywhere(t *testing.T) {
	eachDisk(t, func(t *testing.T, links bool) {
		for _, what := range []string{"run", "undo", "redo"} {
			whole, ends := newCrashed(t, links), map[string]int{}
			for n, done := 1, false; !done; n++ {
				c := whole.again(t)
				made := filepath.Join(c.dir, "chats", "Mira", "a.jsonl")
				unit := replacing(c.dir, "groups/1.json", "list=Else", func(s *Set) {
					if d, err := s.Create(made, "new", InFolder()); err == nil {
						_, _ = d.Write([]byte("a"))
					}
				})
				c.new = mapsWith(mapsWith(c.old, "groups/1.json", "list=Else"), "chats/Mira/a.jsonl", "a")
				undo := func(opt Options) {
					records, _, err := Records(c.dir)
					if err != nil || len(records) == 0 {
						t.Fatal(records, err)
					}
					u, err := Undo(c.dir, records[0].ID, false)
					if err != nil {
						t.Fatal(err)
					}
					if out := Run(t.Context(), []Unit{u.Unit}, opt); out[0].Err != nil {
						t.Fatal(out[0].Err)
					}
				}
				plain := Options{Now: time.Now(), NoSync: true}
				if what != "run" {
					Run(t.Context(), []Unit{unit}, plain)
				}
				if what == "redo" {
					if undo(plain); !absent(filepath.Join(c.dir, "chats")) {
						t.Fatal("the folder is left")
					}
				}
				done = !killed(n, links, nil, func(opt Options) {
					if what == "run" {
						Run(t.Context(), []Unit{unit}, opt)
					} else {
						undo(opt)
					}
				})
				if _, err := Recover(t.Context(), c.dir, plain); err != nil {
					t.Fatal(err)
				}
				end := c.judge(t, fmt.Sprintf("%s, stop %d", what, n))
				ends[end]++
				if what == "undo" && end == "old" {
					if undo(plain); c.judge(t, "undone again") != "new" {
						t.Fatalf("%s, stop %d: does not come back", what, n)
					}
				}
			}
			if ends["old"] == 0 || ends["new"] == 0 {
				t.Errorf("%s: %v", what, ends)
			}
		}
	})
}

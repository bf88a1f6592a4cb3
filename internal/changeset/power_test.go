package changeset

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stchat/internal/safefile"
)

// powered is a disk that remembers what it was told, and what of it a power loss may take back:
// bytes until their file is synced, and names until a folder that they were made or removed in is.
type powered struct {
	t     *testing.T
	root  string
	vault string              // holds every file under its number, so that none ever goes
	ids   map[string]int      // the files by what the system calls them
	names map[string]int      // what a power loss would leave now at least
	log   []event             // what was done, in this order
	seen  map[string]struct{} // names that exist, in the order of the log
}

// event is a change of names, a sync of a folder, or one that makes a file whole.
type event struct {
	set, drop string // names that come and go; "" for none
	file      int
	sync      string // a folder
	whole     bool   // the file's bytes are on the disk
	torn      bool   // they are not any more
}

func newPowered(t *testing.T, root string) *powered {
	t.Helper()
	p := &powered{t: t, root: root, vault: t.TempDir(), ids: map[string]int{}, names: map[string]int{}, seen: map[string]struct{}{}}
	p.each(func(path string) {
		p.names[path] = p.id(path)
		p.seen[path] = struct{}{}
	})
	p.log = nil // these files are on the disk
	return p
}

// each calls do with every file of the root.
func (p *powered) each(do func(path string)) {
	err := filepath.WalkDir(p.root, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			do(path)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// id returns the number of the file at path. One that is new there is noted.
func (p *powered) id(path string) int {
	dev, ino, err := safefile.FileID(path)
	if err != nil {
		p.t.Fatal(err)
	}
	key := fmt.Sprint(dev, "/", ino)
	id, ok := p.ids[key]
	if !ok {
		id = len(p.ids)
		p.ids[key] = id
		if err := os.Link(path, p.file(id)); err != nil {
			p.t.Fatal(err)
		}
		p.log = append(p.log, event{file: id, torn: true})
	}
	if _, ok := p.seen[path]; !ok {
		p.seen[path] = struct{}{}
		p.log = append(p.log, event{set: path, file: id})
	}
	return id
}

func (p *powered) file(id int) string { return filepath.Join(p.vault, fmt.Sprint(id)) }

// disk returns the system's operations, remembered.
func (p *powered) disk() *safefile.Disk {
	d := safefile.System()
	real := d
	d.Write = func(f *os.File, data []byte) (int, error) {
		p.log = append(p.log, event{file: p.id(f.Name()), torn: true})
		return real.Write(f, data)
	}
	d.Sync = func(f *os.File) error {
		p.log = append(p.log, event{file: p.id(f.Name()), whole: true})
		return real.Sync(f)
	}
	d.SyncDir = func(dir string) error {
		p.log = append(p.log, event{sync: dir})
		return real.SyncDir(dir)
	}
	link := func(do func(a, b string) error) func(a, b string) error {
		return func(a, b string) error {
			id := p.id(a)
			if err := do(a, b); err != nil {
				return err
			}
			p.seen[b] = struct{}{}
			p.log = append(p.log, event{set: b, file: id})
			return nil
		}
	}
	rename := func(do func(a, b string, sync bool) error) func(a, b string, sync bool) error {
		return func(a, b string, sync bool) error {
			id := p.id(a)
			if err := do(a, b, sync); err != nil {
				return err
			}
			p.seen[b] = struct{}{}
			delete(p.seen, a)
			p.log = append(p.log, event{set: b, drop: a, file: id})
			return nil
		}
	}
	d.Link, d.Claim = link(real.Link), link(real.Claim)
	d.Rename, d.RenameNew = rename(real.Rename), rename(real.RenameNew)
	d.Remove = func(path string) error {
		id := p.id(path)
		if err := real.Remove(path); err != nil {
			return err
		}
		delete(p.seen, path)
		p.log = append(p.log, event{drop: path, file: id})
		return nil
	}
	return &d
}

// lose puts the root into a state in which a power loss after the first n events may leave it:
// of what was not synced only what survives remains.
func (p *powered) lose(n int, survives func(i int) bool) {
	names, torn := maps.Clone(p.names), map[int]bool{}
	apply := func(e event) {
		if e.set != "" {
			names[e.set] = e.file
		}
		if id, ok := names[e.drop]; ok && id == e.file {
			delete(names, e.drop)
		}
	}
	var open []event
	for _, e := range p.log[:n] {
		switch {
		case e.sync != "":
			open = slices.DeleteFunc(open, func(o event) bool {
				synced := o.set != "" && filepath.Dir(o.set) == e.sync || o.drop != "" && filepath.Dir(o.drop) == e.sync
				if synced {
					apply(o)
				}
				return synced
			})
		case e.set == "" && e.drop == "":
			torn[e.file] = e.torn
		default:
			open = append(open, e)
		}
	}
	for i, e := range open {
		if survives(i) {
			apply(e)
		}
	}
	p.each(func(path string) {
		if err := os.Remove(path); err != nil {
			p.t.Fatal(err)
		}
	})
	for path, id := range names {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			p.t.Fatal(err)
		}
		err := os.Link(p.file(id), path)
		if torn[id] {
			err = errors.Join(os.Remove(path), os.WriteFile(path, make([]byte, 7), 0o600))
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// pending returns how many changes of names were not synced after the first n events.
func (p *powered) pending(n int) int {
	open := 0
	p.lose(n, func(i int) bool {
		open = max(open, i+1)
		return false
	})
	return open
}

// A loss of power at any moment of a change, whatever of what was not synced reached the disk,
// leaves the files of each set old or new after the next call; if new, with a record that takes it
// back.
func TestPowerLoss(t *testing.T) {
	alone(t)
	options := func(d *safefile.Disk) Options { return Options{Now: time.Now(), disk: d} }
	rename := func(dir string) []Unit { return []Unit{crashUnit(dir)} }
	group := func(dir string) []Unit { return groupOf(dir, nil) }
	undo := func(dir string) []Unit {
		u, err := Undo(dir, "", false)
		if err != nil {
			t.Fatal(err)
		}
		return []Unit{u.Unit}
	}
	for _, tt := range []struct {
		name          string
		before, units func(dir string) []Unit
		sets          [][]string
	}{{"rename", nil, rename, nil}, {"group", nil, group, setsOf}, {"undo", rename, undo, nil}} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCrashed(t, true).again(t)
			if tt.before != nil {
				if out := Run(t.Context(), tt.before(c.dir), options(nil)); out[0].Err != nil {
					t.Fatal(out[0].Err)
				}
			}
			c.old = files(t, c.dir)
			p := newPowered(t, c.dir)
			for _, o := range Run(t.Context(), tt.units(c.dir), options(p.disk())) {
				if o.Err != nil {
					t.Fatal(o.Err)
				}
			}
			c.new = files(t, c.dir)
			ends := map[string]int{}
			rng := rand.New(rand.NewPCG(1, 2))
			for n := range len(p.log) + 1 {
				open := p.pending(n)
				tries := []func(i int) bool{func(int) bool { return false }, func(int) bool { return true }}
				for k := range open {
					tries = append(tries, func(i int) bool { return i == k }, func(i int) bool { return i != k })
				}
				for range 8 {
					tries = append(tries, func(int) bool { return rng.IntN(2) == 0 })
				}
				for i, survives := range tries {
					p.lose(n, survives)
					there := strings.Join(names(t, c.dir), ", ")
					ended, err := Recover(t.Context(), c.dir, options(nil))
					if err != nil {
						t.Fatal(err)
					}
					when := fmt.Sprintf("after %d of %d, try %d: %+v; there was: %s", n, len(p.log), i, ended, there)
					whole := c.new
					c.new = c.perSet(t, tt.sets)
					is := c.judge(t, when)
					c.new = whole
					ends[is]++
					if bad := dangles(files(t, c.dir)); len(bad) > 0 {
						t.Fatalf("%s: %q", when, bad)
					}
					if is == "new" && tt.before == nil {
						u, err := Undo(c.dir, "", false)
						if err != nil {
							t.Fatalf("%s: %v", when, err)
						}
						if out := Run(t.Context(), []Unit{u.Unit}, options(nil)); out[0].Err != nil || c.judge(t, when) != "old" {
							t.Fatalf("%s: not undone: %v", when, out[0].Err)
						}
					}
				}
			}
			if t.Log(ends); ends["old"] == 0 || ends["new"] == 0 {
				t.Errorf("ends: %v", ends)
			}
		})
	}
}

// perSet returns the new files, but the old ones of sets of which the first file is old.
func (c *crashed) perSet(t *testing.T, sets [][]string) map[string]string {
	t.Helper()
	want, now := maps.Clone(c.new), files(t, c.dir)
	for _, set := range sets {
		if first := set[0]; now[first] != c.old[first] {
			continue
		}
		for _, name := range set {
			if delete(want, name); c.old[name] != "" {
				want[name] = c.old[name]
			}
		}
	}
	return want
}

// names returns the files that there are, drafts and those in .stchat too.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			list = append(list, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

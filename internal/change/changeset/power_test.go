package changeset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stchat/internal/change/safefile"
)

// powered is a folder on a disk that remembers what was done to it, and what of that a power loss
// may take back: bytes and times of a file until it is synced, and names in a folder, those of
// other folders too, until that is. What was not synced reaches the disk in any order, or not; only
// a rename within one folder is one thing. Nothing else is taken for granted, so this disk is worse
// than any file system in use.
type powered struct {
	t       *testing.T
	root    string
	vault   string         // holds every file under its number, so that none ever goes
	ids     map[string]int // the files by what the system calls them
	files   []lostFile
	names   map[string]int // at first, all of them on the disk
	folders map[string]bool
	log     []event           // what was done since, in this order
	left    map[string]string // what the last that was judged came to
	now     struct {
		names   map[string]int
		folders map[string]bool
	}
}

// lostFile is a file as it is at last.
type lostFile struct {
	data []byte
	time time.Time
	size int64
	bad  bool // something else is in it at the moment
}

// event is one thing that was done.
type event struct {
	dir         string // where names came or went, or what was synced
	folder      string // a folder that was made
	set, drop   string // names of the file that came and went
	file        int
	sync        bool
	bytes, time bool // of the file: changed or, if synced, on the disk
}

func newPowered(t *testing.T, root string) *powered {
	t.Helper()
	p := &powered{t: t, root: root, ids: map[string]int{}}
	var err error
	if p.vault, err = os.MkdirTemp(filepath.Dir(root), "vault"); err != nil { //nolint:usetesting // links to it must be possible, and end removes it
		t.Fatal(err)
	}
	p.now.names, p.now.folders = map[string]int{}, map[string]bool{}
	p.look(false)
	p.log = nil // all that is on the disk
	p.names, p.folders = maps.Clone(p.now.names), maps.Clone(p.now.folders)
	return p
}

// end drops what was remembered.
func (p *powered) end() {
	if err := os.RemoveAll(p.vault); err != nil {
		p.t.Fatal(err)
	}
}

func (p *powered) file(id int) string { return filepath.Join(p.vault, fmt.Sprint(id)) }

// look notes what has become different since the last look. renamed says that a name that came and
// one that went are of one rename.
func (p *powered) look(renamed bool) {
	names := map[string]int{}
	var events []event
	err := filepath.WalkDir(p.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if path != p.root && !p.now.folders[path] {
				p.now.folders[path] = true
				events = append(events, event{dir: filepath.Dir(path), folder: path})
			}
			return nil
		}
		id := p.id(path)
		names[path] = id
		if was, ok := p.now.names[path]; !ok || was != id {
			events = append(events, event{dir: filepath.Dir(path), set: path, file: id})
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(p.now.names)) {
		if _, ok := names[path]; !ok {
			gone := event{dir: filepath.Dir(path), drop: path, file: p.now.names[path]}
			if renamed && len(events) == 1 && events[0].dir == gone.dir && events[0].file == gone.file {
				events[0].drop = path
				continue
			}
			events = append(events, gone)
		}
	}
	p.now.names = names
	p.log = append(p.log, events...)
}

// id returns the number of the file at path, and notes whether its bytes or its time were changed.
func (p *powered) id(path string) int {
	info, err := os.Lstat(path)
	if err != nil {
		p.t.Fatal(err)
	}
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
		p.files = append(p.files, lostFile{size: -1})
	}
	f := &p.files[id]
	if bytes, later := f.size != info.Size(), !f.time.Equal(info.ModTime()); bytes || later {
		p.log = append(p.log, event{file: id, bytes: bytes, time: later})
		f.size, f.time = info.Size(), info.ModTime()
		if f.data, err = os.ReadFile(path); err != nil {
			p.t.Fatal(err)
		}
	}
	return id
}

// disk returns the system's operations, remembered; links says whether it has hard links.
func (p *powered) disk(links bool) *safefile.Disk {
	d := safefile.System()
	real := d
	do := func(renames bool, op func() error) error {
		p.look(false)
		err := op()
		p.look(renames)
		return err
	}
	d.Write = func(f *os.File, data []byte) (n int, err error) {
		err = do(false, func() error { n, err = real.Write(f, data); return err })
		return n, err
	}
	d.Sync = func(f *os.File) error {
		p.look(false)
		p.log = append(p.log, event{file: p.id(f.Name()), sync: true})
		return nil
	}
	d.SyncDir = func(dir string) error {
		p.look(false)
		p.log = append(p.log, event{dir: filepath.Clean(dir), sync: true})
		return nil
	}
	link := func(a, b string) error {
		if !links {
			return errors.ErrUnsupported
		}
		return do(false, func() error { return real.Link(a, b) })
	}
	d.Link, d.Claim = link, link
	d.Rename = func(a, b string, sync bool) error {
		return do(true, func() error { return real.Rename(a, b, sync) })
	}
	d.RenameNew = func(a, b string, sync bool) error {
		return do(true, func() error { return real.RenameNew(a, b, sync) })
	}
	d.Remove = func(path string) error { return do(false, func() error { return real.Remove(path) }) }
	return &d
}

// lose puts the root into a state in which a power loss after the first n events may leave it: of
// the names that were not synced those that survive are there, and files that were not synced are
// broken in this way: 0 whole, 1 empty, 2 zeros, 3 half. It returns how many names were not synced.
func (p *powered) lose(n, way int, survives func(i int) bool) int {
	names, folders := maps.Clone(p.names), maps.Clone(p.folders)
	apply := func(e event) {
		if e.folder != "" {
			folders[e.folder] = true
		}
		if id, ok := names[e.drop]; ok && id == e.file {
			delete(names, e.drop)
		}
		if e.set != "" {
			names[e.set] = e.file
		}
	}
	var open []event
	torn, late := map[int]bool{}, map[int]bool{}
	for _, e := range p.log[:n] {
		switch {
		case e.sync && e.dir != "":
			open = slices.DeleteFunc(open, func(o event) bool {
				if o.dir == e.dir {
					apply(o)
				}
				return o.dir == e.dir
			})
		case e.sync:
			delete(torn, e.file)
			delete(late, e.file)
		case e.dir != "":
			open = append(open, e)
		default:
			torn[e.file], late[e.file] = torn[e.file] || e.bytes, late[e.file] || e.time
		}
	}
	for i, e := range open {
		if survives(i) {
			apply(e)
		}
	}
	var errs []error
	entries, err := os.ReadDir(p.root)
	errs = append(errs, err)
	for _, e := range entries {
		errs = append(errs, os.RemoveAll(filepath.Join(p.root, e.Name())))
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		if filepath.Dir(dir) == p.root || folders[filepath.Dir(dir)] {
			errs = append(errs, os.MkdirAll(dir, 0o700))
		} else {
			folders[dir] = false // what it was in was lost
		}
	}
	for id := range p.files {
		errs = append(errs, p.fill(id, way, torn[id], late[id]))
	}
	for path, id := range names {
		if filepath.Dir(path) == p.root || folders[filepath.Dir(path)] {
			errs = append(errs, os.Link(p.file(id), path))
		}
	}
	if err := errors.Join(errs...); err != nil {
		p.t.Fatal(err)
	}
	return len(open)
}

// fill writes what a power loss has left of a file.
func (p *powered) fill(id, way int, torn, late bool) error {
	f := &p.files[id]
	torn, late = torn && way > 0, late && way > 0
	if !torn && !late && !f.bad {
		return nil
	}
	data, at := slices.Clone(f.data), f.time
	if f.bad = torn || late; torn {
		switch way {
		case 1:
			data = nil
		case 2:
			clear(data)
		case 3:
			clear(data[len(data)/2:])
		}
	}
	if late {
		at = time.Unix(1_800_000_000, 0)
	}
	path := p.file(id)
	return errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, data, 0o600), os.Chtimes(path, at, at))
}

// lost is a change that is made on such a disk.
type lost struct {
	name   string
	before func(dir string, opt Options) // is made first, and reaches the disk
	units  func(t *testing.T, dir string) []Unit
	sets   [][]string // the files of each set, if there are several: the first of each tells
	fails  func(d *safefile.Disk)
}

// A loss of power at any moment of a change, whatever of what was not synced reached the disk,
// leaves the files of each set old or new after the next call, and nothing leads to a file that is
// not there. What is new is taken back by undo, to the byte. A power loss during that next call
// changes nothing about it, and one after the change loses nothing of it.
func TestPowerLoss(t *testing.T) {
	alone(t)
	in := func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	stamp := func(path string) safefile.Stamp {
		now, _ := safefile.StampPath(path)
		return now
	}
	one := func(draft func(dir string, s *Set) error) func(t *testing.T, dir string) []Unit {
		return func(_ *testing.T, dir string) []Unit {
			return []Unit{{Root: dir, Draft: func(_ context.Context, s *Set) error { return draft(dir, s) }}}
		}
	}
	create := func(name string, how ...DraftOption) func(dir string, s *Set) error {
		return func(dir string, s *Set) error {
			d, err := s.Create(in(dir, name), "new", how...)
			if err == nil {
				_, err = d.Write([]byte("new"))
			}
			return err
		}
	}
	linked := func(dir string, s *Set) error { // a checkpoint in a new folder, and the link to it
		to := Bytes(func([]byte) ([]byte, error) { return []byte("child=Deep/er/New"), nil })
		return errors.Join(create("group chats/Deep/er/New.jsonl", InFolder())(dir, s),
			s.Edit(in(dir, "group chats/Child.jsonl"), safefile.Stamp{}, to, "link"))
	}
	rename := func(_ *testing.T, dir string) []Unit { return []Unit{crashUnit(dir)} }
	group := func(_ *testing.T, dir string) []Unit { return groupOf(dir, nil) }
	undo := func(t *testing.T, dir string) []Unit {
		u, err := Undo(dir, "", false)
		if err != nil {
			t.Fatal(err)
		}
		return []Unit{u.Unit}
	}
	made := func(units func(t *testing.T, dir string) []Unit) func(dir string, opt Options) {
		return func(dir string, opt Options) {
			for _, o := range Run(t.Context(), units(t, dir), opt) {
				if o.Err != nil {
					t.Fatal(o.Err)
				}
			}
		}
	}
	remove := one(func(dir string, s *Set) error {
		return s.Remove(in(dir, "group chats/Old.jsonl"), stamp(in(dir, "group chats/Old.jsonl")), "goes")
	})
	failsAt := func(name string) func(d *safefile.Disk) {
		return func(d *safefile.Disk) {
			rename := d.Rename
			d.Rename = func(a, b string, sync bool) error {
				if filepath.Base(b) == name {
					return errors.New("fails")
				}
				return rename(a, b, sync)
			}
		}
	}
	for _, tt := range []lost{
		{name: "create", units: one(create("group chats/New.jsonl"))},
		{name: "create in a new folder", units: one(linked)},
		{name: "edit", units: func(_ *testing.T, dir string) []Unit {
			return []Unit{replacing(dir, "group chats/Recap.jsonl", "was rewritten", nil)}
		}},
		{name: "edit unrecorded", units: func(_ *testing.T, dir string) []Unit {
			u := replacing(dir, "group chats/Recap.jsonl", "was rewritten", nil)
			u.Unrecorded = true
			return []Unit{u}
		}},
		{name: "move", units: one(func(dir string, s *Set) error {
			from := in(dir, "group chats/A.side")
			return s.Move(from, in(dir, "worlds/B.side"), stamp(from), "moves")
		})},
		{name: "remove", units: remove},
		{name: "rename", units: rename},
		{name: "group", units: group, sets: setsOf},
		{name: "rename fails", units: rename, fails: failsAt("Recap.jsonl")},
		{name: "group, one fails", units: group, sets: setsOf, fails: failsAt("Else.jsonl")},
		{name: "undo of rename", before: made(rename), units: undo},
		{name: "undo of group", before: made(group), units: undo},
		{name: "undo of remove", before: made(remove), units: undo},
		{name: "undo of undo", before: func(dir string, opt Options) {
			made(rename)(dir, opt)
			made(undo)(dir, opt)
		}, units: func(t *testing.T, dir string) []Unit {
			records, _, err := Records(dir)
			if err != nil {
				t.Fatal(err)
			}
			u, err := Undo(dir, records[0].ID, false)
			if err != nil {
				t.Fatal(err)
			}
			return []Unit{u.Unit}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) { eachDisk(t, tt.test) })
	}
}

func (tt lost) test(t *testing.T, links bool) {
	c := newCrashed(t, links).again(t)
	c.dir = filepath.Join(c.dir, "user")
	crashWorld(t, c.dir)
	options := func(d *safefile.Disk, sync bool) Options {
		if d == nil {
			system := safefile.System()
			d = &system
			if !links {
				d.Link = func(_, _ string) error { return errors.ErrUnsupported }
				d.Claim = d.Link
			}
		}
		return Options{NoSync: !sync, Now: time.Now(), disk: d}
	}
	if tt.before != nil {
		tt.before(c.dir, options(nil, false))
	}
	c.old = files(t, c.dir)
	undisturbed := newPowered(t, c.dir)
	for _, o := range Run(t.Context(), tt.units(t, c.dir), options(nil, false)) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
	c.new = files(t, c.dir)
	undisturbed.lose(0, 0, nil) // so it can be made again
	undisturbed.end()
	p := newPowered(t, c.dir)
	defer p.end()
	disk := p.disk(links)
	if tt.fails != nil {
		tt.fails(disk)
	}
	failed := false
	for _, o := range Run(t.Context(), tt.units(t, c.dir), options(disk, true)) {
		failed = failed || o.Err != nil
	}
	if failed != (tt.fails != nil) {
		t.Fatal("failed:", failed)
	}
	p.look(false)
	atLast, decided := files(t, c.dir), false
	ends := map[string]int{}
	rng := rand.New(rand.NewPCG(1, 2))
	// judge ends what was begun on the disk as it is now, and says what came of it
	judge := func(when string) string {
		there := strings.Join(names(t, c.dir), ", ")
		ended, err := Recover(t.Context(), c.dir, options(nil, false))
		if err != nil {
			t.Fatal(when, err)
		}
		when = fmt.Sprintf("%s: %+v; there was: %s", when, ended, there)
		for _, e := range ended {
			if e.Result != Forward && e.Result != Back {
				t.Fatal(when)
			}
		}
		whole := c
		whole.new = c.perSet(t, tt.sets)
		is := whole.judge(t, when)
		if bad := dangles(files(t, c.dir)); len(bad) > 0 {
			t.Fatalf("%s: %q", when, bad)
		}
		now := files(t, c.dir)
		p.left = now
		if maps.Equal(now, c.old) && !maps.Equal(now, c.new) {
			is = "old"
		}
		if is == "new" && !strings.Contains(tt.name, "unrecorded") && !maps.Equal(now, c.old) {
			records, _, err := Records(c.dir)
			if err != nil || len(records) == 0 {
				t.Fatal(when, err)
			}
			u, err := Undo(c.dir, records[0].ID, false)
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			if out := Run(t.Context(), []Unit{u.Unit}, options(nil, false)); out[0].Err != nil {
				t.Fatalf("%s: not undone: %v", when, out[0].Err)
			}
			if now := files(t, c.dir); !maps.Equal(now, c.old) {
				t.Fatalf("%s: undone: %v", when, now)
			}
			if list := c.orphans(t); len(list) > 0 {
				t.Fatalf("%s: left in .stchat: %q", when, list)
			}
		}
		return is
	}
	for n := range len(p.log) + 1 {
		open := p.lose(n, 0, func(int) bool { return false })
		random := func(int) bool { return rng.IntN(2) == 0 }
		tries := []func(i int) bool{func(int) bool { return false }, func(int) bool { return true }}
		for k := range open {
			tries = append(tries, func(i int) bool { return i == k }, func(i int) bool { return i != k })
		}
		some := tries[2:]
		rng.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		decided = decided || n > 0 && strings.HasSuffix(p.log[n-1].set, journalSuffix)
		most, twice := 3, 2
		if !decided {
			most, twice = 2, 1
		}
		if n%stopStep() > 0 && n < len(p.log) {
			continue
		}
		tries = append(tries[:min(most, len(tries))], random, random)
		for i, survives := range tries {
			when := fmt.Sprintf("after %d of %d, try %d", n, len(p.log), i)
			p.lose(n, rng.IntN(4), survives)
			if rng.IntN(6) > 0 {
				ends[judge(when)]++
				if n == len(p.log) && !maps.Equal(p.left, atLast) {
					t.Fatalf("%s: it had ended with\n%v\nand not\n%v", when, atLast, p.left)
				}
				continue
			}
			// the next call loses power, too
			q := newPowered(t, c.dir)
			if _, err := Recover(t.Context(), c.dir, options(q.disk(links), true)); err != nil {
				t.Fatal(when, err)
			}
			q.look(false)
			for range twice {
				m := rng.IntN(len(q.log) + 1)
				q.lose(m, rng.IntN(4), random)
				ends["twice "+judge(fmt.Sprintf("%s, then %d of %d", when, m, len(q.log)))]++
			}
			for id := range q.files { // they may be files of p
				if err := q.fill(id, 0, false, false); err != nil {
					t.Fatal(err)
				}
			}
			q.end()
		}
	}
	if t.Log(ends); ends["old"] == 0 || ends["new"] == 0 {
		t.Errorf("ends: %v", ends)
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

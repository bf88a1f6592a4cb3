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
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"stchat/internal/change/safefile"
)

// failing is a disk of which the n-th primitive fails, and so many in all from there.
func failing(n, times int, links bool) (*safefile.Disk, *int) {
	at := 0
	step := func() error {
		if at++; at >= n && at < n+times {
			return syscall.EIO
		}
		return nil
	}
	real := safefile.System()
	d := real
	d.Write = func(f *os.File, p []byte) (int, error) {
		if err := step(); err != nil {
			return 0, err
		}
		return real.Write(f, p)
	}
	d.Sync = func(f *os.File) error { return errors.Join(step(), real.Sync(f)) }
	one := func(do func(string) error) func(string) error {
		return func(path string) error {
			if err := step(); err != nil {
				return err
			}
			return do(path)
		}
	}
	d.SyncDir, d.Remove = one(real.SyncDir), one(real.Remove)
	two := func(do func(a, b string) error) func(a, b string) error {
		return func(a, b string) error {
			if err := step(); err != nil {
				return err
			}
			if !links {
				return errors.ErrUnsupported
			}
			return do(a, b)
		}
	}
	d.Link, d.Claim = two(real.Link), two(real.Claim)
	three := func(do func(a, b string, sync bool) error) func(a, b string, sync bool) error {
		return func(a, b string, sync bool) error {
			if err := step(); err != nil {
				return err
			}
			return do(a, b, sync)
		}
	}
	d.Rename, d.RenameNew = three(real.Rename), three(real.RenameNew)
	return &d, &at
}

const forGood = 1 << 30

// Whatever fails, once or from then on: a change that reports no error was made, and one that
// reports an error was not, unless it says that it is stuck. The next call ends that too, and then
// the change can be undone, where the same holds.
func TestFailsAnywhere(t *testing.T) {
	eachDisk(t, func(t *testing.T, links bool) {
		whole := newCrashed(t, links)
		for _, times := range []int{1, 2, forGood} {
			for _, what := range []string{"run", "undo"} {
				ends := map[string]int{}
				for n, done := 1, false; !done; n++ {
					c := whole.again(t)
					good, bad := "new", "old"
					unit := crashUnit(c.dir)
					if what == "undo" {
						if out := Run(t.Context(), []Unit{unit}, Options{Now: time.Now(), NoSync: true}); out[0].Err != nil {
							t.Fatal(out[0].Err)
						}
						u, err := Undo(c.dir, "", false)
						if err != nil {
							t.Fatal(err)
						}
						good, bad, unit = bad, good, u.Unit
					}
					disk, made := failing(n, times, links)
					err := Run(t.Context(), []Unit{unit}, Options{Now: time.Now(), disk: disk})[0].Err
					done = *made < n
					when := fmt.Sprintf("%s, %d fails, %d times: %v", what, n, times, err)
					switch {
					case err == nil:
						ends["made"]++
						if c.judge(t, when) != good {
							t.Fatalf("%s: not made", when)
						}
					case isStuck(err):
						ends["stuck"]++
					default:
						ends["failed"]++
						if c.judge(t, when) != bad {
							t.Fatalf("%s: made", when)
						}
					}
					if _, err := Recover(t.Context(), c.dir, Options{NoSync: true}); err != nil {
						t.Fatalf("%s: %v", when, err)
					}
					c.judge(t, when)
					if list := c.orphans(t); len(list) > 0 && times == 1 {
						t.Fatalf("%s: left in .stchat: %q", when, list)
					}
				}
				t.Log(what, times, ends)
				if ends["failed"] == 0 || ends["made"] == 0 {
					t.Errorf("%s, %d times: %v", what, times, ends)
				}
			}
		}
	})
}

// Chats on another disk than .stchat, behind a link, cannot be linked to keep them: they are copied,
// and come back as copies, whatever fails.
func TestFailsOnTwoDisks(t *testing.T) {
	here := t.TempDir()
	var there string
	for _, at := range []string{"/dev/shm", "/tmp", "/var/tmp"} {
		if !sameDisk(filepath.Join(here, "x"), filepath.Join(at, "x")) {
			there = at
		}
	}
	if there == "" {
		t.Skip("there is one disk only")
	}
	for _, times := range []int{1, 2, 3, 4, 5} { // from two on what brings a copy back may fail as well
		for n, done := 1, false; !done; n++ {
			c := crashed{dir: t.TempDir(), old: map[string]string{"a": "old", "b": "goes"}, new: map[string]string{"a": "new"}}
			chats, err := os.MkdirTemp(there, "stchat-test-") //nolint:usetesting // it has to be on the other disk
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { os.RemoveAll(chats) })
			if err := errors.Join(os.CopyFS(chats, fstest.MapFS{"a": {Data: []byte("old")}, "b": {Data: []byte("goes")}}), os.Symlink(chats, filepath.Join(c.dir, "chats"))); err != nil {
				t.Fatal(err)
			}
			unit, gone := replacing(c.dir, "chats/a", "new", nil), filepath.Join(c.dir, "chats", "b")
			replace := unit.Draft
			unit.Draft = func(ctx context.Context, s *Set) error {
				was, err := safefile.StampPath(gone)
				return errors.Join(err, replace(ctx, s), s.Remove(gone, was, "goes"))
			}
			disk, made := failing(n, times, true)
			err = Run(t.Context(), []Unit{unit}, Options{Now: time.Now(), disk: disk})[0].Err
			done = *made < n
			if is, when := files(t, chats), fmt.Sprintf("%d fails, %d times: %v", n, times, err); err == nil && !maps.Equal(is, c.new) ||
				err != nil && !isStuck(err) && !maps.Equal(is, c.old) || times == 1 && isStuck(err) {
				t.Errorf("%s: %v", when, is)
			}
			if _, err := Recover(t.Context(), c.dir, Options{NoSync: true}); err != nil {
				t.Fatal(err)
			}
			temps, _ := filepath.Glob(filepath.Join(chats, ".stchat-*"))
			if left := append(c.orphans(t), temps...); len(left) > 0 && times == 1 {
				t.Errorf("%d fails, %d times: left: %q", n, times, left)
			}
		}
	}
}

// Where a step fails after somebody has changed the file of another, that file is named and stays, and
// all else is taken back; what it was is kept.
func TestFailsAfterStranger(t *testing.T) {
	c := newCrashed(t, true).again(t)
	group, last := filepath.Join(c.dir, "groups", "1.json"), filepath.Join(c.dir, "group chats", "Old.jsonl")
	d := safefile.System()
	d.Remove = func(path string) error {
		if path != last {
			return os.Remove(path)
		}
		if err := os.WriteFile(group, []byte("a stranger's"), 0o666); err != nil {
			t.Error(err)
		}
		return syscall.EIO
	}
	err := Run(t.Context(), []Unit{crashUnit(c.dir)}, Options{NoSync: true, Now: time.Now(), disk: &d})[0].Err
	left, ok := errors.AsType[*LeftError](err)
	if !ok || !errors.Is(err, syscall.EIO) || !slices.Equal(left.Files, []string{group}) {
		t.Errorf("%v: %+v", err, left)
	}
	if how := c.strangerStands(t, "after a failure", "groups/1.json"); how != "old" {
		t.Error(how)
	}
	kept, _, err := KeptFiles(c.dir)
	if err != nil || len(kept) != 1 || kept[0].Path != group {
		t.Errorf("%+v, %v", kept, err)
	}
}

// A recovery that fails says so, and the next one ends what it began.
func TestRecoveryFails(t *testing.T) {
	eachDisk(t, func(t *testing.T, links bool) {
		whole := newCrashed(t, links)
		for n, done := 1, false; !done; n++ {
			for m, all := 1, false; !all && !done; m++ {
				c := whole.again(t)
				done = !killed(n, links, nil, func(opt Options) { Run(t.Context(), []Unit{crashUnit(c.dir)}, opt) })
				disk, made := failing(m, 1, links)
				ended, err := Recover(t.Context(), c.dir, Options{NoSync: true, disk: disk})
				all = *made < m
				when := fmt.Sprintf("killed at %d, %d of the recovery fails: %+v, %v", n, m, ended, err)
				if err == nil && !slices.ContainsFunc(ended, func(e Ended) bool { return e.Result == Stuck }) {
					c.judge(t, when)
				}
				for _, e := range ended {
					if (e.Result == Stuck) != (e.Err != nil) {
						t.Fatalf("%s: stuck and an error do not go together", when)
					}
				}
				if _, err = Recover(t.Context(), c.dir, Options{NoSync: true}); err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				c.judge(t, when)
				if left := c.orphans(t); len(left) > 0 {
					t.Fatalf("%s: left in .stchat: %q", when, left)
				}
			}
		}
	})
}

// killedReplacing leaves the change as it is when a kill comes before the n-th rename after the journal's.
func killedReplacing(t *testing.T, n int) crashed {
	t.Helper()
	c := newCrashed(t, true).again(t)
	killed(0, true, nil, func(opt Options) {
		rename, decided := opt.disk.Rename, 0
		opt.disk.Rename = func(from, to string, sync bool) error {
			if strings.HasSuffix(to, journalSuffix) || decided > 0 {
				decided++
			}
			if decided > n {
				panic(errKilled)
			}
			return rename(from, to, sync)
		}
		Run(t.Context(), []Unit{crashUnit(c.dir)}, opt)
	})
	return c
}

// A change that the next call cannot complete, since a step fails time and again, is taken back.
func TestRecoveryTakesBack(t *testing.T) {
	c := killedReplacing(t, 2)
	disk, group := safefile.System(), filepath.Join(c.dir, "groups", "1.json")
	disk.Rename = func(from, to string, sync bool) error {
		if data, _ := os.ReadFile(from); string(data) == "list=B" && to == group {
			return syscall.EIO
		}
		return safefile.System().Rename(from, to, sync)
	}
	ended, err := Recover(t.Context(), c.dir, Options{NoSync: true, disk: &disk})
	if err != nil || len(ended) != 1 || ended[0].Result != Back || ended[0].Err != nil || len(ended[0].Left) > 0 {
		t.Errorf("%+v, %v", ended, err)
	}
	if c.judge(t, "after a failure") != "old" || len(c.orphans(t)) > 0 {
		t.Error(c.orphans(t))
	}
}

// The names that a dead run gave are forced to disk, too, before its journal goes.
func TestRecoverySyncsWhatWasMade(t *testing.T) {
	c := killedReplacing(t, 4)
	var log []string
	disk := safefile.System()
	disk.SyncDir = func(dir string) error {
		log = append(log, filepath.Base(dir))
		return nil
	}
	disk.Rename = func(from, to string, sync bool) error {
		log = append(log, filepath.Ext(to))
		return safefile.System().Rename(from, to, sync)
	}
	if _, err := Recover(t.Context(), c.dir, Options{disk: &disk}); err != nil {
		t.Fatal(err)
	}
	done := slices.Index(log, recordSuffix)
	if done < 0 || !slices.Contains(log[:done], "groups") || !slices.Contains(log[:done], "group chats") {
		t.Errorf("%q", log)
	}
}

// What somebody puts in the place of a file that moves, while its new name is forced to disk, stays.
func TestStrangerWhileSyncing(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(from, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	was, err := safefile.StampPath(from)
	if err != nil {
		t.Fatal(err)
	}
	d := safefile.System()
	sync := d.SyncDir
	d.SyncDir = func(path string) error {
		if !absent(to) && !absent(from) {
			if err := errors.Join(os.WriteFile(from+".new", []byte("a stranger's"), 0o600), os.Rename(from+".new", from)); err != nil {
				t.Error(err)
			}
		}
		return sync(path)
	}
	Run(t.Context(), []Unit{{Root: dir, Draft: func(_ context.Context, s *Set) error { return s.Move(from, to, was, "moves") }}}, Options{Now: time.Now(), disk: &d})
	is := files(t, dir)
	if is["a"] != "a stranger's" || is["b"] != "old" {
		t.Errorf("%q", is)
	}
}

// A file that was not kept before the decision is kept late: where that cannot be forced to disk, or it
// is another file by then, it is an error, or a power loss or an undo would have the wrong one.
func TestKeepLate(t *testing.T) {
	fails := errors.New("input/output error")
	for _, tt := range []struct {
		name  string
		sync  error
		saved bool // meanwhile, by another program
		fails bool
	}{
		{name: "as it was"},
		{name: "not forced to disk", sync: fails, fails: true},
		{name: "another file by then", saved: true, fails: true},
	} {
		dir, path := aFolder(t)
		r := newRoot(dir)
		if err := os.Mkdir(r.own(""), 0o700); err != nil {
			t.Fatal(err)
		}
		was, err := safefile.IdentOf(path, hashedKept)
		if err != nil {
			t.Fatal(err)
		}
		if tt.saved {
			save(t, path, "another program's", time.Now())
		}
		disk := safefile.System()
		disk.SyncDir = func(string) error { return tt.sync }
		p := newPlayer(r, &journal{Links: true}, Options{disk: &disk})
		c := &change{step: &step{}, path: path, kept: r.own("20260101T000000-00000000-0"), before: &was}
		err = p.keep(c)
		if (err != nil) != tt.fails || tt.sync != nil && !errors.Is(err, tt.sync) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.sync == nil && absent(c.kept) != tt.fails {
			t.Errorf("%s: kept: %v", tt.name, !absent(c.kept))
		}
	}
}

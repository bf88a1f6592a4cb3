package keep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stchat/internal/history"
	"stchat/internal/history/sqlfile"
	"stchat/internal/ops"
	"stchat/internal/text/progress"
)

// user is a user's folder with chats, and the time there.
type user struct {
	t    *testing.T
	root string
	now  time.Time

	ending string // of the chats that write makes
	rescan bool   // the times of files here are whole seconds, and now is not the files' time
}

func newUser(t *testing.T) *user {
	u := &user{t: t, root: t.TempDir(), now: time.Now().Add(time.Hour)}
	if err := os.MkdirAll(filepath.Join(u.root, "chats", "Mira"), 0o777); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(u.root)
	if err != nil {
		t.Fatal(err)
	}
	u.rescan = info.ModTime().Nanosecond() == 0
	return u
}

func (u *user) path(name string) string {
	return filepath.Join(u.root, "chats", "Mira", name+".jsonl")
}

// write writes a chat with a slug.
func (u *user) write(name, slug string, messages ...string) {
	u.t.Helper()
	lines := []string{`{"chat_metadata":{"integrity":"` + slug + `"}}`}
	for _, m := range messages {
		lines = append(lines, `{"name":"Mira","mes":"`+m+`"}`)
	}
	if err := os.WriteFile(u.path(name), []byte(strings.Join(lines, "\n")+u.ending), 0o666); err != nil {
		u.t.Fatal(err)
	}
}

func (u *user) renameA(to string) {
	u.t.Helper()
	if err := os.Rename(u.path("A"), u.path(to)); err != nil {
		u.t.Fatal(err)
	}
}

// snapshot takes one, and gives the chats and numbers of the new versions.
func (u *user) snapshot() (taken []string) {
	u.t.Helper()
	sum, err := Snapshot(u.t.Context(), SnapshotOptions{
		List: ops.List{Paths: []string{u.root}, AllowEmpty: true}, Now: u.now, Rescan: u.rescan,
		Each: func(d Taken) error { taken = append(taken, fmt.Sprint(d.Chat, " ", d.Rev)); return nil },
	})
	if err != nil {
		u.t.Fatal(err)
	}
	for _, err := range sum.Errs {
		u.t.Error(err)
	}
	u.now = u.now.Add(time.Minute)
	return taken
}

// versions returns how many messages the versions of a chat have, the newest first.
func (u *user) versions(name string) (list []int) {
	u.t.Helper()
	s, err := openSubject(u.t.Context(), Where{Chat: u.path(name), Now: u.now})
	if err != nil {
		u.t.Fatal(err)
	}
	defer s.close()
	for _, of := range append([][]version{s.versions}, s.others...) {
		for i := range of {
			list = append(list, of[i].Messages)
		}
	}
	return list
}

func TestIdentity(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(u *user) // between two snapshots, of a chat A with slug a and of B with slug b
		of   string
		want []int // messages of the versions, the newest first
	}{
		{"went on", func(u *user) { u.write("A", "a", "1", "2", "3", "4", "5") }, "A", []int{5, 4}},
		{"slug rotated", func(u *user) { u.write("A", "x", "1", "2", "3") }, "A", []int{3, 4}},
		{"renamed", func(u *user) { u.renameA("C") }, "C", []int{4}},
		{"renamed, known by its old name", func(u *user) { u.renameA("C") }, "A", []int{4}},
		{"renamed and gone on", func(u *user) { u.renameA("C"); u.write("C", "a", "1", "2", "3", "4", "5") }, "C", []int{5, 4}},
		{"renamed, and most of it said anew", func(u *user) { u.renameA("C"); u.write("C", "a", "1", "2", "p", "q", "r") }, "C", []int{5, 4}},
		{"renamed, all of it replaced", func(u *user) { u.renameA("C"); u.write("C", "a", "p", "q") }, "C", []int{2}},
		{"renamed, slug rotated", func(u *user) { u.renameA("C"); u.write("C", "x", "1", "2", "3", "4", "5") }, "C", []int{5}},
		{"a branch with the parent's slug", func(u *user) { u.write("C", "a", "1", "2") }, "C", []int{2}},
		{"another chat took the name: both are listed", func(u *user) { u.write("A", "y", "p", "q") }, "A", []int{2, 4}},
		{"the name reused, the old chat renamed", func(u *user) { u.renameA("C"); u.write("A", "y", "p", "q") }, "C", []int{4}},
		{"likewise, and gone on", func(u *user) { u.write("C", "a", "1", "2", "3", "4", "5"); u.write("A", "y", "p", "q") }, "C", []int{5, 4}},
		{"likewise, before the other", func(u *user) { u.write("0", "a", "1", "2", "3", "4", "5"); u.write("A", "y", "p", "q") }, "0", []int{5, 4}},
		{"likewise, with another slug", func(u *user) { u.write("C", "x", "1", "2", "3", "4", "5"); u.write("A", "y", "p", "q") }, "C", []int{5}},
		{"written over by its greeting, and continued", func(u *user) { u.write("A", "x", "1", "p", "q") }, "A", []int{3, 4}},
		{"a stranger of a gone chat's name", func(u *user) { u.renameA("0"); u.write("C", "z", "p") }, "C", []int{1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := newUser(t)
			u.write("A", "a", "1", "2", "3", "4")
			u.write("B", "b", "one", "two")
			u.snapshot()
			test.do(u)
			u.snapshot()
			if got := u.versions(test.of); !slices.Equal(got, test.want) {
				t.Errorf("versions with %v messages, want %v", got, test.want)
			}
		})
	}
}

// Of two branches that share a slug the shorter is deleted, and the longer takes its name: whichever name comes
// first, the longer is told from the other by what it says.
func TestBranchTakesName(t *testing.T) {
	for _, names := range [][2]string{{"T - Branch #1", "T - Branch #2"}, {"T - Branch #2", "T - Branch #1"}} {
		u := newUser(t)
		said := []string{"g", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9", "u10"}
		longer, shorter := names[0], names[1]
		u.write("T", `s","main_chat":"`, said...)
		u.write(longer, `s","main_chat":"T`, said...)
		u.write(shorter, `s","main_chat":"T`, said[:6]...)
		u.snapshot()
		if err := os.Rename(u.path(longer), u.path(shorter)); err != nil {
			t.Fatal(err)
		}
		u.snapshot()
		s, err := openSubject(t.Context(), Where{Chat: u.path(shorter), Now: u.now})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.versions) != 1 || s.versions[0].Messages != len(said) || len(s.others) != 1 {
			t.Errorf("%q as %q: %d versions, and %d other chats that had the name, want 1 and 1", longer, shorter, len(s.versions), len(s.others))
		}
		s.close()
	}
}

// A branch without a slug whose last message is deleted is the same chat, whatever swipes its parent
// has, too: a version tells only what was shown.
func TestBranchCutShort(t *testing.T) {
	u := newUser(t)
	write := func(name, main string, texts ...string) {
		data := `{"chat_metadata":{"main_chat":"` + main + `"}}`
		for i, text := range texts {
			data += fmt.Sprintf("\n"+`{"name":"Mira","is_user":%t,"mes":%q,"swipes":["a",%[2]q],"swipe_id":1}`, i%2 == 1, text)
		}
		if err := os.WriteFile(u.path(name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("A", "", "1", "2", "3")
	write("B", "A", "1", "2", "p")
	u.snapshot()
	write("A", "", "1", "2", "3")
	write("B", "A", "1", "2")
	if gone := goneFrom(t, Where{Chat: u.root, Now: u.now}); len(gone) > 0 {
		t.Error(gone)
	}
	u.snapshot()
	if got, want := u.versions("B"), []int{2, 3}; !slices.Equal(got, want) {
		t.Errorf("versions with %v messages, want %v", got, want)
	}
}

// A branch that took its parent's name is written over by the greeting, after another branch was
// made of it: that one says all that the first said, and names the same parent, but it names its path.
func TestBranchOfWrittenOver(t *testing.T) {
	const ofA = `","main_chat":"A`
	u := newUser(t)
	u.write("A", "", "1", "2", "3", "4")
	u.write("B", ofA, "1", "2", "p")
	u.snapshot()
	if err := os.Rename(u.path("B"), u.path("A")); err != nil {
		t.Fatal(err)
	}
	u.snapshot()
	u.write("C", ofA, "1", "2", "p", "q")
	u.write("A", "", "1")
	u.snapshot()
	for name, want := range map[string][]int{"A": {1, 3, 4}, "C": {4}} {
		if got := u.versions(name); !slices.Equal(got, want) {
			t.Errorf("%s: versions with %v messages, want %v", name, got, want)
		}
	}
}

// A branch without a slug is gone although another one, or its parent, goes on in its place.
func TestBranchGoneWithoutSlug(t *testing.T) {
	const ofA = `","main_chat":"A`
	for name, do := range map[string]func(u *user){
		"its parent took its name": func(u *user) {
			u.write("A", "", "1", "2", "3")
			u.snapshot()
			if err := os.Rename(u.path("A"), u.path("B")); err != nil {
				t.Fatal(err)
			}
		},
		"a sibling that was made of the same message later": func(u *user) {
			if err := os.Remove(u.path("B")); err != nil {
				t.Fatal(err)
			}
			u.snapshot()
			u.write("C", ofA, "1", "2", "3", "q")
		},
		"a sibling that was made of a later message": func(u *user) {
			if err := os.Rename(u.path("B"), u.path("C")); err != nil {
				t.Fatal(err)
			}
			u.write("C", ofA, "1", "2", "3", "4", "5", "q")
		},
		"likewise, with its name": func(u *user) { u.write("B", ofA, "1", "2", "3", "4", "5", "q") },
	} {
		u := newUser(t)
		u.write("A", "", "1", "2", "3", "4", "5", "6")
		u.write("B", ofA, "1", "2", "3", "p")
		u.snapshot()
		do(u)
		u.snapshot()
		g, err := OpenGone(t.Context(), Where{Chat: u.root, Now: u.now})
		if err != nil {
			t.Fatal(err)
		}
		gone := g.Names("chats/Mira")
		last, ok := g.Chat(t.Context(), u.path("B"))
		if !slices.Equal(gone, []string{"B"}) || !ok || last.Messages != 4 {
			t.Errorf("%s: gone %v, %v", name, gone, last)
		}
		g.Close()
	}
}

// goneFrom returns the paths of the chats that are gone from a user's folder, without extensions.
func goneFrom(t *testing.T, where Where) []string {
	t.Helper()
	g, err := OpenGone(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	return slices.Sorted(maps.Keys(g.ids))
}

// A chat of another that has its name is another one, also where both end in an empty line.
func TestNameTaken(t *testing.T) {
	for _, ending := range []string{"", "\n"} {
		u := newUser(t)
		u.ending = ending
		u.write("A", "a", "1", "2")
		u.snapshot()
		u.write("A", "y", "p", "q")
		u.snapshot()
		s, err := openSubject(t.Context(), Where{Chat: u.path("A"), Now: u.now})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.versions) != 1 || len(s.others) != 1 {
			t.Errorf("ended by %q: %d versions, and %d other chats that had the name, want 1 and 1", ending, len(s.versions), len(s.others))
		}
		s.close()
	}
}

// A file that changed within the clock's tick of the last snapshot is read again, though
// its size and time are the same.
func TestRacy(t *testing.T) {
	u := newUser(t)
	u.write("A", "a", "1")
	info, err := os.Stat(u.path("A"))
	if err != nil {
		t.Fatal(err)
	}
	u.now = info.ModTime()
	u.snapshot()
	if err := os.WriteFile(u.path("A"), bytes.ReplaceAll(read(t, u.path("A")), []byte("1"), []byte("2")), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(u.path("A"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	store, err := history.OpenRead(t.Context(), StoreOf(u.root, ""))
	if err != nil {
		t.Fatal(err)
	}
	seen, err := store.Seen(t.Context())
	store.Close()
	if err != nil || !seen["chats/Mira/A.jsonl"].Racy {
		t.Fatalf("%+v, %v", seen, err)
	}
	if taken := u.snapshot(); !slices.Equal(taken, []string{"Mira/A 2"}) {
		t.Errorf("took %v", taken)
	}
	u.now = u.now.Add(time.Hour)
	u.snapshot()
	if taken := u.snapshot(); len(taken) != 0 {
		t.Errorf("took %v of a file that did not change", taken)
	}
}

// A clock that was set back leaves the order of the versions as it is.
func TestClockSetBack(t *testing.T) {
	u := newUser(t)
	for i := range 4 {
		u.write("A", "a", strings.Repeat("x", i+1), strings.Repeat("y", i))
		u.snapshot()
		u.now = u.now.Add(-24 * time.Hour)
	}
	s, err := openSubject(t.Context(), Where{Chat: u.path("A"), Now: u.now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for i := range s.versions {
		if want := int64(4 - i); s.versions[i].Rev != want {
			t.Errorf("place %d has rev %d, want %d", i, s.versions[i].Rev, want)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// cancelled is a context that ends when it has been asked a number of times after many files
// were done.
type cancelled struct {
	context.Context
	cancel context.CancelFunc
	meter  *progress.Meter
	files  int64
	left   *atomic.Int64
}

func (c cancelled) Err() error {
	if c.meter.State().Done >= c.files {
		if c.left.Add(-1) < 0 {
			c.cancel()
		}
	}
	return c.Context.Err()
}

// A snapshot that is interrupted leaves no version, or all of them, and counts those that stand.
func TestInterruptedSnapshotCountsWhatStands(t *testing.T) {
	const files = 1001 // one more than are committed together
	u := newUser(t)
	for i := range files {
		u.write(fmt.Sprint(i), fmt.Sprint("slug-", i))
	}
	last := 5
	if testing.Short() {
		last = 2
	}
	for n := 1; n <= last; n++ {
		var left atomic.Int64
		left.Store(int64(n))
		if err := os.RemoveAll(filepath.Join(u.root, ".stchat")); err != nil {
			t.Fatal(err)
		}
		meter, told := new(progress.Meter), 0
		ctx, cancel := context.WithCancel(t.Context())
		sum, err := Snapshot(cancelled{ctx, cancel, meter, files - 2, &left}, SnapshotOptions{
			List: ops.List{Paths: []string{u.root}}, Now: u.now, Meter: meter,
			Each: func(Taken) error { told++; return nil },
		})
		cancel()
		state, err2 := Describe(t.Context(), HistoryOptions{Root: u.root, Now: u.now})
		if err2 != nil {
			t.Fatal(err2)
		}
		if want := int64(files); err != nil && state.Versions != 0 || err == nil && state.Versions != want {
			t.Fatalf("%d versions stand: %v", state.Versions, err)
		}
		if int64(sum.Versions) != state.Versions || told != sum.Versions {
			t.Fatalf("counts %d versions, told %d; %d stand", sum.Versions, told, state.Versions)
		}
	}
}

// Whatever is wrong with the history of one user, those of the others are done, and its files do not
// count as looked at. An error of Each and an interruption end the whole call.
func TestSnapshotOthers(t *testing.T) {
	for name, spoil := range map[string]func(store string) error{
		"junk":     func(store string) error { return os.WriteFile(store, []byte("junk"), 0o600) },
		"cut":      func(store string) error { return os.Truncate(store, 30_000) },
		"a folder": func(store string) error { return errors.Join(os.Remove(store), os.Mkdir(store, 0o700)) },
		"a table":  func(store string) error { return dropTable(t.Context(), store, "version") },
		"a link":   func(store string) error { return relink(filepath.Dir(store)) },
	} {
		t.Run(name, func(t *testing.T) {
			users := []*user{newUser(t), newUser(t), newUser(t)}
			opt := SnapshotOptions{Now: users[0].now, Rescan: true}
			for _, u := range users {
				u.write("A", "a", "one")
				u.snapshot()
				u.write("A", "a", "one", "two")
				opt.List.Paths = append(opt.List.Paths, u.root)
			}
			store := StoreOf(users[1].root, "")
			err := spoil(store)
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip("this system makes no links")
			}
			if err != nil {
				t.Fatal(err)
			}

			var taken []string
			opt.Each = func(d Taken) error { taken = append(taken, d.Path); return nil }
			sum, err := Snapshot(t.Context(), opt)
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{users[0].path("A"), users[2].path("A")}; !slices.Equal(taken, want) {
				t.Errorf("took %q", taken)
			}
			if sum.Files != 2 || sum.Versions != 2 || sum.LeftOut != 1 {
				t.Errorf("%+v", sum)
			}
			if len(sum.Errs) != 1 || sum.Errs[0].Path != store || !strings.HasPrefix(sum.Errs[0].Error(), filepath.Dir(store)) {
				t.Errorf("errors: %v", sum.Errs)
			}
		})
	}

	for name, end := range map[string]func(cancel func()) error{
		"Each":        func(func()) error { return errors.New("no more") },
		"interrupted": func(cancel func()) error { cancel(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			users := []*user{newUser(t), newUser(t)}
			ctx, cancel := context.WithCancel(t.Context())
			taken := 0
			opt := SnapshotOptions{Now: users[0].now, Each: func(Taken) error { taken++; return end(cancel) }}
			for _, u := range users {
				u.write("A", "a", "one")
				opt.List.Paths = append(opt.List.Paths, u.root)
			}
			if sum, err := Snapshot(ctx, opt); err == nil || taken != 1 || len(sum.Errs) > 0 {
				t.Errorf("%v after %d, and %v", err, taken, sum.Errs)
			}
		})
	}
}

// dropTable removes a table of a history.
func dropTable(ctx context.Context, store, table string) error {
	db, err := sqlfile.Open(ctx, sqlfile.Source(store, "rw"), "foreign_keys = OFF")
	if err != nil {
		return err
	}
	return errors.Join(db.Exec(ctx, "DROP TABLE "+table), db.Close())
}

// relink puts a link in the place of a folder. Wine says that it made one, and makes none.
func relink(dir string) error {
	if err := errors.Join(os.Rename(dir, dir+".real"), os.Symlink(dir+".real", dir)); err != nil {
		return err
	}
	if _, err := os.Lstat(dir); err != nil {
		return errors.ErrUnsupported
	}
	return nil
}

// atTransactions is a context that calls a function whenever it is asked for its channel, as the history
// does before each transaction.
type atTransactions struct {
	context.Context
	call func()
}

// Done implements [context.Context].
func (c *atTransactions) Done() <-chan struct{} {
	c.call()
	return c.Context.Done()
}

// TestSnapshotBetween: a snapshot of so many files that it commits while it reads them knows what another
// one, between two of its transactions, has written.
func TestSnapshotBetween(t *testing.T) {
	u := newUser(t)
	const firstCommit, moreThanOneCommit = 1_000, 1_100
	for i := range moreThanOneCommit {
		u.write(fmt.Sprint("Chat ", i), fmt.Sprint("slug-", i), "Wave")
	}

	var meter progress.Meter
	var other []string
	var once sync.Once
	ctx := &atTransactions{Context: t.Context()}
	ctx.call = func() {
		if meter.State().Done == firstCommit-1 {
			once.Do(func() { other = u.snapshot() })
		}
	}
	sum, err := Snapshot(ctx, SnapshotOptions{
		List: ops.List{Paths: []string{u.root}}, Now: u.now, Rescan: u.rescan, Meter: &meter,
		Each: func(Taken) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range sum.Errs {
		t.Error(err)
	}
	if len(other) != moreThanOneCommit || sum.Versions != 0 || sum.Unchanged != moreThanOneCommit {
		t.Errorf("the other took %d versions, this one %d, and %d are unchanged", len(other), sum.Versions, sum.Unchanged)
	}
}

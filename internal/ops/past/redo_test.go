package past_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/ops/past"
)

// folder is a user folder in which commands were given.
type folder struct {
	*testing.T
	dir string
	now time.Time
	ids map[string]string // of the records, by the commands

	most int64 // how many bytes are kept for undo; 0: the usual
}

func newFolder(t *testing.T) *folder {
	f := &folder{T: t, dir: t.TempDir(), now: time.Date(2026, 11, 21, 20, 33, 25, 0, time.UTC), ids: map[string]string{}}
	for _, name := range []string{"A", "B"} {
		if err := os.MkdirAll(f.in(""), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.in(name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// in returns the path of a chat.
func (f *folder) in(name string) string {
	if name == "" {
		return filepath.Join(f.dir, "chats", "Mira")
	}
	return filepath.Join(f.dir, "chats", "Mira", name+".jsonl")
}

func (f *folder) changes(command string) changeset.Options {
	f.now = f.now.Add(time.Minute)
	return changeset.Options{Now: f.now, NoSync: true, Command: []string{command}, KeepBytes: f.most}
}

func (f *folder) options(id string) past.Options {
	return past.Options{Root: f.dir, ID: id, Changes: f.changes("undo")}
}

// do gives a command.
func (f *folder) do(command string, draft func(s *changeset.Set) error) {
	f.Helper()
	unit := changeset.Unit{Root: f.dir, Draft: func(_ context.Context, s *changeset.Set) error { return draft(s) }}
	out := changeset.Run(f.Context(), []changeset.Unit{unit}, f.changes(command))[0]
	if out.Err != nil {
		f.Fatal(out.Err)
	}
	f.ids[command] = out.ID
}

func (f *folder) append(name, text string) func(s *changeset.Set) error {
	add := changeset.Bytes(func(old []byte) ([]byte, error) { return append(old, text...), nil })
	return func(s *changeset.Set) error { return s.Edit(f.in(name), safefile.Stamp{}, add, "a message") }
}

func (f *folder) create(name string) func(s *changeset.Set) error {
	return func(s *changeset.Set) error {
		d, err := s.Create(f.in(name), "the chat")
		if err == nil {
			_, err = d.Write([]byte(name))
		}
		return err
	}
}

func (f *folder) move(from, to string) func(s *changeset.Set) error {
	return func(s *changeset.Set) error {
		was, err := safefile.StampPath(f.in(from))
		if err != nil {
			return err
		}
		return s.Move(f.in(from), f.in(to), was, "the chat")
	}
}

// lives gives four commands, each of which builds on the one before.
func (f *folder) lives() {
	f.Helper()
	f.do("one", f.append("A", "1"))
	f.do("two", f.append("A", "2"))
	f.do("three", f.create("C"))
	f.do("four", f.move("A", "D"))
}

// chats returns the chats, each with its text.
func (f *folder) chats() string {
	f.Helper()
	entries, err := os.ReadDir(f.in(""))
	if err != nil {
		f.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(f.in(""), e.Name()))
		if err != nil {
			f.Fatal(err)
		}
		list = append(list, strings.TrimSuffix(e.Name(), ".jsonl")+"="+string(text))
	}
	return strings.Join(list, " ")
}

func (f *folder) want(chats string) {
	f.Helper()
	if got := f.chats(); got != chats {
		f.Errorf("the chats are %s, want %s", got, chats)
	}
}

// undo takes back the last command.
func (f *folder) undo() {
	f.Helper()
	r, err := past.Undo(f.Context(), f.options(""))
	if err == nil {
		err = r.Err
	}
	if err != nil {
		f.Fatal(err)
	}
}

// undoTo takes back a command and all later ones, and returns the commands in the order in which they
// were taken back.
func (f *folder) undoTo(command string) []string {
	f.Helper()
	results, err := past.UndoTo(f.Context(), f.options(f.ids[command]))
	if err != nil {
		f.Fatal(err)
	}
	var commands []string
	for _, r := range results {
		if r.Err != nil {
			f.Fatal(r.Err)
		}
		commands = append(commands, strings.Join(r.Doc.Command, " "))
	}
	return commands
}

// redo brings back what the last undo took back, and returns the commands in the order in which they were
// brought back.
func (f *folder) redo() []string {
	f.Helper()
	results, err := past.Redo(f.Context(), f.options(""))
	if err != nil {
		f.Fatal(err)
	}
	var commands []string
	for _, r := range results {
		if r.Err != nil {
			f.Fatal(r.Err)
		}
		commands = append(commands, strings.Join(r.Doc.Command, " "))
	}
	return commands
}

const (
	atFirst = "A=A B=B"
	atLast  = "B=B C=C D=A12"
)

// A command is taken back with all later ones, the newest first, and one redo brings all of them back.
func TestUndoTo(t *testing.T) {
	f := newFolder(t)
	f.lives()
	f.want(atLast)
	if diff := cmp.Diff([]string{"four", "three", "two"}, f.undoTo("two")); diff != "" {
		t.Errorf("taken back (-want +got):\n%s", diff)
	}
	f.want("A=A1 B=B")
	if diff := cmp.Diff([]string{"two", "three", "four"}, f.redo()); diff != "" {
		t.Errorf("brought back (-want +got):\n%s", diff)
	}
	f.want(atLast)
	f.undoTo("one")
	f.want(atFirst)
	f.redo()
	f.want(atLast)
	f.undo() // "four", which is there again
	f.want("A=A12 B=B C=C")
}

// What was taken back before is not taken back again, and stays so when the others come back: it takes a
// redo of its own.
func TestUndoToAfterUndo(t *testing.T) {
	f := newFolder(t)
	f.lives()
	f.undo()
	f.undo()
	f.want("A=A12 B=B")
	if diff := cmp.Diff([]string{"two", "one"}, f.undoTo("one")); diff != "" {
		t.Errorf("taken back (-want +got):\n%s", diff)
	}
	f.want(atFirst)
	for _, back := range [][]string{{"one", "two"}, {"three"}, {"four"}} {
		if diff := cmp.Diff(back, f.redo()); diff != "" {
			t.Errorf("brought back (-want +got):\n%s", diff)
		}
	}
	f.want(atLast)
	_, err := past.Redo(t.Context(), f.options(""))
	if !errors.Is(err, changeset.ErrNoRedo) {
		t.Errorf("one more redo: %v", err)
	}
}

// A later undo of an older command is taken back as well: the folder is as it was before.
func TestUndoToBringsBack(t *testing.T) {
	f := newFolder(t)
	f.do("old", f.append("B", "0"))
	f.lives()
	results, err := past.Undo(t.Context(), f.options(f.ids["old"]))
	if err != nil || results.Err != nil {
		t.Fatal(err, results.Err)
	}
	f.undoTo("one")
	f.want("A=A B=B0")
}

// What cannot be taken back ends it, and what is newer has been taken back by then. A dry run says the
// same, and changes nothing.
func TestUndoToStops(t *testing.T) {
	f := newFolder(t)
	f.do("one", f.append("B", "1"))
	f.do("two", f.create("C"))
	f.do("three", f.append("A", "3"))
	if err := os.WriteFile(f.in("C"), []byte("another program's"), 0o666); err != nil {
		t.Fatal(err)
	}
	was := f.chats()
	for _, dryRun := range []bool{true, false} {
		opt := f.options(f.ids["one"])
		opt.Changes.DryRun = dryRun
		results, err := past.UndoTo(t.Context(), opt)
		if err != nil || len(results) != 2 {
			t.Fatalf("dry run %v: %d results, %v", dryRun, len(results), err)
		}
		since, ok := errors.AsType[*changeset.SinceError](results[1].Err)
		if results[0].Err != nil || !ok || since.ID != f.ids["two"] {
			t.Errorf("dry run %v: %v, %v", dryRun, results[0].Err, results[1].Err)
		}
		if dryRun {
			f.want(was)
		}
	}
	f.want("A=A B=B1 C=another program's")
}

// A dry run tells the steps of the real one, in their order, though each needs what the one before it has
// done.
func TestUndoToDryRun(t *testing.T) {
	f := newFolder(t)
	f.lives()
	steps := func(results []*past.Result) (list [][]changeset.Step) {
		for _, r := range results {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			for i := range r.Steps {
				r.Steps[i].Kept = ""
			}
			list = append(list, r.Steps)
		}
		return list
	}
	opt := f.options(f.ids["one"])
	opt.Changes.DryRun = true
	would, err := past.UndoTo(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	f.want(atLast)
	opt.Changes.DryRun = false
	did, err := past.UndoTo(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(steps(did), steps(would)); diff != "" {
		t.Errorf("steps (-real +dry):\n%s", diff)
	}

	opt = f.options("")
	opt.Changes.DryRun = true
	again, err := past.Redo(t.Context(), opt)
	if err != nil || len(again) != 4 {
		t.Fatalf("%d results, %v", len(again), err)
	}
	for _, r := range again {
		if r.Err != nil {
			t.Errorf("%v: %v", r.Doc.Command, r.Err)
		}
	}
	f.want(atFirst)
}

// A dry run misses old content that the real one would need.
func TestUndoToDryRunMissesKept(t *testing.T) {
	f := newFolder(t)
	f.lives()
	kept, err := filepath.Glob(filepath.Join(f.dir, ".stchat", f.ids["one"]+"-*"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	opt := f.options(f.ids["one"])
	opt.Changes.DryRun = true
	results, err := past.UndoTo(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	last := results[len(results)-1]
	if _, ok := errors.AsType[*changeset.LostError](last.Err); !ok {
		t.Errorf("%v: %v", last.Doc.Command, last.Err)
	}
}

// What names no record that can be taken back does nothing.
func TestUndoToRefuses(t *testing.T) {
	f := newFolder(t)
	f.lives()
	f.undo()
	for id, want := range map[string]error{
		"20200101T000000-00000000": changeset.ErrNoRecord,
		"nonsense":                 changeset.ErrNoRecord,
		"":                         changeset.ErrNoRecord,
		f.ids["four"]:              changeset.ErrUndone,
	} {
		if _, err := past.UndoTo(t.Context(), f.options(id)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", id, err, want)
		}
	}
	f.want("A=A12 B=B C=C")
}

// An older record that cannot be read does not count: a command that is to be taken back before it is
// found, or is not there.
func TestUndoToBesideUnreadable(t *testing.T) {
	f := newFolder(t)
	f.lives()
	if err := os.WriteFile(filepath.Join(f.dir, ".stchat", "20200101T000000-00000000.done"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := past.UndoTo(t.Context(), f.options(f.ids["one"]+"0")); !errors.Is(err, changeset.ErrNoRecord) {
		t.Errorf("%v, want %v", err, changeset.ErrNoRecord)
	}
	f.undoTo("one")
}

// After a redo that another program's change has stopped, what was not brought back can be still.
func TestRedoStops(t *testing.T) {
	f := newFolder(t)
	f.lives()
	f.undoTo("one")
	if err := os.WriteFile(f.in("C"), []byte("another program's"), 0o666); err != nil {
		t.Fatal(err)
	}
	results, err := past.Redo(t.Context(), f.options(""))
	if err != nil || len(results) != 3 || results[2].Err == nil {
		t.Fatalf("%d results, %v", len(results), err)
	}
	f.want("A=A12 B=B C=another program's")
	if err := os.Remove(f.in("C")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"three", "four"}, f.redo()); diff != "" {
		t.Errorf("brought back (-want +got):\n%s", diff)
	}
	f.want(atLast)
}

// A record that cannot be read stops a redo only where it may be of what was undone last.
func TestRedoBesideUnreadable(t *testing.T) {
	for _, tt := range []struct {
		id           string
		undone, goes bool
	}{
		{"20200101T000000-00000000", true, true}, // before the undo
		{"29990101T000000-00000000", true, false},
		{"20200101T000000-00000000", false, false}, // it may have been an undo
	} {
		f := newFolder(t)
		f.lives()
		if tt.undone {
			f.undo()
		}
		if err := os.WriteFile(filepath.Join(f.dir, ".stchat", tt.id+".done"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if tt.goes {
			f.redo()
			f.want(atLast)
			continue
		}
		was := f.chats()
		if _, err := past.Redo(t.Context(), f.options("")); err == nil || errors.Is(err, changeset.ErrNoRedo) {
			t.Errorf("%s, undone %v: %v", tt.id, tt.undone, err)
		}
		f.want(was)
	}
}

// Calls are listed, the newest first, with what they did and what became of them.
func TestCommands(t *testing.T) {
	f := newFolder(t)
	f.do("note", func(s *changeset.Set) error {
		d, err := s.Create(filepath.Join(f.dir, "worlds.json"), "a book")
		if err == nil {
			_, err = d.Write([]byte("{}"))
		}
		return errors.Join(err, f.append("A", "1")(s), f.append("B", "1")(s))
	})
	f.do("move", f.move("A", "D"))
	f.undo()

	list, errs, err := past.Commands(f.dir)
	if err != nil || len(errs) > 0 {
		t.Fatal(err, errs)
	}
	slices.Reverse(list)
	type row struct {
		Command       string
		Chats, Files  int
		Undone, Undid bool
	}
	var got []row
	for _, c := range list {
		got = append(got, row{strings.Join(c.Args, " "), c.Chats, c.Files, c.Undone, c.Undoes != ""})
	}
	want := []row{{"note", 2, 3, false, false}, {"move", 1, 1, true, false}, {"undo", 1, 1, false, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list[1].UndoneBy != list[2].ID || list[2].Undoes != list[1].ID {
		t.Errorf("%q was taken back by %q, and %q took back %q", list[1].ID, list[1].UndoneBy, list[2].ID, list[2].Undoes)
	}
	if _, _, err := past.Commands(filepath.Join(f.dir, "no")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Where there is little room for records, an undo of several has all that it needs until it is done, and so
// has the redo of it.
func TestUndoToWithLittleRoom(t *testing.T) {
	f := newFolder(t)
	f.lives()
	f.most = 1
	f.undoTo("one")
	f.want(atFirst)

	f = newFolder(t)
	f.lives()
	f.undoTo("one")
	f.most = 1
	f.redo()
	f.want(atLast)
}

// Once the record of an undo is gone, the redo of it is still none: it is not taken for an undo that could be
// done again.
func TestRedoneStaysRedone(t *testing.T) {
	f := newFolder(t)
	f.do("one", f.append("A", "1"))
	f.undo()
	f.redo()
	f.want("A=A1 B=B")
	if _, err := past.Prune(f.Context(), past.PruneOptions{Root: f.dir, Keep: 1, Changes: f.changes("prune")}); err != nil {
		t.Fatal(err)
	}
	if _, err := past.Redo(f.Context(), f.options("")); !errors.Is(err, changeset.ErrNoRedo) {
		t.Errorf("done again: %v", err)
	}
	f.want("A=A1 B=B")
}

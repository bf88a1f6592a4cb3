package changeset

import (
	"bytes"
	"context"
	"encoding/json"
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

// recorded makes the change of crashUnit in a fresh folder, and returns that and the ID.
func recorded(t *testing.T) (c crashed, id string) {
	t.Helper()
	c = newCrashed(t, true).again(t)
	out := Run(t.Context(), []Unit{crashUnit(c.dir)}, Options{Now: time.Now(), NoSync: true, Command: []string{"rename"}})
	if out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
	return c, out[0].ID
}

// undone takes the last change back, and returns the ID of that.
func undone(t *testing.T, dir string) string {
	t.Helper()
	u, err := Undo(dir, "", false)
	if err != nil {
		t.Fatal(err)
	}
	out := Run(t.Context(), []Unit{u.Unit}, Options{Now: time.Now(), NoSync: true, Command: []string{"undo"}})
	if out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
	return out[0].ID
}

// stored returns the names in .stchat without those that are always there.
func stored(t *testing.T, dir string) []string {
	t.Helper()
	names, err := newRoot(dir).list()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") || name == "lock" })
}

// A journal or a record that this program cannot have written is refused.
func TestStrangersJournal(t *testing.T) {
	c, id := recorded(t)
	path := newRoot(c.dir).own(id + recordSuffix)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	step := func(j object, do Do) object {
		for _, s := range j["steps"].([]any) {
			if s.(object)["do"] == string(do) {
				return s.(object)
			}
		}
		t.Fatal("no step: ", do)
		return nil
	}
	outside := filepath.ToSlash(filepath.Join(t.TempDir(), "x"))
	for _, tt := range []struct {
		name   string
		change func(j object)
		fits   bool
	}{
		{"as it was", func(object) {}, true},
		{"a newer version", func(j object) { j["version"] = version + 1 }, false},
		{"an older version", func(j object) { j["version"] = version - 1 }, false},
		{"another ID", func(j object) { j["id"] = "20200101T000000-00000000" }, false},
		{"no set", func(j object) { j["set"] = 0 }, false},
		{"another set", func(j object) { j["set"] = 2 }, false},
		{"undoes a record", func(j object) { j["undoes"] = "20200101T000000-00000000" }, true},
		{"undoes no record", func(j object) { j["undoes"] = "../x" }, false},
		{"goes with a record", func(j object) { j["with"] = "20200101T000000-00000000" }, true},
		{"goes with no record", func(j object) { j["with"] = "../x" }, false},
		{"a step is null", func(j object) { j["steps"] = []any{nil} }, false},
		{"no such step", func(j object) { step(j, Create)["do"] = "chmod" }, false},
		{"no path", func(j object) { step(j, Create)["path"] = "" }, false},
		{"up", func(j object) { step(j, Create)["path"] = "../x" }, false},
		{"not clean", func(j object) { step(j, Create)["path"] = "a/../x" }, false},
		{"a NUL", func(j object) { step(j, Create)["path"] = "a\x00" }, false},
		{"in .stchat", func(j object) { step(j, Create)["path"] = ".stchat/x" }, false},
		{"in .STCHAT", func(j object) { step(j, Remove)["path"] = ".STCHAT/x" }, false},
		{"moved up", func(j object) { step(j, link)["to"] = "../x" }, false},
		{"creates outside", func(j object) { step(j, Create)["path"] = outside }, true},
		{"creates outside, not clean", func(j object) { step(j, Create)["path"] = outside + "/../y" }, false},
		{"replaces outside", func(j object) { step(j, Replace)["path"] = outside }, false},
		{"removes outside", func(j object) { step(j, Remove)["path"] = outside }, false},
		{"removes outside what it undoes", func(j object) { j["undoes"], step(j, Remove)["path"] = id, outside }, true},
		{"replaces outside what it undoes", func(j object) { j["undoes"], step(j, Replace)["path"] = id, outside }, false},
		{"a stranger's draft", func(j object) { step(j, Create)["temp"] = "A.jsonl" }, false},
		{"a kept file as a draft", func(j object) { step(j, Create)["temp"] = id + "-1" }, false},
		{"what it undoes keeps as a draft", func(j object) { j["undoes"], step(j, Create)["temp"] = id, id+"-1" }, true},
		{"what another keeps as a draft", func(j object) {
			j["undoes"], step(j, Create)["temp"] = id, "20200101T000000-00000000-1"
		}, false},
		{"a stranger's file as a draft", func(j object) { j["undoes"], step(j, Create)["temp"] = id, "x" }, false},
		{"what it undoes cannot keep as a draft", func(j object) { j["undoes"], step(j, Create)["temp"] = id, id+"-x" }, false},
		{"keeps under another's name", func(j object) { step(j, Remove)["kept"] = "20200101T000000-00000000-1" }, false},
		{"keeps under no name", func(j object) { step(j, Remove)["kept"] = id + recordSuffix }, false},
		{"folders", func(j object) { step(j, Create)["folders"] = 2 }, true},
		{"more folders than there can be", func(j object) { step(j, Create)["folders"] = 1000 }, false},
		{"makes nothing", func(j object) { delete(step(j, Create), "temp") }, false},
		{"makes it knows not what", func(j object) { delete(step(j, Create), "now") }, false},
		{"replaces by nothing", func(j object) { delete(step(j, Replace), "temp") }, false},
		{"replaces by it knows not what", func(j object) { delete(step(j, Replace), "now") }, false},
		{"replaces it knows not what", func(j object) { delete(step(j, Replace), "was") }, false},
		{"replaces without a trace", func(j object) { delete(step(j, Replace), "kept") }, false},
		{"removes it knows not what", func(j object) { delete(step(j, Remove), "was") }, false},
		{"removes without a trace", func(j object) { delete(step(j, Remove), "kept") }, false},
		{"moves nowhere", func(j object) { delete(step(j, link), "to") }, false},
		{"moves it knows not what", func(j object) { delete(step(j, unlink), "was") }, false},
	} {
		var j object
		if err := json.Unmarshal(data, &j); err != nil {
			t.Fatal(err)
		}
		tt.change(j)
		changed, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = readJournal(path)
		if _, refused := errors.AsType[*UnreadableError](err); refused == tt.fits {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for name, text := range map[string]string{"two": string(data) + "{}", "half": string(data[:len(data)/2]), "empty": ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readJournal(path); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A journal that cannot be read is set aside and told once, holds up nothing, and is dropped with
// what it keeps; a dry run tells that, and does nothing.
func TestUnreadableJournal(t *testing.T) {
	c, id := recorded(t)
	r := newRoot(c.dir)
	const bad, other = "20200101T000000-00000000", "20200101T000000-00000001"
	for name, text := range map[string]string{
		bad + journalSuffix: "{", bad + "-1": "kept", bad + ".2" + journalSuffix: "{", bad + ".2-1": "kept, too",
		other + journalSuffix: `{"version":7}`, other + "-1": "another's",
	} {
		if err := os.WriteFile(r.own(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	was := stored(t, c.dir)
	for _, tt := range []struct{ dry, told bool }{{true, true}, {false, true}, {false, false}} {
		ended, err := Recover(t.Context(), c.dir, Options{NoSync: true, DryRun: tt.dry})
		var ids []string
		for _, e := range ended {
			if _, ok := errors.AsType[*UnreadableError](e.Err); !ok || e.Result != Foreign {
				t.Errorf("%+v", e)
			}
			ids = append(ids, e.ID)
		}
		if want := []string{bad, bad, other}; err != nil || tt.told != (len(ids) == 3) || !slices.Equal(ids, want[:len(ids)]) {
			t.Errorf("%+v: %q, %v", tt, ids, err)
		}
		if same := slices.Equal(was, stored(t, c.dir)); same != tt.dry {
			t.Errorf("%+v: %q", tt, stored(t, c.dir))
		}
		if begun, err := Unfinished(t.Context(), c.dir); err != nil || len(begun) != 3 {
			t.Errorf("%+v: %+v, %v", tt, begun, err)
		}
	}
	was = stored(t, c.dir)
	if !slices.Contains(was, bad+".2"+foreignSuffix) || !slices.Contains(was, bad+foreignSuffix) {
		t.Errorf("%q", was)
	}
	for _, dry := range []bool{true, false} {
		rec, err := Discard(t.Context(), c.dir, bad, Options{DryRun: dry})
		if err != nil || rec.ID != bad || rec.Files != 2 || rec.Bytes != int64(len("kept")+len("kept, too")) {
			t.Errorf("dry run %v: %+v, %v", dry, rec, err)
		}
		left := slices.DeleteFunc(stored(t, c.dir), func(name string) bool { return !strings.HasPrefix(name, bad) })
		if (len(left) == 4) != dry || !dry && len(left) > 0 {
			t.Errorf("dry run %v: left are %q", dry, left)
		}
	}
	// what others keep stays, also what a record keeps that another file of its name does not
	if got, want := stored(t, c.dir), slices.DeleteFunc(was, func(name string) bool { return strings.HasPrefix(name, bad) }); !slices.Equal(got, want) {
		t.Errorf("left are %q, not %q", got, want)
	}
	if err := os.WriteFile(r.own(id+foreignSuffix), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if rec, err := Discard(t.Context(), c.dir, id, Options{}); err != nil || rec.Files > 0 {
		t.Errorf("%+v, %v", rec, err)
	}
	undone(t, c.dir)
	if c.judge(t, "undone") != "old" {
		t.Error("not undone")
	}
}

// A journal in a folder that was copied in the middle of a change is set aside and told once, nothing
// is done and nothing held up; a person can have the change taken back. Killed at that, it is foreign
// again.
func TestCopiedHalfWay(t *testing.T) {
	eachDisk(t, func(t *testing.T, links bool) {
		whole, copies := newCrashed(t, links), 0
		for n, done := 1, false; !done; n++ {
			first := whole.again(t)
			done = !killed(n, links, nil, func(opt Options) { Run(t.Context(), []Unit{crashUnit(first.dir)}, opt) })
			begun, err := Unfinished(t.Context(), first.dir)
			if err != nil {
				t.Fatal(err)
			}
			for m, ended := firstStop(n), len(begun) == 0; !ended; m += stopStep() {
				c, when := whole, fmt.Sprintf("stop %d, %d", n, m)
				c.dir = copiedFolder(t, first.dir)
				was := files(t, c.dir)
				for _, told := range []int{1, 0} {
					ended, err := Recover(t.Context(), c.dir, Options{NoSync: true})
					if err != nil || len(ended) != told || told > 0 && (ended[0].Result != Foreign || !errors.Is(ended[0].Err, ErrElsewhere)) {
						t.Fatalf("%s: %+v, %v", when, ended, err)
					}
				}
				if now := files(t, c.dir); !maps.Equal(was, now) {
					t.Fatalf("%s: changed (-was +is)\n%s", when, cmp.Diff(was, now))
				}
				next := replacing(c.dir, "group chats/Else.jsonl", "not touched", nil)
				if out := Run(t.Context(), []Unit{next}, Options{Now: time.Now(), NoSync: true}); out[0].Err != nil {
					t.Fatalf("%s: the next call: %v", when, out[0].Err)
				}
				ended = !killed(m, links, nil, func(opt Options) { _, _ = Adopt(t.Context(), c.dir, begun[0].ID, opt) })
				if _, err := Recover(t.Context(), c.dir, Options{NoSync: true}); err != nil {
					t.Fatal(err)
				}
				if ended, err := Adopt(t.Context(), c.dir, begun[0].ID, Options{NoSync: true}); err != nil || len(ended) > 1 || len(ended) == 1 && ended[0].Err != nil {
					t.Fatalf("%s: %+v, %v", when, ended, err)
				}
				if c.judge(t, when) == "new" {
					u, err := Undo(c.dir, begun[0].ID, true)
					if err != nil {
						t.Fatalf("%s: %v", when, err)
					}
					if out := Run(t.Context(), []Unit{u.Unit}, Options{Now: time.Now(), NoSync: true}); out[0].Err != nil || len(u.Left) > 0 {
						t.Fatalf("%s: %+v, %q", when, out[0], u.Left)
					}
				}
				if c.judge(t, when) != "old" {
					t.Fatalf("%s: not taken back", when)
				}
				if list := c.orphans(t); len(list) > 0 {
					t.Fatalf("%s: left in .stchat: %q", when, list)
				}
				copies++
			}
		}
		if copies == 0 {
			t.Error("nothing was copied")
		}
	})
}

// copiedFolder copies a folder with the times of its files.
func copiedFolder(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	err := errors.Join(os.CopyFS(to, os.DirFS(from)), filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		rel, _ := filepath.Rel(from, path)
		return errors.Join(err, os.Chtimes(filepath.Join(to, rel), info.ModTime(), info.ModTime()))
	}))
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// With a record goes the one that it took back, and nothing else.
func TestPruneRecords(t *testing.T) {
	c, first := recorded(t)
	second := undone(t, c.dir)
	out := Run(t.Context(), []Unit{crashUnit(c.dir)}, Options{Now: time.Now(), NoSync: true})
	if out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
	third := out[0].ID
	was := stored(t, c.dir)
	if dropped, err := Prune(t.Context(), c.dir, Options{DryRun: true}, func(rec Record) bool { return rec.ID == third }); err != nil || len(dropped) != 1 || dropped[0].ID != third {
		t.Errorf("%+v, %v", dropped, err)
	}
	for _, dry := range []bool{true, false} {
		dropped, err := Prune(t.Context(), c.dir, Options{DryRun: dry}, func(rec Record) bool { return rec.ID == second })
		var ids []string
		for _, rec := range dropped {
			ids = append(ids, rec.ID)
		}
		if err != nil || !slices.Equal(ids, []string{second, first}) {
			t.Errorf("dry run %v: %q, %v", dry, ids, err)
		}
		if same := slices.Equal(was, stored(t, c.dir)); same != dry {
			t.Errorf("dry run %v: %q", dry, stored(t, c.dir))
		}
	}
	for _, name := range stored(t, c.dir) {
		if !strings.HasPrefix(name, third) {
			t.Errorf("%s is left", name)
		}
	}
	undone(t, c.dir)
	if c.judge(t, "undone") != "old" {
		t.Error("not undone")
	}
}

// The files that records keep are found with where they were and whether they were removed on purpose.
func TestKeptFiles(t *testing.T) {
	c, first := recorded(t)
	type kept struct {
		path, text string
		gone       bool
		undid      string
	}
	list := func() (all []string) {
		files, errs, err := KeptFiles(c.dir)
		if err != nil || len(errs) > 0 {
			t.Fatal(err, errs)
		}
		for _, f := range files {
			rel, _ := filepath.Rel(c.dir, f.Path)
			data, err := os.ReadFile(f.File)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(kept{filepath.ToSlash(rel), string(data), f.Gone, strings.Join(f.Undid, " ")}))
		}
		slices.Sort(all)
		return all
	}
	edits := []string{"{group chats/Child.jsonl parent=A false }", "{group chats/Old.jsonl goes false }", "{group chats/Recap.jsonl is rewritten false }", "{groups/1.json list=A false }"}
	if diff := cmp.Diff(edits, list()); diff != "" {
		t.Errorf("of an edit (-want +got):\n%s", diff)
	}
	undone(t, c.dir)
	want := []string{"{group chats/Child.jsonl parent=B false rename}", "{group chats/New.jsonl new true rename}", "{group chats/Recap.jsonl was rewritten false rename}", "{groups/1.json list=B false rename}"}
	want = append(want, edits...)
	slices.Sort(want)
	if diff := cmp.Diff(want, list()); diff != "" {
		t.Errorf("with its undo (-want +got):\n%s", diff)
	}
	gone, err := filepath.Glob(newRoot(c.dir).own(first + "-*"))
	if err != nil || len(gone) == 0 {
		t.Fatal(gone, err)
	}
	for _, name := range gone {
		if err := errors.Join(os.Remove(name), os.Mkdir(name, 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	if left := list(); len(left) != 4 {
		t.Errorf("folders in the places of those of the edit are listed, too: %q", left)
	}
}

// What a record keeps no more, or what somebody has written into, does not come back: undo says so,
// and nothing is changed.
func TestLostKeptFile(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"gone":    os.Remove,
		"changed": func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) },
	} {
		c, id := recorded(t)
		kept, err := filepath.Glob(newRoot(c.dir).own(id + "-*"))
		if err != nil || len(kept) == 0 {
			t.Fatal(kept, err)
		}
		for _, path := range kept {
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
		}
		u, err := Undo(c.dir, "", false)
		if err != nil {
			t.Fatal(err)
		}
		out := Run(t.Context(), []Unit{u.Unit}, Options{Now: time.Now(), NoSync: true})
		if lost, ok := errors.AsType[*LostError](out[0].Err); !ok || !slices.Contains(kept, lost.Kept) || c.judge(t, name) != "new" {
			t.Errorf("%s: %v", name, out[0].Err)
		}
	}
}

// Single files that appear side by side in a folder that is nobody's need no record.
func TestManyCreates(t *testing.T) {
	dir := t.TempDir()
	var units []Unit
	for _, name := range []string{"a", "b", "c"} {
		units = append(units, Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
			d, err := s.Create(filepath.Join(dir, name), "new")
			if err == nil {
				_, err = d.Write(bytes.Repeat([]byte(name), 3))
			}
			return err
		}})
	}
	for _, dry := range []bool{true, false} {
		for i, o := range Run(t.Context(), units, Options{Now: time.Now(), NoSync: true, DryRun: dry}) {
			if o.Err != nil || o.ID != "" || len(o.Steps) != 1 || o.Steps[0].Bytes != 3 {
				t.Errorf("dry run %v, %d: %+v", dry, i, o)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
}

// What dead runs left is removed wherever this program drafts, but not what a journal names.
func TestSweep(t *testing.T) {
	c, _ := recorded(t)
	dead := strings.Replace(safefile.TempName(), fmt.Sprint(os.Getpid()), "999999999", 1)
	if !safefile.IsTemp(dead) || dead == safefile.TempName() {
		t.Skip("names of drafts have no process")
	}
	was := maps.Clone(files(t, c.dir))
	var drafts []string
	for _, folder := range []string{".", ".stchat", "group chats", "groups"} {
		drafts = append(drafts, filepath.Join(c.dir, folder, dead))
	}
	there := func() (n int) {
		for _, draft := range drafts {
			if !absent(draft) {
				n++
			}
		}
		return n
	}
	for _, draft := range drafts {
		if err := os.WriteFile(draft, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unreadable := newRoot(c.dir).own("20200101T000000-00000000" + journalSuffix)
	if err := os.WriteFile(unreadable, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	recoverIt := func() {
		if _, err := Recover(t.Context(), c.dir, Options{NoSync: true}); err != nil {
			t.Fatal(err)
		}
	}
	if recoverIt(); there() != len(drafts) {
		t.Errorf("%d of %d drafts are left, though a journal that cannot be read may name them", there(), len(drafts))
	}
	if err := os.Remove(strings.TrimSuffix(unreadable, journalSuffix) + foreignSuffix); err != nil {
		t.Fatal(err)
	}
	if recoverIt(); there() != 0 {
		t.Errorf("%d of %d drafts are left", there(), len(drafts))
	}
	if !maps.Equal(was, files(t, c.dir)) {
		t.Error("something else went, too")
	}
	other := filepath.Join(c.dir, "notes", dead)
	if err := errors.Join(os.Mkdir(filepath.Dir(other), 0o700), os.WriteFile(other, []byte("half"), 0o600)); err != nil {
		t.Fatal(err)
	}
	Run(t.Context(), []Unit{{Root: c.dir, Draft: func(_ context.Context, s *Set) error {
		_, err := s.Create(filepath.Join(c.dir, "notes", "a.html"), "a page")
		return err
	}}}, Options{NoSync: true, Now: time.Now()})
	if !absent(other) {
		t.Error("a draft is left in a folder that is drafted to")
	}
}

// Where nobody can see which journals there are, no draft is removed: one of them may name it.
func TestSweepBlind(t *testing.T) {
	dir := t.TempDir()
	dead := strings.Replace(safefile.TempName(), fmt.Sprint(os.Getpid()), "999999999", 1)
	if !safefile.IsTemp(dead) || dead == safefile.TempName() {
		t.Skip("names of drafts have no process")
	}
	draft := filepath.Join(dir, dead)
	r := newRoot(dir)
	for _, path := range []string{draft, r.own("")} { // what is no folder cannot be listed, by root either
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	r.sweep(dir)
	if absent(draft) {
		t.Error("the draft is gone")
	}

	if err := os.Remove(r.own("")); err != nil {
		t.Fatal(err)
	}
	r.sweep(dir)
	if !absent(draft) {
		t.Error("the draft is left, though there are no journals")
	}
}

// Folders that were made for new files go with them, unless something else is in them by then, or
// something else has their name. What takes that back makes them again.
func TestInFolderUndone(t *testing.T) {
	for _, tt := range []struct{ name, stranger, gone string }{
		{"nothing else", "", "some"},
		{"something in the inner one", "some/where/b", ""},
		{"something in the outer one", "some/b", "some/where"},
	} {
		dir := t.TempDir()
		opt := Options{Now: time.Now(), NoSync: true}
		unit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
			for _, name := range []string{"a", "c"} {
				d, err := s.Create(filepath.Join(dir, "some", "where", name), "new", InFolder())
				if err == nil {
					_, err = d.Write([]byte(name))
				}
				if err != nil {
					return err
				}
			}
			return nil
		}}
		if out := Run(t.Context(), []Unit{unit}, opt)[0]; out.Err != nil {
			t.Fatal(out.Err)
		}
		if tt.stranger != "" {
			if err := os.WriteFile(filepath.Join(dir, tt.stranger), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		made := files(t, dir)
		undo := func(id string) {
			u, err := Undo(dir, id, false)
			if err != nil {
				t.Fatal(err)
			}
			if out := Run(t.Context(), []Unit{u.Unit}, opt)[0]; out.Err != nil {
				t.Fatalf("%s: %v", tt.name, out.Err)
			}
		}
		undo("")
		if tt.gone != "" && !absent(filepath.Join(dir, tt.gone)) {
			t.Errorf("%s: %s is left", tt.name, tt.gone)
		}
		if tt.stranger != "" && absent(filepath.Join(dir, tt.stranger)) {
			t.Errorf("%s: it went, too", tt.name)
		}
		records, _, err := Records(dir)
		if err != nil || len(records) == 0 {
			t.Fatal(records, err)
		}
		undo(records[0].ID)
		if again := files(t, dir); !maps.Equal(made, again) {
			t.Errorf("%s: %v came back as %v", tt.name, made, again)
		}
	}
}

// The folder of a new file is made, but not in a dry run, which tells the same.
func TestInFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "some", "where", "a")
	unit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
		d, err := s.Create(path, "new", InFolder())
		if err == nil {
			_, err = d.Write([]byte("a"))
		}
		return err
	}}
	for _, dry := range []bool{true, false} {
		out := Run(t.Context(), []Unit{unit}, Options{Now: time.Now(), NoSync: true, DryRun: dry})[0]
		if out.Err != nil || len(out.Steps) != 1 || out.Steps[0].Path != path {
			t.Errorf("dry run %v: %+v", dry, out)
		}
		if absent(path) != dry || absent(filepath.Join(dir, "some")) != dry {
			t.Errorf("dry run %v: it is there", dry)
		}
	}
	// nor where it is missing and not to be made, or cannot be made
	elsewhere := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
		_, err := s.Create(filepath.Join(dir, "nowhere", "a"), "new")
		return err
	}}
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "some")), os.WriteFile(filepath.Join(dir, "some"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		for i, out := range Run(t.Context(), []Unit{unit, elsewhere}, Options{Now: time.Now(), NoSync: true, DryRun: dry}) {
			if out.Err == nil {
				t.Errorf("dry run %v, %d: a file or nothing is in the place of its folder, and that is no error", dry, i)
			}
		}
	}
}

// What was removed does not come back where its folder is gone: a dry run of undo says that, too.
func TestUndoWithoutFolder(t *testing.T) {
	dir, chat := aFolder(t)
	unit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
		was, err := safefile.StampPath(chat)
		return errors.Join(err, s.Remove(chat, was, "goes"))
	}}
	if out := Run(t.Context(), []Unit{unit}, Options{Now: time.Now(), NoSync: true}); out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
	if err := os.Remove(filepath.Dir(chat)); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		u, err := Undo(dir, "", false)
		if err != nil {
			t.Fatal(err)
		}
		if out := Run(t.Context(), []Unit{u.Unit}, Options{Now: time.Now(), NoSync: true, DryRun: dry}); !errors.Is(out[0].Err, os.ErrNotExist) {
			t.Errorf("dry run %v: %v", dry, out[0].Err)
		}
	}
}

// Where another program makes the same edit meanwhile, nothing is left to do: no file is replaced,
// and nothing is recorded.
func TestSameEditMeanwhile(t *testing.T) {
	dir := t.TempDir()
	crashWorld(t, dir)
	path := filepath.Join(dir, "groups", "1.json")
	edits := 0
	edit := Bytes(func(old []byte) ([]byte, error) {
		if edits++; bytes.HasSuffix(old, []byte("!")) {
			return nil, ErrUnchanged
		}
		return append(old, '!'), nil
	})
	d := safefile.System()
	d.Link = func(old, new string) error {
		if filepath.Base(old) == ".gitignore" {
			if err := os.WriteFile(path, []byte("list=A, and more!"), 0o666); err != nil {
				t.Error(err)
			}
		}
		return os.Link(old, new)
	}
	unit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error { return s.Edit(path, safefile.Stamp{}, edit, "it") }}
	out := Run(t.Context(), []Unit{unit}, Options{NoSync: true, Now: time.Now(), disk: &d})[0]
	if out.Err != nil || len(out.Steps) > 0 || out.ID != "" || edits != 2 {
		t.Errorf("%+v after %d edits", out, edits)
	}
	if text, err := os.ReadFile(path); string(text) != "list=A, and more!" {
		t.Errorf("%q, %v", text, err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || len(stored(t, dir)) > 0 {
		t.Errorf("left are %v and %q", entries, stored(t, dir))
	}
}

// Without inodes a file is the same up to the two seconds that are all that FAT keeps.
func TestSameLoosely(t *testing.T) {
	a := safefile.Ident{Size: 1, Mtime: 5e9, Hash: "h", Ino: 1}
	for _, tt := range []struct {
		change       func(id *safefile.Ident)
		loose, exact bool
	}{
		{func(*safefile.Ident) {}, true, true},
		{func(id *safefile.Ident) { id.Ino++ }, true, false},
		{func(id *safefile.Ident) { id.Mtime += 2e9 }, true, false},
		{func(id *safefile.Ident) { id.Mtime -= 2e9 }, true, false},
		{func(id *safefile.Ident) { id.Mtime += 2e9 + 1 }, false, false},
		{func(id *safefile.Ident) { id.Mtime -= 2e9 + 1 }, false, false},
		{func(id *safefile.Ident) { id.Hash = "" }, false, true},
		{func(id *safefile.Ident) { id.Size++ }, false, false},
	} {
		b := a
		tt.change(&b)
		if loose, exact := sameIdent(a, b, true), sameIdent(a, b, false); loose != tt.loose || exact != tt.exact {
			t.Errorf("%+v: %v loosely, %v exactly", b, loose, exact)
		}
	}
}

// A file that is too large to be hashed is the same by inode and size, but in a folder that was
// copied by size and roughly by time, as inodes tell nothing there.
func TestSameLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := errors.Join(os.WriteFile(path, nil, 0o666), os.Truncate(path, hashed+1)); err != nil {
		t.Fatal(err)
	}
	now, err := safefile.IdentOf(path, -1)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		change       func(id *safefile.Ident)
		loose, exact bool
	}{
		{func(*safefile.Ident) {}, true, true},
		{func(id *safefile.Ident) { id.Ino++ }, true, false},
		{func(id *safefile.Ident) { id.Mtime -= int64(time.Hour) }, false, true},
		{func(id *safefile.Ident) { id.Size++ }, false, false},
	} {
		id := now
		tt.change(&id)
		loose, err := inverse{judge: judge{loose: true}}.unchanged(path, &id)
		exact, err2 := inverse{}.unchanged(path, &id)
		if loose != tt.loose || exact != tt.exact || err != nil || err2 != nil {
			t.Errorf("%+v: %v loosely, %v exactly, %v, %v", id, loose, exact, err, err2)
		}
	}
}

// Records go, the oldest first, while they take more than they may. The newest stays, and so does
// what cannot be read or was deleted on purpose, whatever the mode of its file says.
func TestMakeRoom(t *testing.T) {
	for _, tt := range []struct {
		name  string
		keep  int64 // beside what they take; at least 1 in all
		spoil func(t *testing.T, record string)
		gone  int
	}{
		{"just enough", 0, nil, 0},
		{"one byte too few", -1, nil, 1},
		{"next to none", -1 << 30, nil, 2},
		{"one cannot be read", -1, func(t *testing.T, record string) {
			text, err := os.ReadFile(record)
			if err == nil {
				err = os.WriteFile(record, bytes.Repeat([]byte("x"), len(text)), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"one is precious", -1, func(t *testing.T, record string) {
			text, err := os.ReadFile(record)
			if err == nil {
				err = os.WriteFile(record, bytes.Replace(text, []byte(`"precious":false`), []byte(`"precious":true `), 1), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, 0}, // nor does what took it back
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, first := recorded(t)
			ids := []string{first, undone(t, c.dir)}
			out := Run(t.Context(), []Unit{crashUnit(c.dir)}, Options{Now: time.Now(), NoSync: true})
			ids = append(ids, out[0].ID)
			r := newRoot(c.dir)
			if tt.spoil != nil {
				tt.spoil(t, r.own(first+recordSuffix))
				ids = ids[1:]
			}
			total := int64(0)
			for _, name := range stored(t, c.dir) {
				info, err := os.Lstat(r.own(name))
				if err != nil {
					t.Fatal(err)
				}
				total += info.Size()
			}
			var gone []string
			names, err := r.list()
			if err != nil {
				t.Fatal(err)
			}
			for _, rec := range makeRoom(r.store, names, Options{KeepBytes: max(1, total+tt.keep)}) {
				gone = append(gone, rec.ID)
			}
			if !slices.Equal(gone, ids[:tt.gone]) {
				t.Errorf("%q went of %q, not %d", gone, ids, tt.gone)
			}
			records, errs, err := Records(c.dir)
			if left := len(records) + len(errs); err != nil || left != 3-tt.gone {
				t.Errorf("%d records are left, %v", left, err)
			}
		})
	}
}

// What somebody else has put into .stchat under the name of a record or a journal costs no memory,
// however large it is. The journal is set aside, and told once.
func TestHugeStrangers(t *testing.T) {
	c, _ := recorded(t)
	r := newRoot(c.dir)
	for _, name := range []string{"20260101T000000-00000001" + recordSuffix, "20260101T000000-00000002" + journalSuffix} {
		f, err := os.Create(r.own(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(3<<30), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, errs, err := Records(c.dir)
	if err != nil || len(errs) != 1 {
		t.Errorf("%v, %v", errs, err)
	}
	for _, told := range []int{1, 0} {
		ended, err := Recover(t.Context(), c.dir, Options{NoSync: true})
		if err != nil || len(ended) != told {
			t.Errorf("%+v, %v", ended, err)
		}
		for _, e := range ended {
			if e.Result != Foreign {
				t.Errorf("%+v", e)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 4<<20 {
		t.Errorf("they cost %d bytes", cost)
	}
}

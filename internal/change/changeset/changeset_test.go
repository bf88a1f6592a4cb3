package changeset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
)

// world makes a user folder with these files.
func world(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// tree returns every file below dir but for those of .stchat.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == ".stchat" {
				return filepath.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func stamp(t *testing.T, path string) safefile.Stamp {
	t.Helper()
	s, err := safefile.StampPath(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var now = time.Date(2026, 11, 21, 20, 33, 25, 0, time.UTC)

func run(t *testing.T, opt changeset.Options, units ...changeset.Unit) []changeset.Outcome {
	t.Helper()
	opt.Now = now
	return changeset.Run(t.Context(), units, opt)
}

func write(s *changeset.Set, path, text string) error {
	d, err := s.Create(path, "new")
	if err != nil {
		return err
	}
	_, err = d.Write([]byte(text))
	return err
}

func appendText(text string) changeset.Bytes {
	return func(old []byte) ([]byte, error) { return append(old, text...), nil }
}

// A dry run refuses the name that an earlier unit of the call would give, as the real one does, and
// lets two of them edit one file.
func TestDryRunOfSeveral(t *testing.T) {
	for _, dry := range []bool{true, false} {
		dir := world(t, map[string]string{"chats/Mira/M.jsonl": "m", "chats/Mira/N.jsonl": "n", "groups/1.json": "[]"})
		in := func(name string) string { return filepath.Join(dir, name) }
		var units []changeset.Unit
		for _, name := range []string{"M", "N"} {
			path := in("chats/Mira/" + name + ".jsonl")
			units = append(units, changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
				return write(s, in("chats/Mira/new.jsonl"), name)
			}}, changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
				return s.Move(path, in("chats/Mira/moved.jsonl"), stamp(t, path), "the name")
			}}, changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
				return s.Edit(in("groups/1.json"), safefile.Stamp{}, appendText(name), "the list")
			}})
		}
		var refused []int
		for i, o := range run(t, changeset.Options{DryRun: dry}, units...) {
			taken, isTaken := errors.AsType[*safefile.ExistsError](o.Err)
			switch {
			case isTaken:
				refused = append(refused, i%3)
				if want := in([]string{"chats/Mira/new.jsonl", "chats/Mira/moved.jsonl", ""}[i%3]); taken.Path != want {
					t.Errorf("dry %v, unit %d: %s, want %s", dry, i, taken.Path, want)
				}
			case o.Err != nil:
				t.Errorf("dry %v, unit %d: %v", dry, i, o.Err)
			}
		}
		slices.Sort(refused)
		if !slices.Equal(refused, []int{0, 1}) {
			t.Errorf("dry %v: refused %v, want one that creates and one that moves", dry, refused)
		}
	}
}

// A dry run tells the steps of the real one, and changes nothing.
func TestDryRun(t *testing.T) {
	dir := world(t, map[string]string{"chats/Mira/A.jsonl": "a", "chats/Mira/X.jsonl": "x", "chats/Mira/M.jsonl": "m", "groups/1.json": "[]"})
	in := func(name string) string { return filepath.Join(dir, name) }
	unit := changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
		if err := s.Remove(in("chats/Mira/X.jsonl"), stamp(t, in("chats/Mira/X.jsonl")), "the old chat"); err != nil {
			return err
		}
		if err := s.Edit(in("groups/1.json"), safefile.Stamp{}, appendText("!"), "its name in the list"); err != nil {
			return err
		}
		if err := s.Move(in("chats/Mira/M.jsonl"), in("chats/Mira/N.jsonl"), stamp(t, in("chats/Mira/M.jsonl")), "the name"); err != nil {
			return err
		}
		d, err := s.Replace(in("chats/Mira/A.jsonl"), stamp(t, in("chats/Mira/A.jsonl")), "the chat")
		if err != nil {
			return err
		}
		fmt.Fprint(d, "longer")
		if err := d.Truncate(2); err != nil {
			return err
		}
		return write(s, in("chats/Mira/B.jsonl"), "b")
	}}
	was := tree(t, dir)
	dry := run(t, changeset.Options{DryRun: true}, unit)[0]
	if dry.Err != nil {
		t.Fatal(dry.Err)
	}
	if diff := cmp.Diff(was, tree(t, dir)); diff != "" {
		t.Errorf("a dry run changed:\n%s", diff)
	}
	if _, err := os.Stat(in(".stchat")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf(".stchat: %v", err)
	}
	real := run(t, changeset.Options{}, unit)[0]
	if real.Err != nil {
		t.Fatal(real.Err)
	}
	if diff := cmp.Diff(dry.Steps, real.Steps, cmpopts.IgnoreFields(changeset.Step{}, "Kept")); diff != "" {
		t.Errorf("steps (-dry +real):\n%s", diff)
	}
	if real.ID == "" {
		t.Error("not recorded")
	}
	var got []string
	for _, s := range real.Steps {
		got = append(got, string(s.Do)+" "+filepath.Base(s.Path))
	}
	if diff := cmp.Diff([]string{"create B.jsonl", "move M.jsonl", "replace A.jsonl", "replace 1.json", "remove X.jsonl"}, got); diff != "" {
		t.Error(diff)
	}
	want := map[string]string{"chats/Mira/A.jsonl": "lo", "chats/Mira/B.jsonl": "b", "chats/Mira/N.jsonl": "m", "groups/1.json": "[]!"}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// Units that share a file are one set with one edit of it; one that fails drops itself.
func TestShared(t *testing.T) {
	dir := world(t, map[string]string{"group chats/A.jsonl": "a", "groups/1.json": "0"})
	group := filepath.Join(dir, "groups/1.json")
	unit := func(i int) changeset.Unit {
		return changeset.Unit{Root: dir, Shares: []string{group}, Draft: func(_ context.Context, s *changeset.Set) error {
			if err := write(s, filepath.Join(dir, fmt.Sprintf("group chats/%d.jsonl", i)), "b"); err != nil {
				return err
			}
			if i == 3 {
				return errors.New("no")
			}
			return s.Edit(group, safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) {
				if i == 5 {
					return nil, errors.New("not this one")
				}
				return fmt.Append(old, i), nil
			}), "its name")
		}}
	}
	var units []changeset.Unit
	for i := range 8 {
		units = append(units, unit(i+1))
	}
	out := run(t, changeset.Options{}, units...)
	ids := map[string]bool{}
	for i, o := range out {
		if failed := o.Err != nil; failed != (i == 2 || i == 4) {
			t.Errorf("unit %d: %v", i+1, o.Err)
		}
		if o.Err == nil {
			ids[o.ID] = true
			if len(o.Steps) != 2 {
				t.Errorf("unit %d: %+v", i+1, o.Steps)
			}
		}
	}
	if len(ids) != 1 {
		t.Errorf("records: %v", ids)
	}
	files := tree(t, dir)
	if files["groups/1.json"] != "0124678" {
		t.Errorf("the group is %s", files["groups/1.json"])
	}
	if len(files) != 8 {
		t.Errorf("files: %v", files)
	}
}

// An edit by meaning is made to whatever stands there; one by place is refused.
func TestStale(t *testing.T) {
	dir := world(t, map[string]string{"chats/Mira/A.jsonl": "a", "groups/1.json": "0"})
	group, chat := filepath.Join(dir, "groups/1.json"), filepath.Join(dir, "chats/Mira/A.jsonl")
	was := stamp(t, chat)
	tick := time.Now().Add(time.Hour) // a coarse clock gives two saves one time
	save := func(text string) {
		put(t, group, text)
		if err := os.Chtimes(group, tick, tick); err != nil {
			t.Fatal(err)
		}
	}
	save("0")
	renders := 0
	out := run(t, changeset.Options{}, changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
		return s.Edit(group, safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) {
			if renders++; renders < 3 {
				save(strings.Repeat("9", renders))
			}
			return append(old, '!'), nil
		}), "its name")
	}})[0]
	if out.Err != nil || tree(t, dir)["groups/1.json"] != "99!" {
		t.Errorf("%v, %v", out.Err, tree(t, dir))
	}
	put(t, chat, "saved meanwhile")
	out = run(t, changeset.Options{}, changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
		return s.Edit(chat, was, appendText("!"), "a message")
	}})[0]
	if !errors.Is(out.Err, safefile.ErrChanged) || tree(t, dir)["chats/Mira/A.jsonl"] != "saved meanwhile" {
		t.Errorf("%v, %v", out.Err, tree(t, dir))
	}
	out = run(t, changeset.Options{}, changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
		s.Rely(chat, was)
		return write(s, filepath.Join(dir, "chats/Mira/B.jsonl"), "b")
	}})[0]
	if !errors.Is(out.Err, safefile.ErrChanged) || len(tree(t, dir)) != 2 {
		t.Errorf("%v, %v", out.Err, tree(t, dir))
	}
}

// Outside its root a set only creates.
func TestOtherRoot(t *testing.T) {
	dir := world(t, map[string]string{"data/chats/Mira/A.jsonl": "a", "else/B.jsonl": "b"})
	b := filepath.Join(dir, "else/B.jsonl")
	out := run(t, changeset.Options{}, changeset.Unit{Root: filepath.Join(dir, "data"), Draft: func(_ context.Context, s *changeset.Set) error {
		if err := write(s, filepath.Join(dir, "else/C.jsonl"), "c"); err != nil {
			return err
		}
		return s.Edit(b, safefile.Stamp{}, appendText("!"), "the chat")
	}})[0]
	if !errors.Is(out.Err, changeset.ErrOtherRoot) || len(tree(t, dir)) != 2 {
		t.Errorf("%v, %v", out.Err, tree(t, dir))
	}
}

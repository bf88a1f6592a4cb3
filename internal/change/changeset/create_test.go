package changeset_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
)

func create(dir, name string) changeset.Unit {
	return changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
		return write(s, filepath.Join(dir, "chats/Mira", name), "b")
	}}
}

// One new file is recorded like any change where its root is a user's folder or has a .stchat;
// elsewhere it leaves nothing else.
func TestOneCreate(t *testing.T) {
	dir := world(t, map[string]string{"chats/Mira/A.jsonl": "a"})
	out := run(t, changeset.Options{Command: []string{"new"}}, create(dir, "B.jsonl"), create(dir, "A.jsonl"), create(dir, "C.jsonl"))
	if out[0].Err != nil || out[2].Err != nil || !errors.As(out[1].Err, new(*safefile.ExistsError)) {
		t.Fatalf("%+v", out)
	}
	want := map[string]string{"chats/Mira/A.jsonl": "a", "chats/Mira/B.jsonl": "b", "chats/Mira/C.jsonl": "b"}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if out[0].ID == "" || out[0].ID != out[2].ID || out[1].ID != "" {
		t.Errorf("recorded as %q, %q, %q", out[0].ID, out[1].ID, out[2].ID)
	}
	undo(t, dir)
	if diff := cmp.Diff(map[string]string{"chats/Mira/A.jsonl": "a"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}

	loose := filepath.Join(world(t, map[string]string{"chats/Mira/A.jsonl": "a"}), "chats/Mira")
	one := changeset.Unit{Root: loose, Draft: func(_ context.Context, s *changeset.Set) error {
		return write(s, filepath.Join(loose, "B.jsonl"), "b")
	}}
	if out := run(t, changeset.Options{}, one); out[0].Err != nil || out[0].ID != "" {
		t.Errorf("%+v", out)
	}
	if _, err := os.Lstat(filepath.Join(loose, ".stchat")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf(".stchat: %v", err)
	}
}

// Where .stchat cannot be made, what only creates does so, all or nothing, and says that it is
// not recorded; what changes a file fails.
func TestNoFolder(t *testing.T) {
	dir := world(t, map[string]string{"chats/Mira/A.jsonl": "a", ".stchat": "mine"})
	two := func(first, second string) changeset.Unit {
		return changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
			return errors.Join(write(s, filepath.Join(dir, "chats/Mira", first), "b"), write(s, filepath.Join(dir, "chats/Mira", second), "b"))
		}}
	}
	out := run(t, changeset.Options{}, create(dir, "B.jsonl"), two("C.jsonl", "D.jsonl"))
	if out[0].Err != nil || out[1].Err != nil || out[0].ID+out[1].ID != "" || out[0].NoRecord == nil && out[1].NoRecord == nil {
		t.Errorf("%+v", out)
	}
	edit := changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
		return errors.Join(write(s, filepath.Join(dir, "chats/Mira/E.jsonl"), "b"),
			s.Edit(filepath.Join(dir, "chats/Mira/A.jsonl"), safefile.Stamp{}, changeset.Bytes(func([]byte) ([]byte, error) { return []byte("c"), nil }), "it"))
	}}
	if out := run(t, changeset.Options{}, edit); out[0].Err == nil {
		t.Error("a change is not recorded, and made")
	}
	want := map[string]string{"chats/Mira/A.jsonl": "a", "chats/Mira/B.jsonl": "b", "chats/Mira/C.jsonl": "b", "chats/Mira/D.jsonl": "b", ".stchat": "mine"}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// Where no records are kept, one new file and one edit make no .stchat; what needs a journal
// leaves none behind.
func TestKeepNone(t *testing.T) {
	dir := world(t, map[string]string{"chats/Mira/A.jsonl": "a"})
	edit := func(s *changeset.Set) error {
		return s.Edit(filepath.Join(dir, "chats/Mira/A.jsonl"), safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) { return append(old, 'c'), nil }), "it")
	}
	none := changeset.Options{KeepBytes: -1}
	out := run(t, none, create(dir, "B.jsonl"))
	out = append(out, run(t, none, changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error { return edit(s) }})...)
	if _, err := os.Lstat(filepath.Join(dir, ".stchat")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf(".stchat: %v", err)
	}
	out = append(out, run(t, none, changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
		return errors.Join(edit(s), write(s, filepath.Join(dir, "chats/Mira/C.jsonl"), "b"))
	}})...)
	if slices.ContainsFunc(out, func(o changeset.Outcome) bool { return o.Err != nil || o.ID != "" || len(o.Dropped) > 0 }) {
		t.Errorf("%+v", out)
	}
	want := map[string]string{"chats/Mira/A.jsonl": "acc", "chats/Mira/B.jsonl": "b", "chats/Mira/C.jsonl": "b"}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	left, err := os.ReadDir(filepath.Join(dir, ".stchat"))
	left = slices.DeleteFunc(left, func(e os.DirEntry) bool { return e.Name() == "lock" }) // Windows locks this file
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// Sixteen commits side by side, then sixteen undos, end where they began: the last is what was
// committed last, whenever it was begun.
func TestLastIsLastCommitted(t *testing.T) {
	dir := world(t, map[string]string{"chats/Mira/A.jsonl": ""})
	path := filepath.Join(dir, "chats/Mira/A.jsonl")
	done := make(chan error)
	for i := range 16 {
		go func() {
			out := changeset.Run(t.Context(), []changeset.Unit{{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
				return s.Edit(path, safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) { return append(old, byte('a'+i)), nil }), "it")
			}}}, changeset.Options{NoSync: true, Now: now.AddDate(0, 0, -i)})
			done <- out[0].Err
		}()
	}
	for range 16 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for left := 15; left >= 0; left-- {
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		undo(t, dir)
		data, err := os.ReadFile(path)
		if err != nil || string(data) != string(was[:left]) {
			t.Fatalf("%q becomes %q, %v", was, data, err)
		}
	}
}

// A call that fails first, and is drafted again after another has committed, comes after that.
func TestLastIsLastAgain(t *testing.T) {
	dir := world(t, map[string]string{"chats/Mira/A.jsonl": "0"})
	path := filepath.Join(dir, "chats/Mira/A.jsonl")
	add := func(text string, meanwhile func()) changeset.Unit {
		return changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
			old, was, err := safefile.Read(path)
			if err != nil {
				return err
			}
			meanwhile()
			d, err := s.Replace(path, was, "it")
			if err == nil {
				_, err = d.Write(append(old, text...))
			}
			return err
		}}
	}
	commit := func(text string) {
		if out := run(t, changeset.Options{NoSync: true}, add(text, func() {})); out[0].Err != nil {
			t.Fatal(out[0].Err)
		}
	}
	first := true
	unit := add("c", func() {
		if first {
			commit("a")
		}
		first = false
	})
	unit.Again = func(err error) bool { return errors.Is(err, safefile.ErrChanged) }
	if out := run(t, changeset.Options{NoSync: true}, unit); out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
	for _, want := range []string{"0ac", "0a", "0"} {
		data, err := os.ReadFile(path)
		if err != nil || string(data) != want {
			t.Fatalf("%q, %v, not %q", data, err, want)
		}
		if want != "0" {
			undo(t, dir)
		}
	}
}

func undo(t *testing.T, dir string) *changeset.Undoing {
	t.Helper()
	u, err := changeset.Undo(dir, "", false)
	if err != nil {
		t.Fatal(err)
	}
	if out := run(t, changeset.Options{NoSync: true}, u.Unit); out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
	return u
}

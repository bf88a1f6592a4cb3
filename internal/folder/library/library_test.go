package library_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/folder/library"
	"stchat/internal/lorebook"
	"stchat/internal/place/userdir"
)

// tree makes files below a new folder.
func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestTarget(t *testing.T) {
	root := tree(t, map[string]string{
		"chats/Mira/Evening.jsonl": "", "chats/Mira/ab.jsonl": "", "chats/Mira/a b.jsonl": "", "chats/Mira/note.txt": "",
		"chats/Mira/Émile.jsonl": "", "chats/Mira/Loud.JSONL": "", "chats/Mira/.jsonl": "",
	})
	var l library.Library
	f := l.Folder(filepath.Join(root, "chats", "Mira"))
	if diff := cmp.Diff([]string{"Evening", "Loud", "a b", "ab", "Émile"}, f.Chats); diff != "" || f.Err != nil {
		t.Errorf("chats, %v (-want +got):\n%s", f.Err, diff)
	}
	if f.Kind != userdir.Solo || f.Owner != "Mira" || f.Dir.Root != root || !f.HasDir {
		t.Errorf("the place is %v %q %v", f.Kind, f.Owner, f.Dir)
	}
	for name, want := range map[string]string{
		"Evening": "Evening", "a:b": "ab", "EVENING": "Evening", "A:B": "ab", "émile": "Émile",
		"note": "", "": "", "..": "", "../Mira/ab": "", "a  b": "",
	} {
		got, ok := f.Target(name)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("Target(%q) = %q; want %q", name, got, want)
		}
	}
	if got := f.File("Loud"); got != filepath.Join(f.Path, "Loud.JSONL") {
		t.Errorf("the file of Loud is %s", got)
	}
	if f.Has("EVENING") || !f.Has("Evening") {
		t.Error("Has does not compare names as they are")
	}
	if gone := l.Folder(filepath.Join(root, "none")); gone.Err == nil || len(gone.Chats) != 0 {
		t.Errorf("a folder that is not there lists %v, %v", gone.Chats, gone.Err)
	}
}

func TestSidecars(t *testing.T) {
	root := tree(t, map[string]string{
		"A.jsonl": "", "A.luker-state.x.json": "{}", "A.luker-state.chat_sync.json": "{}",
		"A - Branch #1.luker-state.x.json": "{}", "A.luker-state..json": "{}", "A.luker-state.folder.json/x": "", "AA.luker-state.x.json": "{}",
	})
	var got []string
	for _, s := range new(library.Library).Folder(root).Sidecars("A") {
		got = append(got, s.Namespace)
	}
	if diff := cmp.Diff([]string{"chat_sync", "x"}, got); diff != "" {
		t.Errorf("sidecars (-want +got):\n%s", diff)
	}
}

// TestSpellings looks a user folder up through a link: what is there is one thing,
// under the path that was given.
func TestSpellings(t *testing.T) {
	root := tree(t, map[string]string{
		"me/chats/Mira/A.jsonl": "", "me/groups/1.json": `{"id":"1","chats":["G"]}`, "me/worlds/B.json": `{"entries":{}}`,
	})
	real, link := filepath.Join(root, "me"), filepath.Join(root, "link")
	err := os.Symlink(real, link)
	if err == nil {
		_, err = os.Lstat(link) // Wine makes none, and says nothing
	}
	if err != nil {
		t.Skip("no symbolic links here:", err)
	}
	var l library.Library
	first, err := l.Groups(userdir.Dir{Root: real})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := l.Groups(userdir.Dir{Root: link}); err != nil || again != first {
		t.Errorf("the group files were read twice: %v", err)
	}
	for _, dir := range []userdir.Dir{{Root: real}, {Root: link}} {
		if path, err := l.Book(dir, "B"); err != nil || path != filepath.Join(dir.Worlds(), "B.json") {
			t.Errorf("the book of %s is %s, %v", dir.Root, path, err)
		}
		if path, err := l.Book(dir, "None"); !errors.Is(err, lorebook.ErrMissing) || path != filepath.Join(dir.Worlds(), "None.json") {
			t.Errorf("the missing book of %s is %s, %v", dir.Root, path, err)
		}
		folder := filepath.Join(dir.Chats(), "Mira")
		if f := l.Folder(folder); f.Path != folder || f.Dir != dir || !f.Has("A") {
			t.Errorf("the folder of %s is %+v", dir.Root, f)
		}
	}
	a, err := l.Shelf(filepath.Join(real, "worlds"))
	if err != nil {
		t.Fatal(err)
	}
	if name, err := a.Given("B"); err != nil || name != "B (1)" {
		t.Errorf("the free name is %q, %v", name, err)
	}
	if b, err := l.Shelf(filepath.Join(link, "worlds")); err != nil || b != a {
		t.Errorf("two shelves for one folder, %v", err)
	}
}

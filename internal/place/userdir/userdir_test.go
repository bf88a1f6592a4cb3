package userdir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/place/userdir"
)

// tree makes files, and folders where a name ends in a slash, below a new folder.
func tree(t *testing.T, files ...string) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, name := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		folder := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			folder = path
		}
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		if folder == path {
			continue
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

type found struct {
	Root  string
	OK    bool
	Kind  userdir.Kind
	Owner string
}

func find(path string) found {
	var f found
	var dir userdir.Dir
	dir, f.OK = userdir.Find(path)
	f.Root = filepath.ToSlash(dir.Root)
	f.Kind, f.Owner = userdir.KindOf(path)
	return f
}

func TestFind(t *testing.T) {
	tests := []struct {
		path string
		want found
	}{
		{"data/me/chats/Mira/A.jsonl", found{"data/me", true, userdir.Solo, "Mira"}},
		{"chats/Mira/A.jsonl", found{".", true, userdir.Solo, "Mira"}},
		{"../chats/Mira/A.jsonl", found{"..", true, userdir.Solo, "Mira"}},
		{"./data//me/chats/./Mira/../Mira/A.jsonl", found{"data/me", true, userdir.Solo, "Mira"}},
		{"me/chats/Dr. M.../A.jsonl", found{"me", true, userdir.Solo, "Dr. M..."}},
		{"me/group chats/A.jsonl", found{"me", true, userdir.Group, ""}},
		{"group chats/A.jsonl", found{".", true, userdir.Group, ""}},
		{"me/chats/group chats/A.jsonl", found{"me/chats", true, userdir.Group, ""}},
		{"me/chats/A.jsonl", found{Kind: userdir.File}},
		{"me/chats/Mira/old/A.jsonl", found{Kind: userdir.File}},
		{"me/backups/A.jsonl", found{Kind: userdir.File}},
		{"A.jsonl", found{Kind: userdir.File}},
		{"", found{Kind: userdir.File}},
	}
	t.Chdir(t.TempDir()) // where no parent is called chats
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, find(filepath.FromSlash(tt.path))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.path, diff)
		}
	}
}

func TestFindFromInside(t *testing.T) {
	root := tree(t, "me/chats/Mira/A.jsonl", "me/group chats/G.jsonl")
	t.Chdir(filepath.Join(root, "me", "chats", "Mira"))
	tests := []struct {
		path string
		want found
	}{
		{"A.jsonl", found{"../..", true, userdir.Solo, "Mira"}},
		{"../Tomas/A.jsonl", found{"../..", true, userdir.Solo, "Tomas"}},
		{"../../group chats/G.jsonl", found{"../..", true, userdir.Group, ""}},
		{"../A.jsonl", found{Kind: userdir.File}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, find(filepath.FromSlash(tt.path))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.path, diff)
		}
	}
}

func TestFindThroughLinks(t *testing.T) {
	root := tree(t, "me/chats/Mira/A.jsonl", "elsewhere/Tomas/B.jsonl")
	link := func(target, name string) {
		t.Helper()
		err := os.Symlink(filepath.Join(root, filepath.FromSlash(target)), filepath.Join(root, filepath.FromSlash(name)))
		if err == nil {
			_, err = os.Lstat(filepath.Join(root, filepath.FromSlash(name))) // Wine makes none, and says nothing
		}
		if err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	link("me/chats/Mira", "shortcut")
	link("elsewhere/Tomas", "me/chats/Tomas")
	got := find(filepath.Join(root, "shortcut", "A.jsonl"))
	if !got.OK || got.Kind != userdir.Solo || got.Owner != "Mira" {
		t.Errorf("a link to a character's folder: %+v", got)
	}
	as, err := os.Stat(got.Root)
	if err != nil {
		t.Fatal(err)
	}
	if me, err := os.Stat(filepath.Join(root, "me")); err != nil || !os.SameFile(as, me) {
		t.Errorf("a link to a character's folder: root %s, %v", got.Root, err)
	}
	want := found{filepath.ToSlash(filepath.Join(root, "me")), true, userdir.Solo, "Tomas"}
	if diff := cmp.Diff(want, find(filepath.Join(root, "me", "chats", "Tomas", "B.jsonl"))); diff != "" {
		t.Errorf("a character's folder that is a link (-want +got):\n%s", diff)
	}
}

func TestFindInOtherLetterCase(t *testing.T) {
	root := tree(t, "me/chats/Mira/A.jsonl")
	_, err := os.Stat(filepath.Join(root, "me", "CHATS"))
	ignoresCase := err == nil
	got := find(filepath.Join(root, "me", "CHATS", "Mira", "A.jsonl"))
	if got.OK != ignoresCase {
		t.Errorf("a disk that ignores case (%v): %+v", ignoresCase, got)
	}
}

func TestOpen(t *testing.T) {
	root := tree(t, "a/chats/", "b/groups/", "c/worlds/", "d/group chats/", "e/worlds", "st/data/default-user/chats/", "file")
	for _, name := range []string{"a", "b", "c", "d"} {
		path := filepath.Join(root, name)
		dir, err := userdir.Open(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := []string{"chats", "group chats", "groups", "worlds"}
		var got []string
		for _, folder := range []string{dir.Chats(), dir.GroupChats(), dir.Groups(), dir.Worlds()} {
			if filepath.Dir(folder) != path {
				t.Errorf("%s is not in %s", folder, path)
			}
			got = append(got, filepath.Base(folder))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, want := range map[string]string{
		"e":       "it has no chats, groups or worlds",
		"st":      filepath.Join("data", "default-user"),
		"st/data": "did you mean",
		"file":    "not a folder",
	} {
		if _, err := userdir.Open(filepath.Join(root, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want one with %q", name, err, want)
		}
	}
	if _, err := userdir.Open(filepath.Join(root, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestChatName(t *testing.T) {
	for path, want := range map[string]string{
		"a/Point 1.jsonl":   "Point 1",
		"x.jsonl.jsonl":     "x.jsonl",
		"dots....jsonl":     "dots...",
		"plain":             "plain",
		"X.JSONL":           "X",
		"\u017f.j\u017fonl": "\u017f.j\u017fonl",
		".jsonl":            "",
		"":                  "",
	} {
		if got := userdir.ChatName(filepath.FromSlash(path)); got != want {
			t.Errorf("ChatName(%q) = %q; want %q", path, got, want)
		}
	}
}

func TestWithin(t *testing.T) {
	folder := filepath.Join("me", "worlds")
	for _, name := range []string{"Book", "dots...", "..", ".hidden", "日本 😀", "space ", "z-AutoLB-main123", "a - Branch #1", strings.Repeat("x", 250)} {
		got, err := userdir.Within(folder, name, ".json")
		if want := folder + string(filepath.Separator) + name + ".json"; err != nil || got != want {
			t.Errorf("Within(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{
		"", "/etc/passwd", "../x", `..\x`, "a/b", "C:x", `\\host\share`, "x:stream", "con", "NUL.x", "COM1",
		"a\x00b", "a\nb", "\x1b[2J", "\u009b2J", "a\xff", "a*", strings.Repeat("x", 251),
	} {
		got, err := userdir.Within(folder, name, ".json")
		if bad := (*userdir.UnsafeNameError)(nil); got != "" || !errors.As(err, &bad) || bad.Name != name || bad.Folder != folder {
			t.Errorf("Within(%q) = %q, %v; want an *UnsafeNameError", name, got, err)
		} else if strings.ContainsAny(err.Error(), "\x00\x1b\n\u009b") {
			t.Errorf("Within(%q): the error's text is raw: %q", name, err)
		}
	}
	for _, name := range []string{".", "..", "...", "a.", "a "} {
		if got, err := userdir.Within(folder, name, ""); err == nil {
			t.Errorf("Within(%q) without an extension = %q", name, got)
		}
	}
}

func FuzzWithin(f *testing.F) {
	for _, name := range []string{"Book", "..", "../x", `a\b`, "C:x", "con", "/", "a.", "", "\u2028", "\u0085"} {
		f.Add(name, ".json")
		f.Add(name, "")
	}
	f.Fuzz(func(t *testing.T, name, ext string) {
		folder := filepath.Join("data", "me", "worlds")
		path, err := userdir.Within(folder, name, ext)
		if err != nil {
			if path != "" {
				t.Fatalf("%q and an error", path)
			}
			return
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil || rel != name+ext || filepath.Dir(path) != folder || !filepath.IsLocal(rel) {
			t.Fatalf("Within(%q, %q) = %q, which is not in %s", name, ext, path, folder)
		}
	})
}

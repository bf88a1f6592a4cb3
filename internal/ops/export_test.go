package ops

import (
	"os"
	"path/filepath"
	"testing"
)

// Every chat has a file of its own, under a name that every system takes.
func TestPlace(t *testing.T) {
	x := &Export{Output: "out"}
	for _, c := range []struct{ path, owner, name, want string }{
		{"chats/Mira/A.jsonl", "Mira", "A", "Mira/A.md"},
		{"elsewhere/a.jsonl", "Mira", "a", "Mira/a (2).md"},
		{"more/A.jsonl", "mira", "A", "mira/A (3).md"},
		{"chats/Ines/A.jsonl", "", "A", "Ines/A.md"},
		{"chats/Mira/CON.jsonl", "Mira", "CON", "Mira/_CON.md"},
		{"chats/Mira/x.jsonl", "..", "", "_/_.md"},
		{"chats/Index.HTML/x.jsonl", "", "x", "Index.HTML (2)/x.md"}, // leaves the index its name
		{"group chats/x.jsonl", "", "x", "no group/x.md"},
		{"group chats/y.jsonl", "Group Chats", "y", "Group Chats (2)/y.md"}, // Output stays what it is
		{"chats/worlds/x.jsonl", "", "x", "worlds (2)/x.md"},
		{"chats/index.html (2)/x.jsonl", "", "x", "index.html (2)/x (2).md"},
	} {
		got, err := x.FileOf(filepath.FromSlash(c.path), c.owner, c.name, ".md")
		if want := filepath.Join("out", filepath.FromSlash(c.want)); got != want || err != nil {
			t.Errorf("%s is %s, %v; not %s", c.path, got, err, want)
		}
	}
}

// Chats of several users are told apart by a folder for each user, those of one are not.
func TestPlaceOfUsers(t *testing.T) {
	dir := t.TempDir()
	chat := func(user string) string {
		folder := filepath.Join(dir, filepath.FromSlash(user), "chats", "Mira")
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(folder, "A.jsonl")
	}
	loose := filepath.Join(dir, "loose", "A.jsonl")
	for name, test := range map[string]struct{ chats, want []string }{
		"one user":      {[]string{chat("ann"), chat("ann")}, []string{"Mira/A.md", "Mira/A (2).md"}},
		"one and loose": {[]string{chat("ann"), loose}, []string{"Mira/A.md", "loose/A.md"}},
		"two users":     {[]string{chat("ann"), chat("bob"), chat("ann")}, []string{"ann/Mira/A.md", "bob/Mira/A.md", "ann/Mira/A (2).md"}},
		"two and loose": {[]string{chat("ann"), loose, chat("bob")}, []string{"ann/Mira/A.md", "loose/A.md", "bob/Mira/A.md"}},
		"one name":      {[]string{chat("x/ann"), chat("y/Ann"), chat("z/ann")}, []string{"ann/Mira/A.md", "Ann (2)/Mira/A.md", "ann (3)/Mira/A.md"}},
		"odd names":     {[]string{chat("x/worlds"), chat("x/index.html")}, []string{"worlds (2)/Mira/A.md", "index.html (2)/Mira/A.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := &Export{Output: "out"}
			var targets []Target
			for _, path := range test.chats {
				targets = append(targets, Target{Path: path})
			}
			x.TellApart(targets)
			for i, path := range test.chats {
				got, err := x.FileOf(path, "", "A", ".md")
				if want := filepath.Join("out", filepath.FromSlash(test.want[i])); got != want || err != nil {
					t.Errorf("%s is %s, %v; not %s", path, got, err, want)
				}
			}
		})
	}
}

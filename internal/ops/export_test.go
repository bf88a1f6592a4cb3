package ops

import (
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

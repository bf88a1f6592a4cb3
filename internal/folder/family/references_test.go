package family

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
)

// write makes files below a new folder.
func write(t *testing.T, files map[string]string) (root string) {
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

func read(t *testing.T, folder string) *Graph {
	t.Helper()
	graphs, err := Read(context.Background(), new(library.Library), []string{folder}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return graphs[0]
}

// TestRead reads messages that are spelled in different ways, beside damage.
func TestRead(t *testing.T) {
	root := write(t, map[string]string{
		"chats/Mira/A.jsonl": `{"chat_metadata":{"uuid":"u"},"user_name":"unused","character_name":"unused"}
{"name":"You","is_user":true,"mes":"Caf\u00e9","send_date":"2026-01-02T03:04:05.000Z","extra":{}}
{"name":"Mira","is_user":false,"mes":"Yes.","send_date":1767323046000,"swipe_info":[{"extra":{"\u0062ookmark_link":"B"}}],"extra":{"branches":["B","B",7,""]}}
{"name":"You","is_user":true,"mes":"On`,
		"chats/Mira/B.jsonl": `{"chat_metadata":{"main_chat":"A","auto_recap":{"combined_recap":{"chat_id":"B"}}},"user_name":"unused","character_name":"unused"}` + "\r\n\r\n" +
			`{"mes":"Café","extra":{"x":1},"is_user":"yes","name":"\u0059ou","send_date":"2026-01-02T03:04:05.000Z"}` + "\r\n" +
			`{"name":"Mira","mes":"Yes.","send_date":1.767323046e12}` + "\r\n" + `{"name":"Mira","mes":"No.","send_date":"2026-01-02T05:00:00Z"}`,
		"chats/Mira/C.jsonl": "", "chats/Mira/D.jsonl/x": "",
	})
	g := read(t, filepath.Join(root, "chats", "Mira"))
	if diff := cmp.Diff([]string{"A root", "B checkpoint <main_chat A 1/1 2 @1", "C root"}, shown(g)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a, b := g.Chats[0], g.Chats[1]
	if diff := cmp.Diff([]Link{{Checkpoint, "B", 1}, {Branch, "B", 1}}, a.Links, cmp.Transformer("set", func(l []Link) map[Link]bool {
		set := map[Link]bool{}
		for _, v := range l {
			set[v] = true
		}
		return set
	})); diff != "" || len(a.Links) != 2 {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if a.Damaged != 1 || b.Damaged != 0 || a.UUID != "u" || b.Recap != "B" || b.Messages[2].Date != 1767330000000 || b.Own() != 1 {
		t.Errorf("A is %+v, B is %+v", a, b)
	}
	if a.FirstDate != 1767323045000 || a.LastDate() != 1767323046000 {
		t.Errorf("A goes from %d to %d", a.FirstDate, a.LastDate())
	}
}

// TestReadLarge reads a chat in several batches.
func TestReadLarge(t *testing.T) {
	var text []byte
	text = append(text, `{"chat_metadata":{},"user_name":"unused","character_name":"unused"}`...)
	const n = 30_000
	for i := range n {
		link := ""
		if i%10_000 == 9_999 {
			link = fmt.Sprintf(`"bookmark_link":"P%d"`, i)
		}
		text = fmt.Appendf(text, "\n"+`{"name":"You","mes":"%0200d","extra":{%s}}`, i, link)
	}
	if len(text) < jsonl.Small {
		t.Fatalf("only %d bytes", len(text))
	}
	root := write(t, map[string]string{"A.jsonl": string(text), "B.jsonl": `{"chat_metadata":{"main_chat":"A"}}` + "\n" + fmt.Sprintf(`{"name":"You","mes":"%0200d"}`, n-1)})
	g := read(t, root)
	a, b := g.Chats[0], g.Chats[1]
	if diff := cmp.Diff([]Link{{Checkpoint, "P9999", 9999}, {Checkpoint, "P19999", 19999}, {Checkpoint, "P29999", 29999}}, a.Links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if len(a.Messages) != n || b.At != 0 || b.AtParent != n-1 {
		t.Errorf("%d messages; B parts at %d/%d", len(a.Messages), b.At, b.AtParent)
	}
	last := a.Messages[n-1].Off
	if want := int64(len(text) - len(fmt.Sprintf(`{"name":"You","mes":"%0200d","extra":{"bookmark_link":"P29999"}}`, n-1))); last != want {
		t.Errorf("the last message begins at %d, want %d", last, want)
	}
}

func TestReferences(t *testing.T) {
	header := func(md string) string {
		return `{"chat_metadata":{` + md + `},"user_name":"unused","character_name":"unused"}` + "\n"
	}
	root := write(t, map[string]string{
		"group chats/A.jsonl":  header(`"auto_recap_running_scene_recaps":{"chat_id":"A"}`) + `{"name":"x","mes":"1","extra":{"bookmark_link":"a:b"}}`,
		"group chats/ab.jsonl": header(`"main_chat":"A","auto_recap":{"combined_recap":{"chat_id":"A"}}`) + `{"name":"x","mes":"1","extra":{"branches":["Gone"]},"swipe_info":[{"extra":{"bookmark_link":"AB"}}]}`,
		"group chats/O.jsonl":  header(`"main_chat":"A"`),
		"groups/1.json":        `{"id":"1","name":"Pair","chat_id":"A","chats":["A","a:b","Gone"],"past_metadata":{"a:b":{}}}`,
		"groups/2.json":        `{"id":"2","name":"Other","chat_id":"O","chats":["O"]}`,
	})
	g := read(t, filepath.Join(root, "group chats"))
	for name, want := range map[string][]string{
		"A":  {"ab -1 0 A", "A -1 3 A", "1 -2 4 A", "1 -2 5 A"},
		"ab": {"A 0 1 a:b", "ab 0 1 AB", "1 -2 4 a:b", "1 -2 6 a:b"},
	} {
		var got []string
		c := g.Find(name)
		for _, r := range g.ReferencesTo(func(other *Chat) bool { return other == c })[c] {
			base := filepath.Base(r.Path)
			got = append(got, fmt.Sprintf("%s %d %d %s", base[:len(base)-len(filepath.Ext(base))], r.Index, r.Kind, r.Name))
		}
		set := func(list []string) map[string]bool {
			m := map[string]bool{}
			for _, s := range list {
				m[s] = true
			}
			return m
		}
		if diff := cmp.Diff(set(want), set(got)); diff != "" || len(got) != len(want) {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRenamed(t *testing.T) {
	tests := []struct {
		name  string
		chats []*Chat
		want  []string
	}{
		{"the one that links the child where they part", []*Chat{
			made("New", "", "a b c d", Link{Branch, "C", 1}), made("C", "Old", "a b x"), made("K", "", "a b y"),
		}, []string{"New"}},
		{"its other children carry the link", []*Chat{
			made("New", "", "a b c d", Link{Branch, "C", 1}), made("C", "Old", "a b x"), made("D", "New", "a b c e", Link{Branch, "C", 1}), made("E", "Old", "a b c f", Link{Branch, "C", 1}),
		}, []string{"New"}},
		{"a link elsewhere says nothing; the trunk does", []*Chat{
			made("Z", "", "k l", Link{Branch, "C", 1}), made("New", "", "a b c"), made("C", "Old", "a b x"),
		}, []string{"New"}},
		{"the trunk, though the children are older", []*Chat{
			made("New", "", "a b z"), made("C", "Old", "a b x"), made("D", "Old", "a b c"), made("E", "C", "a b x d"),
		}, []string{"New"}},
		{"several", []*Chat{
			made("N1", "", "a b c", Link{Branch, "C", 1}), made("N2", "", "a b d", Link{Checkpoint, "C", 1}), made("C", "Old", "a b x"),
		}, []string{"N1", "N2"}},
		{"nobody", []*Chat{made("K", "", "k"), made("C", "Old", "a b x"), made("D", "Old", "a b y")}, nil},
		{"the child of a link", []*Chat{
			made("P", "", "a b c d", Link{Branch, "Old", 1}, Link{Branch, "D", 1}), made("C", "P", "a b x"), made("D", "P", "a b y"), made("E", "P", "a b c y"),
		}, []string{"C"}},
		{"the parent of the missing chat is not the missing chat", []*Chat{
			made("P", "", "a b c d", Link{Checkpoint, "Old", 1}, Link{Branch, "C", 1}), made("C", "Old", "a b x"),
		}, nil},
		{"nor is its parent's trunk", []*Chat{made("P", "", "a b c d", Link{Checkpoint, "Old", 1}), made("C", "Old", "a b x"), made("K", "", "a b c d e")}, nil},
		{"nor a child with the same link", []*Chat{
			made("P", "", "a b c d", Link{Branch, "Old", 1}), made("C", "P", "a b x", Link{Branch, "Old", 1}), made("D", "P", "a b y"),
		}, []string{"D"}},
		{"a name that is there", []*Chat{made("Old", "", "a"), made("C", "Old", "a b")}, nil},
	}
	for _, tt := range tests {
		var got []string
		for _, c := range judge(tt.chats, ByLinks).Renamed("Old") {
			got = append(got, c.Name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

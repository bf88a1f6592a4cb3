package family

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/folder/library"
	"stchat/internal/sillytavern/message"
)

func namesOf(chats []*Chat) Names {
	var list []string
	for _, c := range chats {
		list = append(list, c.Name)
	}
	return library.NamesOf(list)
}

func judge(chats []*Chat, by Evidence) *Graph {
	return New(namesOf(chats), chats, by)
}

// seed is that of all messages here.
var seed = message.NewSeed()

// say makes messages that say what the words say; the date is the word's place in
// the alphabet and after it a number: "a" is older than "b".
func say(words string) []Message {
	var list []Message
	for w := range strings.FieldsSeq(words) {
		date := int64(w[0])<<8 + int64(len(w))
		if w[0] == '?' {
			date = 0
		}
		list = append(list, Message{ID: message.NewIdentifier(seed).Identity(nil, nil, []byte(`"`+w+`"`), nil, false), Date: date})
	}
	return list
}

func made(name, mainChat, words string, links ...Link) *Chat {
	return &Chat{Name: name, Path: name + ".jsonl", MainChat: mainChat, Messages: say(words), Links: links}
}

// shown is a chat as tests compare it: "name <via parent at/at_parent shared role".
func shown(g *Graph) []string {
	var list []string
	for _, c := range g.Chats {
		s := c.Name + " " + string(c.Role)
		if c.Parent != nil {
			s += fmt.Sprintf(" <%s %s %d/%d %d", c.Via, c.Parent.Name, c.At, c.AtParent, c.Shared)
		}
		if c.Dangling != "" {
			s += " !" + c.Dangling
		}
		if c.Cycle {
			s += " cycle"
		}
		if c.AtLink >= 0 {
			s += fmt.Sprintf(" @%d", c.AtLink)
		}
		list = append(list, s)
	}
	return list
}

func TestParents(t *testing.T) {
	tests := []struct {
		name  string
		chats []*Chat
		want  []string
	}{
		{
			"main_chat and links",
			[]*Chat{made("A", "", "a b c d", Link{Checkpoint, "B", 1}), made("B", "A", "a b x"), made("C", "B", "a b x y"), made("D", "A", "a")},
			[]string{"A root", "B checkpoint <main_chat A 1/1 2 @1", "C branch <main_chat B 2/2 3", "D branch <main_chat A 0/0 1"},
		},
		{
			"main_chat made safe, and in other letters",
			[]*Chat{made("ab", "", "a b"), made("B", "a:b", "a c"), made("C", "AB", "a d")},
			[]string{"ab root", "B branch <main_chat ab 0/0 1", "C branch <main_chat ab 0/0 1"},
		},
		{
			"a link where main_chat is missing, and where it dangles",
			[]*Chat{made("A", "", "a b c d", Link{Branch, "B", 1}, Link{Checkpoint, "C", 2}), made("B", "", "a b x"), made("C", "Gone", "a b c")},
			[]string{"A root", "B branch <link A 1/1 2 @1", "C checkpoint <link A 2/2 3 !Gone @2"},
		},
		{
			"copies carry the link too",
			[]*Chat{made("Z", "", "a b c d e", Link{Branch, "C", 1}), made("B", "Z", "a b c x", Link{Branch, "C", 1}), made("C", "", "a b y")},
			[]string{"Z root", "B branch <main_chat Z 2/2 3", "C branch <link Z 1/1 2 @1"},
		},
		{
			"never a descendant, and links in a circle",
			[]*Chat{made("A", "", "a b c", Link{Branch, "B", 0}), made("B", "", "a x", Link{Branch, "A", 0})},
			[]string{"A root", "B branch <link A 0/0 1 @0"},
		},
		{
			"uuid",
			[]*Chat{{Name: "New name", UUID: "u1", Messages: say("a b c")}, {Name: "B", UUID: "u2", ParentUUID: "u1", MainChat: "Old name", Messages: say("a b x")}},
			[]string{"New name root", "B branch <uuid New name 1/1 2 !Old name"},
		},
		{
			"the name, before 1.12",
			[]*Chat{made("Mira", "", "a b c"), made("Mira Checkpoint #2", "", "x"), made("Checkpoint #3 - 2024-01-05@03h04m05s", "", "a b")},
			[]string{"Mira root", "Mira Checkpoint #2 checkpoint <name Mira -1/-1 0", "Checkpoint #3 - 2024-01-05@03h04m05s checkpoint <content Mira 1/1 2"},
		},
		{
			"a name of a group chat says nothing",
			[]*Chat{{Name: "G", Groups: []string{"g"}, Messages: say("a")}, {Name: "G Checkpoint #2", Groups: []string{"g"}, Messages: say("x")}},
			[]string{"G root", "G Checkpoint #2 root"},
		},
		{
			"groups are owners of their own; one that none lists may be anyone's",
			[]*Chat{
				{Name: "G", Groups: []string{"g"}, Messages: say("a b")},
				{Name: "H", Groups: []string{"h"}, MainChat: "G", Messages: say("a x")},
				{Name: "U", MainChat: "G", Messages: say("a y")},
				{Name: "V", Groups: []string{"h", "g"}, MainChat: "G", Messages: say("a z")},
			},
			[]string{"G root", "H root !G", "U branch <main_chat G 0/0 1", "V branch <main_chat G 0/0 1"},
		},
		{
			"its own parent, two and three in a circle, and one that hangs on it",
			[]*Chat{
				made("S", "S", "k"), made("A", "B", "b x"), made("B", "A", "a x"),
				made("X", "Y", "c"), made("Y", "Z", "d"), made("Z", "X", "?"), made("H", "Y", "d e"),
			},
			[]string{
				"S root cycle", "A branch <main_chat B 1/1 1", "B root cycle",
				"X root cycle", "Y branch <main_chat Z -1/-1 0", "Z branch <main_chat X -1/-1 0", "H branch <main_chat Y 0/0 1",
			},
		},
		{
			"content: the oldest next message is the trunk's",
			[]*Chat{made("A", "", "a b x"), made("B", "", "a b c"), made("C", "", "a b c d"), made("D", "", "a b c"), made("E", "", "b a")},
			[]string{"A branch <content C 1/1 2", "B copy <content C 2/2 3", "C root", "D copy <content C 2/2 3", "E root"},
		},
		{
			"content: no date comes last, then the name",
			[]*Chat{made("C", "", "a ?b"), made("B", "", "a ?c"), made("A", "", "a z")},
			[]string{"C branch <content A 0/0 1", "B branch <content A 0/0 1", "A root"},
		},
		{
			"content: the fork belongs to the chat that a declared child has it from",
			[]*Chat{made("A", "", "a b z"), made("B", "A", "a b c d e"), made("C", "", "a b y"), made("D", "", "a b c d f")},
			[]string{"A branch <content C 1/1 2", "B branch <main_chat A 1/1 2", "C root", "D branch <content B 3/3 4"},
		},
		{
			"edited, inserted and deleted before the fork",
			[]*Chat{made("P", "", "a b c d e f g"), made("C", "P", "a B c n n d f x y")},
			[]string{"P root", "C branch <main_chat P 6/5 4"},
		},
		{
			"a swipe of the fork's message",
			[]*Chat{made("P", "", "a b c d", Link{Branch, "C", 2}), made("C", "P", "a b C")},
			[]string{"P root", "C branch <main_chat P 1/1 2 @2"},
		},
		{
			"equal messages",
			[]*Chat{made("P", "", "a . . . b . c"), made("C", "P", "a . . b . x ."), made("D", "P", ". . . . a")},
			[]string{"P root", "C branch <main_chat P 6/5 5", "D branch <main_chat P 3/5 4"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shown(judge(tt.chats, ByLinks))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestByContentOnly(t *testing.T) {
	g := judge([]*Chat{made("A", "B", "a b x", Link{Checkpoint, "B", 1}), made("B", "", "a b c"), made("C", "B", "k")}, ByContentOnly)
	if diff := cmp.Diff([]string{"A branch <content B 1/1 2", "B root", "C root"}, shown(g)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWarnings(t *testing.T) {
	g := judge([]*Chat{made("A", "", "a", Link{Branch, "c", 0}), made("B", "a", "x"), made("C", "A", "a")}, ByLinks)
	var got []string
	for _, w := range g.Warnings {
		got = append(got, fmt.Sprintf("%s %d %s", w.Chat.Name, w.Kind, w.Name))
	}
	if diff := cmp.Diff([]string{"B 0 a", "B 1 A", "A 0 c"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// story is a generated family: what is true of it is known.
type story struct {
	chats  []*Chat
	parent []int // -1: none
	at     []int // in the child
}

// generate makes n chats. Every chat goes on behind its forks before they are made,
// as it is where a story is taken up again from an earlier message.
func generate(r *rand.Rand, n int) *story {
	s := &story{}
	clock := int64(1)
	write := func(count int) (list []Message) {
		for range count {
			clock++
			list = append(list, Message{ID: message.NewIdentifier(seed).Identity(nil, nil, fmt.Appendf(nil, `"%d"`, clock), nil, false), Date: clock})
		}
		return list
	}
	for i := range n {
		c := &Chat{Name: fmt.Sprintf("chat %d", r.Uint32()), Path: fmt.Sprint(i)}
		parent, at := -1, -1
		if i > 0 && r.IntN(8) > 0 {
			parent = r.IntN(i)
			p := s.chats[parent]
			at = r.IntN(len(p.Messages) - 1)
			c.MainChat = p.Name
			c.Messages = append(c.Messages, p.Messages[:at+1]...)
			for _, l := range p.Links {
				if l.Index <= at {
					c.Links = append(c.Links, l)
				}
			}
			p.Links = append(p.Links, Link{Branch, c.Name, at})
			// the fork's message may be the parent's parent's
			for s.parent[parent] >= 0 && s.at[parent] >= at {
				parent = s.parent[parent]
			}
		}
		c.Messages = append(c.Messages, write(2+r.IntN(30))...)
		s.chats, s.parent, s.at = append(s.chats, c), append(s.parent, parent), append(s.at, at)
	}
	return s
}

// check compares with the truth; a parent may also be one that only inherited the
// fork's message, where it is declared.
func (s *story) check(t *testing.T, what string, declared func(i int) bool) {
	t.Helper()
	for i, c := range s.chats {
		if c.At != s.at[i] || c.AtParent != s.at[i] {
			t.Errorf("%s: %s parts at %d/%d, want %d", what, c.Name, c.At, c.AtParent, s.at[i])
		}
		switch {
		case declared(i):
		case c.Parent == nil && s.parent[i] >= 0, c.Parent != nil && (s.parent[i] < 0 || c.Parent != s.chats[s.parent[i]]):
			t.Errorf("%s: %s has the wrong parent", what, c.Name)
		}
	}
}

func TestGenerated(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := generate(r, 200)
		judge(s.chats, ByLinks)
		s.check(t, "all links", func(int) bool { return true })
		judge(s.chats, ByContentOnly)
		s.check(t, "by content", func(int) bool { return false })

		lost := map[int]bool{}
		for i, c := range s.chats {
			if r.IntN(2) == 0 {
				c.MainChat, lost[i] = "", true
			}
			c.Links = nil
		}
		judge(s.chats, ByLinks)
		s.check(t, "half of the links", func(i int) bool { return !lost[i] })

		for i, c := range s.chats {
			if c.MainChat != "" && r.IntN(2) == 0 {
				c.MainChat, lost[i] = "a name from before "+c.MainChat, true
			}
		}
		judge(s.chats, ByLinks)
		s.check(t, "renamed parents", func(i int) bool { return !lost[i] })

		for _, c := range s.chats {
			c.MainChat = ""
		}
		judge(s.chats, ByLinks)
		s.check(t, "no links", func(int) bool { return false })
	}
}

// TestEdited changes messages before the fork, which declared parents survive.
func TestEdited(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := generate(r, 100)
		fresh := func() Message {
			return Message{ID: message.ID{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), 1}}
		}
		want := map[*Chat]int{}
		for i, c := range s.chats {
			at := s.at[i]
			old := c.Messages
			c.Messages = nil
			for k, m := range old {
				if k < at {
					switch r.IntN(10) {
					case 0:
						m = fresh()
					case 1:
						c.Messages = append(c.Messages, fresh())
					case 2:
						continue
					}
				}
				c.Messages = append(c.Messages, m)
				if k == at {
					want[c] = len(c.Messages) - 1
				}
			}
			if at < 0 {
				want[c] = -1
			}
		}
		judge(s.chats, ByLinks)
		for _, c := range s.chats {
			// what the parent lost of the messages before the fork is not found there
			if c.Parent != nil && contains(c.Parent, c.Messages[want[c]].ID) && c.At != want[c] {
				t.Errorf("seed %d: %s parts at %d, want %d", seed, c.Name, c.At, want[c])
			}
		}
	}
}

func contains(c *Chat, id message.ID) bool {
	for _, m := range c.Messages {
		if m.ID == id {
			return true
		}
	}
	return false
}

// TestLongChain has a hundred thousand chats, each the child of the one before it:
// by main_chat, by links alone, and all in one circle.
func TestLongChain(t *testing.T) {
	const n = 100_000
	name := func(i int) string { return fmt.Sprintf("chat %06d", i) }
	chain := func(mainChat, links bool) *Graph {
		chats := make([]*Chat, n)
		for i := range chats {
			chats[i] = made(name(i), "", "a b")
			if mainChat && i > 0 {
				chats[i].MainChat = name(i - 1)
			}
			if links && i < n-1 {
				chats[i].Links = []Link{{Branch, name(i + 1), 1}}
			}
		}
		if mainChat && links {
			chats[0].MainChat = name(n - 1)
		}
		return New(namesOf(chats), chats, ByLinks)
	}
	for what, g := range map[string]*Graph{"main_chat": chain(true, false), "links": chain(false, true), "circle": chain(true, true)} {
		if roots := g.Roots(); len(roots) != 1 || roots[0].Name != name(0) {
			t.Errorf("%s: %d roots", what, len(roots))
		}
		if what == "circle" && (len(g.Circles) != 1 || len(g.Circles[0]) != n) {
			t.Errorf("%d circles", len(g.Circles))
		}
	}
}

func TestManyChildren(t *testing.T) {
	const n = 10_000
	parent := &Chat{Name: "P"}
	for i := range n {
		parent.Messages = append(parent.Messages, Message{ID: message.ID{byte(i), byte(i >> 8), 1}, Date: int64(i + 1)})
	}
	chats := []*Chat{parent}
	for i := range n {
		c := &Chat{Name: fmt.Sprintf("c%05d", i), MainChat: "P", Messages: append([]Message{{ID: message.ID{byte(i), byte(i >> 8), 2}}}, parent.Messages[1:i%50+2]...)}
		chats = append(chats, c)
	}
	judge(chats, ByLinks)
	for i, c := range parent.Children[1:] {
		if before := parent.Children[i]; before.At > c.At {
			t.Fatalf("%s at %d stands before %s at %d", before.Name, before.At, c.Name, c.At)
		}
	}
	if c := chats[50]; c.At != 50 || c.Shared != 50 || c.Edited() != 1 || c.Own() != 0 {
		t.Errorf("the last point is %+v, own %d", c.Point, c.Own())
	}
}

func TestEldest(t *testing.T) {
	chats := []*Chat{made("A", "", "b"), made("B", "A", "b c"), made("C", "B", "b c d"), made("D", "", "a"), made("E", "C", "x"), made("F", "E", "x")}
	g := judge(chats, ByLinks)
	for which, want := range map[string]string{"ABC": "A", "BC": "B", "CD": "D", "AD": "D", "EFB": "B", "FE": "E", "BD": "D"} {
		var among []*Chat
		for _, c := range chats {
			if strings.Contains(which, c.Name) {
				among = append(among, c)
			}
		}
		if got := g.Eldest(among); got.Name != want {
			t.Errorf("of %s it is %s, want %s", which, got.Name, want)
		}
	}
}

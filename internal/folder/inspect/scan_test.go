package inspect

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/sillytavern/chat"
)

// scanFile opens and scans a chat.
func scanFile(t testing.TB, k *Scanner, path string, workers int) *Report {
	t.Helper()
	c, err := chat.Open(context.Background(), path, chat.Options{Groups: k.around, Any: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := k.Scan(context.Background(), c, Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// write makes a chat in a folder of its own.
func write(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// check compares a report with the independent count of the same file.
func check(t *testing.T, path string, r *Report) {
	t.Helper()
	want, got := countFile(t, readFile(t, path)).normal(), counted(r).normal()
	if r.Header == "damaged" {
		got.Header = want.Header // judged by what the damage is
	}
	if !sameDate(got.First, want.First) || !sameDate(got.Last, want.Last) {
		t.Errorf("%s: dates %s to %s, want %s to %s", path, got.First, got.Last, want.First, want.Last)
	}
	got.First, got.Last, want.First, want.Last = "", "", "", ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-independent +inspect)\n%s", path, diff)
	}
}

func TestCountsOfGoldenChats(t *testing.T) {
	k := NewScanner(new(library.Library))
	n := 0
	for _, root := range []string{"golden", "demo"} {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", "testdata", root), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".jsonl" {
				n++
				check(t, path, scanFile(t, k, path, 1))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 39 {
		t.Errorf("only %d chats", n)
	}
}

// chatMaker makes chats with all that may be in one.
type chatMaker struct{ *rand.Rand }

func (g chatMaker) one(list ...string) string { return list[g.IntN(len(list))] }

func (g chatMaker) boolean() string {
	return g.one("true", "false", "false", "null", `""`, `"yes"`, "0", "-0", "0.0", "1e-999", "1", "[]", "{}", `"false"`)
}

func (g chatMaker) text() string {
	return `"` + repeat(g.one("word ", "日本", "é", `\n`, `\u0041`, `\ud800`, "\u202e", `\"`), g.IntN(40)) + `"`
}

func (g chatMaker) list(item func() string, most int) string {
	var items []string
	for range g.IntN(most + 1) {
		items = append(items, item())
	}
	return "[" + g.one("", " ") + strings.Join(items, g.one(",", ", ")) + "]"
}

func (g chatMaker) extra() string {
	if g.IntN(10) == 0 {
		return g.one("null", "5", `"x"`, "[]", `[{"type":"a"}]`, "{}", "{ }")
	}
	var members []string
	add := func(key, value string) { members = append(members, key+g.one(":", " : ")+value) }
	for range g.IntN(5) {
		switch g.IntN(9) {
		case 0:
			add(g.one(`"type"`, `"t\u0079pe"`), g.one(`""`, `"narrator"`, "null", "5"))
		case 1:
			add(`"bookmark_link"`, g.one(`""`, `"here"`, `"\u0068ere"`, "7", "null", `"..\/up"`))
		case 2:
			add(`"branches"`, g.one("null", `"b"`, g.list(func() string { return g.one(`"b1"`, `""`, "3", `"b2"`) }, 3)))
		case 3:
			add(g.one(`"auto_recap_memory"`, `"auto_recap"`), fmt.Sprintf(`{"scene_break":%s,"scene_break_visible":%s,"scene_recap_memory":%s}`,
				g.boolean(), g.one("true", "false", "null", "0"), g.one(`""`, `"recap"`, "5")))
		case 4:
			add(`"auto_recap"`, `{"scene_break":true}`)
		default:
			add(g.one(`"api"`, `"model"`, `"reasoning"`, `"token_count"`, `"\u0061pi"`, `"日本"`, `"key`+fmt.Sprint(g.IntN(50))+`"`), g.one("1", g.text(), "{}"))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (g chatMaker) message() string {
	var members []string
	add := func(key, value string) { members = append(members, `"`+key+`":`+value) }
	for _, m := range []struct {
		key   string
		value func() string
	}{
		{"name", func() string { return g.one(`"Mira"`, `"User"`, `"System"`, "null") }},
		{"is_user", g.boolean},
		{"is_system", g.boolean},
		{"send_date", func() string {
			return g.one(`"2026-01-02T03:04:05.000Z"`, `"2026-01-02T03:04:06.789Z"`, `""`, "null", "[]", `"some day"`)
		}},
		{"mes", g.text},
		{"extra", g.extra},
		{"swipe_id", func() string { return g.one("0", "1", "1.0", `"0"`, "-1") }},
		{"swipes", func() string { return g.one("null", `"ab"`, "{}", g.list(g.text, 4), g.list(g.text, 4)) }},
		{"swipe_info", func() string { return g.list(g.extra, 3) }},
	} {
		if g.IntN(8) > 0 {
			add(m.key, m.value())
		}
		if g.IntN(60) == 0 {
			add(m.key, m.value()) // repeated: the last one counts
		}
	}
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ",") + "}"
}

// chat returns a chat of n lines, damage per thousand of them damaged.
func (g chatMaker) chat(n, damage int) []byte {
	var b bytes.Buffer
	if g.IntN(6) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	b.WriteString(g.one(`{"chat_metadata":{},"user_name":"unused"}`, `{"chat_metadata":[]}`, `{"user_name":"unused","mes":"x"}`, `{"character_name":"x"}`, "{", "null", g.message()))
	for range n {
		b.WriteString(g.one("\n", "\n", "\n", "\r\n", "\n\n", "\n \t\r\n"))
		line := g.message()
		if g.IntN(1000) < damage {
			line = g.one(line[:g.IntN(len(line))+1], "null", "false", "5", "[1]", `"text"`, line+line, line+"x", repeat("\x00", 20),
				`{"mes":`+repeat("[", 10000)+repeat("]", 10000)+"}", `{"mes":`+repeat("[", 9999)+repeat("]", 9999)+"}", `{"chat_metadata":{}}`, "{\"mes\":\"\xff\"}")
		}
		b.WriteString(line)
	}
	b.WriteString(g.one("", "\n", "\n\n"))
	return b.Bytes()
}

func TestCountsOfGeneratedChats(t *testing.T) {
	g := chatMaker{rand.New(rand.NewPCG(7, 8))}
	k := NewScanner(new(library.Library))
	for range 250 {
		path := write(t, g.chat(g.IntN(40), 150))
		check(t, path, scanFile(t, k, path, 1))
		if t.Failed() {
			t.Fatalf("%s", readFile(t, path))
		}
	}
}

// TestCountsOfALargeChat holds that a chat of many blocks is counted alike,
// and that several goroutines give what one does.
func TestCountsOfALargeChat(t *testing.T) {
	if testing.Short() {
		t.Skip("counts 50,000 messages twice")
	}
	g := chatMaker{rand.New(rand.NewPCG(9, 10))}
	path := write(t, g.chat(50_000, 5))
	k := NewScanner(new(library.Library))
	many, one := scanFile(t, k, path, 0), scanFile(t, k, path, 1)
	if many.Messages < 49_000 {
		t.Fatalf("only %d messages", many.Messages)
	}
	check(t, path, many)
	if diff := cmp.Diff(one, many); diff != "" {
		t.Errorf("(-one goroutine +several)\n%s", diff)
	}
}

// TestMessagesAreWhatIsCounted holds that the list of messages tells what the
// counts tell.
func TestMessagesAreWhatIsCounted(t *testing.T) {
	g := chatMaker{rand.New(rand.NewPCG(11, 12))}
	k := NewScanner(new(library.Library))
	for range 100 {
		path := write(t, g.chat(g.IntN(40), 150))
		r := scanFile(t, k, path, 1)
		c, err := chat.Open(context.Background(), path, chat.Options{Any: true})
		if err != nil {
			t.Fatal(err)
		}
		var got count
		damage := 0
		err = Messages(context.Background(), c, MessagesOptions{}, func(m *Message) error {
			if m.Index != got.Messages {
				t.Errorf("message %d comes as number %d", m.Index, got.Messages)
			}
			got.Messages++
			switch m.Role {
			case "user":
				got.User++
			case "system", "narrator", "comment":
				got.System++
			case "character":
				got.Character++
			}
			if m.Hidden {
				got.Hidden++
			}
			got.Swipes += m.Swipes
			if m.Swipes > 1 {
				got.WithSwipes++
			}
			if m.SceneBreak {
				got.Breaks++
			}
			if m.Checkpoint != nil {
				got.Checkpoints = append(got.Checkpoints, Link{At: m.Index, Name: *m.Checkpoint})
			}
			for _, name := range m.Branches {
				got.Branches = append(got.Branches, Link{At: m.Index, Name: name})
			}
			return nil
		}, func(d jsonl.Damages) { damage += d.Total })
		c.Close()
		if err != nil {
			t.Fatal(err)
		}
		want := counted(r).normal()
		got.Header, got.First, got.Last, got.Longest, got.Recaps = want.Header, want.First, want.Last, want.Longest, want.Recaps
		got.Text, got.SwipeBytes, got.SwipeInfo, got.Extra, got.Total = want.Text, want.SwipeBytes, want.SwipeInfo, want.Extra, want.Total
		got.ExtraKeys, got.Damage, got.DamageTotal = want.ExtraKeys, want.Damage, want.DamageTotal
		if diff := cmp.Diff(want, got); diff != "" || damage != r.DamageTotal {
			t.Fatalf("%d damaged lines, want %d (-scan +messages)\n%s\n%s", damage, r.DamageTotal, diff, readFile(t, path))
		}
	}
}

// TestOrdinaryLinesDoNotAllocate holds what keeps a gigabyte quick.
func TestOrdinaryLinesDoNotAllocate(t *testing.T) {
	line := `{"name":"Mira","is_user":false,"is_system":false,"send_date":"2026-01-02T03:04:05.000Z","mes":"` + repeat("text ", 50) +
		`","extra":{"api":"a","model":"m","reasoning":"` + repeat("why ", 50) + `","a key that is longer than thirty-two bytes":1,"token_count":7},"swipe_id":0,"swipes":["a","b"],"swipe_info":[{},{}]}` + "\n"
	k := NewScanner(new(library.Library))
	scan := func(lines int) float64 {
		path := write(t, []byte(`{"chat_metadata":{}}`+"\n"+repeat(line, lines)))
		return testing.AllocsPerRun(3, func() { scanFile(t, k, path, 1) })
	}
	scan(2000) // the memory that is kept
	few, many := scan(10), scan(1000)
	if many > few+20 {
		t.Errorf("%v allocations for 10 lines, %v for 1000", few, many)
	}
}

// TestManyKeysUnderExtra holds that a million different keys take no memory
// for each.
func TestManyKeysUnderExtra(t *testing.T) {
	var s sizes
	big := []byte(`"big"`)
	for i := range 300_000 {
		s.add([]byte(fmt.Sprintf(`"k%d"`, i)), 10)
		if i%100 == 0 {
			s.add(big, 1000)
			s.add([]byte(`"`+repeat("long", 1000)+`"`), 5000)
		}
	}
	if len(s.keys) > maxKeys {
		t.Errorf("%d keys are kept", len(s.keys))
	}
	top := s.largest(5)
	if len(top) != 5 || top[0].Bytes != 3000*5000 || top[1] != (Size{"big", 3000 * 1000}) || len(top[0].Key) > maxKey+3 {
		t.Errorf("largest: %+v", top)
	}
}

func TestFirstLine(t *testing.T) {
	for _, test := range []struct {
		text, want string
		head       int
	}{
		{"", "", 0},
		{"one", "one", 0},
		{"one\ntwo", "one", 0},
		{"\n \r\n\t one\r\ntwo", "one", 0},
		{`\none\` + "\ntwo", `\none\`, 0},
		{"\n\n", "", 0},
		{"a\rb\nc", "a\rb", 0},
		{"abcdef", "abc", 3},
		{"日本語", "日本", 4},
		{"ab😀", "ab", 2},
		{"ab😀cd", "ab😀", 3},
	} {
		if got := beginning(test.text, test.head); got != test.want {
			t.Errorf("%q, %d: %q, want %q", test.text, test.head, got, test.want)
		}
	}
}

// A chat of nothing but links must not become memory.
func TestManyLinks(t *testing.T) {
	line := `{"mes":"x","extra":{"bookmark_link":"a","branches":["b","c"]}}` + "\n"
	n := jsonl.Small/len(line) + 10_000
	for _, n := range []int{5, n} {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		if err := os.WriteFile(path, []byte(`{"chat_metadata":{}}`+"\n"+repeat(line, n)), 0o644); err != nil {
			t.Fatal(err)
		}
		r := scanFile(t, NewScanner(new(library.Library)), path, 0)
		kept := len(r.Checkpoints) + len(r.Branches)
		if r.CheckpointTotal != n || r.BranchTotal != 2*n || kept != min(3*n, maxLinks) {
			t.Errorf("%d messages: %d checkpoints and %d branches, %d links kept", n, r.CheckpointTotal, r.BranchTotal, kept)
		}
	}
}

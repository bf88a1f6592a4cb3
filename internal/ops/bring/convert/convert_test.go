package convert

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// shown prints a conversation: a line a message, as the fixtures' .want files have it.
func shown(c *Conversation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s id=%q title=%q user=%q character=%q greeting=%d\n", c.Format, c.ID, c.Title, c.User, c.Character, c.Greeting)
	messages := func(before string, list []Message) {
		for _, m := range list {
			fmt.Fprintf(&b, "%s%s %q", before, [...]string{"char", "user", "narrator"}[m.Role], m.Text)
			if m.Name != "" {
				fmt.Fprintf(&b, " name=%q", m.Name)
			}
			if !m.Date.IsZero() {
				fmt.Fprintf(&b, " %s", m.Date.UTC().Format(time.RFC3339Nano))
			}
			if m.Hidden {
				b.WriteString(" hidden")
			}
			if m.Model != "" {
				fmt.Fprintf(&b, " model=%q", m.Model)
			}
			if m.Reasoning != "" {
				fmt.Fprintf(&b, " reasoning=%q", m.Reasoning)
			}
			for i, s := range m.Swipes {
				mark := ""
				if i == m.Swipe {
					mark = "*"
				}
				fmt.Fprintf(&b, " %s%q", mark, s.Text)
			}
			if m.Line != nil {
				fmt.Fprintf(&b, " %s", m.Line)
			}
			b.WriteByte('\n')
		}
	}
	messages("  ", c.Messages)
	for _, branch := range c.Branches {
		fmt.Fprintf(&b, "  branch at %d\n", branch.At)
		messages("    ", branch.Messages())
	}
	for _, d := range c.Dropped {
		fmt.Fprintf(&b, "  dropped %d %s\n", d.Count, d.What)
	}
	for _, note := range c.Notes {
		fmt.Fprintf(&b, "  note %s\n", note)
	}
	for _, s := range c.Strangers {
		fmt.Fprintf(&b, "  stranger %d %s\n", s.Lines, s.Name)
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "  warning %s\n", warning)
	}
	return b.String()
}

func scanned(text, as string) (string, error) {
	var b strings.Builder
	opt := Options{Users: []string{"Tom"}, Characters: []string{"Mira"}, Zone: time.UTC}
	err := Scan(strings.NewReader(text), int64(len(text)), as, func(f Found, raw string) error {
		if f.Err != nil {
			fmt.Fprintf(&b, "refused: %v\n", f.Err)
			return nil
		}
		if text[f.Off:f.Off+f.Len] != raw {
			return fmt.Errorf("%d+%d is not what was read", f.Off, f.Len)
		}
		c, err := Read(f.Format, raw, opt)
		if err != nil {
			return err
		}
		b.WriteString(shown(c))
		return nil
	})
	return b.String(), err
}

// Each fixture is read as its .want file says, which was held against the fixture by hand.
func TestFixtures(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.in"))
	if err != nil || len(paths) < 15 {
		t.Fatal(len(paths), err)
	}
	formats := map[string]bool{}
	for _, path := range paths {
		in, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		as := ""
		if strings.HasPrefix(filepath.Base(path), "txt") {
			as = "txt"
		}
		got, err := scanned(string(in), as)
		if err != nil {
			got += "error: " + err.Error() + "\n"
		}
		want, err := os.ReadFile(strings.TrimSuffix(path, ".in") + ".want")
		if err != nil {
			t.Errorf("%s has no .want file; hold this against it by hand, and keep it as its .want:\n%s", path, got)
			continue
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		format, _, _ := strings.Cut(got, " ")
		formats[format] = true
	}
	for _, name := range Formats() {
		if !formats[name] {
			t.Errorf("no fixture is %s", name)
		}
	}
}

func TestScanRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "1:1: the file is empty",
		"\xff\xfe[\x00]\x00":                     "1:1: this is not UTF-8",
		"[\x00]\x00":                             "1:1: this is not UTF-8",
		"hello":                                  "no format fits: it is not JSON",
		"[]":                                     "no format fits",
		"{\"a\":1}":                              "no format fits",
		"[{\"mapping\":{}}] x":                   "1:18: there is more behind the end",
		"[{\"role\":\"user\"}]\n x":              "2:2: there is more behind the end",
		"[{\"mapping\":{}}":                      "the list has no end",
		"[{\"mapping\":{}}\n{\"mapping\":{}}]":   "2:1: a comma is missing",
		"{\"mapping\":{}} {\"mapping\":{}}":      "1:16: there is more behind the end",
		"{\"mapping\":":                          "1:12: the value has no end",
		"{\"chat_metadata\":{}}\n{\"mes\":\"\"}": "a chat of SillyTavern's own",
		"{\"name\":\"A\",\"mes\":\"\"}":          "a chat of SillyTavern's own",
		"[{\"name\":\"A\",\"mes\":\"\"}]":        "a chat of SillyTavern's own, in another layout",
		"{\"name\":\"A\",\n\"mes\":\"\"}":        "a chat of SillyTavern's own, in another layout",
	} {
		_, err := scanned(text, "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %s", text, err, want)
		}
	}
	if _, err := scanned(`{"mes":""}`, ""); !errors.Is(err, ErrTavern) {
		t.Error(err)
	}
}

// What cannot be read in a list does not keep the others from being read.
func TestOthersGoOn(t *testing.T) {
	deep := strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	good := `{"mapping":{"a":{"message":{"author":{"role":"user"},"content":{"parts":["hello"]}}}},"current_node":"a"}`
	got, err := scanned("["+good+`,{"mapping":`+deep+"},"+`{"mapping":{x}},{"odd":1},`+good+"]", "")
	if err != nil || strings.Count(got, "hello") != 2 || strings.Count(got, "refused") != 3 {
		t.Errorf("%v\n%s", err, got)
	}
}

// Where nobody is known to speak, that is an error that counts what there was.
func TestUnknownSpeakers(t *testing.T) {
	for in, want := range map[string]string{
		`{"messages":[{"role":"A","content":"x"},{"role":"B","content":"y"},{"role":"A","content":"z"}]}`: `messages of "A" (2), messages of "B" (1)`,
		`{"mapping":{"1":{"message":{"sender":"x","body":"y"}}}}`:                                         `messages of nobody (1)`,
		`{"chat_messages":[{"sender":"x","text":"y"}]}`:                                                   `messages of "x" (1)`,
		`{"conversations":[{"from":"x","value":"y"}]}`:                                                    `messages of "x" (1)`,
	} {
		if _, err := scanned(in, ""); !errors.Is(err, ErrUnknown) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, not %s", in, err, want)
		}
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `,{"role":"%d %s"}`, i, strings.Repeat("x", 1000))
	}
	_, err := scanned(`{"messages":[{"role":"user","content":"x"}`+many.String()+`]}`, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = scanned(`{"messages":[`+many.String()[1:]+`]}`, "")
	if err == nil || len(err.Error()) > 1000 || !strings.HasSuffix(err.Error(), "messages of others (90)") {
		t.Error(err)
	}
}

// Whatever the buffer's borders cut, the same values come out.
func TestSplitterBorders(t *testing.T) {
	one := `{"id":"\\\"}","conversations":[{"from":"human","value":"` + strings.Repeat(`a\"b\\`, 50_000) + `"},{"from":"gpt","value":"]}"}]}`
	text := "\xef\xbb\xbf" + strings.Repeat(one+"\n", 5)
	n := 0
	err := Scan(strings.NewReader(text), int64(len(text)), "", func(f Found, raw string) error {
		if n++; raw != one || text[f.Off:f.Off+f.Len] != one {
			t.Errorf("%d is another value", n)
		}
		return nil
	})
	if err != nil || n != 5 {
		t.Error(n, err)
	}
}

// Odd input is read as a person would, and what is wrong is named with its place.
func TestOdd(t *testing.T) {
	said := func(role, text string) string {
		return `{"message":{"author":{"role":"` + role + `"},"content":{"parts":["` + text + `"]}},"parent":"`
	}
	for _, test := range []struct{ name, as, in, want string }{
		{"no chat at all", "", `{"histories":{"histories":[]}}`, `cai id="" title="" user="" character="" greeting=-1`},
		{"no chat of a character", "", `{"type":"risuAllChats","data":[]}`, `risu id="" title="" user="" character="" greeting=0`},
		{
			"a name is one message's own", "", `{"type":"risuChat","data":{"message":[{"role":"char","data":"a"},{"role":"char","data":"b","name":"Zed"},{"role":"user","data":"c","name":"Bo"}]}}`,
			`risu id="" title="" user="Bo" character="" greeting=0
  char "a"
  char "b" name="Zed"
  user "c" name="Bo"`,
		},
		{
			"the last message is left out, and nothing stands above it", "", `{"mapping":{"s":` + said("system", "S") + `"},"a":` + said("user", "A") + `s"},"b":` + said("assistant", "B") + `a"}},"current_node":"s"}`,
			`chatgpt id="" title="" user="" character="" greeting=-1
  user "A"
  char "B"
  dropped 1 messages of system
  note the source does not say which message is the last: it is the last leaf`,
		},
		{
			"a circle ends in its leaf", "", `{"mapping":{"a":` + said("user", "A") + `b"},"b":` + said("assistant", "B") + `a"}},"current_node":"b"}`,
			`chatgpt id="" title="" user="" character="" greeting=-1
  user "A"
  char "B"
  note a message follows itself: the tree is cut there`,
		},
		{
			"a thought in a circle is thought once", "", `{"mapping":{"t":{"message":{"content":{"content_type":"thoughts","thoughts":[{"content":"hm"}]}},"parent":"s"},"s":{"parent":"t"},"b":` +
				said("assistant", "B") + `t"}},"current_node":"b"}`,
			`chatgpt id="" title="" user="" character="" greeting=-1
  char "B" reasoning="hm"
  note a message follows itself: the tree is cut there`,
		},
		{
			"swipes without a date are the first, then the oldest", "", `{"mapping":{"u":` + said("user", "U") + `"},` +
				`"a":{"message":{"create_time":1700000009,` + said("assistant", "nine")[len(`{"message":{`):] + `u"},"b":` + said("assistant", "none") + `u"},` +
				`"c":{"message":{"create_time":1700000005,` + said("assistant", "five")[len(`{"message":{`):] + `u"}},"current_node":"c"}`,
			`chatgpt id="" title="" user="" character="" greeting=-1
  user "U"
  char "five" 2023-11-14T22:13:25Z "none" *"five" "nine"`,
		},
		{
			"a reply that ends is a swipe of its sibling that goes on, elsewhere too", "", `{"mapping":{"u":` + said("user", "U") + `"},"v":` + said("user", "V") + `u"},` +
				`"a":` + said("assistant", "ends") + `v"},"b":` + said("assistant", "goes on") + `v"},"w":` + said("user", "W") + `b"},"x":` + said("assistant", "X") + `u"}},"current_node":"x"}`,
			`chatgpt id="" title="" user="" character="" greeting=-1
  user "U"
  char "X"
  branch at 0
    user "U"
    user "V"
    char "goes on" "ends" *"goes on"
    user "W"`,
		},
		{
			"a last message with none on the way to it", "", `{"mapping":{"r":{},"u":` + said("user", "U") + `r"}},"current_node":"r"}`,
			`chatgpt id="" title="" user="" character="" greeting=-1
  user "U"
  note the source does not say which message is the last: it is the last leaf`,
		},
		{
			"each line a list of messages", "", "[{\"role\":\"user\",\"content\":\"a\"}]\n[{\"role\":\"user\",\"content\":\"b\"}]\n{\"messages\":[{\"role\":\"user\",\"content\":\"c\"}]}\n",
			`openai id="" title="" user="" character="" greeting=-1
  user "a"
openai id="" title="" user="" character="" greeting=-1
  user "b"
openai id="" title="" user="" character="" greeting=-1
  user "c"`,
		},
		{
			"an empty text, and what is no line", "chub", "{\"mes\":{\"message\":\"\"}}\n[1]\n{\"mes\":\"\",\"swipes\":[{\"message\":\"\"},{\"message\":1}]}",
			`chub id="" title="" user="" character="" greeting=-1
  char "" {"mes":""}
  char "" *"" "" {"mes":"","swipes":["",""]}
  dropped 1 damaged lines
  dropped 1 swipes without text`,
		},
		{
			"words for speakers are known in any case, others are counted", "", `{"messages":[{"role":"Human","content":"a"},{"role":"Narratrix","content":"b"},{"role":"Narratrix","content":"c"},{"content":"d"},5]}`,
			`openai id="" title="" user="" character="" greeting=-1
  user "a"
  dropped 2 messages of "Narratrix"
  dropped 1 messages of nobody
  dropped 1 entries that are no messages`,
		},
		{
			"of a repeated key the last counts", "", `{"messages":[{"role":"system","content":"first","role":"user","content":"last"}],"title":"a","title":"b"}`,
			`openai id="" title="b" user="" character="" greeting=-1
  user "last"`,
		},
		{
			"a tool call beside a text", "", `{"messages":[{"role":"assistant","content":"a","tool_calls":[{"id":1},{"id":2}]}]}`,
			`openai id="" title="" user="" character="" greeting=-1
  char "a"
  dropped 2 tool calls`,
		},
		{
			"a version is the internal text, and the text may be none of them", "",
			`{"internal":[["a","b"],["c","d"]],"visible":[["a","B"],["c","d"]],"metadata":{"user_0":{"versions":[{"content":"old"}]},"assistant_0":{"versions":[{"content":"b"},{"content":"e"}]},` +
				`"user_1":{"versions":[{"content":"c"}],"current_version_index":3},"assistant_1":{"versions":[{"content":"f"},{"content":"d"}],"current_version_index":9}}}`,
			`ooba id="" title="" user="" character="" greeting=-1
  user "a" "old" *"a"
  char "B" *"B" "e"
  user "c"
  char "d" "f" *"d"`,
		},
		{
			"CR LF", "txt", "Tom: a\r\nb\r\n\r\nMira: c\r\n",
			`txt id="" title="" user="Tom" character="Mira" greeting=-1
  user "a\nb" name="Tom"
  char "c" name="Mira"`,
		},
		{
			"where the user says nothing, one line may be the user's", "txt", "Mira: a\n\nInes: b\n\nMira: c\n\nSo: d\n\nSo: e\n",
			`txt id="" title="" user="" character="Mira" greeting=-1
  char "a\n\nInes: b" name="Mira"
  char "c\n\nSo: d\n\nSo: e" name="Mira"
  stranger 2 So
  stranger 1 Ines`,
		},
		{
			"also within a paragraph", "txt", "Mira: a\nInes: b\n\nMira: c\n",
			`txt id="" title="" user="" character="Mira" greeting=-1
  char "a\nInes: b" name="Mira"
  char "c" name="Mira"
  stranger 1 Ines`,
		},
		{
			"where the user speaks, it may be a text's own", "txt", "Mira: a\n\nTom: b\nSo: c\nSo: d\n\nInes: e\n",
			`txt id="" title="" user="Tom" character="Mira" greeting=-1
  char "a" name="Mira"
  user "b\nSo: c\nSo: d\n\nInes: e" name="Tom"`,
		},
		{
			"before the first speaker it is left out", "txt", "Ines: a\n\nMira: b\n\nTom: c\n",
			`txt id="" title="" user="Tom" character="Mira" greeting=-1
  char "b" name="Mira"
  user "c" name="Tom"
  dropped 1 lines before the first speaker
  stranger 1 Ines
  warning 1 line before the first speaker is left out`,
		},
		{
			"places", "", "[{\"mapping\":{}},\n {\"odd\":1}, {\"mapping\":{\n\"a\":x}}, {\"mapping\":{y}}]", `chatgpt id="" title="" user="" character="" greeting=-1
refused: 2:2: no format fits
refused: 3:5: unexpected 'x' where a value must follow
refused: 3:22: unexpected 'y' where a key or } must follow`,
		},
	} {
		got, err := scanned(test.in, test.as)
		if diff := cmp.Diff(test.want+"\n", got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", test.name, err, diff)
		}
	}
}

// A message of two million lines is read at once: copied at each line, it would take minutes.
func TestLongText(t *testing.T) {
	long := strings.Repeat("x\n", 2_000_000)
	c, err := Read("txt", "Tom: "+long+"\nMira: y\n", Options{Users: []string{"Tom"}, Characters: []string{"Mira"}})
	if err != nil || len(c.Messages) != 2 || c.Messages[0].Text != strings.TrimSpace(long) {
		t.Error(err, len(c.Messages))
	}
}

// A long conversation with another ending at each message is read at once: each way is followed only up to
// where it leaves one that is known. Followed to the beginning, it would take minutes.
func TestManyBranches(t *testing.T) {
	const n = 50_000
	var b strings.Builder
	b.WriteString(`{"current_node":"m49999","mapping":{"root":{}`)
	for i := range n {
		for _, kind := range []string{"m", "x"} {
			fmt.Fprintf(&b, `,"%s%d":{"parent":"m%d","message":{"author":{"role":"user"},"content":{"parts":["%s %d"]}}}`, kind, i, i-1, kind, i)
		}
	}
	b.WriteString("}}")
	c, err := Read("chatgpt", b.String(), Options{})
	if err != nil || len(c.Messages) != n || len(c.Branches) != n {
		t.Fatal(err, len(c.Messages), len(c.Branches))
	}
	for i, branch := range c.Branches {
		if branch.At != i-1 {
			t.Fatalf("branch %d leaves at %d", i, branch.At)
		}
	}
	end := c.Branches[100].Messages()
	if got := end[len(end)-1].Text; len(end) != 101 || got != "x 100" {
		t.Error(len(end), got)
	}
}

func TestDates(t *testing.T) {
	for raw, want := range map[string]string{
		"1700000000": "2023-11-14T22:13:20Z", "1700000000.25": "2023-11-14T22:13:20.25Z", "1700000000123": "2023-11-14T22:13:20.123Z", `"1700000000"`: "2023-11-14T22:13:20Z",
		`"2026-01-02T03:04:05Z"`: "2026-01-02T03:04:05Z", `"yesterday"`: "", "1e300": "", "-5": "", "null": "", `"NaN"`: "", "": "", "0": "", "{}": "",
	} {
		got := ""
		if d := dateOf(gjson.Parse(raw), time.UTC); !d.IsZero() {
			got = d.UTC().Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%s is %s, not %s", raw, got, want)
		}
	}
}

func FuzzScan(f *testing.F) {
	paths, _ := filepath.Glob(filepath.Join("testdata", "*.in"))
	for _, path := range paths {
		in, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, as := range append(Formats(), "") {
			_ = Scan(bytes.NewReader(in), int64(len(in)), as, func(found Found, raw string) error {
				if found.Err != nil {
					return nil
				}
				if string(in[found.Off:found.Off+found.Len]) != raw {
					t.Errorf("%s: %d+%d is not what was read", found.Format, found.Off, found.Len)
				}
				c, err := Read(found.Format, raw, Options{Users: []string{"Tom"}, Characters: []string{"Mira"}})
				if err != nil {
					return nil
				}
				for _, b := range c.Branches {
					if b.At >= len(c.Messages) || b.At >= len(b.Messages()) {
						t.Errorf("a branch at %d of %d", b.At, len(c.Messages))
					}
				}
				for _, m := range c.Messages {
					if len(m.Swipes) > 0 && m.Swipe >= len(m.Swipes) {
						t.Errorf("swipe %d of %d", m.Swipe, len(m.Swipes))
					}
				}
				return nil
			})
		}
	})
}

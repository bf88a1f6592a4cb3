package choose

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
)

func TestParseRanges(t *testing.T) {
	for text, want := range map[string][]Range{
		"7": {{From: 7, To: 7}}, "-1": {{From: -1, To: -1}}, "010": {{From: 10, To: 10}}, "3..9": {{From: 3, To: 9}}, "3-9": {{From: 3, To: 9}},
		"40..": {{From: 40, To: open, toEnd: true}}, "..9": {{To: 9}}, "-5..-1": {{From: -5, To: -1}}, "-5..": {{From: -5, To: open, toEnd: true}},
		"0..-2": {{To: -2}}, "1,3..4": {{From: 1, To: 1}, {From: 3, To: 4}},
	} {
		got, err := ParseRanges(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Range{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for text, place := range map[string]string{
		"": "no message is named", "1,,2": "a number is missing at character 3", "3..x": `"3..x"`, "1,3..x": "character 3", "1,9..3": "character 3",
		" 1": `" 1"`, "1 ": `"1 "`, "0x1": "", "1_0": "", "9..3": "it runs backwards; 3..9 is meant?", "9-3": "it runs backwards; 3..9 is meant?",
		"..": "", "+1": "", "-": "", "--1": "", "-3-5": "", "3--5": "", "2147483648": "", "-1..-5": "-5..-1 is meant?", "1..2..3": "",
	} {
		if got, err := ParseRanges(text); !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), place) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// line is a message as the naive model knows it.
type line struct {
	raw          string
	role, name   string
	hidden, long bool
}

func generated(random *rand.Rand, n int) (source string, messages []line) {
	var all []string
	for i := range n {
		l := line{name: []string{"Ann", "Bo", "System"}[random.IntN(3)]}
		user, system, kind := random.IntN(2) == 0, random.IntN(4) == 0, ""
		if random.IntN(5) == 0 {
			kind = []string{"narrator", "comment"}[random.IntN(2)]
		}
		switch l.role = "character"; {
		case kind != "":
			l.role = kind
		case system && l.name == "System":
			l.role = "system"
		case user:
			l.role = "user"
		}
		l.hidden = system && kind == ""
		text := fmt.Sprintf("text %d", i)
		if l.long = random.IntN(50) == 0; l.long {
			text += strings.Repeat(" long", 30_000)
		}
		extra := "{}"
		if kind != "" {
			extra = fmt.Sprintf(`{"type":%q}`, kind)
		}
		l.raw = fmt.Sprintf(`{"name":%q,"is_user":%v,"is_system":%v,"mes":%q,"send_date":"2026-01-%02dT00:00:00.000Z","extra":%s}`, l.name, user, system, text, i%28+1, extra)
		messages = append(messages, l)
		all = append(all, l.raw)
		if random.IntN(10) == 0 {
			all = append(all, []string{"", `{"torn`, "5"}[random.IntN(3)])
		}
	}
	return strings.Join(all, "\n"), messages
}

// model chooses as the flags' words say, with every message at hand.
func model(c *Choice, messages []line) ([]int, bool) {
	chosen := map[int]bool{}
	for _, r := range c.Ranges {
		end := func(i int) (int, bool) {
			if i < 0 {
				i += len(messages)
			}
			return i, i >= 0 && i < len(messages)
		}
		from, ok := end(r.From)
		if r.toEnd && r.From >= 0 {
			from, ok = r.From, true
		}
		to := len(messages) - 1
		if !r.toEnd {
			var has bool
			to, has = end(r.To)
			ok = ok && has
			if ok && to < from {
				return nil, false
			}
		}
		if !ok {
			return nil, false
		}
		for i := from; i <= to; i++ {
			chosen[i] = true
		}
	}
	var list []int
	for i, m := range messages {
		f := &c.Filter
		if len(c.Ranges) > 0 && !chosen[i] ||
			len(f.Roles) > 0 && !slices.Contains(f.Roles, m.role) ||
			len(f.Names) > 0 && !slices.Contains(f.Names, m.name) || f.Hidden != nil && *f.Hidden != m.hidden ||
			slices.ContainsFunc(f.Match, func(re *regexp.Regexp) bool { return !re.MatchString(m.raw) }) || !f.Since.IsZero() && i%28+1 < f.Since.Day() || !f.Until.IsZero() && i%28+1 > f.Until.Day() ||
			len(f.Has) > 0 && !strings.Contains(m.raw, `"type"`) {
			continue
		}
		list = append(list, i)
	}
	begin, end := 0, len(list)
	if c.Last > 0 {
		begin = max(0, len(list)-c.Last)
	}
	if c.First > 0 {
		end = min(c.First, len(list))
	}
	if begin >= end {
		return nil, true
	}
	return list[begin:end], true
}

func choice(random *rand.Rand, messages int) *Choice {
	c := new(Choice)
	number := func() int { return random.IntN(messages*2+4) - messages - 2 }
	for range random.IntN(3) {
		r := Range{From: number()}
		r.To = r.From
		switch random.IntN(4) {
		case 0:
			r.To, r.toEnd = open, true
		case 1:
			r.To = r.From + random.IntN(5)
			if r.From < 0 && r.To >= 0 {
				r.To = -1
			}
		}
		c.Ranges = append(c.Ranges, r)
	}
	if random.IntN(3) == 0 {
		c.Filter.Roles = []string{Roles()[random.IntN(5)]}
	}
	if random.IntN(5) == 0 {
		c.Filter.Names = []string{"Ann"}
	}
	if hidden := random.IntN(2) == 0; random.IntN(5) == 0 {
		c.Filter.Hidden = &hidden
	}
	if random.IntN(6) == 0 {
		c.Filter.Match = []*regexp.Regexp{regexp.MustCompile("text [0-9]*3"), regexp.MustCompile("text [1-9]")}[:1+random.IntN(2)]
	}
	if random.IntN(6) == 0 {
		c.Filter.Since = time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
		c.Filter.Until = time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC)
	}
	if random.IntN(6) == 0 {
		c.Filter.Has = []patch.Path{{"extra", "type"}}
	}
	if random.IntN(4) == 0 {
		c.Last = 1 + random.IntN(6)
	}
	if random.IntN(4) == 0 {
		c.First = 1 + random.IntN(6)
	}
	return c
}

// What is chosen is what a model with everything in memory chooses, from the front and
// from the end.
func TestRandomChoices(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	tails := 0
	for range 1500 {
		text, messages := generated(random, random.IntN(40))
		c := choice(random, len(messages))
		source := Source{Source: jsonl.Bytes([]byte("{}\n" + text)), Body: 3, Line: 1, Workers: 1 + random.IntN(3)}
		read := func(p Place) string {
			raw, err := source.Section(p.Off, p.Len)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		var indexes []int
		c.Whole = random.IntN(2) == 0
		scanned, err := c.Scan(t.Context(), source, func(p Place) error {
			indexes = append(indexes, p.Index)
			if read(p) != messages[p.Index].raw {
				t.Fatalf("message %d is not %s", p.Index, read(p))
			}
			return nil
		})
		want, ok := model(c, messages)
		outOfRange, isRange := errors.AsType[*OutOfRangeError](err)
		if ok != (err == nil) || err != nil && !isRange && !errors.Is(err, ErrRange) || isRange && outOfRange.Messages != len(messages) {
			t.Fatalf("%+v of %d: %v, %v", c, len(messages), ok, err)
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(want, indexes); diff != "" || scanned.Chosen != len(want) {
			t.Fatalf("%+v of %d, %+v (-want +got):\n%s", c, len(messages), scanned, diff)
		}
		var lines []string
		_, err = c.Tail(t.Context(), source, func(p Place) error { lines = append(lines, read(p)); return nil })
		if errors.Is(err, ErrNoTail) {
			continue
		}
		tails++
		var wanted []string
		for _, i := range want {
			wanted = append(wanted, messages[i].raw)
		}
		if diff := cmp.Diff(wanted, lines); diff != "" || err != nil {
			t.Fatalf("%+v of %d from the end, %v (-want +got):\n%s", c, len(messages), err, diff)
		}
	}
	if tails < 50 {
		t.Errorf("%d choices were made from the end: the test does not test", tails)
	}
}

// A number near the end is found in one pass if the whole chat is read anyway, and what is
// chosen before it is handed out meanwhile.
func TestFromTheEndInOnePass(t *testing.T) {
	const messages = 60_000
	var text strings.Builder
	for i := range messages {
		fmt.Fprintf(&text, "{\"mes\":\"%050d\"}\n", i)
	}
	for _, test := range []struct {
		ranges string
		first  int // of what is chosen
		chosen int
		passes int
	}{
		{"-1", messages - 1, 1, 1},
		{"-4096..-4000", messages - 4096, 97, 1},
		{"-4097", messages - 4097, 1, 2},
		{"7..-3", 7, messages - 9, 1},
		{"3,5..6,-2..", 3, 5, 1},
		{"..-60000", 0, 1, 2},
		{"59990..-2,-20..59985", 59980, 15, 1},
	} {
		ranges, err := ParseRanges(test.ranges)
		if err != nil {
			t.Fatal(err)
		}
		counting := &counter{Source: jsonl.Bytes([]byte(text.String()))}
		source := Source{Source: jsonl.Source{R: counting, Size: counting.Size}, Workers: 1}
		var got []int
		scanned, err := (&Choice{Ranges: ranges, Whole: true}).Scan(t.Context(), source, func(p Place) error {
			got = append(got, p.Index)
			return nil
		})
		if err != nil || len(got) != test.chosen || got[0] != test.first || !slices.IsSorted(got) || scanned.Messages != messages {
			t.Errorf("%s: %d chosen of %d, %v", test.ranges, len(got), scanned.Messages, err)
		}
		if passes := (counting.read + text.Len()/2) / text.Len(); passes != test.passes {
			t.Errorf("%s: read %d times", test.ranges, passes)
		}
	}
}

// A choice from the end does not read what stands before.
func TestTailReadsTheEnd(t *testing.T) {
	front := strings.Repeat("no message\n", 1<<20)
	source := Source{Source: jsonl.Bytes([]byte(front + "{\"mes\":\"a\"}\n{\"mes\":\"b\"}\n"))}
	counting := &counter{Source: source.Source}
	source.R = counting
	var got []string
	c := Choice{Last: 2}
	if _, err := c.Tail(t.Context(), source, func(p Place) error {
		got = append(got, fmt.Sprint(p.Index))
		return nil
	}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"-1", "-1"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if counting.read > 1<<20 {
		t.Errorf("%d bytes read for two lines", counting.read)
	}
}

// A damaged line is reported from the first chosen message on, with its number in the file.
func TestTailReportsDamage(t *testing.T) {
	for text, want := range map[string][]int{
		"{}\ntorn\n{}\n{}\n":                                   {},
		"{}\n{}\n{}\n{\"mes\":\"to":                            {4},
		"{}\n{}\ntorn\n{}\n\ntorn\n":                           {3, 6},
		strings.Repeat("{}\n", 64<<10) + "torn\n{}\n{\"a\":1,": {64<<10 + 1, 64<<10 + 3},
	} {
		var chosen int
		c := Choice{Last: 2}
		damage, err := c.Tail(t.Context(), Source{Source: jsonl.Bytes([]byte(text))}, func(Place) error { chosen++; return nil })
		lines := []int{}
		for _, d := range damage.First {
			lines = append(lines, d.Line)
		}
		if diff := cmp.Diff(want, lines); diff != "" || err != nil || chosen != 2 {
			t.Errorf("%.40q: %d chosen, %v (-want +got):\n%s", text, chosen, err, diff)
		}
	}
}

type counter struct {
	jsonl.Source
	read int
}

func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.R.ReadAt(p, off)
	c.read += n
	return n, err
}

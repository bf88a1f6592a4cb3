package treeview

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"stchat/internal/text/visible"
)

// hostile is text that would end a string, a tag or a script, drive a terminal, or
// reorder what is read.
var hostile = []string{
	"</script><script>document.title='x'</script>", "<!--<script>", "]]>", `"; digraph evil {`, `"]; click n0 "javascript:alert(1)"`, "`${1}`",
	"%%{init: {'theme':'dark'}}%%", "a\u202eb\u2066c", "a\x00\x07\x1b[2Jb", "line\u2028and\u2029paragraph", "__proto__", "constructor", `\`, `\N\G\"`, "&lt;&amp;",
	"<img src=x onerror=\"window.pwned=1\">", "a\xffb", "\xed\xa0\x80", strings.Repeat("long ", 200_000), "日本語 😀 e\u0301", "\ufffe\uffff", "n0", "--> |x|", "'",
}

// hostileTree is a family in which all text is hostile.
func hostileTree() *Tree {
	t := &Tree{Summary: Summary{Chats: len(hostile), Families: 1}}
	o := &Owner{Name: hostile[0]}
	for i, text := range hostile {
		c := &Chat{
			Path: "chats/" + text + ".jsonl", Name: text, Owner: o.Name, Role: "root", Messages: 10 + i, Own: 10, Integrity: &text,
			First: time.UnixMilli(1772390527311).UTC(), Until: time.UnixMilli(1772590527311).UTC(), Preview: Preview{&text, &text}, Children: []string{text},
			Texts: []Message{{Index: 3, Role: "user", Name: text, Text: text, Said: text, Swipe: 1, Swipes: 2}}, Dates: []Date{{3, time.UnixMilli(1772390527311).UTC()}},
		}
		if i > 0 {
			above := o.Chats[i/2]
			if i%5 == 0 {
				above = o.Chats[i-1]
			}
			c.Above, c.Parent, c.Depth, c.Role = above, &above.Name, above.Depth+1, "branch"
			at := i / 2
			c.At, c.AtParent, c.AtLink, c.Shared, c.Edited, c.Messages = new(at), new(at), new(i), new(at+1), new(0), at+11
			via := "main_chat"
			c.Via = &via
		}
		if i == 3 {
			c.Dangling = &text
		}
		o.Chats = append(o.Chats, c)
	}
	t.Owners = []*Owner{o}
	return t
}

func draw(t *testing.T, how func(w *bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := how(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextIsHarmless(t *testing.T) {
	for _, width := range []int{1, 20, 80, 200} {
		out := draw(t, func(w *bytes.Buffer) error { return Text(w, hostileTree(), TextOptions{Width: width, Zone: time.UTC}) })
		for line := range strings.Lines(out) {
			line = strings.TrimSuffix(line, "\n")
			if visible.Text(line) != line {
				t.Errorf("width %d: %q drives the terminal", width, line)
			}
			if n := visible.Width(line); n > width && width >= 80 {
				t.Errorf("width %d: a line takes %d cells: %q", width, n, line)
			}
		}
	}
	for _, width := range []int{20, 80, 83, 100} {
		out := draw(t, func(w *bytes.Buffer) error {
			return Text(w, hostileTree(), TextOptions{Width: width, ASCII: true, Zone: time.UTC})
		})
		if strings.ContainsAny(out, "├└│┬◆…") {
			t.Error("what is drawn is not ASCII")
		}
		for line := range strings.Lines(out) {
			if n := visible.Width(strings.TrimSuffix(line, "\n")); n > width && width >= 80 {
				t.Errorf("width %d: a line in ASCII takes %d cells: %q", width, n, line)
			}
		}
	}
}

// TestLegendIsWhole: a mark and what it means are on one line.
func TestLegendIsWhole(t *testing.T) {
	for width := 16; width < 60; width++ {
		d := &drawer{opt: TextOptions{Width: width}, marks: map[string]bool{"◆": true, "·": true, "?": true, "!": true, "∞": true, "●": true}}
		out := draw(t, func(w *bytes.Buffer) error { d.wrapped(w, d.legend(), ""); return nil })
		for _, want := range []string{"◆ checkpoint", "· branch", "? computed", "! parent", "∞ cycle", "● open"} {
			if !strings.Contains(out, want) {
				t.Errorf("width %d: no %q in\n%s", width, want, out)
			}
		}
	}
}

func TestRowsAreRows(t *testing.T) {
	out := draw(t, func(w *bytes.Buffer) error { return Rows(w, hostileTree()) })
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(hostile) {
		t.Errorf("%d rows of %d chats", len(lines), len(hostile))
	}
	for _, line := range lines {
		if n := strings.Count(line, "\t"); n != 10 {
			t.Errorf("%d tabs in %q", n, line)
		}
	}
}

// TestSameBytes draws the same tree twice.
func TestSameBytes(t *testing.T) {
	for name, how := range map[string]func(w *bytes.Buffer, t *Tree) error{
		"text": func(w *bytes.Buffer, t *Tree) error { return Text(w, t, TextOptions{Zone: time.UTC}) },
		"rows": func(w *bytes.Buffer, t *Tree) error { return Rows(w, t) },
		"html": func(w *bytes.Buffer, t *Tree) error { return HTML(w, t) },
	} {
		first := draw(t, func(w *bytes.Buffer) error { return how(w, hostileTree()) })
		if again := draw(t, func(w *bytes.Buffer) error { return how(w, hostileTree()) }); again != first {
			t.Errorf("%s: other bytes the second time", name)
		}
	}
}

// TestDeepText draws a chain of chats: no line grows with its depth.
func TestDeepText(t *testing.T) {
	o := &Owner{Name: "o"}
	for i := range 20_000 {
		c := &Chat{Name: fmt.Sprint("chat ", i), Depth: i, Role: "root", Last: true}
		if i > 0 {
			above := o.Chats[i-1]
			c.Above, c.Parent, c.Role = above, &above.Name, "branch"
			c.At, c.AtParent, c.Shared, c.Edited = new(0), new(0), new(1), new(0)
			above.Children = []string{c.Name}
		}
		o.Chats = append(o.Chats, c)
	}
	out := draw(t, func(w *bytes.Buffer) error { return Text(w, &Tree{Owners: []*Owner{o}}, TextOptions{}) })
	if len(out) > 20_000*400 || !strings.Contains(out, "chat 19999") {
		t.Errorf("%d bytes", len(out))
	}
}

// TestOpenChatIsMarked draws a chat that is open in SillyTavern, with room to say so and without: its
// sign stands there, and in the legend.
func TestOpenChatIsMarked(t *testing.T) {
	tree := &Tree{Owners: []*Owner{{Name: "Mira", Chats: []*Chat{{Name: strings.Repeat("word ", 6) + "end", Current: true}}}}}
	for _, width := range []int{100, 42, 30, 20} {
		var b strings.Builder
		if err := Text(&b, tree, TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "●"); n != 2 {
			t.Errorf("%d cells: ● stands there %d times, not 2:\n%s", width, n, b.String())
		}
	}
}

// TestDatesLeaveOutTheYearOfTheName: a root's days are as short as its name allows.
func TestDatesLeaveOutTheYearOfTheName(t *testing.T) {
	for _, c := range []struct{ name, first, last, want string }{
		{"Mira - 2026-03-01@18h42m07s311ms", "2026-03-01", "2026-03-01", "Mar 1"},
		{"Mira - 2026-03-01@18h42m07s311ms", "2026-03-01", "2026-03-07", "Mar 1 … 7"},
		{"Mira - 2026-03-01@18h42m07s311ms", "2026-03-01", "2026-04-02", "Mar 1 … Apr 2"},
		{"Mira - 2026-03-01@18h42m07s311ms", "2026-03-01", "2027-04-02", "2026-03-01 … 2027-04-02"},
		{"storm", "2026-03-01", "2026-03-07", "2026-03-01 … 03-07"},
		{"storm", "2026-03-01", "2026-03-01", "2026-03-01"},
	} {
		at := func(day string) time.Time {
			parsed, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatal(err)
			}
			return parsed
		}
		if got := dateRange(&Chat{Name: c.name, First: at(c.first), Until: at(c.last)}, time.UTC); got != c.want {
			t.Errorf("%s, %s to %s: %q, not %q", c.name, c.first, c.last, got, c.want)
		}
	}
}

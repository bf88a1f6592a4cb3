package grid

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"stchat/internal/text/visible"
)

// TestLines lays out random tables at all widths: no line is too wide, none ends with a space,
// numbers are whole, and columns are aligned by cells.
func TestLines(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	word := []string{"Harbour", "灯台", "Ó", "Súilleabháin", "🦑", "-", "Branch", "#1", "a", strings.Repeat("x", 40), "…", "a space "}
	numbers := []string{"78", "1,234", "567", "89,012", "6", "345,678"}
	name := func() string {
		var parts []string
		for range 1 + r.IntN(5) {
			parts = append(parts, word[r.IntN(len(word))])
		}
		return strings.Join(parts, " ")
	}
	for range 300 {
		table := &Table{Columns: []Column{{Title: "chat", Name: true}, {Title: "n", Right: true}, {Title: "opt", Right: true, Optional: true}, {Title: "text", Text: true}}}
		for i := range 1 + r.IntN(len(numbers)) {
			if r.IntN(5) == 0 {
				table.Rows = append(table.Rows, Row{Heading: name(), About: "3 chats"})
			}
			table.Rows = append(table.Rows, Row{Lead: strings.Repeat("│ ", r.IntN(4)), Cells: []string{name(), numbers[i], fmt.Sprint(i), name()}})
		}
		for _, width := range []int{10, 39, 40, 60, 80, 120, 200} {
			table.Width = width
			plain := strings.Join(table.Lines(), "\n")
			for line := range strings.SplitSeq(plain, "\n") {
				if visible.Width(line) > width {
					t.Fatalf("%d cells in %d: %q", visible.Width(line), width, line)
				}
				if strings.HasSuffix(line, " ") {
					t.Fatalf("a space ends %q", line)
				}
			}
			if width >= 60 {
				end := map[int]bool{} // where the numbers end
				for _, row := range table.Rows {
					if row.Heading != "" {
						continue
					}
					before, _, whole := strings.Cut(plain+"\n", " "+row.Cells[1])
					if !whole {
						t.Fatalf("at %d the number %s is cut:\n%s", width, row.Cells[1], plain)
					}
					end[visible.Width(before[strings.LastIndex(before, "\n")+1:])+len(row.Cells[1])] = true
				}
				if len(end) > 1 {
					t.Fatalf("at %d the numbers are not aligned:\n%s", width, plain)
				}
			}
			painted := *table
			painted.Paint = func(_, text string) string { return "\x01" + text + "\x02" }
			if got := strings.NewReplacer("\x01", "", "\x02", "").Replace(strings.Join(painted.Lines(), "\n")); got != plain {
				t.Fatalf("painted it is another text:\n%s\n%s", got, plain)
			}
		}
	}
}

func TestShrink(t *testing.T) {
	table := &Table{
		Columns: []Column{{Title: "chat", Name: true}, {Title: "messages", Right: true}, {Title: "last", Optional: true}, {Title: "text", Text: true}},
		Rows: []Row{
			{Heading: "Mira", About: "2 chats"},
			{Cells: []string{"Harbour at night", "1,234", "2026-03-01", "She sets the lantern down"}},
			{Lead: "└─ ", Cells: []string{"before the storm", "7", "2026-03-02"}},
			{Cells: []string{"new", "1"}},
		},
	}
	looks(t, table, map[int]string{
		80: "chat                 messages  last        text\nMira  2 chats\nHarbour at night        1,234  2026-03-01  She sets the lantern down\n└─ before the storm         7  2026-03-02\nnew                         1",
		62: "chat                 messages  last        text\nMira  2 chats\nHarbour at night        1,234  2026-03-01  She sets the…\n└─ before the storm         7  2026-03-02\nnew                         1",
		42: "chat                 messages  last\nMira  2 chats\nHarbour at night        1,234  2026-03-01\n└─ before the storm         7  2026-03-02\nnew                         1",
		30: "Mira  2 chats\nHarbour at night\n  1,234 messages\n└─ before the storm\n  7 messages\nnew\n  1 message",
	})
}

// looks compares the lines of a table with those that are wanted at each width.
func looks(t *testing.T, table *Table, want map[int]string) {
	t.Helper()
	for width, want := range want {
		table.Width = width
		if got := strings.Join(table.Lines(), "\n"); got != want {
			t.Errorf("at %d:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// TestWrap: a text that is not to be cut goes on below where it begins.
func TestWrap(t *testing.T) {
	table := &Table{
		Columns: []Column{{}, {Name: true}, {Wrap: true}},
		Rows: []Row{
			{Cells: []string{"+", "chats/Mira/Harbour at night.jsonl", "12 messages"}},
			{Cells: []string{"Y", "chats/Mira/A.jsonl", "parted at 41, 7 here, 12 there: theirs is \"A__phone\""}},
		},
	}
	looks(t, table, map[int]string{
		100: "+  chats/Mira/Harbour at night.jsonl  12 messages\nY  chats/Mira/A.jsonl                 parted at 41, 7 here, 12 there: theirs is \"A__phone\"",
		50:  "+  …Mira/Harbour at night.jsonl   12 messages\nY  chats/Mira/A.jsonl             parted at 41, 7\n                                  here, 12 there:\n                                  theirs is\n                                  \"A__phone\"",
		30:  "…Mira/Harbour at night.jsonl\n  +\n  12 messages\nchats/Mira/A.jsonl\n  Y\n  parted at 41, 7 here, 12\n  there: theirs is \"A__phone\"",
	})
}

// TestTwoLines: where numbers and dates do not fit beside a name of 16 cells, a row is two lines, or
// three: no column that is not optional goes.
func TestTwoLines(t *testing.T) {
	table := &Table{
		Columns: []Column{{Title: "rev", Right: true}, {Title: "time"}, {Title: "messages", Right: true}, {Title: "bytes", Right: true, Optional: true}, {Title: "chat", Name: true}},
		Rows: []Row{
			{Cells: []string{"61", "2026-11-27 08:51", "1,299", "77", "Harbour at night - Branch #1"}},
			{Cells: []string{"2", "2026-11-27 08:49", "1", "7", "Mira"}},
		},
	}
	looks(t, table, map[int]string{
		60: "rev  time              messages  chat\n 61  2026-11-27 08:51     1,299  …at night - Branch #1\n  2  2026-11-27 08:49         1  Mira",
		40: "Harbour at night - Branch #1\n  61 rev  2026-11-27 08:51\n  1,299 messages\nMira\n  2 rev  2026-11-27 08:49  1 message",
	})
	table.Paint = func(code, text string) string { return "<" + code + ":" + text + ">" }
	table.Columns[1].Code, table.Columns[4].Code, table.Rows[0].Lead = Dim, "name", "└─ "
	looks(t, table, map[int]string{30: "<dim:└─ ><name:…at night - Branch #1>\n  61 rev  <dim:2026-11-27 08:51>\n  1,299 messages\n<name:Mira>\n  2 rev  <dim:2026-11-27 08:49>\n  1 message"})
	table.Paint, table.Rows[0].Lead = nil, ""
	table.Columns, table.Rows = []Column{{Name: true}, {Title: "messages", Right: true}, {Text: true}}, []Row{{Cells: []string{"Mira", "24", "ends there"}}, {Cells: []string{"Ines", "24", "computed, no link"}}}
	looks(t, table, map[int]string{30: "Mira\n  24 messages  ends there\nInes\n  24 messages", 31: "Mira\n  24 messages  ends there\nInes\n  24 messages", 39: "Mira\n  24 messages  ends there\nInes\n  24 messages  computed, no link"})
	table.Columns, table.Rows = []Column{{}, {}, {Name: true}, {Wrap: true}}, []Row{{Cells: []string{"+", "warning", "unfinished-change", "a command was interrupted"}}}
	looks(t, table, map[int]string{40: "unfinished-change\n  +  warning\n  a command was interrupted"})
}

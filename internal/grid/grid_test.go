package grid

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"stchat/internal/visible"
)

// TestLines lays out random tables at all widths: no line is too wide, none ends with a space,
// numbers are whole, and columns are aligned by cells.
func TestLines(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	word := []string{"Harbour", "灯台", "Ó", "Súilleabháin", "🦑", "-", "Branch", "#1", "a", strings.Repeat("x", 40), "…"}
	name := func() string {
		var parts []string
		for range 1 + r.IntN(5) {
			parts = append(parts, word[r.IntN(len(word))])
		}
		return strings.Join(parts, " ")
	}
	for range 300 {
		table := &Table{Columns: []Column{{Title: "chat", Name: true}, {Title: "n", Right: true}, {Title: "opt", Right: true, Optional: true}, {Title: "text", Text: true}}}
		for i := range 1 + r.IntN(6) {
			if r.IntN(5) == 0 {
				table.Rows = append(table.Rows, Row{Heading: name(), About: "3 chats"})
			}
			table.Rows = append(table.Rows, Row{Lead: strings.Repeat("│ ", r.IntN(4)), Cells: []string{name(), fmt.Sprint(1234 * i), fmt.Sprint(i), name()}})
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
				for _, row := range table.Rows {
					if row.Heading == "" && !strings.Contains(plain, " "+row.Cells[1]) {
						t.Fatalf("at %d the number %s is cut:\n%s", width, row.Cells[1], plain)
					}
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
		},
	}
	for width, want := range map[int]string{
		80: "chat                 messages  last        text\nMira  2 chats\nHarbour at night        1,234  2026-03-01  She sets the lantern down\n└─ before the storm         7  2026-03-02",
		62: "chat                 messages  last        text\nMira  2 chats\nHarbour at night        1,234  2026-03-01  She sets the…\n└─ before the storm         7  2026-03-02",
		42: "chat                 messages  last\nMira  2 chats\nHarbour at night        1,234  2026-03-01\n└─ before the storm         7  2026-03-02",
		30: "Mira  2 chats\nHarbour at night\n  1,234 messages\n└─ before the storm\n  7 messages",
	} {
		table.Width = width
		if got := strings.Join(table.Lines(), "\n"); got != want {
			t.Errorf("at %d:\n%s\nwant\n%s", width, got, want)
		}
	}
}

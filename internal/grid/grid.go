// Package grid lays out tables for a person (READING.md 1.1): columns are aligned over the whole
// table, and no line is wider than what there is. Names and texts are cut by whole words; numbers,
// dates and signs are never cut.
package grid

import (
	"slices"
	"strings"

	"stchat/internal/visible"
)

// Column is a column of a table.
type Column struct {
	Title    string
	Code     string // how its cells are painted
	Right    bool   // numbers
	Name     bool   // shrinks at the left, after the optional columns are gone
	Text     bool   // shrinks at the right first, and goes; as a Name too it shrinks as that
	Optional bool   // goes where there is no room
}

// Row is a row of cells, or a heading between rows. All texts must be safe to show.
type Row struct {
	Heading string
	About   string   // behind a heading
	Lead    string   // stands before the first cell, such as lanes, and is never cut
	Sign    string   // behind it, likewise
	Cells   []string // as many as there are columns, or fewer
	Codes   []string // of cells, in place of those of their columns
	Code    string   // of the sign
}

// Table is what is laid out.
type Table struct {
	Columns []Column
	Rows    []Row
	Width   int                            // cells of a line
	ASCII   bool                           // the ellipsis is ...
	Paint   func(code, text string) string // nil: nothing is painted
}

// Codes that a table gives to Paint of itself.
const (
	Title   = "title"
	Heading = "heading"
	Dim     = "dim"
)

const (
	narrowest = 16 // cells to which names and texts shrink
	twoLines  = 40 // below so many cells a row is two lines
)

// Lines returns the table.
func (t *Table) Lines() (lines []string) {
	widths := t.natural()
	if t.Width < twoLines {
		return t.narrow()
	}
	t.shrink(widths)
	titles := Row{}
	for i, c := range t.Columns {
		titles.Cells = append(titles.Cells, c.Title)
		titles.Codes = append(titles.Codes, Title)
		if widths[i] == 0 {
			titles.Cells[i] = ""
		}
	}
	if strings.Join(titles.Cells, "") != "" {
		lines = append(lines, t.line(titles, widths))
	}
	for _, r := range t.Rows {
		if r.Heading != "" {
			lines = append(lines, t.heading(r))
		} else {
			lines = append(lines, t.line(r, widths))
		}
	}
	return lines
}

// natural returns how wide the columns want to be; 0: there is nothing in it.
func (t *Table) natural() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		for _, r := range t.Rows {
			w := 0
			if i < len(r.Cells) {
				w = visible.Width(r.Cells[i])
			}
			if i == 0 && r.Heading == "" {
				w += visible.Width(r.Lead + r.Sign)
			}
			widths[i] = max(widths[i], w)
		}
		if widths[i] > 0 || !c.Optional && !c.Text {
			widths[i] = max(widths[i], visible.Width(c.Title))
		}
	}
	return widths
}

// shrink makes the columns fit. A width of 0: the column is gone.
func (t *Table) shrink(widths []int) {
	over := func() int {
		total := -2
		for _, w := range widths {
			if w > 0 {
				total += w + 2
			}
		}
		return total - t.Width
	}
	for i, c := range t.Columns {
		if n := over(); c.Text && !c.Name && n > 0 {
			if widths[i] -= n; widths[i] < narrowest {
				widths[i] = 0
			}
		}
	}
	for i, c := range slices.Backward(t.Columns) {
		if c.Optional && over() > 0 {
			widths[i] = 0
		}
	}
	for i, c := range t.Columns {
		if n := over(); c.Name && n > 0 {
			widths[i] = max(widths[i]-n, min(widths[i], narrowest))
		}
	}
	for i := len(t.Columns) - 1; i > 0 && over() > 0; i-- { // numbers stay whole, or go
		widths[i] = 0
	}
	widths[0] = min(widths[0], t.Width)
}

// line returns a row of aligned cells.
func (t *Table) line(r Row, widths []int) string {
	var b strings.Builder
	gap := 0
	for i, cell := range r.Cells {
		if widths[i] == 0 {
			continue
		}
		c, lead, sign := t.Columns[i], "", ""
		if i == 0 {
			lead, sign = r.Lead, r.Sign
		}
		room := max(widths[i]-visible.Width(lead+sign), 1)
		if c.Text {
			cell = visible.CutRight(cell, room, t.ellipsis())
		} else {
			cell = visible.CutLeft(cell, room, t.ellipsis())
		}
		code := c.Code
		if i < len(r.Codes) && r.Codes[i] != "" {
			code = r.Codes[i]
		}
		free := max(room-visible.Width(cell), 0)
		if c.Right {
			gap, free = gap+free, 0
		}
		if lead+sign+cell != "" {
			b.WriteString(strings.Repeat(" ", gap) + t.paint(Dim, lead) + t.paint(r.Code, sign) + t.paint(code, cell))
			gap = 0
		}
		gap += free + 2
	}
	return b.String()
}

func (t *Table) heading(r Row) string {
	name := visible.CutLeft(r.Heading, t.Width, t.ellipsis())
	about := ""
	if room := t.Width - visible.Width(name) - 2; r.About != "" && visible.Width(r.About) <= room {
		about = "  " + t.paint(Dim, r.About)
	}
	return t.paint(Heading, name) + about
}

// narrow returns rows of two lines: the name, and what else there is.
func (t *Table) narrow() (lines []string) {
	for _, r := range t.Rows {
		if r.Heading != "" {
			lines = append(lines, t.heading(r))
			continue
		}
		lead := visible.TruncateWith(r.Lead+r.Sign, max(t.Width/2, 1), "")
		lines = append(lines, lead+visible.CutLeft(r.Cells[0], max(t.Width-visible.Width(lead), 1), t.ellipsis()))
		var parts []string
		for i, cell := range r.Cells[1:] {
			if c := t.Columns[i+1]; cell != "" && !c.Optional && !c.Text {
				parts = append(parts, strings.TrimSpace(cell+" "+c.Title))
			}
		}
		if len(parts) > 0 {
			lines = append(lines, visible.TruncateWith("  "+strings.Join(parts, "  "), max(t.Width, 1), t.ellipsis()))
		}
	}
	return lines
}

func (t *Table) ellipsis() string {
	if t.ASCII {
		return "..."
	}
	return "…"
}

func (t *Table) paint(code, text string) string {
	if t.Paint == nil || text == "" || code == "" {
		return text
	}
	return t.Paint(code, text)
}

// Package grid lays out tables for a person: columns are aligned over the whole
// table, and no line is wider than what there is. Names and texts are cut by whole words; numbers,
// dates and signs are never cut.
package grid

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/text/visible"
)

// Column is a column of a table.
type Column struct {
	Title    string
	Code     string // how its cells are painted
	Right    bool   // numbers
	Name     bool   // shrinks at the left, after the optional columns are gone
	Text     bool   // shrinks at the right first, and goes; as a Name too it shrinks as that
	Wrap     bool   // the last one: what does not fit goes on below
	Optional bool   // goes where there is no room
}

// Row is a row of cells, or a heading between rows. All texts must be safe to show.
type Row struct {
	Heading string
	About   string   // behind a heading, or below it where there is no room
	Lead    string   // stands before the first cell, such as lanes, and is never cut
	Sign    string   // behind it, likewise
	Cells   []string // as many as there are columns, or fewer
	Codes   []string // of cells, in place of those of their columns
	Code    string   // of the sign, or of the heading
	Parts   []Part   // of the cell of the text column, each painted in its own way
	Below   []string // lines below it, which are to be copied and never cut
}

// Part is a part of a text.
type Part struct{ Code, Text string }

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
	twoLines  = 40 // below so many cells a row is two lines, and where the columns do not fit
)

// Lines returns the table; without rows it has no lines.
func (t *Table) Lines() (lines []string) {
	widths := t.natural()
	if len(t.Rows) == 0 || t.Width < twoLines || !t.shrink(widths) {
		return t.narrow()
	}

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
			lines = append(lines, t.heading(r)...)
			continue
		}
		lines = append(lines, t.row(r, widths)...)
		lines = append(lines, r.Below...)
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

// shrink makes the columns fit, and reports whether they do. A width of 0: the column is gone.
func (t *Table) shrink(widths []int) bool {
	over := func() int { // by how many cells they are too wide
		total := -2
		for _, w := range widths {
			if w > 0 {
				total += w + 2
			}
		}
		return total - t.Width
	}

	for i, c := range t.Columns {
		n := over()
		switch {
		case n <= 0:
		case c.Text && !c.Name:
			widths[i] -= n
			if widths[i] < narrowest {
				widths[i] = 0
			}
		case c.Wrap:
			widths[i] = max(widths[i]-n, min(widths[i], t.Width/3))
		}
	}

	for i, c := range slices.Backward(t.Columns) {
		if c.Optional && over() > 0 {
			widths[i] = 0
		}
	}

	for i, c := range t.Columns {
		n := over()
		if c.Name && n > 0 {
			widths[i] = max(widths[i]-n, min(widths[i], narrowest))
		}
	}
	return over() <= 0
}

// row returns the lines of a row.
func (t *Table) row(r Row, widths []int) (lines []string) {
	last := len(t.Columns) - 1
	if !t.Columns[last].Wrap || last >= len(r.Cells) {
		return []string{t.line(r, widths)}
	}
	text := r.Cells[last]
	r.Cells = slices.Clone(r.Cells)
	for _, at := range visible.Wrap(text, widths[last]) {
		r.Cells[last] = text[at[0]:at[1]]
		lines = append(lines, t.line(r, widths))
		r = Row{Cells: make([]string, last+1), Codes: r.Codes}
	}
	return lines
}

// line returns a row of aligned cells.
func (t *Table) line(r Row, widths []int) string {
	var b strings.Builder
	gap := 0
	for i, cell := range r.Cells {
		if widths[i] == 0 {
			continue
		}

		lead, sign := "", ""
		if i == 0 {
			lead = r.Lead
			sign = r.Sign
		}
		room := max(widths[i]-visible.Width(lead+sign), 1)
		cell = t.cut(i, cell, room)

		free := max(room-visible.Width(cell), 0)
		if t.Columns[i].Right { // stands before the cell
			gap += free
			free = 0
		}
		if lead+sign+cell != "" {
			b.WriteString(strings.Repeat(" ", gap))
			b.WriteString(t.paint(Dim, lead) + t.paint(r.Code, sign) + t.painted(r, i, cell))
			gap = 0
		}

		gap += free + 2
	}
	return b.String()
}

// heading returns a heading, and what is said about it behind or below it.
func (t *Table) heading(r Row) []string {
	name := visible.CutLeft(strings.TrimRight(r.Heading, " "), t.Width, t.ellipsis())
	lines := []string{t.paint(cmp.Or(r.Code, Heading), name)}
	switch {
	case r.About == "":
	case visible.Width(name)+2+visible.Width(r.About) <= t.Width:
		lines[0] += "  " + t.paint(Dim, r.About)
	default:
		for _, at := range visible.Wrap(r.About, max(t.Width-2, 1)) {
			lines = append(lines, "  "+t.paint(Dim, r.About[at[0]:at[1]]))
		}
	}
	return lines
}

// narrow returns rows of two lines, more where these are too short: the name, and what else there is.
func (t *Table) narrow() (lines []string) {
	names := max(slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name }), 0)
	for _, r := range t.Rows {
		if r.Heading != "" {
			lines = append(lines, t.heading(r)...)
			continue
		}
		name := names
		if r.Cells[name] == "" {
			name = 0
		}

		lead := visible.Truncate(r.Lead+r.Sign, max(t.Width/2, 1), "")
		lanes := strings.TrimSuffix(lead, r.Sign)
		sign := lead[len(lanes):]
		called := t.cut(names, r.Cells[name], max(t.Width-visible.Width(lead), 1))
		lines = append(lines, t.paint(Dim, lanes)+t.paint(r.Code, sign)+t.painted(r, name, called))

		lines = append(lines, t.beside(r, name)...)
		lines = append(lines, r.Below...)
	}
	return lines
}

// beside returns the cells of a row other than its name: as many on a line as fit, and then those
// that are wrapped.
func (t *Table) beside(r Row, name int) (lines []string) {
	line := "" // the open line
	used := 0  // its cells
	var wrapped []string

	for i, cell := range r.Cells {
		c := t.Columns[i]
		cell = strings.TrimRight(cell, " ")
		saysNothing := cell == "" || cell == "-"
		if i == name || c.Optional || saysNothing {
			continue
		}
		if c.Wrap {
			for _, at := range visible.Wrap(cell, max(t.Width-2, 1)) {
				wrapped = append(wrapped, "  "+t.painted(r, i, cell[at[0]:at[1]]))
			}
			continue
		}

		if c.Text {
			short := visible.CutRight(cell, max(t.Width-used-2, 0), t.ellipsis())
			if short != cell && visible.Width(short) < narrowest {
				continue
			}
			cell = short
		}
		if n, err := strconv.Atoi(strings.ReplaceAll(cell, ",", "")); err == nil && c.Title != "" {
			cell += " " + c.Title
			if n == 1 {
				cell = strings.TrimSuffix(cell, "s")
			}
		}

		if used > 0 && used+visible.Width(cell)+2 > t.Width {
			lines = append(lines, line)
			line = ""
			used = 0
		}

		cell = visible.CutRight(cell, max(t.Width-2, 1), t.ellipsis())
		line += "  " + t.painted(r, i, cell)
		used += 2 + visible.Width(cell)
	}

	if line != "" {
		lines = append(lines, line)
	}
	return append(lines, wrapped...)
}

// painted returns a cell as it is painted.
func (t *Table) painted(r Row, i int, cell string) string {
	code := t.Columns[i].Code
	if i < len(r.Codes) && r.Codes[i] != "" {
		code = r.Codes[i]
	}
	if !t.Columns[i].Text {
		return t.paint(code, cell)
	}

	var b strings.Builder
	for _, p := range r.Parts {
		code = p.Code
		rest, whole := strings.CutPrefix(cell, p.Text)
		if !whole {
			break // it was cut here
		}
		b.WriteString(t.paint(code, p.Text))
		cell = rest
	}

	b.WriteString(t.paint(code, cell))
	return b.String()
}

// cut shortens a cell of a column: texts at their end, all else at its beginning. A name may end
// with spaces, a line does not.
func (t *Table) cut(column int, cell string, room int) string {
	cell = strings.TrimRight(cell, " ")
	if t.Columns[column].Text {
		return visible.CutRight(cell, room, t.ellipsis())
	}
	return visible.CutLeft(cell, room, t.ellipsis())
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

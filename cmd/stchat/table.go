package main

import (
	"fmt"
	"slices"
	"strings"

	"stchat/internal/visible"
)

// column is a column of a table.
type column struct {
	title    string
	code     string // its colour
	right    bool   // numbers
	name     bool   // shrinks at the left to narrowest, after the optional columns are gone
	text     bool   // shrinks at the right first, and goes
	optional bool   // goes where there is no room
}

// narrowest is how far names and texts shrink in a table, in cells.
const narrowest = 16

// table is the one printer of rows for a person (READING.md 1.1): columns are aligned over the
// whole table, and no line is wider than the terminal.
type table struct {
	s       *screen
	columns []column
	rows    []tableRow
}

// tableRow is a row of cells, or a heading between rows.
type tableRow struct {
	heading string
	code    string // of all its cells; empty: those of the columns
	lead    string // what stands before the first cell, such as lanes: never cut, and not safe to colour
	cells   []string
}

func newTable(s *screen, columns ...column) *table { return &table{s: s, columns: columns} }

// row adds a row; cells must be safe to show.
func (t *table) row(cells ...string) { t.rows = append(t.rows, tableRow{cells: cells}) }

// print prints the table.
func (t *table) print() {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = visible.Width(c.title)
	}
	for i := range t.rows {
		for k, cell := range t.rows[i].cells {
			w := visible.Width(cell)
			if k == 0 {
				w += visible.Width(t.rows[i].lead)
			}
			widths[k] = max(widths[k], w)
		}
	}
	t.dropEmpty(widths)
	if t.s.width < 40 {
		t.narrow()
		return
	}
	t.shrink(widths)
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.title
	}
	if strings.Join(titles, "") != "" {
		fmt.Fprintln(t.s.w, t.line(tableRow{cells: titles, code: bold}, widths))
	}
	for _, r := range t.rows {
		if r.heading != "" {
			fmt.Fprintln(t.s.w, paint(t.s.color, bold+";"+cyan, visible.CutLeft(r.heading, t.s.width, t.s.sign("…", "..."))))
			continue
		}
		fmt.Fprintln(t.s.w, t.line(r, widths))
	}
}

// dropEmpty takes away the optional columns in which nothing stands.
func (t *table) dropEmpty(widths []int) {
	for i, c := range t.columns {
		if (c.optional || c.text) && !slices.ContainsFunc(t.rows, func(r tableRow) bool { return i < len(r.cells) && r.cells[i] != "" }) {
			widths[i] = 0
		}
	}
}

// shrink makes the columns fit, in the order of READING.md 1.1. A width of 0: the column is gone.
func (t *table) shrink(widths []int) {
	over := func() int {
		total := -2
		for _, w := range widths {
			if w > 0 {
				total += w + 2
			}
		}
		return total - t.s.width
	}
	give := func(i, to int) {
		if n := over(); n > 0 {
			widths[i] = max(widths[i]-n, min(widths[i], to))
		}
	}
	for i, c := range t.columns {
		if c.text && widths[i] > 0 {
			if give(i, narrowest); over() > 0 {
				widths[i] = 0
			}
		}
	}
	for i, c := range slices.Backward(t.columns) {
		if c.optional && over() > 0 {
			widths[i] = 0
		}
	}
	for i, c := range t.columns {
		if c.name && widths[i] > 0 {
			give(i, narrowest)
		}
	}
	for i, c := range slices.Backward(t.columns) { // there is still too much: the numbers stay whole
		if over() > 0 && i > 0 && !c.name {
			widths[i] = 0
		}
	}
}

// line returns one row of aligned cells.
func (t *table) line(r tableRow, widths []int) string {
	var b strings.Builder
	pending := 0
	for i, cell := range r.cells {
		if widths[i] == 0 {
			continue
		}
		c, lead := t.columns[i], ""
		if i == 0 {
			lead = r.lead
		}
		room := max(widths[i]-visible.Width(lead), 1)
		if c.text {
			cell = visible.CutRight(cell, room, t.s.sign("…", "..."))
		} else if visible.Width(cell) > room {
			cell = visible.CutLeft(cell, room, t.s.sign("…", "..."))
		}
		code := c.code
		if r.code != "" {
			code = r.code
		}
		gap := max(room-visible.Width(cell), 0)
		if c.right {
			pending += gap
			gap = 0
		}
		if cell+lead != "" {
			b.WriteString(strings.Repeat(" ", pending) + lead + paint(t.s.color, code, cell))
			pending = 0
		}
		pending += gap + 2
	}
	return b.String()
}

// narrow prints every row on two lines: the name, and what else there is.
func (t *table) narrow() {
	for _, r := range t.rows {
		if r.heading != "" {
			fmt.Fprintln(t.s.w, paint(t.s.color, bold, visible.CutLeft(r.heading, t.s.width, t.s.sign("…", "..."))))
			continue
		}
		fmt.Fprintln(t.s.w, r.lead+visible.CutLeft(r.cells[0], max(t.s.width-visible.Width(r.lead), 1), t.s.sign("…", "...")))
		var parts []string
		for i, cell := range r.cells[1:] {
			if c := t.columns[i+1]; cell != "" && !c.optional && !c.text {
				parts = append(parts, strings.TrimSpace(cell+" "+c.title))
			}
		}
		if text := strings.Join(parts, "  "); text != "" {
			fmt.Fprintln(t.s.w, "  "+visible.TruncateWith(text, max(t.s.width-2, 1), t.s.sign("…", "...")))
		}
	}
}

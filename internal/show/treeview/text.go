package treeview

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"stchat/internal/show/grid"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

// Codes of how texts are painted, beside those of a table.
const (
	Open       = "open"       // the chat that is open
	Name       = "name"       // of a chat
	Checkpoint = "checkpoint" // its sign
	Computed   = "computed"   // likewise, of a parent that no link tells
	Warning    = "warning"
	Number     = "number"
)

// TextOptions says how text is drawn.
type TextOptions struct {
	Width int  // cells of a line at most; 0: 100
	ASCII bool // lines and marks in ASCII; names stay as they are
	Zone  *time.Location
	Hint  string                         // follows the number of chats without relatives
	Paint func(code, text string) string // nil: nothing is painted
}

// deepest returns how many levels are drawn, on a narrow screen fewer, so that there is room for
// names; deeper chats say how deep they are.
func (d *drawer) deepest() int {
	const beside = 32 // cells of a name, of its depth and its mark, and of a number
	return min(max((d.opt.Width-beside)/2, 1), 12)
}

// Text draws the tree for a person.
func Text(w io.Writer, t *Tree, opt TextOptions) error {
	d := drawer{opt: opt, marks: map[string]bool{}}
	if d.opt.Width == 0 {
		d.opt.Width = 100
	}
	if d.opt.Zone == nil {
		d.opt.Zone = time.Local
	}

	lines := d.lines(t)
	cutOff := d.marks["●"] && !strings.Contains(lines, d.shown("● open"))
	if cutOff {
		d.terse = true
		lines = d.lines(t)
	}

	b := bufio.NewWriter(w)
	if lines != "" {
		fmt.Fprintf(b, "%s\n\n", lines)
	}
	d.wrapped(b, d.legend(), grid.Dim)
	d.wrapped(b, t.Summary.text(d.opt.Hint), grid.Dim)
	if n := t.Summary.Dangling; n > 0 {
		d.wrapped(b, plural.Of(n, "chat names", "chats name")+" a missing parent: stchat\u00a0check", Warning)
	}
	return b.Flush()
}

// lines returns the table of a tree.
func (d *drawer) lines(t *Tree) string {
	table := d.families(t.Owners, t.Shorts())
	table.Width = d.opt.Width
	table.ASCII = d.opt.ASCII
	table.Paint = d.opt.Paint
	return strings.Join(table.Lines(), "\n")
}

// text describes what a tree adds up to.
func (s Summary) text(hint string) string {
	text := fmt.Sprintf("%s, %s", plural.Of(s.Families, "family", "families"), plural.Many(s.Chats-s.Alone, "chat"))
	if s.Alone > 0 {
		text += "; " + plural.Grouped(s.Alone) + " alone" + hint
	}
	if s.Cycles > 0 {
		text += "; " + plural.Many(s.Cycles, "cycle")
	}
	return text
}

type drawer struct {
	opt   TextOptions
	lanes []bool          // for each depth on the way to the current chat: a sibling follows
	marks map[string]bool // those that were drawn
	terse bool            // there is no room for notes: the mark of an open chat stands before its name
}

func (d *drawer) paint(code, text string) string {
	if d.opt.Paint == nil || text == "" {
		return text
	}
	return d.opt.Paint(code, text)
}

// wrapped prints a line that may be longer than the width.
func (d *drawer) wrapped(w io.Writer, text, code string) {
	if text == "" {
		return
	}
	width := d.opt.Width
	if visible.Width(text) > width {
		width -= 2 // by which further lines are indented
	}
	for i, span := range visible.Wrap(text, width) {
		if i > 0 {
			fmt.Fprint(w, "  ")
		}
		fmt.Fprintln(w, d.paint(code, strings.ReplaceAll(text[span[0]:span[1]], "\u00a0", " ")))
	}
}

// shown returns text in the characters that the terminal has.
func (d *drawer) shown(text string) string {
	if d.opt.ASCII {
		return visible.ASCII(text)
	}
	return text
}

// legend names the marks that were drawn. No line breaks between a mark and what it means.
func (d *drawer) legend() string {
	var parts []string
	for _, m := range [...]struct{ mark, means string }{
		{"◆", "checkpoint"}, {"·", "branch"}, {"?", "computed"}, {"!", "parent\u00a0missing"}, {"∞", "cycle"}, {"●", "open"},
	} {
		if d.marks[m.mark] {
			parts = append(parts, d.shown(m.mark)+"\u00a0"+m.means)
		}
	}
	return strings.Join(parts, "  ")
}

// families lays out families below their owners.
func (d *drawer) families(owners []*Owner, short map[*Chat]string) *grid.Table {
	t := &grid.Table{Columns: []grid.Column{
		{Title: "chat", Name: true, Code: Name},
		{Title: "fork", Right: true, Optional: true},
		{Title: "messages", Right: true, Code: Number},
		{Title: "own", Right: true, Code: Number, Optional: true},
		{Title: "first own message", Text: true},
	}}

	for _, o := range owners {
		if len(o.Chats) == 0 {
			continue
		}
		families := 0
		for i, c := range o.Chats {
			if c.Depth == 1 && o.Chats[i-1].Depth == 0 {
				families++
			}
		}

		about := plural.Many(len(o.Chats), "chat")
		if families > 0 {
			about += ", " + plural.Of(families, "family", "families")
		}
		t.Rows = append(t.Rows, grid.Row{Heading: visible.Text(o.Name), About: about})
		for _, c := range o.Chats {
			t.Rows = append(t.Rows, d.row(c, visible.Text(short[c])))
		}
	}
	return t
}

// row returns a chat as a row below its owner.
func (d *drawer) row(c *Chat, name string) grid.Row {
	lanes, sign, code := d.before(c)
	r := grid.Row{Lead: lanes, Sign: sign, Code: code, Cells: []string{d.shown(name), "", plural.Grouped(c.Messages), "", ""}}
	if c.Parent != nil {
		r.Cells[1] = "-"
		if c.AtParent != nil && *c.At >= 0 {
			r.Cells[1] = strconv.Itoa(*c.AtParent)
		}
		if c.Own > 0 {
			r.Cells[3] = "+" + plural.Grouped(c.Own)
		}
	}

	date, about, code := d.notes(c)
	said := ""
	if c.Said != "" && c.Depth > 0 {
		said = d.shown(visible.Text(c.Said))
		if about != "" {
			about += d.shown(" · ")
		}
	}

	r.Cells[4] = date + about + said
	r.Parts = []grid.Part{{Code: grid.Dim, Text: date}, {Code: code, Text: about}, {Text: said}}
	return r
}

// notes returns what else there is to say of a chat beside its first own message, and how that is painted;
// the date of one that is open stands before it, where it is short.
func (d *drawer) notes(c *Chat) (date, text, code string) {
	var notes []string
	if c.Depth == 0 {
		notes = append(notes, dateRange(c, d.opt.Zone))
	}
	notes = append(notes, remarks(c)...)
	if c.Dangling != nil {
		notes = append(notes, "stchat repair")
	}
	code = grid.Dim
	switch {
	case c.Dangling != nil || c.Cycle || c.Unreadable:
		code = Warning
	case c.Current:
		code = Open
	}

	if c.Current {
		d.marks["●"] = true
		const open = "● open in SillyTavern"
		onlyShortDate := len(notes) == 1 && len(notes[0]) <= len("Mar 31")
		if onlyShortDate {
			date = notes[0] + "  "
			notes[0] = open
		} else { // it must not be cut off
			notes = slices.Insert(notes, 0, open)
		}
	}
	return date, d.shown(strings.Join(notes, " · ")), code
}

// codeOf returns how a mark is painted.
func codeOf(mark string) string {
	return cmp.Or(map[string]string{"◆": Checkpoint, "·": grid.Dim, " ": grid.Dim, "?": Computed, "●": Open}[mark], Warning)
}

// before returns what precedes a chat's name: lanes, mark, and how that is painted.
func (d *drawer) before(c *Chat) (lanes, sign, code string) {
	m := markOf(c)
	code = codeOf(m)
	if c.Depth > 0 || m != "·" {
		sign = m + " "
		d.marks[m] = true
	}
	if d.terse && c.Current {
		sign = "● " + sign
		code = Open
	}

	if c.Depth == 0 {
		d.lanes = append(d.lanes[:0], false)
		return "", d.shown(sign), code
	}
	d.lanes = append(d.lanes[:c.Depth], !c.Last)

	var b strings.Builder
	from := 1
	if n := d.deepest(); c.Depth > n {
		from = c.Depth - n + 1
		fmt.Fprintf(&b, "%d…", from-1)
	}
	for _, goesOn := range d.lanes[from:c.Depth] {
		if goesOn {
			b.WriteString("│ ")
		} else {
			b.WriteString("  ")
		}
	}

	if c.Last {
		b.WriteString("└─")
	} else {
		b.WriteString("├─")
	}
	return d.shown(b.String()), d.shown(sign), code
}

// markOf returns the one sign that says most about a chat.
func markOf(c *Chat) string {
	switch {
	case c.Cycle:
		return "∞"
	case c.Dangling != nil:
		return "!"
	case c.computed():
		return "?"
	case c.Role == "checkpoint":
		return "◆"
	}
	return "·"
}

// remarks returns in few words what is special about a chat.
func remarks(c *Chat) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	switch {
	case c.Unreadable:
		add("cannot be read")
	case c.Parent == nil:
	case *c.At < 0:
		add("shares no message with its parent")
	case c.Role == "copy":
		add("a copy, computed")
	case c.computed():
		add("computed, no link")
	case c.Own == 0:
		add("ends there")
	}

	if c.Edited != nil && *c.Edited > 0 {
		add("~%d edited before the fork", *c.Edited)
	}
	if c.AtLink != nil && c.AtParent != nil && *c.AtLink != *c.AtParent {
		add("noted at %d", *c.AtLink)
	}
	if c.Dangling != nil {
		add("names %s, which is missing", visible.Quote(cutName(*c.Dangling, 40)))
	}
	if c.Cycle {
		add("was its own ancestor")
	}
	return list
}

// dateRange returns the days of a chat's messages, without the year where its name has that.
func dateRange(c *Chat, zone *time.Location) string {
	if c.First.IsZero() {
		return "no dates"
	}
	first, last := c.First.In(zone), c.Until.In(zone)

	from, to := time.DateOnly, time.DateOnly
	if first.Year() == last.Year() {
		to = "01-02"
		if strings.Contains(c.Name, first.Format("2006-")) {
			from, to = "Jan 2", "Jan 2"
			if first.Month() == last.Month() {
				to = "2"
			}
		}
	}

	if first.Format(time.DateOnly) == last.Format(time.DateOnly) {
		return first.Format(from)
	}
	return first.Format(from) + " … " + last.Format(to)
}

// Rows writes one row per chat for a pipe: depth, mark, at_parent, name, messages, own, first date,
// last date, parent, via, bytes, separated by tabs.
func Rows(w io.Writer, t *Tree) error {
	b := bufio.NewWriter(w)
	for c := range t.chats() {
		text := func(s *string) string {
			if s == nil {
				return ""
			}
			return visible.Text(*s)
		}

		at := ""
		if c.AtParent != nil {
			at = strconv.Itoa(*c.AtParent)
		}
		signs := strings.TrimPrefix(markOf(c), "·")
		if c.Current {
			signs += "*"
		}
		fmt.Fprintf(b, "%d\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%d\n", c.Depth, signs, at, visible.Text(c.Name), c.Messages, c.Own,
			text(c.FirstDate), text(c.LastDate), text(c.Parent), text(c.Via), c.Bytes)
	}
	return b.Flush()
}

package treeview

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"stchat/internal/plural"
	"stchat/internal/visible"
)

// Style is how a piece of text is painted.
type Style int

// The styles.
const (
	OwnerStyle Style = iota
	CurrentStyle
	MarkStyle
	WarnStyle
	OwnStyle
	PreviewStyle
)

// TextOptions says how text is drawn.
type TextOptions struct {
	Width int  // cells of a line at most; 0: 100
	ASCII bool // lines and marks in ASCII; names stay as they are
	Zone  *time.Location
	Hint  string                            // follows the number of chats without relatives
	Paint func(s Style, text string) string // nil: nothing is painted
}

const (
	leastName = 24 // cells that a name gets at least, with what stands before it
	leastTail = 10 // cells of a name that are shown however deep it stands
	deepest   = 12 // levels that are drawn; deeper chats say how deep they are
)

// Text draws the tree for a person.
func Text(w io.Writer, t *Tree, opt TextOptions) error {
	d := drawer{w: bufio.NewWriter(w), opt: opt}
	if d.opt.Width == 0 {
		d.opt.Width = 100
	}
	if d.opt.Zone == nil {
		d.opt.Zone = time.Local
	}
	for i, o := range t.Owners {
		if len(o.Chats) == 0 {
			continue
		}
		if t.Flat {
			drawFlat(&d, o.Chats)
			continue
		}
		if i > 0 {
			fmt.Fprintln(d.w)
		}
		d.line(d.paint(OwnerStyle, d.cut(visible.Text(o.Name), d.opt.Width)))
		d.families(o.Chats)
	}
	d.line(d.cut(t.Summary.text(d.opt.Hint), d.opt.Width))
	return d.w.Flush()
}

// text describes what a tree adds up to.
func (s Summary) text(hint string) string {
	text := fmt.Sprintf("%s, %s", plural.Of(s.Families, "family", "families"), plural.S(s.Chats-s.Alone, "chat"))
	if s.Alone > 0 {
		text += fmt.Sprintf("; %s without relatives%s", plural.S(s.Alone, "chat"), hint)
	}
	if s.Dangling > 0 {
		text += fmt.Sprintf("; %s a missing parent", plural.Of(s.Dangling, "chat names", "chats name"))
	}
	if s.Cycles > 0 {
		text += "; " + plural.S(s.Cycles, "cycle")
	}
	return text
}

type drawer struct {
	w     *bufio.Writer
	opt   TextOptions
	lanes []bool // for each depth on the way to the current chat: a sibling follows
}

func (d *drawer) paint(s Style, text string) string {
	if d.opt.Paint == nil || text == "" {
		return text
	}
	return d.opt.Paint(s, text)
}

func (d *drawer) line(text string) {
	fmt.Fprintln(d.w, strings.TrimRight(text, " "))
}

// ascii replaces the drawing characters that a terminal may lack. What it returns may be wider,
// so it comes before everything that goes by width.
var ascii = strings.NewReplacer("├─", "|-", "└─", "`-", "│", "|", "┬", "-", "◆", "*", "∞", "@", "…", "...")

// shown returns text in the characters that the terminal has.
func (d *drawer) shown(text string) string {
	if d.opt.ASCII {
		return ascii.Replace(text)
	}
	return text
}

// ellipsis marks where text was cut.
func (d *drawer) ellipsis() string { return d.shown("…") }

// cut returns text in at most so many cells, with its end cut off.
func (d *drawer) cut(text string, cells int) string {
	return visible.TruncateWith(d.shown(text), cells, d.ellipsis())
}

// cutLeft is cut for the beginning of text.
func (d *drawer) cutLeft(text string, cells int) string {
	return visible.TruncateLeftWith(d.shown(text), cells, d.ellipsis())
}

// families draws one family after another, the columns of each aligned.
func (d *drawer) families(chats []*Chat) {
	for from := 0; from < len(chats); {
		to := from + 1
		for to < len(chats) && chats[to].Depth > 0 {
			to++
		}
		d.family(chats[from:to])
		from = to
	}
}

func (d *drawer) family(chats []*Chat) {
	before := make([]string, len(chats))
	width := 0
	for i, c := range chats {
		before[i] = d.shown(d.before(c))
		width = max(width, visible.Width(before[i]+d.shown(c.short())))
	}
	width = min(width, max(d.opt.Width-40, leastName))
	for i, c := range chats {
		// the beginning of a name is what chats have in common
		name := d.cutLeft(c.short(), max(width-visible.Width(before[i]), leastTail))
		left := visible.Pad(before[i]+name, width)
		numbers := fmt.Sprintf("  %5d %-8s", c.Messages, d.ownText(c))
		room := d.opt.Width - visible.Width(left) - len(numbers) - 1
		if c.Current {
			left = d.paint(CurrentStyle, left)
		}
		d.line(left + d.paint(OwnStyle, numbers) + " " + d.rest(c, room))
	}
}

// ownText returns what follows a chat's number of messages.
func (d *drawer) ownText(c *Chat) string {
	switch {
	case c.Parent == nil && c.Messages == 1:
		return "message"
	case c.Parent == nil:
		return "messages"
	case c.Own == 0:
		return ""
	}
	return "+" + strconv.Itoa(c.Own)
}

// before returns what precedes a chat's name: lanes, mark and point.
func (d *drawer) before(c *Chat) string {
	if c.Depth == 0 {
		d.lanes = append(d.lanes[:0], false)
		if m := mark(c); m != " " {
			return m + " "
		}
		return ""
	}
	d.lanes = append(d.lanes[:c.Depth], !c.Last)
	var b strings.Builder
	from := 1
	if c.Depth > deepest {
		from = c.Depth - deepest + 1
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
	m := mark(c)
	if m == " " && len(c.Children) > 0 {
		m = "┬"
	}
	at := "-"
	if c.At != nil {
		at = strconv.Itoa(*c.At)
	}
	fmt.Fprintf(&b, "%s %s  ", m, at)
	return b.String()
}

// mark returns the one sign that says most about a chat.
func mark(c *Chat) string {
	switch {
	case c.Cycle:
		return "∞"
	case c.Dangling != nil:
		return "!"
	case c.Via != nil && *c.Via == "content":
		return "?"
	case c.Role == "checkpoint":
		return "◆"
	}
	return " "
}

// rest returns what follows the columns, in at most room cells.
func (d *drawer) rest(c *Chat, room int) string {
	var notes []string
	if c.Depth == 0 {
		notes = append(notes, d.dates(c))
	}
	notes = append(notes, remarks(c)...)
	text := d.cut(strings.Join(notes, ", "), max(room, 0))
	if c.Current {
		text = strings.TrimSpace(d.cut(text, max(room-2, 0)) + " *")
	}
	painted := text
	if c.Dangling != nil || c.Cycle || c.Unreadable {
		painted = d.paint(WarnStyle, text)
	}
	room -= visible.Width(text) + 2
	if p := c.Preview.Fork; p != nil && c.Depth > 0 && room > 12 {
		shown := d.cut(visible.Text(*p), room)
		if text != "" {
			painted += "  "
		}
		painted += d.paint(PreviewStyle, shown)
	}
	return painted
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
	case c.Via != nil && *c.Via == "content":
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
		add("names %s, which is missing", visible.Quote(visible.Truncate(*c.Dangling, 40)))
	}
	if c.Cycle {
		add("was its own ancestor")
	}
	return list
}

// dates returns from when to when a chat goes.
func (d *drawer) dates(c *Chat) string { return dateRange(c, d.opt.Zone) }

// drawFlat draws one row per chat.
func drawFlat(d *drawer, chats []*Chat) {
	width := 0
	for _, c := range chats {
		width = max(width, visible.Width(d.shown(visible.Text(c.Name))))
	}
	width = min(width, max(d.opt.Width-50, leastName))
	for _, c := range chats {
		last := "-"
		if !c.Until.IsZero() {
			last = c.Until.In(d.opt.Zone).Format("2006-01-02 15:04")
		}
		left := d.shown(mark(c)) + " " + visible.Pad(d.cutLeft(visible.Text(c.Name), width), width)
		if c.Current {
			left = d.paint(CurrentStyle, left)
		}
		parent := ""
		if c.Parent != nil {
			parent = "from " + visible.Text(*c.Parent)
			if *c.At >= 0 {
				parent = fmt.Sprintf("from %d of %s", *c.AtParent, visible.Text(*c.Parent))
			}
		}
		if c.Current {
			parent = strings.TrimSpace("* " + parent)
		}
		columns := fmt.Sprintf("  %5d  %16s  ", c.Messages, last)
		d.line(left + columns + d.paint(PreviewStyle, d.cut(parent, max(d.opt.Width-width-2-len(columns), 0))))
	}
}

func dateRange(c *Chat, zone *time.Location) string {
	if c.First.IsZero() {
		return "no dates"
	}
	first, last := c.First.In(zone), c.Until.In(zone)
	text := first.Format(time.DateOnly)
	switch {
	case first.Format(time.DateOnly) == last.Format(time.DateOnly):
		return text
	case first.Year() == last.Year():
		return text + " … " + last.Format("01-02")
	default:
		return text + " … " + last.Format(time.DateOnly)
	}
}

// Rows writes one row per chat for a pipe: depth, mark, at, name, messages, own, first date,
// last date, parent, via, separated by tabs.
func Rows(w io.Writer, t *Tree) error {
	b := bufio.NewWriter(w)
	for _, o := range t.Owners {
		for _, c := range o.Chats {
			text := func(s *string) string {
				if s == nil {
					return ""
				}
				return visible.Text(*s)
			}
			at := ""
			if c.At != nil {
				at = strconv.Itoa(*c.At)
			}
			signs := strings.TrimSpace(mark(c))
			if c.Current {
				signs += "*"
			}
			fmt.Fprintf(b, "%d\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", c.Depth, signs, at, visible.Text(c.Name), c.Messages, c.Own,
				text(c.FirstDate), text(c.LastDate), text(c.Parent), text(c.Via))
		}
	}
	return b.Flush()
}

package treeview

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"stchat/internal/visible"
)

// The picture's measures.
const (
	svgRow    = 44.0
	svgLeft   = 24.0
	svgTop    = 34.0
	svgLabel  = 330.0 // room for the text of the last lane
	svgAcross = 1100.0
)

const svgStyle = `svg{background:#fbfaf7}text{font:13px system-ui,sans-serif;fill:#23211d}text,tspan{unicode-bidi:isolate}.meta,.tick{fill:#6d685f}.tick{font-size:11.5px}.name,.head{font-weight:600}.head{fill:#6d685f}` +
	`path{fill:none;stroke-width:2.5;stroke-linecap:round}.link{stroke-width:1.5}.root{stroke:#2f5d8a}.branch{stroke:#2d7d6b}.checkpoint{stroke:#b2691a}.copy{stroke:#8c877d}` +
	`.end{stroke:none}.end.root{fill:#2f5d8a}.end.branch{fill:#2d7d6b}.end.checkpoint{fill:#b2691a}.end.copy{fill:#8c877d}.computed{stroke-dasharray:2 5}` +
	`.fork{fill:#fbfaf7;stroke:#6d685f;stroke-width:1.5}.halo{fill:none;stroke:#2f5d8a;stroke-width:2}.grid{stroke:#eeebe3;stroke-width:1}.said{font-style:italic;fill:#6d685f}` +
	`@media(prefers-color-scheme:dark){svg{background:#161719}text{fill:#e8e6e1}.meta,.tick,.head,.said{fill:#9b978f}.root{stroke:#7fb0e0}.branch{stroke:#6cc3ad}.checkpoint{stroke:#e0a458}` +
	`.end.root{fill:#7fb0e0}.end.branch{fill:#6cc3ad}.end.checkpoint{fill:#e0a458}.fork{fill:#161719;stroke:#9b978f}.halo{stroke:#7fb0e0}.grid{stroke:#23262a}}`

// picture is an SVG that is being drawn.
type picture struct {
	w      *bufio.Writer
	unit   float64 // pixels per message
	bottom float64
	short  map[*Chat]string
}

// x returns where a message is drawn; before the first is the fork of a chat that shares none.
func (p *picture) x(index int) float64 {
	if index < 0 {
		return svgLeft / 2
	}
	return svgLeft + float64(index)*p.unit
}

// SVG draws the tree as a picture without scripts, links or external resources.
func SVG(w io.Writer, t *Tree) error {
	list, headings := lanes(t)
	widest, rows := 1, 1.0
	for i := range list {
		widest = max(widest, list[i].to)
		rows = list[i].y + 1
	}
	p := &picture{w: bufio.NewWriter(w), short: t.Shorts(), unit: min(24, svgAcross/float64(widest))}
	p.bottom = svgTop + rows*svgRow
	wide := p.x(widest) + svgLabel
	fmt.Fprintf(p.w, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">\n<style>%s</style>\n", wide, p.bottom, wide, p.bottom, svgStyle)
	p.axis(widest, list)
	if len(t.Owners) > 1 {
		for i, o := range t.Owners {
			fmt.Fprintf(p.w, "<text class=\"head\" x=\"10\" y=\"%.1f\">%s</text>\n", svgTop+(headings[i]+0.4)*svgRow, xmlText(shown(o.Name, longest)))
		}
	}
	for i := range list {
		p.lane(list, &list[i], wide)
	}
	fmt.Fprint(p.w, "</svg>\n")
	return p.w.Flush()
}

// axis draws the indexes of messages, with the dates of the first chat.
func (p *picture) axis(widest int, list []lane) {
	step := 1
	for _, s := range []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000, 1_000_000} {
		if step = s; float64(s)*p.unit >= 120 {
			break
		}
	}
	last := ""
	for i := 0; i <= widest; i += step {
		text := fmt.Sprintf("#%d", i)
		if len(list) > 0 {
			if date := dateBy(list[0].chat, i); date != "" && date != last {
				text += "  " + date
				last = date
			}
		}
		fmt.Fprintf(p.w, "<path class=\"grid\" d=\"M%.1f %.0fV%.0f\"/><text class=\"tick\" x=\"%.1f\" y=\"18\">%s</text>\n", p.x(i), svgTop-8, p.bottom, p.x(i), text)
	}
}

// dateBy returns the day on which a chat had come as far as a message.
func dateBy(c *Chat, index int) string {
	day := ""
	for _, d := range c.Dates {
		if d.Index <= index && index < c.Messages {
			day = d.At.Format(time.DateOnly)
		}
	}
	return day
}

func (p *picture) lane(list []lane, l *lane, wide float64) {
	c := l.chat
	class := c.Role
	line := class
	if c.computed() {
		line += " computed"
	}
	y := svgTop + (l.y+0.15)*svgRow
	start, end := p.x(l.from), p.x(l.to)
	textX, textY := start, y-12
	fmt.Fprintf(p.w, "<g><title>%s</title>\n", xmlText(tooltip(c)))
	if l.above < 0 {
		end = max(end, start+6)
		fmt.Fprintf(p.w, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n", line, start, y, end)
	} else {
		const r = 10
		fork, above := p.x(l.fork), svgTop+(list[l.above].y+0.15)*svgRow
		end = max(end, fork+r+8)
		fmt.Fprintf(p.w, "<path class=\"link %s\" d=\"M%.1f %.1fV%.1fQ%.1f %.1f %.1f %.1f\"/>\n", line, fork, above, y-r, fork, y, fork+r, y)
		fmt.Fprintf(p.w, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n<circle class=\"fork\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", line, fork+r, y, end, fork, above)
		textX = fork + 12
		if c.Own == 0 {
			textX, textY = end+14, y+4.5
		}
	}
	if c.Current {
		fmt.Fprintf(p.w, "<circle class=\"halo\" cx=\"%.1f\" cy=\"%.1f\" r=\"7.5\"/>\n", end, y)
	}
	if c.Role == "checkpoint" {
		fmt.Fprintf(p.w, "<path class=\"end checkpoint\" d=\"M%.1f %.1fl6 -6l6 6l-6 6z\"/>\n", end-6, y)
	} else {
		fmt.Fprintf(p.w, "<circle class=\"end %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.2\"/>\n", class, end, y)
	}
	meta, text := label(c)
	cells := int((wide - textX - 10) / 7.2)
	name := shown(p.short[c], max(cells, 8))
	meta = visible.CutRight(meta, max(cells-visible.Width(name)-2, 0), "…")
	text = visible.CutRight(text, max(cells-visible.Width(name)-visible.Width(meta)-4, 0), "…")
	fmt.Fprintf(p.w, "<text x=\"%.1f\" y=\"%.1f\"><tspan class=\"name\">%s</tspan><tspan class=\"meta\" dx=\"9\">%s</tspan><tspan class=\"said\" dx=\"9\">%s</tspan></text>\n</g>\n",
		textX, textY, xmlText(name), xmlText(meta), xmlText(text))
}

// label returns the text on a lane.
func label(c *Chat) (meta, text string) {
	parts := []string{counts(c)}
	if c.Parent != nil {
		parts = []string{fmt.Sprintf("+%d", c.Own)}
		if c.Own == 0 {
			parts = nil
		}
	}
	parts = append(parts, remarks(c)...)
	if !c.First.IsZero() {
		parts = append(parts, dateRange(c, time.UTC))
	}
	if c.Parent != nil {
		text = visible.Text(c.Said)
	}
	return strings.Join(parts, ", "), text
}

// tooltip describes a chat in full.
func tooltip(c *Chat) string {
	lines := []string{shown(c.Name, 300), c.Role + ", " + counts(c)}
	if !c.First.IsZero() {
		lines = append(lines, dateRange(c, time.UTC))
	}
	lines = append(lines, remarks(c)...)
	if p := c.Preview.Fork; p != nil {
		lines = append(lines, visible.Text(*p))
	}
	if p := c.Preview.Last; p != nil && p != c.Preview.Fork {
		lines = append(lines, "… "+visible.Text(*p))
	}
	return strings.Join(lines, "\n")
}

// xmlText escapes text for XML; what XML 1.0 cannot hold becomes U+FFFD.
func xmlText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '"':
			b.WriteString("&quot;")
		case r == '\n', r == '\t':
			b.WriteRune(r)
		case r < 0x20, r == 0xfffe, r == 0xffff, r >= 0xd800 && r < 0xe000:
			b.WriteRune('\ufffd')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// lane is a chat as it is drawn along its messages: across by their index, one chat
// below the other.
type lane struct {
	chat  *Chat
	above int     // the lane on which the fork's message is drawn; -1: none
	y     float64 // in rows
	shift int     // what is added to an index to bring it under the parent's
	fork  int     // where the fork's message is drawn
	from  int     // where the first own message is drawn
	to    int     // where the last message is drawn
}

const (
	familyGap = 0.5 // rows between families
	ownerGap  = 1.4 // and between owners
)

// lanes lays the chats out. A chat stands below the lane of its fork's message and
// above those that part earlier, so that no line to a chat crosses another chat, nor
// its text.
func lanes(t *Tree) (list []lane, owners []float64) {
	y := 0.0
	for _, o := range t.Owners {
		y += ownerGap
		owners = append(owners, y-ownerGap)
		for from := 0; from < len(o.Chats); {
			to := from + 1
			for to < len(o.Chats) && o.Chats[to].Above != nil {
				to++
			}
			list, y = layFamily(list, o.Chats[from:to], y)
			y += familyGap
			from = to
		}
	}
	return list, owners
}

// layFamily lays out one family, from a row on, and returns the row below it.
func layFamily(list []lane, chats []*Chat, y float64) ([]lane, float64) {
	family := make([]lane, len(chats))
	at := map[*Chat]int{}
	below := make([][]int, len(chats))
	for i, c := range chats {
		at[c] = i
		family[i] = placed(family, at, c)
		if p := family[i].above; p >= 0 {
			below[p] = append(below[p], i)
		}
	}
	place := make([]int, len(chats)) // in list
	stack := []int{0}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		l := family[i]
		if l.above >= 0 {
			l.above = place[l.above]
		}
		l.y = y
		y++
		place[i] = len(list)
		list = append(list, l)
		slices.SortStableFunc(below[i], func(a, b int) int { return cmp.Compare(family[a].fork, family[b].fork) })
		stack = append(stack, below[i]...) // the last fork comes off first
	}
	return list, y
}

// placed finds where a chat's lane begins and ends. Its parent is placed already.
func placed(family []lane, at map[*Chat]int, c *Chat) lane {
	l := lane{chat: c, above: -1, fork: -1, to: max(c.Messages-1, 0)}
	if c.Above == nil {
		return l
	}
	p := at[c.Above]
	l.above = p
	if *c.At < 0 {
		return l
	}
	l.shift = family[p].shift + *c.AtParent - *c.At
	l.fork = l.shift + *c.At
	l.from, l.to = l.fork+1, max(l.shift+c.Messages-1, l.fork)
	// the parent may have the fork's message from its own parent
	for family[l.above].above >= 0 && l.fork < family[l.above].from {
		l.above = family[l.above].above
	}
	return l
}

package treeview

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"stchat/internal/visible"
)

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

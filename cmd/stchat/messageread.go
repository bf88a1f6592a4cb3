package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"stchat/internal/choose"
	"stchat/internal/names"
	"stchat/internal/ops/look"
	"stchat/internal/plural"
	"stchat/internal/prose"
	"stchat/internal/visible"
)

// reader prints messages for somebody who reads them: READING.md 2.
type reader struct {
	screen
	swipes, reasoning bool
	ranges            []choose.Range // as they were asked for
	chat              string         // path of the chat whose title is printed
	day               string
	owner, name       string
}

// print prints a message, and before the first of a chat its title.
func (r *reader) print(m *look.Message) {
	if r.chat != m.Path {
		r.title(m)
	}
	at, dated := m.Time()
	if dated {
		at = at.Local()
		if day := at.Format("Monday 2 January 2006"); day != r.day {
			if r.day != "" {
				fmt.Fprintln(r.w)
			}
			r.day = day
			line := r.sign("─")
			r.line(dim, r.fit(line+line+" "+day+" "+strings.Repeat(line, max(r.measure-visible.Width(day)-4, 2)), 0))
		}
	}
	fmt.Fprintln(r.w)
	r.head(m, at, dated)
	if m.Reasoning != nil && *m.Reasoning != "" {
		r.thought(m)
	}
	r.text(cmp.Or(m.Display, m.Text), m.Hidden)
	for _, media := range m.Media {
		r.attached(cmp.Or(textOr(media.Type), "picture"), media)
	}
	for _, file := range m.Files {
		r.attached("file", file)
	}
	if m.Checkpoint != nil {
		r.link(r.sign("◆")+" checkpoint", *m.Checkpoint)
	}
	for _, branch := range m.Branches {
		r.link(r.sign("├")+" branch", branch)
	}
	for i, swipe := range m.SwipeTexts {
		if m.Swipe == nil || i+1 != *m.Swipe {
			r.line(dim, r.pad()+r.swipe(i+1, m.Swipes))
			r.text(swipe, m.Hidden)
		}
	}
}

// end prints how many messages a chat has, if it was read to its end.
func (r *reader) end(read look.MessagesRead) {
	if read.Chosen > 0 && read.Total >= 0 {
		fmt.Fprintln(r.w)
		r.line(dim, plural.S(read.Total, "message"))
	}
}

// title prints whose chat it is, and which messages.
func (r *reader) title(m *look.Message) {
	if r.chat != "" {
		fmt.Fprintln(r.w)
	}
	r.chat, r.day, r.owner, r.name = m.Path, "", m.Owner, m.Chat
	parts := []string{visible.Text(m.Owner), visible.Text(names.Short(m.Owner, m.Chat))}
	if m.Owner == "" {
		parts = parts[1:]
	}
	if about := r.indexes(); about != "" {
		parts = append(parts, "messages "+about)
	}
	between := either(visible.Width(strings.Join(parts, " · ")) > r.measure, "\n", r.sign(" · "))
	for i, part := range parts {
		code := dim
		if i == 0 {
			code = bold
		} else {
			fmt.Fprint(r.w, paint(r.color && between != "\n", dim, between))
		}
		fmt.Fprint(r.w, paint(r.color, code, r.fit(part, 0)))
	}
	fmt.Fprintln(r.w)
}

// indexes says which messages were asked for, if that tells their indexes.
func (r *reader) indexes() string {
	var list []string
	for _, asked := range r.ranges {
		text := strconv.Itoa(asked.From)
		switch {
		case asked.From < 0 || asked.To < 0:
			return ""
		case asked.Open():
			text += r.sign("–")
		case asked.To > asked.From:
			text += r.sign("–") + strconv.Itoa(asked.To)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// head prints whose message it is, and at the right what applies to it.
func (r *reader) head(m *look.Message, at time.Time, dated bool) {
	name := either(strings.TrimSpace(deref(m.Name)) != "", textOr(m.Name), "("+m.Role+")")
	code := bold + ";" + roleColor(m.Role)
	index := numberOf(m.Index)
	if r.indent == 0 {
		r.line(code, strings.TrimSpace(r.fitName(name, len(index)+1)+" "+index))
		return
	}
	swipe := ""
	if m.Swipes > 1 && m.Swipe != nil {
		swipe = r.swipe(*m.Swipe, m.Swipes)
	}
	right := joined("  ", when(m.Hidden, "hidden"), m.Type, swipe, when(dated, at.Format("15:04")), index)
	name = r.fitName(name, visible.Width(right)+2)
	gap := strings.Repeat(" ", max(r.measure-visible.Width(name)-visible.Width(right), 2))
	fmt.Fprintln(r.w, paint(r.color, code, name)+when(right != "", gap+paint(r.color, dim, right)))
}

// thought prints that there is reasoning, or the reasoning.
func (r *reader) thought(m *look.Message) {
	if r.reasoning {
		for _, line := range r.lines(*m.Reasoning, 2) {
			r.line(dim, r.pad()+r.sign("│ ")+prose.Text(line))
		}
		fmt.Fprintln(r.w)
		return
	}
	r.line(dim, r.pad()+m.Thought())
}

// text prints a text of a message, that of a hidden one dimmed.
func (r *reader) text(text *string, hidden bool) {
	lines := r.lines(deref(text), 0)
	if len(lines) == 0 {
		r.line(dim, r.pad()+"(no text)")
	}
	for _, line := range lines {
		r.runs(line, hidden)
	}
}

// lines lays out a text with so many cells left free at the left.
func (r *reader) lines(text string, free int) [][]prose.Run {
	return prose.Layout{Cells: max(r.measure-r.indent-free, 1), Marks: !r.color, ASCII: r.ascii}.Lines(prose.Read(text))
}

// attached prints an attachment.
func (r *reader) attached(kind string, media look.Media) {
	kind = either(kind == "image", "picture", kind)
	missing := when(media.Exists != nil && !*media.Exists, ", missing")
	r.line("", r.pad()+"["+r.fit(kind+": "+visible.Text(media.Name()), r.indent+2+len(missing))+missing+"]")
}

// link prints the name of a chat that a message leads to.
func (r *reader) link(kind, name string) {
	short := r.shortened(names.Short(r.owner, name, r.name))
	r.line("", r.pad()+r.fit(kind+` "`+r.fitName(short, visible.Width(kind)+r.indent+3)+`"`, r.indent))
}

func (r *reader) swipe(k, n int) string {
	return r.sign("‹") + strconv.Itoa(k) + "/" + strconv.Itoa(n) + r.sign("›")
}

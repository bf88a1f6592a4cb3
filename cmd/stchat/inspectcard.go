package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"stchat/internal/chat"
	"stchat/internal/extension"
	"stchat/internal/inspect"
	"stchat/internal/plural"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

// shownLines is about how many lines a card spends on one label on a terminal.
const shownLines = 12

// card writes lines of a label and its cells.
type card struct {
	c      *console
	damage bool // the lines are about damage
}

// line writes one line; the cells must already be escaped for a terminal.
func (k card) line(label string, cells ...string) {
	if !k.c.shown {
		k.c.row(append([]string{label}, cells...)...)
		return
	}
	const indent = 14
	room := max(cmp.Or(k.c.Width, math.MaxInt)-indent, 1)
	var lines []string
	for _, cell := range cells {
		n := len(lines) - 1
		switch {
		case n >= 0 && visible.Width(lines[n])+2+visible.Width(cell) <= room:
			lines[n] += "  " + cell
		case label == "file": // a path is kept whole, to be copied
			lines = append(lines, cell)
		default:
			for _, at := range visible.Wrap(cell, room) {
				lines = append(lines, cell[at[0]:at[1]])
			}
		}
	}
	for _, line := range lines {
		line = strings.ReplaceAll(line, missing, paint(k.c.outColor, red, missing))
		if k.damage {
			line = paint(k.c.outColor, red, line)
		}
		fmt.Fprintf(k.c.w, "%s%s\n", paint(k.c.outColor, dim, visible.Pad(label, indent)), line)
		label = ""
	}
}

// missing marks a file that is named but does not exist.
const missing = "(missing)"

// list writes n lines, on a terminal only about shownLines, and then how many more of
// total there are.
func (k card) list(label string, n, total int, cells func(i int) []string) {
	for i := range n {
		if k.c.shown && i == shownLines && n > shownLines+1 {
			listed := "them"
			if n < total {
				listed = fmt.Sprintf("the first %d", n)
			}
			k.line("", fmt.Sprintf("%s and %d more (--json lists %s)", k.c.sign("…"), total-i, listed))
			return
		}
		shown := label
		if k.c.shown && i > 0 {
			shown = ""
		}
		k.line(shown, cells(i)...)
	}
	if n < total {
		k.line(label, fmt.Sprintf("%s and %d more", k.c.sign("…"), total-n))
	}
}

// writeCard writes all about one chat.
func writeCard(c *console, r *inspect.Report) {
	k := card{c: c}
	name := visible.Text(r.Name)
	if r.Path == chat.Stdin {
		name = "standard input"
	}
	if c.shown {
		fmt.Fprintln(c.w, paint(c.outColor, bold, c.prose(name, 0)))
	} else {
		k.line("chat", name)
	}
	if r.Path != chat.Stdin {
		k.line("file", shownPath(c, r.Path))
	}
	if r.Owner != nil {
		word := "character"
		if r.Kind == string(userdir.Group) {
			word = "group"
		}
		k.line(word, visible.Text(*r.Owner))
	}
	large := "longest line " + formatBytes(r.Longest)
	if c.shown {
		large = heaviest(r)
	}
	k.line("size", formatBytes(r.Bytes), large)
	k.line("header", headerText(r.Header))
	k.line("messages", fmt.Sprint(r.Messages), fmt.Sprintf("%d user, %d character, %d system", r.User, r.Character, r.System), fmt.Sprintf("%d hidden", r.Hidden))
	if r.FirstDate != nil {
		k.line("dates", shownDate(c, *r.FirstDate), "to", shownDate(c, *r.LastDate))
	}
	k.line("swipes", plural.S(r.WithSwipes, "message")+" with alternatives", plural.S(r.Swipes, "swipe")+" in all", formatBytes(r.Parts.Swipes))
	k.parts(r)
	k.ties(r)
	if r.Integrity != nil {
		k.line("integrity", visible.Text(*r.Integrity))
	}
	k.line("metadata", append([]string{plural.S(r.MetadataKeyTotal, "key")}, keyList(r.MetadataKeys, c.shown)...)...)
	for _, e := range r.Extensions {
		label, cells := extensionText(e)
		k.line(label, cells...)
	}
	k.damage = true
	k.list("damage", len(r.Damage), r.DamageTotal, func(i int) []string {
		d := r.Damage[i]
		return []string{fmt.Sprintf("line %d, column %d", d.Line, d.Column), visible.Text(d.Reason)}
	})
}

// shownPath returns a path, quoted for a shell if a person reads it, else escaped to one line.
func shownPath(c *console, path string) string {
	if c.shown {
		return visible.Quote(path)
	}
	return visible.Text(path)
}

// parts writes what the bytes are spent on, and the largest keys under extra.
func (k card) parts(r *inspect.Report) {
	p := r.Parts
	total := p.Text + p.Swipes + p.SwipeInfo + p.Extra + p.Other
	if total == 0 {
		return
	}
	part := func(name string, n int64) string {
		return fmt.Sprintf("%s %s (%d %%)", name, formatBytes(n), (n*100+total/2)/total)
	}
	k.line("parts", part("text", p.Text), part("swipes", p.Swipes), part("swipe_info", p.SwipeInfo), part("extra", p.Extra), part("other", p.Other))
	var keys []string
	for _, s := range r.ExtraKeys {
		keys = append(keys, visible.Text(s.Key)+" "+formatBytes(s.Bytes))
	}
	if len(keys) > 0 {
		k.line("extra", keys...)
	}
}

// ties writes the chat's parent, its checkpoints and branches, and its lorebook.
func (k card) ties(r *inspect.Report) {
	switch {
	case r.MainChat != nil:
		k.line("parent", visible.Text(*r.MainChat), k.existence(r.MainChatExists))
	case r.Parent != nil:
		k.line("parent", visible.Text(*r.Parent), "(by this chat's name)")
	}
	link := func(links []inspect.Link) func(i int) []string {
		return func(i int) []string {
			return []string{fmt.Sprintf("#%d", links[i].At), visible.Text(links[i].Name), k.existence(links[i].Exists)}
		}
	}
	k.list("checkpoint", len(r.Checkpoints), r.CheckpointTotal, link(r.Checkpoints))
	k.list("branch", len(r.Branches), r.BranchTotal, link(r.Branches))
	if b := r.Lorebook; b != nil {
		cells := []string{visible.Text(b.Name), k.existence(b.Exists)}
		if b.Entries != nil {
			cells = append(cells, plural.Of(*b.Entries, "entry", "entries"), fmt.Sprintf("%d internal", *b.Internal))
		}
		if b.Pending != nil {
			cells = append(cells, plural.S(*b.Pending, "operation")+" pending")
		}
		if b.Error != nil {
			cells = append(cells, visible.Text(*b.Error))
		}
		k.line("lorebook", cells...)
	}
}

// existence returns a note on whether a named file exists; nil means that it is unknown.
func (k card) existence(exists *bool) string {
	switch {
	case exists == nil:
		return "(not looked for)"
	case *exists:
		return "(exists)"
	}
	return missing
}

func headerText(header string) string {
	switch chat.HeaderKind(header) {
	case chat.Modern:
		return "modern (SillyTavern 1.16 and later, Luker)"
	case chat.Legacy:
		return "legacy (SillyTavern up to 1.14)"
	case chat.None:
		return "none (a group chat of SillyTavern up to 1.14, or lost)"
	}
	return header
}

// shownDate returns a date in local time if a person reads it, else as JSON has it.
func shownDate(c *console, date string) string {
	if c.shown {
		if t, err := time.Parse(time.RFC3339Nano, date); err == nil {
			return t.Local().Format(minute)
		}
	}
	return visible.Text(date)
}

// keyList returns keys as cells, or joined in one cell.
func keyList(keys []string, joined bool) []string {
	const most = 100 // more do not fit any terminal
	var shown []string
	for i, key := range keys {
		if joined && i == most {
			break
		}
		shown = append(shown, visible.Text(key))
	}
	if joined {
		return []string{strings.Join(shown, ", ")}
	}
	return shown
}

// extensionText returns an extension's label, and cells about what it keeps.
func extensionText(e any) (label string, cells []string) {
	switch e := e.(type) {
	case extension.View:
		return e.Cells()
	case *inspect.Luker:
		for _, s := range e.Sidecars {
			cell := visible.Text(s.Namespace) + " " + formatBytes(s.Bytes)
			if s.Commits != nil {
				cell += ", " + plural.S(*s.Commits, "commit")
			}
			if s.LastFloor != nil {
				cell += fmt.Sprintf(" up to #%d", *s.LastFloor)
			}
			cells = append(cells, cell)
		}
		return "Luker", cells
	case *inspect.Unknown:
		return "unknown", []string{visible.Text(e.Name), formatBytes(e.Bytes)}
	}
	return "", nil
}

// heaviest names the largest messages.
func heaviest(r *inspect.Report) string {
	var list []string
	for _, m := range r.Heaviest {
		list = append(list, fmt.Sprintf("#%d %s", m.Index, formatBytes(m.Bytes)))
	}
	if len(list) == 0 {
		return ""
	}
	return "heaviest  " + strings.Join(list, "  ")
}

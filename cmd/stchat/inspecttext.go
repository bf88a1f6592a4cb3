package main

import (
	"cmp"
	"fmt"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/folder/inspect"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
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
	room := max(cmp.Or(k.c.Width, unknownWidth)-indent, 1)
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
		line = strings.ReplaceAll(strings.TrimRight(line, " "), missing, paint(k.c.outColor, red, missing))
		if k.damage {
			line = paint(k.c.outColor, red, line)
		}
		fmt.Fprintf(k.c.w, "%s%s\n", paint(k.c.outColor, dim, visible.Pad(label, indent)), line)
		label = ""
	}
}

// missing marks a file that is named but does not exist.
const missing = "(missing)"

// list writes n lines, on a terminal only about shownLines unless all are asked for, and then how many
// more of total there are.
func (k card) list(label string, n, total int, cells func(i int) []string) {
	for i := range n {
		isCut := k.c.shown && !k.c.verbose && i == shownLines && n > shownLines+1
		if isCut {
			listed := "them"
			if n < total {
				listed = fmt.Sprintf("the first %d", n)
			}
			k.line("", fmt.Sprintf("%s and %s more (-v lists %s)", k.c.sign("…"), k.c.number(total-i), listed))
			return
		}
		before := ""
		if i == 0 || !k.c.shown {
			before = label
		}
		k.line(before, cells(i)...)
	}

	if n < total {
		k.line(label, fmt.Sprintf("%s and %s more", k.c.sign("…"), k.c.number(total-n)))
	}
}

// writeCard writes all about one chat.
func writeCard(c *console, r *inspect.Report) {
	k := card{c: c}
	k.title(r)
	k.size(r)
	k.line("header", cmp.Or(map[chat.HeaderKind]string{
		chat.Modern: "modern (SillyTavern 1.16 and later, Luker)",
		chat.Legacy: "legacy (SillyTavern up to 1.14)",
		chat.None:   "none (a group chat of SillyTavern up to 1.14, or lost)",
	}[chat.HeaderKind(r.Header)], r.Header))

	k.line("messages", c.number(r.Messages), fmt.Sprintf("%s user, %s character, %s system", c.number(r.User), c.number(r.Character), c.number(r.System)), c.number(r.Hidden)+" hidden")
	if r.FirstDate != nil {
		k.line("dates", shownDate(c, *r.FirstDate), "to", shownDate(c, *r.LastDate))
	}
	k.line("swipes", c.many(r.WithSwipes, "message")+" with alternatives", c.many(r.Swipes, "swipe")+" in all", formatBytes(r.Parts.Swipes))
	k.parts(r)
	k.ties(r)
	if r.Integrity != nil {
		k.line("integrity", visible.Text(*r.Integrity))
	}
	k.metadata(r)
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

// title writes which chat it is.
func (k card) title(r *inspect.Report) {
	name := visible.Text(r.Name)
	if r.Path == chat.Stdin {
		name = "standard input"
	}
	if k.c.shown {
		fmt.Fprintln(k.c.w, paint(k.c.outColor, bold, k.c.prose(name, "")))
	} else {
		k.line("chat", name)
	}

	switch {
	case r.Path == chat.Stdin:
	case k.c.shown:
		k.line("file", visible.Quote(r.Path))
	default:
		k.line("file", visible.Text(r.Path))
	}

	if r.Owner != nil {
		kind := "character"
		if r.Kind == string(userdir.Group) {
			kind = "group"
		}
		k.line(kind, visible.Text(*r.Owner))
	}
}

// size writes how large the chat is, and which of it takes most.
func (k card) size(r *inspect.Report) {
	if !k.c.shown {
		k.line("size", formatBytes(r.Bytes), "longest line "+formatBytes(r.Longest))
		return
	}
	cells := []string{formatBytes(r.Bytes)}
	for i, m := range r.Heaviest {
		cell := fmt.Sprintf("#%d %s", m.Index, formatBytes(m.Bytes))
		if i == 0 {
			cell = "heaviest  " + cell
		}
		cells = append(cells, cell)
	}

	k.line("size", cells...)
}

// metadata writes which keys the metadata has.
func (k card) metadata(r *inspect.Report) {
	cells := []string{k.c.many(r.MetadataKeyTotal, "key")}
	if k.c.shown {
		cells = append(cells, keyText(r.MetadataKeys))
	} else {
		cells = append(cells, keyCells(r.MetadataKeys)...)
	}
	k.line("metadata", cells...)
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

// shownDate returns a date in local time if a person reads it, else as JSON has it.
func shownDate(c *console, date string) string {
	if c.shown {
		date = localTime(date)
	}
	return visible.Text(date)
}

// keyCells returns keys as cells.
func keyCells(keys []string) (cells []string) {
	for _, key := range keys {
		cells = append(cells, visible.Text(key))
	}
	return cells
}

// keyText returns keys as a person reads them.
func keyText(keys []string) string {
	const most = 100 // more do not fit any terminal
	return strings.Join(keyCells(keys[:min(len(keys), most)]), ", ")
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
				cell += " up to #" + digits(s.LastFloor)
			}
			cells = append(cells, cell)
		}
		return "Luker", cells
	case *inspect.Unknown:
		return "unknown", []string{visible.Text(e.Name), formatBytes(e.Bytes)}
	}
	return "", nil
}

package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/folder/inspect"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
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

// list writes n lines, on a terminal only about shownLines, and then how many more of
// total there are.
func (k card) list(label string, n, total int, cells func(i int) []string) {
	for i := range n {
		if k.c.shown && i == shownLines && n > shownLines+1 {
			listed := "them"
			if n < total {
				listed = fmt.Sprintf("the first %d", n)
			}
			k.line("", fmt.Sprintf("%s and %s more (--json lists %s)", k.c.sign("…"), k.c.number(total-i), listed))
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

// writeTable writes a row for each chat, a total, and what user folders hold.
func writeTable(c *console, rows []inspect.Row, sum inspect.Summary) {
	w := c.w
	for _, row := range rows {
		r, book := row.Report, ""
		if r.Lorebook != nil {
			book = visible.Text(r.Lorebook.Name)
		}
		cells := []string{visible.Text(r.Path), strconv.Itoa(row.Depth), r.Kind, textOr(r.Owner), r.Header}
		for _, n := range []int{r.Messages, r.User, r.Character, r.System, r.Hidden, r.WithSwipes, r.Swipes} {
			cells = append(cells, strconv.Itoa(n))
		}
		c.row(append(cells, strconv.FormatInt(r.Bytes, 10), textOr(r.FirstDate), textOr(r.LastDate), textOr(r.Parent), book, strconv.Itoa(r.DamageTotal))...)
	}

	// the same columns, with the number of chats in place of the depth
	fmt.Fprintf(w, "total\t%d\t\t\t\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\t\t\t\t%d\n", sum.Chats, sum.Messages, sum.User, sum.Character, sum.System,
		sum.Hidden, sum.WithSwipes, sum.Swipes, sum.Bytes, sum.DamagedLines)
	if sum.Lorebooks == nil {
		return
	}
	fmt.Fprintf(w, "characters\t%d\ngroups\t%d\n", sum.Characters, *sum.Groups)
	books := func(label string, names []string) {
		c.row(append([]string{label, strconv.Itoa(len(names))}, keyCells(names)...)...)
	}
	books("lorebooks used", sum.Lorebooks.Used)
	books("lorebooks unused", sum.Lorebooks.Unused)
}

// writeShownTable writes the table for a person: chats below their folder, checkpoints
// and branches indented below their parent.
func writeShownTable(c *console, rows []inspect.Row, sum inspect.Summary) {
	s := newScreen(c, 0)
	t := &grid.Table{Columns: []grid.Column{
		{Title: "chat", Name: true, Code: cyan},
		{Title: "messages", Right: true, Code: green},
		{Title: "size", Right: true, Code: green},
		{Title: "last message", Code: dim},
		{Text: true, Code: yellow},
	}}

	rows = byGroup(rows)
	short := shortNames(rows)
	title := ""
	for i, row := range rows {
		r := row.Report
		if head := titleOf(r); i == 0 || head != title {
			title = head
			t.Rows = append(t.Rows, grid.Row{Heading: title})
		}
		cells := []string{s.shortened(short[i]), plural.Grouped(r.Messages), formatBytes(r.Bytes), shownDate(c, deref(r.LastDate)), notes(c, r)}
		t.Rows = append(t.Rows, grid.Row{Lead: s.leadOf(row), Cells: cells})
	}

	t.Rows = append(t.Rows, grid.Row{
		Cells: []string{"total", plural.Grouped(sum.Messages), formatBytes(sum.Bytes), plural.Many(sum.Chats, "chat")},
		Codes: []string{bold, bold, bold, bold},
	})
	if sum.Chats > 0 {
		s.table(t)
	} else {
		fmt.Fprintln(c.w, "no chat here")
	}

	if sum.Lorebooks == nil {
		return
	}
	fmt.Fprintln(c.w, "\n"+c.prose(strings.Join([]string{
		plural.Many(sum.Characters, "character"), plural.Many(*sum.Groups, "group"), plural.Many(sum.Chats, "chat"), plural.Many(sum.Messages, "message"), formatBytes(sum.Bytes),
	}, ", "), ""))
	writeBooks(c, "used by a chat", sum.Lorebooks.Used)
	writeBooks(c, "not used by any chat", sum.Lorebooks.Unused)
}

// leadOf returns what stands before a chat's name: a checkpoint or a branch is indented below its parent.
func (s *screen) leadOf(row inspect.Row) string {
	const deepest = 8 // deeper chats are indented no further
	if row.Depth <= 0 {
		return ""
	}
	return strings.Repeat("  ", min(row.Depth, deepest)-1) + s.sign("└ ")
}

func writeBooks(c *console, what string, books []string) {
	text := plural.Many(len(books), "lorebook") + " " + what
	if len(books) > 0 {
		text += ": " + keyText(books)
	}
	fmt.Fprintln(c.w, c.prose(text, ""))
}

// byGroup puts the chats below each title together, with their checkpoints and branches.
func byGroup(rows []inspect.Row) []inspect.Row {
	var trees [][]inspect.Row
	for i, r := range rows {
		if i == 0 || r.Depth == 0 {
			trees = append(trees, nil)
		}
		last := len(trees) - 1
		trees[last] = append(trees[last], r)
	}

	first := map[string]int{} // the place of the first tree with each title, from 1
	for i, tree := range trees {
		if title := titleOf(tree[0].Report); first[title] == 0 {
			first[title] = i + 1
		}
	}

	slices.SortStableFunc(trees, func(a, b []inspect.Row) int {
		return cmp.Compare(first[titleOf(a[0].Report)], first[titleOf(b[0].Report)])
	})
	return slices.Concat(trees...)
}

// titleOf returns the title above a chat's row: its folder, and its group if it has one.
func titleOf(r *inspect.Report) string {
	title := visible.Text(filepath.Dir(r.Path))
	if r.Kind == string(userdir.Group) && r.Owner != nil {
		title += ": " + visible.Text(*r.Owner)
	}
	return title
}

// shortNames returns the short names of rows that are in groups.
func shortNames(rows []inspect.Row) (list []string) {
	above := func(i int) (list []string) {
		for depth, k := rows[i].Depth, i-1; depth > 0 && k >= 0; k-- {
			if rows[k].Depth < depth {
				depth, list = rows[k].Depth, append(list, rows[k].Report.Name)
			}
		}
		return list
	}

	var all []string // of one title
	for i, row := range rows {
		all = append(all, cmp.Or(row.Report.Name, chat.Label(row.Report.Path)))
		if i+1 == len(rows) || titleOf(rows[i+1].Report) != titleOf(row.Report) {
			from := len(list)
			list = append(list, names.Shorts(deref(row.Report.Owner), all, func(i int) []string { return above(from + i) })...)
			all = nil
		}
	}
	return list
}

// notes returns what is wrong with a chat, in a few words.
func notes(c *console, r *inspect.Report) string {
	isMissing := func(exists *bool) bool { return exists != nil && !*exists }
	dangling := 0
	for _, l := range slices.Concat(r.Checkpoints, r.Branches) {
		if isMissing(l.Exists) {
			dangling++
		}
	}

	var list []string
	if r.DamageTotal > 0 {
		list = append(list, c.many(r.DamageTotal, "damaged line"))
	}
	switch chat.HeaderKind(r.Header) {
	case chat.None:
		list = append(list, "no header")
	case chat.Damaged:
		list = append(list, "header lost")
	}

	if isMissing(r.MainChatExists) {
		list = append(list, "parent missing")
	}
	if dangling > 0 {
		list = append(list, c.many(dangling, "dangling link"))
	}
	if r.Lorebook != nil && isMissing(r.Lorebook.Exists) {
		list = append(list, "lorebook missing")
	}
	return strings.Join(list, ", ")
}

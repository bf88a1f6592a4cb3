package main

import (
	"fmt"
	"strconv"
	"strings"

	"stchat/internal/folder/inspect"
	"stchat/internal/place/names"
	"stchat/internal/show/grid"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

// writeOverview writes for a pipe what a folder holds: lines of a name and a value.
func writeOverview(c *console, v *inspect.Overview) {
	value := func(name string, n int64) { c.row(visible.Text(name), strconv.FormatInt(n, 10)) }
	value("chats", int64(v.Chats))
	value("messages", int64(v.Messages))
	value("bytes", v.Bytes)
	value("characters", int64(v.Characters))
	if v.Groups != nil {
		value("groups", int64(*v.Groups))
	}
	value("damaged chats", int64(v.Damaged))
	value("damaged lines", int64(v.DamagedLines))

	labels := ownerLabels(v.Owners)
	for i, o := range v.Owners {
		value("owner "+labels[i], o.Bytes)
	}
	for _, d := range v.DamagedChats {
		value("damage "+d.Path, int64(d.Lines))
	}
	labels = bookLabels(v.Books)
	for i, b := range v.Books {
		value("lorebook "+labels[i], int64(b.Chats))
	}
}

// showOverview shows a person what a folder holds; args named it.
func (o *inspectOptions) showOverview(c *console, s *screen, v *inspect.Overview, args []string) {
	if v.Chats == 0 {
		c.line("no chat here")
	} else {
		showTotals(c, v)
		fmt.Fprintln(c.w)
		showOwners(c, s, v.Owners)
	}
	if v.Damaged > 0 {
		fmt.Fprintln(c.w)
		showDamaged(c, s, v.DamagedChats)
		c.whole("what is wrong, and how to fix it:", o.checkCommand(args))
	}
	if len(v.Books) > 0 {
		fmt.Fprintln(c.w)
		showBooks(c, s, v.Books)
	}
}

// showTotals shows what all chats add up to.
func showTotals(c *console, v *inspect.Overview) {
	c.title(plural.Many(v.Chats, "chat") + ", " + plural.Many(v.Messages, "message") + ", " + formatBytes(v.Bytes))
	var about []string
	if v.Characters > 0 {
		about = append(about, plural.Many(v.Characters, "character"))
	}
	if v.Groups != nil {
		about = append(about, plural.Many(*v.Groups, "group"))
	}
	if v.Damaged == 0 {
		about = append(about, "no damaged lines")
	} else {
		about = append(about, plural.Many(v.DamagedLines, "damaged line")+" in "+plural.Many(v.Damaged, "chat"))
	}
	c.line(c.prose(strings.Join(about, ", "), ""))
}

// showOwners shows whose the chats are.
func showOwners(c *console, s *screen, owners []inspect.Owner) {
	t := &grid.Table{Columns: []grid.Column{
		{Title: "owner", Name: true, Code: cyan},
		{Title: "chats", Right: true, Code: green},
		{Title: "messages", Right: true, Code: green},
		{Title: "size", Right: true, Code: green},
	}}
	labels := ownerLabels(owners)
	shown := owners[:c.rowsOf(len(owners))]
	for i, o := range shown {
		t.Rows = append(t.Rows, grid.Row{Cells: []string{visible.Text(labels[i]), plural.Grouped(o.Chats), plural.Grouped(o.Messages), formatBytes(o.Bytes)}})
	}
	s.table(t)
	c.sayMore(len(owners)-len(shown), "")
}

// showDamaged shows which chats have damaged lines.
func showDamaged(c *console, s *screen, chats []inspect.DamagedChat) {
	t := &grid.Table{Columns: []grid.Column{
		{Title: "damaged chat", Name: true, Code: cyan},
		{Title: "lines", Right: true, Code: red},
		{Title: "owner", Code: cyan},
	}}
	shown := chats[:c.rowsOf(len(chats))]
	for _, d := range shown {
		name := s.shortened(names.Short(d.Owner, d.Name))
		t.Rows = append(t.Rows, grid.Row{Cells: []string{name, plural.Grouped(d.Lines), visible.Text(d.Owner)}})
	}
	s.table(t)
	c.sayMore(len(chats)-len(shown), "")
}

// checkCommand returns the command that shows the damage of what was inspected.
func (o *inspectOptions) checkCommand(args []string) string {
	command := "stchat check"
	if len(args) > 0 {
		command += " " + visible.Args(args...)
	}
	if o.filesFrom != "" {
		command += " --files-from " + visible.Quote(o.filesFrom)
	}
	return command
}

// showBooks shows how many chats name the lorebooks.
func showBooks(c *console, s *screen, books []inspect.BookUse) {
	t := &grid.Table{Columns: []grid.Column{
		{Title: "lorebook", Name: true, Code: cyan},
		{Title: "chats", Right: true, Code: green},
	}}
	labels := bookLabels(books)
	shown := c.rowsOf(len(books))
	for i, b := range books[:shown] {
		t.Rows = append(t.Rows, grid.Row{Cells: []string{visible.Text(labels[i]), plural.Grouped(b.Chats)}})
	}
	s.table(t)

	unused := 0
	for _, b := range books[shown:] {
		if b.Chats == 0 {
			unused++
		}
	}
	about := ""
	if unused > 0 {
		about = ", " + plural.Grouped(unused) + " of them with 0 chats"
	}
	c.sayMore(len(books)-shown, about)
}

// rowsOf returns how many of n rows of an overview a person sees.
func (c *console) rowsOf(n int) int {
	if c.verbose {
		return n
	}
	return min(n, ownersShown)
}

// sayMore says how many rows are left out, if any.
func (c *console) sayMore(n int, about string) {
	if n > 0 {
		fmt.Fprintln(c.w, paint(c.outColor, dim, c.prose("and "+plural.Grouped(n)+" more"+about+" (-v)", "")))
	}
}

// ownerLabels returns the names of owners: where several have one name, and where nobody owns the chats,
// their places.
func ownerLabels(owners []inspect.Owner) []string {
	return distinctLabels(len(owners), func(i int) (name, place string) { return owners[i].Name, owners[i].Place })
}

// bookLabels returns the names of lorebooks: where several have one name, their paths.
func bookLabels(books []inspect.BookUse) []string {
	return distinctLabels(len(books), func(i int) (name, place string) { return books[i].Name, books[i].Path })
}

// distinctLabels returns the names of n things, but the place of what has no name, or shares it.
func distinctLabels(n int, of func(i int) (name, place string)) []string {
	count := map[string]int{}
	for i := range n {
		name, _ := of(i)
		count[name]++
	}
	labels := make([]string, n)
	for i := range n {
		name, place := of(i)
		labels[i] = name
		if name == "" || count[name] > 1 {
			labels[i] = place
		}
	}
	return labels
}

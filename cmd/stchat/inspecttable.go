package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/grid"
	"stchat/internal/inspect"
	"stchat/internal/names"
	"stchat/internal/plural"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

// writeTable writes a row for each chat, a total, and what user folders hold.
func writeTable(c *console, rows []inspect.Row, sum inspect.Summary) {
	if c.shown {
		writeShownTable(c, rows, sum)
		return
	}
	w := c.w
	for _, r := range rows {
		c.row(plainRow(r)...)
	}
	// the same columns, with the number of chats in place of the depth
	fmt.Fprintf(w, "total\t%d\t\t\t\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\t\t\t\t%d\n", sum.Chats, sum.Messages, sum.User, sum.Character, sum.System,
		sum.Hidden, sum.WithSwipes, sum.Swipes, sum.Bytes, sum.DamagedLines)
	if sum.Lorebooks == nil {
		return
	}
	fmt.Fprintf(w, "characters\t%d\ngroups\t%d\n", sum.Characters, *sum.Groups)
	for _, books := range []struct {
		label string
		names []string
	}{{"lorebooks used", sum.Lorebooks.Used}, {"lorebooks unused", sum.Lorebooks.Unused}} {
		fmt.Fprintf(w, "%s\t%d", books.label, len(books.names))
		for _, name := range books.names {
			fmt.Fprintf(w, "\t%s", visible.Text(name))
		}
		fmt.Fprintln(w)
	}
}

// plainRow returns the cells of a chat's row for a pipe.
func plainRow(row inspect.Row) []string {
	r := row.Report
	book := ""
	if r.Lorebook != nil {
		book = visible.Text(r.Lorebook.Name)
	}
	cells := []string{visible.Text(r.Path), strconv.Itoa(row.Depth), r.Kind, textOr(r.Owner), r.Header}
	for _, n := range []int{r.Messages, r.User, r.Character, r.System, r.Hidden, r.WithSwipes, r.Swipes} {
		cells = append(cells, strconv.Itoa(n))
	}
	return append(cells, strconv.FormatInt(r.Bytes, 10), textOr(r.FirstDate), textOr(r.LastDate), textOr(r.Parent), book, strconv.Itoa(r.DamageTotal))
}

// writeShownTable writes the table for a person: chats below their folder, checkpoints
// and branches indented below their parent.
func writeShownTable(c *console, rows []inspect.Row, sum inspect.Summary) {
	s := newScreen(c, 0)
	t := &grid.Table{Columns: []grid.Column{
		{Title: "chat", Name: true},
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
		last := ""
		if r.LastDate != nil {
			last = shownDate(c, *r.LastDate)
		}
		t.Rows = append(t.Rows, grid.Row{Lead: lane(&s, row.Depth), Cells: []string{s.shortened(short[i]), strconv.Itoa(r.Messages), formatBytes(r.Bytes), last, notes(r)}})
	}
	t.Rows = append(t.Rows, grid.Row{
		Cells: []string{"total", strconv.Itoa(sum.Messages), formatBytes(sum.Bytes), plural.S(sum.Chats, "chat")},
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
		plural.S(sum.Characters, "character"), plural.S(*sum.Groups, "group"), plural.S(sum.Chats, "chat"), plural.S(sum.Messages, "message"), formatBytes(sum.Bytes),
	}, ", "), 0))
	writeBooks(c, "used by a chat", sum.Lorebooks.Used)
	writeBooks(c, "not used by any chat", sum.Lorebooks.Unused)
}

func writeBooks(c *console, what string, books []string) {
	text := fmt.Sprintf("%s %s", plural.S(len(books), "lorebook"), what)
	if len(books) > 0 {
		text += ": " + strings.Join(keyList(books, true), ", ")
	}
	fmt.Fprintln(c.w, c.prose(text, 0))
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

// lane returns what stands before a chat that is indented below its parent.
func lane(s *screen, depth int) string {
	const deepest = 8 // deeper chats are indented no further
	if depth == 0 {
		return ""
	}
	return strings.Repeat("  ", min(depth, deepest)-1) + s.sign("└ ")
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
		all = append(all, cmp.Or(row.Report.Name, label(row.Report.Path)))
		if i+1 == len(rows) || titleOf(rows[i+1].Report) != titleOf(row.Report) {
			from := len(list)
			list = append(list, names.Shorts(deref(row.Report.Owner), all, func(i int) []string { return above(from + i) })...)
			all = nil
		}
	}
	return list
}

// notes returns what is wrong with a chat, in a few words.
func notes(r *inspect.Report) string {
	var list []string
	if n := r.DamageTotal; n > 0 {
		list = append(list, plural.S(n, "damaged line"))
	}
	if r.Header == "none" || r.Header == "damaged" {
		list = append(list, map[string]string{"none": "no header", "damaged": "header lost"}[r.Header])
	}
	if r.MainChatExists != nil && !*r.MainChatExists {
		list = append(list, "parent missing")
	}
	missing := 0
	for _, links := range [][]inspect.Link{r.Checkpoints, r.Branches} {
		for _, l := range links {
			if l.Exists != nil && !*l.Exists {
				missing++
			}
		}
	}
	if missing > 0 {
		list = append(list, plural.S(missing, "dangling link"))
	}
	if b := r.Lorebook; b != nil && b.Exists != nil && !*b.Exists {
		list = append(list, "lorebook missing")
	}
	return strings.Join(list, ", ")
}

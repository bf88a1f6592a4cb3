package main

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/ops/move"
	"stchat/internal/ops/past"
	"stchat/internal/plural"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

// plan prints to stderr what is done to chats, or would be, counted for a person.
func (o *moveFlags) plan(c *console, results []*move.Result) {
	var goes, edits, names tally
	var chats, leaves []string
	var bytes int64
	var beside int
	opened, id, outside := "", "", false
	for _, r := range results {
		if r.Err != nil {
			continue
		}
		chats = append(chats, r.Doc.From)
		goes.add(fileKind(r.Doc.From), 1)
	}
	if len(chats) == 0 || c.quiet {
		return
	}
	edited, nouns := map[string]bool{}, map[string]string{}
	for _, r := range results {
		if r.Err != nil {
			continue
		}
		for _, e := range r.Doc.Edits {
			if kind := fileKind(e.Path); e.Path != r.Doc.From {
				if !edited[e.Path] {
					edited[e.Path] = true
					edits.add(kind, 1)
				}
				names.add(kind, e.Count)
				if noun := map[string]string{"chat": "link", "card": "open chat"}[kind]; noun != "" && e.What == "names" {
					nouns[kind] = noun
				}
			}
		}
		for _, s := range r.Steps {
			if s.Do == changeset.Move || s.Do == changeset.Remove && r.Doc.To == nil || s.Do == changeset.Create && r.Doc.To != nil {
				bytes += s.Bytes
				beside++
			}
		}
		switch n := len(r.Doc.Unnamed); n {
		case 0:
		case 1:
			leaves = append(leaves, fmt.Sprintf("lorebook %q: no chat names it any more", r.Doc.Unnamed[0]))
		default:
			leaves = append(leaves, plural.S(n, "lorebook")+" that no chat names any more")
		}
		if r.Doc.Opened != nil {
			opened = *r.Doc.Opened
		}
		if n := len(r.Doc.Dangling); n > 0 {
			leaves = append(leaves, plural.S(n, "link")+" that lead nowhere")
		}
		outside = outside || len(r.Doc.Unreachable) > 0
		id = r.ID
	}
	_ = c.w.Flush() // the error stays
	s := newScreen(c, 76)
	s.w, s.color = bufio.NewWriter(c.Err), c.errColor
	what := goes.text()
	if len(chats) == 1 {
		name := visible.Text(strings.TrimSuffix(filepath.Base(chats[0]), filepath.Ext(chats[0])))
		what = `"` + visible.CutLeft(name, max(s.width-len("would  \"\"")-len(o.verb), 1), s.sign("…")) + `"`
	}
	if o.target != "" {
		what += " to " + visible.Text(fmt.Sprintf("%q", o.target))
	}
	size := goes.text() + ", " + formatBytes(bytes)
	if n := beside - len(chats); n > 0 {
		size += ", with " + plural.S(n, "file") + " beside"
	}
	does := map[string]string{"delete": "removes", "rename": "renames", "move": "moves"}[o.verb]
	rows := [][2]string{{does, size}, {"edits", edits.with(&names, nouns)}, {"opens", opened}, {"leaves", strings.Join(leaves, "; ")}}
	if outside {
		rows = append(rows, [2]string{"beyond", "prompts in the browser, the vector index, an open tab"})
	}
	title, right := o.verb+" "+what, "undo takes it back"
	if o.verb == "delete" {
		right = "undo brings it back"
		if id != "" {
			rows = append(rows, [2]string{"keeps", "in " + userdir.Own + ", until stchat undo --prune " + id})
		}
	}
	if o.Changes.DryRun {
		title, right = "would "+title, ""
	}
	gap := s.measure - visible.Width(title) - visible.Width(right)
	if gap < 2 {
		gap, right = 0, ""
	}
	title = visible.CutRight(title, s.width, s.sign("…"))
	fmt.Fprintln(s.w, strings.TrimRight(paint(s.color, bold, title)+strings.Repeat(" ", gap)+paint(s.color, dim, right), " "))
	s.plan(rows, o.Changes.DryRun)
	_ = s.w.Flush() // what cannot be said is no failure
}

// plan prints what is done, row by row.
func (s *screen) plan(rows [][2]string, would bool) {
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if would {
			row[0] = strings.TrimSuffix(row[0], "s")
		}
		text := visible.Text(row[1])
		for i, at := range visible.Wrap(text, s.width-12) {
			if i > 0 {
				row[0] = ""
			}
			fmt.Fprintf(s.w, "  %s %s\n", paint(s.color, dim, fmt.Sprintf("%-9s", row[0])), text[at[0]:at[1]])
		}
	}
}

// undonePlan returns what an undo does, counted.
func undonePlan(r *past.Result) [][2]string {
	var restores, removes, moves tally
	for _, s := range r.Steps {
		switch s.Do {
		case changeset.Remove:
			removes.add(fileKind(s.Path), 1)
		case changeset.Move:
			moves.add(fileKind(s.To), 1)
		default:
			restores.add(fileKind(s.Path), 1)
		}
	}
	opens := ""
	if len(r.Doc.Opens) > 0 {
		opens = fmt.Sprintf("%q", r.Doc.Opens[0].Chat)
		if n := len(r.Doc.Opens) - 1; n > 0 {
			opens += fmt.Sprintf(", and %d more", n)
		}
	}
	return [][2]string{{"restores", restores.text()}, {"moves", moves.text()}, {"removes", removes.text()}, {"opens", opens}}
}

// tally counts things by their kind, in the order in which the kinds came.
type tally struct {
	kinds []string
	of    map[string]int
}

func (t *tally) add(kind string, n int) {
	if t.of == nil {
		t.of = map[string]int{}
	}
	if t.of[kind] == 0 {
		t.kinds = append(t.kinds, kind)
	}
	t.of[kind] += n
}

func (t *tally) text() string { return t.with(nil, nil) }

// with returns the counts, and behind each how many names change in these files, which nouns
// calls something else by kind.
func (t *tally) with(names *tally, nouns map[string]string) string {
	var parts []string
	for _, kind := range t.kinds {
		part := kind
		if kind != "settings" {
			part = plural.S(t.of[kind], kind)
		}
		if names != nil {
			part += ": " + plural.S(names.of[kind], cmp.Or(nouns[kind], "name"))
		}
		parts = append(parts, part)
	}
	if names != nil {
		return strings.Join(parts, "; ")
	}
	return strings.Join(parts, ", ")
}

// fileKind returns what a file in a user folder is called, by its path.
func fileKind(path string) string {
	folder, base := filepath.Base(filepath.Dir(path)), filepath.Base(path)
	if kind := map[string]string{"worlds": "lorebook", "groups": "group", "characters": "card"}[folder]; kind != "" {
		return kind
	}
	switch {
	case userdir.HasExtension(path):
		return "chat"
	case base == "settings.json":
		return "settings"
	}
	return "file"
}

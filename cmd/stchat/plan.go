package main

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/ops/move"
	"stchat/internal/ops/past"
	"stchat/internal/place/userdir"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

// plan prints to stderr what is done to chats, or would be, counted for a person.
func (o *moveFlags) plan(c *console, results []*move.Result) {
	results = slices.DeleteFunc(slices.Clone(results), func(r *move.Result) bool { return r.Err != nil })
	unchanged := len(results) == 1 && len(results[0].Steps) == 0
	if len(results) == 0 || unchanged || c.quiet {
		return
	}
	var goes, edits, names tally
	var leaves []string
	var bytes int64
	beside := -len(results)
	opened := ""
	prune := ""
	outside := false
	edited, nouns := map[string]bool{}, map[string]string{}
	for _, r := range results {
		goes.add(fileKind(r.Doc.From), 1)
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
		if n := len(r.Doc.Unnamed); n == 1 {
			leaves = append(leaves, fmt.Sprintf("lorebook %q: no chat names it any more", r.Doc.Unnamed[0]))
		} else if n > 1 {
			leaves = append(leaves, plural.Many(n, "lorebook")+" that no chat names any more")
		}
		opened, outside = cmp.Or(deref(r.Doc.Opened), opened), outside || len(r.Doc.Unreachable) > 0
		if prune == "" && r.ID != "" {
			prune = c.undoCommand(rootOf(r.Doc.From), "--prune "+r.ID)
		}
	}
	s := newScreen(c, 76)
	s.w, s.color = bufio.NewWriter(c.Err), c.errColor
	what, deletes := goes.text(), o.verb == "rm"
	named := func(name string) string {
		return `"` + visible.CutLeft(visible.Text(name), max(s.width-4, 1), s.sign("…")) + `"`
	}
	if len(results) == 1 {
		what = named(strings.TrimSuffix(filepath.Base(results[0].Doc.From), filepath.Ext(results[0].Doc.From)))
	}
	does := either(deletes, "delete", o.verb) + " " + what + when(o.target != "", " to "+named(o.target))
	done := goes.text() + ", " + formatBytes(bytes) + when(beside > 0, ", with "+plural.Many(beside, "file")+" beside")
	if results[0].Doc.TookOver {
		does = "let " + named(o.target) + " take over what names " + what
		done = ""
	}
	title := prosed(when(c.dryRun, "would ")+does, s.width, "  ")
	right := when(!c.dryRun, either(deletes, "undo brings it back", "undo takes it back"))
	gap := s.measure - visible.Width(title) - visible.Width(right)
	fmt.Fprintln(s.w, paint(s.color, bold, title)+when(gap >= 2 && right != "", strings.Repeat(" ", max(gap, 0))+paint(s.color, dim, right)))
	s.plan(c.dryRun, [][2]string{
		{map[string]string{"rm": "removes", "rename": "renames", "move": "moves"}[o.verb], done},
		{"edits", edits.with(&names, nouns)},
		{"opens", opened},
		{"leaves", strings.Join(leaves, "; ")},
		{"untouched", when(outside, "prompts in the browser, the vector index, an open tab")},
		{"keeps", when(deletes && prune != "", "in "+userdir.Own+", until '"+prune+"'")},
	})
	var told []ops.Fact
	for _, r := range results {
		told = append(told, r.Facts...)
	}
	for _, f := range factsOf(told, "") {
		s.plan(false, [][2]string{{f.label, f.text}})
	}
	_ = s.w.Flush() // what cannot be said is no failure
}

// plan prints what is done, row by row.
func (s *screen) plan(would bool, rows [][2]string) {
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		does := either(would, strings.TrimSuffix(row[0], "s"), row[0])
		for line := range strings.SplitSeq(prosed(visible.Text(row[1]), s.width-12, ""), "\n") {
			fmt.Fprintf(s.w, "  %s %s\n", paint(s.color, dim, fmt.Sprintf("%-9s", does)), line)
			does = ""
		}
	}
}

// undonePlan returns what an undo or a redo does, counted.
func undonePlan(steps []changeset.Step, opens []past.Opens) [][2]string {
	var restores, removes, moves tally
	for _, s := range steps {
		switch s.Do {
		case changeset.Remove:
			removes.add(fileKind(s.Path), 1)
		case changeset.Move:
			moves.add(fileKind(s.To), 1)
		default:
			restores.add(fileKind(s.Path), 1)
		}
	}
	opened := ""
	if n := len(opens) - 1; n >= 0 {
		opened = opens[0].Chat
		if n > 0 {
			opened += ", and " + plural.Grouped(n) + " more"
		}
	}
	return [][2]string{{"restores", restores.text()}, {"moves", moves.text()}, {"removes", removes.text()}, {"opens", opened}}
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
		part := either(kind != "settings", plural.Many(t.of[kind], kind), kind)
		if names != nil {
			part += ": " + plural.Many(names.of[kind], cmp.Or(nouns[kind], "name"))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, either(names != nil, "; ", ", "))
}

// fileKind returns what a file in a user folder is called, by its path.
func fileKind(path string) string {
	switch kind := kindOfFolder(filepath.Base(filepath.Dir(path))); {
	case kind != "":
		return kind
	case userdir.HasExtension(path):
		return "chat"
	case filepath.Base(path) == "settings.json":
		return "settings"
	}
	return "file"
}

// kindOfFolder returns what a file in a folder of the user's is called, "" in one of chats.
func kindOfFolder(folder string) string {
	return map[string]string{"worlds": "lorebook", "groups": "group", "characters": "card"}[folder]
}

package main

import (
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
)

// plan tells a person what was done to chats, or would be, counted.
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
			leaves = append(leaves, fmt.Sprintf("%q: no chat names it any more", r.Doc.Unnamed[0]))
		} else if n > 1 {
			leaves = append(leaves, plural.Many(n, "lorebook")+" stay, which no chat names any more")
		}

		opened, outside = cmp.Or(deref(r.Doc.Opened), opened), outside || len(r.Doc.Unreachable) > 0
		if prune == "" && r.ID != "" {
			prune = c.undoCommand(rootOf(r.Doc.From), "--prune "+r.ID)
		}
	}

	what := goes.text()
	if len(results) == 1 {
		what = movedName(results[0].Doc.From)
	}
	done := goes.text() + ", " + formatBytes(bytes)
	if beside > 0 {
		done += ", with " + plural.Many(beside, "file") + " beside"
	}
	deletes := o.verb == "rm"
	sentence := c.did(map[string]string{"rm": "deleted ", "rename": "renamed ", "move": "moved "}[o.verb],
		map[string]string{"rm": "would delete ", "rename": "would rename ", "move": "would move "}[o.verb]) + what
	target := o.target
	if made := results[0].Doc.To; o.verb == "rename" && made != nil { // as it was made safe
		target = strings.TrimSuffix(filepath.Base(*made), filepath.Ext(*made))
	}
	if target != "" {
		sentence += fmt.Sprintf(" to %q", target)
	}
	if results[0].Doc.TookOver {
		sentence = fmt.Sprintf("%s %q take over what names %s", c.did("let", "would let"), target, what)
		done = ""
	}

	plan := block{sentence: sentence}
	plan.addAll([][2]string{
		{"files", done},
		{"edits", edits.with(&names, nouns)},
		{"opens", opened},
		{"lorebook", strings.Join(leaves, "; ")},
	})

	if deletes && !c.dryRun {
		gone := "it"
		if len(results) > 1 {
			gone = "them"
		}
		plan.add("undo", "brings "+gone+" back, until '"+prune+"'")
	}
	if outside {
		plan.add("not touched", "prompts in the browser, the vector index, an open tab")
	}
	var told []ops.Fact
	for _, r := range results {
		told = append(told, r.Facts...)
	}
	plan.facts = append(plan.facts, factsOf(told, "")...)
	c.block(plan)
}

// movedName returns the name of a chat or a lorebook in a sentence.
func movedName(path string) string {
	if !isBook(path) {
		return fmt.Sprintf("%q", nameOf(path))
	}
	return fmt.Sprintf("the lorebook %q", strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

// addAll adds those facts of which there is something to say.
func (b *block) addAll(facts [][2]string) {
	for _, f := range facts {
		if f[1] != "" {
			b.add(f[0], f[1])
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
	between := ", "
	if names != nil {
		between = "; "
	}
	var parts []string
	for _, kind := range t.kinds {
		part := plural.Many(t.of[kind], kind)
		if kind == "settings" { // one file
			part = kind
		}
		if names != nil {
			part += ": " + plural.Many(names.of[kind], cmp.Or(nouns[kind], "name"))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, between)
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

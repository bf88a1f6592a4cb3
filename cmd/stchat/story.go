package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stchat/internal/folder/library"
	"stchat/internal/history"
	"stchat/internal/ops/address"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/past"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

// event is a command or a snapshot in the story of a folder.
type event struct {
	at       time.Time
	command  *past.Command // nil: a snapshot
	snapshot keep.Ran
}

// telling is what the story of a folder, or of a group, is about.
type telling struct {
	of   string // what it is called
	root string // the user folder, or that of loose chats
	// has reports whether a file is part of it, which is named relative to the root, with slashes; nil: each is.
	has func(rel string) bool
}

// tellingOf returns what the story of a folder is about.
func tellingOf(folder string) telling {
	t := telling{of: folder, root: folder}
	if userdir.IsUserDir(folder) {
		return t
	}
	root, isInside := userdir.Around(folder)
	if !isInside {
		return t
	}
	var below []string // the names that a link in chats/ has, too
	for _, named := range []func(string) string{userdir.RealPath, absolute} {
		rel, err := filepath.Rel(named(root), named(folder))
		if err == nil && rel == "." {
			return t
		}
		if err == nil && filepath.IsLocal(rel) {
			below = append(below, filepath.ToSlash(rel)+"/")
		}
	}

	t.root = root
	t.has = func(rel string) bool {
		return slices.ContainsFunc(below, func(folder string) bool { return strings.HasPrefix(rel, folder) })
	}
	return t
}

// tellingOfGroup returns what the story of a group is about: its chats, and the file that lists them.
func tellingOfGroup(name string, group *address.Owner) telling {
	files := map[string]bool{}
	add := func(path string) {
		rel, err := filepath.Rel(group.Dir.Root, path)
		if err == nil {
			files[filepath.ToSlash(rel)] = true
		}
	}
	add(group.Group.Path)
	lib := new(library.Library)
	for _, chat := range group.Names(lib) {
		add(lib.Folder(group.Folder).File(chat))
	}
	return telling{of: name, root: group.Dir.Root, has: func(rel string) bool { return files[rel] }}
}

// touched reports whether a command touched what the story is about.
func (t *telling) touched(command *past.Command) bool {
	return t.has == nil || slices.ContainsFunc(command.Paths, t.has)
}

// found removes from a snapshot what the story is not about, and reports whether something is left. named is
// the folder by which its paths begin.
func (t *telling) found(r *keep.Ran, named string) bool {
	if t.has == nil {
		return true
	}
	if named == t.root { // else the snapshot is told of a part of it already
		r.Changes = slices.DeleteFunc(r.Changes, func(change keep.RanChange) bool {
			rel, err := filepath.Rel(named, change.Path)
			return err != nil || !t.has(filepath.ToSlash(rel))
		})
	}
	return len(r.Changes) > 0
}

// story tells what happened, newest first: the commands that undo knows, and the snapshots.
func (o *logOptions) story(ctx context.Context, c *console, where keep.Where, about telling) error {
	root := about.root
	var events []event
	var errs []error
	if !o.snapshots {
		commands, failed, err := past.Commands(root)
		if err != nil {
			return err
		}
		errs = failed
		for _, command := range commands {
			if about.touched(&command) {
				events = append(events, event{at: command.At, command: &command})
			}
		}
	}

	if !o.commands {
		most := o.limit
		if about.has != nil {
			most = 0 // some are left out here
		}
		err := keep.FolderLog(ctx, where, o.since, most, func(r keep.Ran) error {
			if !about.found(&r, where.Chat) {
				return nil
			}
			at, err := time.Parse(time.RFC3339, r.At)
			events = append(events, event{at: at, snapshot: r})
			return err
		})
		isNone := errors.Is(err, history.ErrNoStore) && !o.snapshots
		if err != nil && !isNone {
			return c.beginsOne(err)
		}
	}

	events = slices.DeleteFunc(events, func(e event) bool { return e.at.Before(o.since) })
	slices.SortStableFunc(events, func(a, b event) int { return b.at.Compare(a.at) })
	if o.limit > 0 && len(events) > o.limit {
		events = events[:o.limit]
	}

	t := newListing(c)
	t.Columns = []grid.Column{{Code: dim}, {Name: true, Text: true, Code: cyan}, {Code: green}, {Code: dim}}
	day := ""
	for _, e := range events {
		if date := e.at.Local().Format("Monday 2 January 2006"); t.rows && date != day {
			day = date
			t.head(date, "")
		}
		if err := t.put(e.document(), t.event(root, e)); err != nil {
			return err
		}
	}

	t.end(c.path(about.of)+": nothing is recorded here", nil)
	c.flush()
	for _, err := range errs {
		c.fail(err)
	}
	return outcome(len(errs) > 0, false)
}

// document returns the document of an event.
func (e event) document() any {
	if e.command == nil {
		return e.snapshot
	}
	r := e.command
	return past.Listed{Schema: 1, ID: r.ID, Time: r.At.UTC().Format(time.RFC3339), Command: r.Args, Files: r.Files, Bytes: r.Bytes, Undone: r.Undone}
}

// event returns the row of an event.
func (t *listing) event(root string, e event) grid.Row {
	if e.command == nil {
		return t.snapshot(e)
	}
	r := e.command
	text := visible.Text(t.c.recorded(relativeTo(root, r.Args)))
	if !t.rows {
		state := ""
		if r.Undone {
			state = "undone"
		}
		return grid.Row{Cells: []string{r.At.UTC().Format(time.RFC3339), "command", r.ID, text, strconv.Itoa(r.Files), state}}
	}

	row := grid.Row{Cells: []string{r.At.Local().Format("15:04"), text, commandCount(r), "undo " + r.ID}}
	if r.Undone {
		row.Cells[1] = "(undone) " + text
		row.Cells[3] = ""
		row.Codes = []string{dim, dim, dim, dim}
	}
	return row
}

// commandCount counts what a command changed: its chats, or else its files.
func commandCount(r *past.Command) string {
	if r.Chats > 0 {
		return plural.Many(r.Chats, "chat")
	}
	return plural.Many(r.Files, "file")
}

// snapshot returns the row of a snapshot.
func (t *listing) snapshot(e event) grid.Row {
	r := e.snapshot
	run := strconv.FormatInt(r.Run, 10)
	if !t.rows {
		return grid.Row{Cells: []string{e.at.UTC().Format(time.RFC3339), "snapshot", run, visible.Text(r.Note), strconv.Itoa(len(r.Changes)), ""}}
	}
	kinds := map[string]int{}
	for _, change := range r.Changes {
		kinds[change.Change]++
	}
	var counts []string
	for _, kind := range []string{"new", "changed", "renamed", "gone", "back"} {
		if n := kinds[kind]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s %s", plural.Grouped(n), kind))
		}
	}

	text := "snapshot " + run
	if r.Note != "" {
		text += ": " + visible.Text(r.Note)
	}
	return grid.Row{Cells: []string{e.at.Local().Format("15:04"), text, strings.Join(counts, ", "), ""}}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stchat/internal/history"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/past"
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

// story tells what happened in a user folder, newest first: the commands that undo knows, and the
// snapshots.
func (o *logOptions) story(ctx context.Context, c *console, root string, where keep.Where) error {
	var events []event
	var errs []error
	if !o.snapshots {
		commands, failed, err := past.Commands(root)
		if err != nil {
			return err
		}
		errs = failed
		for _, command := range commands {
			events = append(events, event{at: command.At, command: &command})
		}
	}

	if !o.commands {
		err := keep.FolderLog(ctx, where, o.since, o.limit, func(r keep.Ran) error {
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

	t.end(c.path(root)+": nothing is recorded here", nil)
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

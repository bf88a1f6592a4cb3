package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stchat/internal/changeset"
	"stchat/internal/grid"
	"stchat/internal/ops"
	"stchat/internal/ops/past"
	"stchat/internal/plural"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

// undoRoot returns the folder whose records or history are meant: data, else STCHAT_DATA,
// else the user folder around the working folder, else the working folder.
func undoRoot(c *console, data string) (string, error) {
	if data == "" {
		data = c.Getenv(dataVariable)
	}
	if data != "" {
		info, err := os.Stat(data)
		if err != nil {
			return "", fmt.Errorf("--data: %w", ops.PathError(err))
		}
		if !info.IsDir() {
			return "", usagef("--data: %s is not a folder", data)
		}
		return data, nil
	}
	switch root, users := userdir.UserAround(); users {
	case 0:
		return ".", nil
	case 1:
		return root, nil
	default:
		return "", usagef("SillyTavern has %s here; say which one with --data", plural.S(users, "user"))
	}
}

// parseAge reads an age such as 30m, 12h, 30d or 2w. It returns 0 for any other text.
func parseAge(text string) time.Duration {
	units := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	unit := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(n) * unit
}

// printRecords prints the records, as JSON documents if wanted.
func printRecords(c *console, root string, now time.Time) error {
	list, errs, err := past.List(root)
	if err != nil {
		return err
	}
	switch {
	case c.json || !c.shown:
	case len(list) > 0:
		printTable(c, root, list, now)
	default:
		c.note("%s: nothing is recorded here", c.path(root))
	}
	for _, rec := range list {
		if c.json {
			c.document(rec)
		} else if !c.shown {
			c.line(strings.Join(recordRow(root, rec), "\t"))
		}
	}
	for _, err := range errs {
		c.fail(err)
	}
	return outcome(len(errs) > 0, false)
}

// recordRow returns the cells of a record for a pipe.
func recordRow(root string, rec past.Listed) []string {
	undone := ""
	if rec.Undone {
		undone = "undone"
	}
	command := visible.Text(commandText(relativeTo(root, rec.Command)))
	return []string{rec.ID, rec.At.Local().Format(time.RFC3339), command, strconv.Itoa(rec.Files), strconv.FormatInt(rec.Bytes, 10), undone}
}

// printTable prints the records for a person. Commands are cut to the width of the terminal.
func printTable(c *console, root string, list []past.Listed, now time.Time) {
	t := &grid.Table{Columns: []grid.Column{
		{Title: "ID"},
		{Title: "time", Code: dim, Optional: true},
		{Title: "age", Right: true, Code: dim},
		{Title: "command", Name: true, Text: true, Code: cyan},
		{Title: "files", Right: true, Code: green},
		{Title: "size", Right: true, Code: green},
	}}
	for _, rec := range list {
		command := visible.Text(commandText(relativeTo(root, rec.Command)))
		if rec.Undone {
			command = "(undone) " + command
		}
		t.Rows = append(t.Rows, grid.Row{Cells: []string{
			rec.ID, rec.At.Local().Format(minute), ageText(now.Sub(rec.At)), command, strconv.Itoa(rec.Files), formatBytes(rec.Bytes),
		}})
	}
	c.table(t)
}

// relativeTo returns a recorded command with the paths in a folder relative to it.
func relativeTo(root string, args []string) []string {
	short := slices.Clone(args)
	dir := userdir.RealPath(root)
	for i, arg := range short {
		if rel, err := filepath.Rel(dir, arg); filepath.IsAbs(arg) && err == nil && filepath.IsLocal(rel) {
			short[i] = rel
		}
	}
	return short
}

// ageText returns an age such as 5 min, 3 h or 12 d.
func ageText(age time.Duration) string {
	switch {
	case age < time.Minute:
		return "now"
	case age < time.Hour:
		return fmt.Sprintf("%d min", age/time.Minute)
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h", age/time.Hour)
	}
	return fmt.Sprintf("%d d", age/(24*time.Hour))
}

// runPrune drops records and prints how much that frees.
func runPrune(ctx context.Context, c *console, opt past.PruneOptions) error {
	list, err := past.Prune(ctx, opt)
	if errors.Is(err, changeset.ErrNoRecord) {
		return fmt.Errorf("%w, nor is it an age such as 30d", err)
	}
	if err != nil {
		return err
	}
	freed := int64(0)
	for _, rec := range list {
		freed += rec.Bytes
		if c.json {
			c.document(rec)
		}
	}
	verb := "dropped, which frees"
	if opt.Changes.DryRun {
		verb = "would be dropped, which would free"
	}
	c.note("%s %s %s", plural.S(len(list), "record"), verb, formatBytes(freed))
	return nil
}

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
	"stchat/internal/jsondoc"
	"stchat/internal/ops"
	"stchat/internal/ops/past"
	"stchat/internal/plural"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

// undoRoot returns the folder whose records or history are meant: data, else STCHAT_DATA,
// else the user folder around the working folder, else the working folder.
func undoRoot(a *app, data string) (string, error) {
	if data == "" {
		data = a.Getenv(dataVariable)
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
func printRecords(c *console, root string, now time.Time, json bool) error {
	list, errs, err := past.List(root)
	if err != nil {
		return err
	}
	if !json && c.shown && len(list) > 0 {
		_, err = fmt.Fprintln(c.Out, strings.Join(recordTable(c, root, list, now), "\n"))
	}
	for _, rec := range list {
		switch {
		case err != nil:
			return err
		case json:
			err = jsondoc.Write(c.Out, rec, "")
		case !c.shown:
			err = c.line(strings.Join(recordRow(root, rec), "\t"))
		}
	}
	if err != nil {
		return err
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

// recordTable returns the records for a person. Commands are cut to the width of the terminal.
func recordTable(c *console, root string, list []past.Listed, now time.Time) []string {
	const least = 16 // cells of a command
	rows := [][]string{{"ID", "time", "age", "command", "files", "size"}}
	for _, rec := range list {
		command := visible.Text(commandText(relativeTo(root, rec.Command)))
		if rec.Undone {
			command = "(undone) " + command
		}
		rows = append(rows, []string{rec.ID, rec.At.Local().Format("2006-01-02 15:04"), ageText(now.Sub(rec.At)), command, strconv.Itoa(rec.Files), formatBytes(rec.Bytes)})
	}
	const command = 3
	widths := make([]int, len(rows[0]))
	total := 2 * (len(widths) - 1)
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], visible.Width(row[i]))
		}
		total += widths[i]
	}
	if c.Width > 0 {
		if total-widths[command]+least > c.Width { // the ID tells the time, too
			total -= widths[1] + 2
			widths[1] = 0
		}
		widths[command] = max(least, widths[command]-max(0, total-c.Width))
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		var cells []string
		for k, cell := range row {
			switch {
			case widths[k] == 0:
				continue
			case k == 2 || k > command:
				cell = padLeft(cell, widths[k])
			default:
				cell = visible.Pad(visible.Truncate(cell, widths[k]), widths[k])
			}
			cells = append(cells, cell)
		}
		lines[i] = strings.Join(cells, "  ")
		if i == 0 {
			lines[i] = paint(c.outColor, bold, lines[i])
		}
	}
	return lines
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
func runPrune(ctx context.Context, c *console, opt past.PruneOptions, json bool) error {
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
		if json {
			if err := jsondoc.Write(c.Out, rec, ""); err != nil {
				return err
			}
		}
	}
	verb := "dropped, which frees"
	if opt.Changes.DryRun {
		verb = "would be dropped, which would free"
	}
	c.note("%s %s %s", plural.S(len(list), "record"), verb, formatBytes(freed))
	return nil
}

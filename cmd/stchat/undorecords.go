package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"stchat/internal/changeset"
	"stchat/internal/jsondoc"
	"stchat/internal/ops"
	"stchat/internal/ops/past"
	"stchat/internal/plural"
	"stchat/internal/userdir"
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
			return "", usagef("--data: %s is no folder", data)
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
func printRecords(c *console, root string, json bool) error {
	list, errs, err := past.List(root)
	if err != nil {
		return err
	}
	for _, rec := range list {
		if json {
			if err := jsondoc.Write(c.Out, rec, ""); err != nil {
				return err
			}
			continue
		}
		undone := ""
		if rec.Undone {
			undone = "  (undone)"
		}
		if _, err := fmt.Fprintf(c.Out, "%s  %s  %s  %s  %s%s\n", rec.ID, rec.Time, commandText(rec.Command),
			plural.S(rec.Files, "file"), formatBytes(rec.Bytes), undone); err != nil {
			return err
		}
	}
	for _, err := range errs {
		c.fail(err)
	}
	return outcome(len(errs) > 0, false)
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

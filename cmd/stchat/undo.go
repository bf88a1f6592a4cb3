package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/changeset"
	"stchat/internal/grid"
	"stchat/internal/ops"
	"stchat/internal/ops/past"
	"stchat/internal/plural"
	"stchat/internal/sendate"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

type undoOptions struct {
	list, force bool
	prune       string // an ID or an age
	keep        int
	changes     changeset.Options
}

func newUndo() verb {
	return verb{
		writes: true,
		use:    "undo [ID]", short: "Take back what a command did",
		doc: `Take back what the last command did, all of it or nothing. Every command that
writes files records that in the user folder, under .stchat/, and keeps the old
files there. A single new file in a folder that is not a user folder and has no
.stchat/ is not recorded: to undo it, delete the file.

Without ID, the newest record that is neither undone nor made by undo is taken
back: running undo twice goes two steps back. What is taken back is printed,
with --quiet too. An undo is recorded as well, and 'stchat undo ID' with its ID
does the command again. The folder is that of --data, else the user folder
around the working folder, else STCHAT_DATA, else the working folder itself.

If a file is not as the command left it, nothing is done and the file is named.
What counts is its content; and a new chat may have been saved again, as long as
it has no message of its own. --force leaves such files as they are, a chat with
its place in the group's list, and takes back the rest; it also takes back what
was recorded on another machine or before the folder was copied, if the files
can be recognised by size, time and content.

A command that was killed half way needs no undo: the next command that writes
there completes it or takes it back, but for files that somebody has changed
since: these stay, and are named. A journal that cannot be read, or that comes
from another machine or from before the folder was copied, is set aside and
named once; 'stchat undo --force ID' takes back what it can of the latter, and
--prune ID drops either for good.

Kept files take space: the oldest records of edits are dropped when they hold
more than 2 GB (STCHAT_UNDO_MAX, such as 500M; 0 keeps none), but never those of
delete, merge, slim, 'state delete' and 'restore --in-place'.

.stchat/ has a .gitignore. SillyTavern's own backup of a user includes hidden
files, so what you delete here may still be in there.
`, no: "there is nothing to undo",
		example: `  stchat undo
  stchat undo --list
  stchat undo 20261121T203325-4f1c9a02
  stchat undo --prune 30d
  stchat undo --keep 50 --data SillyTavern/data/default-user`,
		args: cobra.MaximumNArgs(1),
		rules: []string{
			"list excludes prune|keep|ARG = --list, --prune, --keep and an ID are different things to ask for",
			"prune|keep excludes ARG = --list, --prune, --keep and an ID are different things to ask for",
			"force excludes list|prune|keep = --force goes with taking back",
		},
		pages:   "list",
		options: &undoOptions{},
	}
}

func (o *undoOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.list, "list", false, "list the records, newest first: ID, local time, age, command, files, bytes kept; in a pipe with tabs between, in UTC, and without the age")
	fs.BoolVar(&o.force, "force", false, "leave files that were changed since as they are, and take the rest back")
	fs.Var(filled(&o.prune), "prune", "drop the record `ID` for good, or all from before a TIME such as 30d, 12h or 2026-03-01")
	fs.Var(number(&o.keep, 0, "a number of at least 0"), "keep", "drop all records but the newest `N`")
}

func (o *undoOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	pruning := fs.Changed("prune") || fs.Changed("keep")
	root, err := undoRoot(c)
	if err != nil {
		return err
	}
	changes := o.changes
	c.changes(&changes)
	switch {
	case o.list:
		return printRecords(c, root, changes.Now)
	case pruning:
		opt := past.PruneOptions{Root: root, Keep: either(fs.Changed("keep"), o.keep, -1), Changes: changes}
		before, isTime := sendate.ParseMoment(o.prune, changes.Now)
		if opt.Before = before; !isTime {
			opt.ID = o.prune
		}
		return runPrune(ctx, c, opt)
	}
	id := strings.Join(args, "")
	r, err := past.Undo(ctx, past.Options{Root: root, Force: o.force, Changes: changes, ID: id})
	if err != nil && r != nil {
		c.ended(r.Ended)
	}
	if errors.Is(err, changeset.ErrNothing) {
		text := err.Error()
		if _, gone := os.Lstat(filepath.Join(root, userdir.Own)); gone != nil && !userdir.IsUserDir(root) {
			text += ": in a folder that is not a user folder, a new file is undone by deleting it"
		}
		if r != nil && r.Doc.ID != "" {
			text += fmt.Sprintf("; --prune %s drops this record, so that undo reaches the command before it", r.Doc.ID)
		}
		c.note("%s", text)
		return errNo
	}
	unknown := either(userdir.IsDir(id), "; the folder whose records are meant is given as --data "+visible.Quote(id), "; 'stchat undo --list' lists them")
	hints := []hint{{changeset.ErrNoRecord, unknown}, {changeset.ErrElsewhere, "; --force takes back what can be told by size, time and content"}}
	if err != nil {
		return withHint(err, hints)
	}
	if since, ok := errors.AsType[*changeset.SinceError](r.Err); ok {
		r.Err = &hinted{since, "; --force leaves these files as they are and takes the rest back"}
	}
	say(c, &saying{counted: true, hints: hints}, "", r)
	switch {
	case r.Err != nil:
		return errReported
	case c.json:
		return c.document(r.Doc)
	}
	lines, brief := undone(c, r), c.shown && !c.verbose
	for _, line := range lines[:either(brief, 1, len(lines))] {
		c.line(c.prose(line, ""))
	}
	if brief {
		s := newScreen(c, 0)
		s.plan(c.dryRun, undonePlan(r))
	}
	if err := c.unprinted(); err != nil {
		return err
	}
	if r.Doc.Redo != nil {
		c.note("if one of these chats or groups is open in SillyTavern, reload it now: its next save would undo this")
		c.note("'%s' does it again", c.undoCommand(r.Doc.Root, *r.Doc.Redo))
	}
	return nil
}

// undone returns lines that say which command is taken back, and what becomes of each file.
func undone(c *console, r *past.Result) []string {
	d := &r.Doc
	text := fmt.Sprintf("%s in %s: %s", either(d.DryRun, "would take back", "took back"), c.path(d.Root), c.recorded(d.Command))
	if !d.Time.IsZero() {
		text += " of " + d.Time.Local().Format(either(c.shown, minute, time.DateTime))
	}
	lines := []string{text + ", " + d.ID}
	for _, s := range r.Steps {
		did, path := "restored", s.Path
		switch s.Do {
		case changeset.Remove:
			did = "removed"
		case changeset.Move:
			did, path = "moved back", s.To
		}
		line := when(d.DryRun, "would be ") + did + " " + c.path(path)
		if i := slices.IndexFunc(d.Opens, func(o past.Opens) bool { return o.Path == s.Path }); i >= 0 {
			line += fmt.Sprintf(": it opens %q again", d.Opens[i].Chat)
		}
		lines = append(lines, line)
	}
	return lines
}

// undoRoot returns the folder whose records or history are meant: data, else STCHAT_DATA,
// else the user folder around the working folder, else the working folder.
func undoRoot(c *console) (string, error) {
	if data := cmp.Or(c.data, c.Getenv(dataVariable)); data != "" {
		info, err := os.Stat(data)
		if err != nil {
			return "", fmt.Errorf("--data: %w", ops.PathError(err))
		}
		if !info.IsDir() {
			return "", usagef("--data: %s is not a folder", data)
		}
		return data, nil
	}
	root, users := userdir.UserAround()
	if users > 1 {
		return "", usagef("SillyTavern has %s here; say which one with --data", plural.S(users, "user"))
	}
	return either(users == 1, root, "."), nil
}

// undoCommand returns the undo command that reaches the records of a root from the working folder.
func (c *console) undoCommand(root, args string) string {
	command := "stchat undo" + when(args != "", " "+args)
	around := either(c.data == "", c, &console{env: c.env})
	if here, err := undoRoot(around); err != nil || userdir.RealPath(here) != userdir.RealPath(root) {
		command += " --data " + visible.Quote(root)
	}
	return command
}

// printRecords prints the records, as JSON documents if wanted.
func printRecords(c *console, root string, now time.Time) error {
	list, errs, err := past.List(root)
	if err != nil {
		return err
	}
	t := newListing(c)
	t.Columns = []grid.Column{
		{Title: "ID"},
		{Title: "time", Code: dim, Optional: true},
		{Title: "age", Right: true, Code: dim},
		{Title: "command", Name: true, Text: true, Code: cyan},
		{Title: "files", Right: true, Code: green},
		{Title: "size", Right: true, Code: green},
	}
	for _, rec := range list {
		command, files := visible.Text(c.recorded(relativeTo(root, rec.Command))), strconv.Itoa(rec.Files)
		cells := []string{rec.ID, rec.At.UTC().Format(time.RFC3339), command, files, strconv.FormatInt(rec.Bytes, 10), when(rec.Undone, "undone")}
		if t.rows {
			cells = []string{rec.ID, rec.At.Local().Format(minute), ageText(now.Sub(rec.At)), when(rec.Undone, "(undone) ") + command, files, formatBytes(rec.Bytes)}
		}
		err = cmp.Or(err, t.put(rec, grid.Row{Cells: cells}))
	}
	t.end(c.path(root)+": nothing is recorded here", err)
	c.flush()
	for _, err := range errs {
		c.fail(err)
	}
	return cmp.Or(err, outcome(len(errs) > 0, false))
}

// recorded returns a recorded command with the signs that the terminal has in place of the texts
// that are not recorded.
func (c *console) recorded(args []string) string {
	return strings.ReplaceAll(commandText(args), " …", c.sign(" …"))
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
		return fmt.Errorf("%w, nor is it a time such as 30d", err)
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
	c.flush()
	verb := either(c.dryRun, "would be dropped, which would free", "dropped, which frees")
	c.note("%s %s %s", c.many(len(list), "record"), verb, formatBytes(freed))
	return nil
}

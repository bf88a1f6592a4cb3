package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/ops/past"
	"stchat/internal/place/sendate"
	"stchat/internal/place/userdir"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

type undoOptions struct {
	force   bool
	prune   string // an ID or an age
	to      string // an ID
	keep    int
	changes changeset.Options
}

func newUndo() verb {
	return verb{
		writes: true,
		use:    "undo [ID]", short: "Take back what a command did",
		doc: `Everything that the last command did is taken back, or nothing; running undo
twice goes two steps back. ID is that of an earlier command, as 'stchat log'
lists it; --to ID takes back that one and all later ones. If a file is not as
the command left it, nothing is done; --force leaves such files as they are. Old
files are kept in .stchat/ of the user folder, up to 2 GB (STCHAT_UNDO_MAX);
--prune and --keep drop them for good.
`, more: `'stchat redo' does the last undone command again. A file that is not as the
command left it is named. A command that was killed half way needs no undo: the
next one completes it or takes it back. What rm, merge, slim, 'state set
--delete' and 'restore --in-place' took away is dropped only by --prune and
--keep. These ask first; elsewhere than on a terminal they need -y.
`, no: "there is nothing to undo", also: "redo, log",
		example: `  stchat undo
  stchat undo --to 20261121T203325-4f1c9a02
  stchat undo --prune 30d`,
		args: cobra.MaximumNArgs(1),
		rules: []string{
			"prune excludes keep|to|ARG = --prune, --keep, --to and an ID are different things to ask for",
			"keep excludes to|ARG = --prune, --keep, --to and an ID are different things to ask for",
			"to excludes ARG = --to takes the ID: that of the oldest command to take back",
			"force excludes prune|keep = --force goes with taking back",
		},
		options: &undoOptions{},
	}
}

func (o *undoOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(notEmptyText(&o.to), "to", "take back the command `ID` and all later ones")
	fs.BoolVar(&o.force, "force", false, "leave files that were changed since as they are, and take the rest back")
	fs.Var(notEmptyText(&o.prune), "prune", "drop what is kept of the command `ID`, or of all before a TIME such as 30d or 2026-03-01")
	fs.Var(number(&o.keep, 0, "a number of at least 0"), "keep", "drop what is kept of all commands but the newest `N`")
}

func (o *undoOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	pruning := fs.Changed("prune") || fs.Changed("keep")
	if len(args) == 1 && userdir.IsDir(args[0]) {
		return usagef("%s: a folder is given with --data: `stchat undo --data %[1]s`", visible.Quote(args[0]))
	}
	root, err := undoRoot(c)
	if err != nil {
		return err
	}
	changes := o.changes
	c.changes(&changes)
	if pruning {
		return runPrune(ctx, c, o.pruneOptions(fs, root, changes))
	}
	opt := past.Options{Root: root, Force: o.force, Changes: changes, ID: strings.Join(args, "")}
	var results []*past.Result
	if o.to != "" {
		opt.ID = o.to
		results, err = past.UndoTo(ctx, opt)
	} else {
		var r *past.Result
		r, err = past.Undo(ctx, opt)
		if r != nil {
			results = append(results, r)
		}
	}

	for _, r := range results {
		if r.Err == nil && len(r.Steps) == 0 && err != nil {
			continue // err says why
		}
		if failed := o.taken(c, r); failed != nil {
			return failed
		}
	}
	if err != nil {
		return o.nothing(c, root, results, err)
	}
	last := results[len(results)-1]
	if c.json || last.Doc.Redo == nil {
		return nil
	}
	again := c.redoCommand(root)
	if last.Doc.Undoes != "" { // it brought something back
		again = c.undoCommand(root, *last.Doc.Redo)
	}
	c.also(fact{"redo", again})
	closeChangedTabs(c, results)
	return nil
}

// pruneOptions returns what is dropped: one command, those before a time, or all but the newest.
func (o *undoOptions) pruneOptions(fs *pflag.FlagSet, root string, changes changeset.Options) past.PruneOptions {
	opt := past.PruneOptions{Root: root, Keep: -1, Changes: changes}
	if fs.Changed("keep") {
		opt.Keep = o.keep
	}
	before, isTime := sendate.ParseStart(o.prune, changes.Now)
	opt.Before = before
	if !isTime {
		opt.ID = o.prune
	}
	return opt
}

// taken prints what was taken back, or why it was not.
func (o *undoOptions) taken(c *console, r *past.Result) error {
	if since, ok := errors.AsType[*changeset.SinceError](r.Err); ok {
		r.Err = &hinted{since, "; --force leaves these files as they are and takes the rest back"}
	}
	say(c, &saying{counted: true, hints: undoHints()}, "", r)
	if r.Err != nil {
		return errReported
	}
	if c.json {
		return c.document(r.Doc)
	}
	return o.print(c, undone(c, r), undonePlan(r.Steps, r.Doc.Opens))
}

// print prints lines, of which a person sees the first alone, with a plan in place of the others.
func (o *undoOptions) print(c *console, lines []string, plan [][2]string) error {
	if c.tells() && !c.verbose {
		b := block{sentence: lines[0]}
		for _, row := range plan {
			if row[1] != "" {
				b.add(row[0], row[1])
			}
		}
		c.block(b)
		return c.unprinted()
	}

	for _, line := range lines {
		c.line(c.prose(line, ""))
	}
	return c.unprinted()
}

// nothing says why nothing, or nothing more, was taken back.
func (o *undoOptions) nothing(c *console, root string, results []*past.Result, err error) error {
	last := &past.Result{}
	if len(results) > 0 {
		last = results[len(results)-1]
	}
	c.ended(last.Ended)
	if !errors.Is(err, changeset.ErrNothing) {
		return withHint(err, undoHints())
	}
	text := err.Error()
	if _, gone := os.Lstat(filepath.Join(root, userdir.Own)); gone != nil && !userdir.IsUserDir(root) {
		text += "; this is no SillyTavern user folder: go into yours, or name it with --data"
	}
	if last.Doc.ID != "" {
		text += fmt.Sprintf("; --prune %s drops this record, so that undo reaches the command before it", last.Doc.ID)
	}
	c.note("%s", text)
	return errNo
}

// undoHints say what helps where a record that is named is not taken back.
func undoHints() []hint {
	return []hint{{changeset.ErrNoRecord, "; 'stchat log --commands' lists them"}, {changeset.ErrElsewhere, "; --force takes back what can be told by size, time and content"}}
}

// undone returns lines that say which command is taken back, and what becomes of each file.
func undone(c *console, r *past.Result) []string {
	d := &r.Doc
	did := c.did("took back", "would take back")
	if d.Root != "." {
		did += " in " + c.path(d.Root)
	}
	first := did + ": " + c.commandOf(d.Command, d.Time) + ", " + d.ID
	if c.tells() && !c.verbose {
		undid := c.did("undone: ", "would undo: ")
		first = undid + c.whenDone(d.Command, d.Time)
	}
	return append([]string{first}, c.becomes(r.Steps, d.Opens, d.DryRun)...)
}

// commandOf returns a recorded command and when it was given.
func (c *console) commandOf(args []string, at time.Time) string {
	text := c.recorded(args)
	if at.IsZero() {
		return text
	}
	layout := time.DateTime
	if c.shown {
		layout = minute
	}
	return text + " of " + at.Local().Format(layout)
}

// whenDone returns a recorded command and when it was given, in brackets.
func (c *console) whenDone(args []string, at time.Time) string {
	text := c.recorded(args)
	if at.IsZero() {
		return text
	}
	return text + " (" + at.Local().Format(minute) + ")"
}

// becomes returns lines that say what becomes of each file.
func (c *console) becomes(steps []changeset.Step, opens []past.Opens, dryRun bool) (lines []string) {
	for _, s := range steps {
		did, path := "restored", s.Path
		switch s.Do {
		case changeset.Remove:
			did = "removed"
		case changeset.Move:
			did, path = "moved back", s.To
		}

		if dryRun {
			did = "would be " + did
		}
		line := did + " " + c.path(path)
		if i := slices.IndexFunc(opens, func(o past.Opens) bool { return o.Path == s.Path }); i >= 0 {
			line += fmt.Sprintf(": it opens %q again", opens[i].Chat)
		}
		lines = append(lines, line)
	}
	return lines
}

// undoRoot returns the folder whose records or history are meant: that of --data, else the user folder
// around the working folder, else that of STCHAT_DATA, else the working folder.
func undoRoot(c *console) (string, error) {
	if data := c.dataFolder(); data != "" {
		from := "--data"
		if c.data == "" {
			from = dataVariable
		}
		info, err := os.Stat(data)
		if err != nil {
			return "", fmt.Errorf("%s: %w", from, ops.PathError(err))
		}
		if !info.IsDir() {
			return "", usagef("%s: %s is not a folder", from, data)
		}
		return onlyUser(data)
	}

	return onlyUser(cmp.Or(folderAround(), "."))
}

// onlyUser returns the folder of the only user whose data lie in a folder, or the folder itself if it holds
// none. Each of several has a story and a history of his own, so one of them must be named.
func onlyUser(folder string) (string, error) {
	users := userdir.UsersIn(folder)
	switch len(users) {
	case 0:
		return folder, nil
	case 1:
		return users[0].Root, nil
	}
	return "", usagef("SillyTavern has %s here; say which one, such as --data %s", plural.S(len(users), "user"), visible.Quote(users[0].Root))
}

// undoCommand returns the undo command that reaches the records of a root from the working folder.
func (c *console) undoCommand(root, args string) string {
	command := "stchat undo"
	if args != "" {
		command += " " + args
	}
	return c.atRoot(command, root)
}

// redoCommand is [console.undoCommand] for redo.
func (c *console) redoCommand(root string) string { return c.atRoot("stchat redo", root) }

// atRoot adds to a command what makes it mean a root, if that is not the one of the working folder.
func (c *console) atRoot(command, root string) string {
	around := c
	if c.data != "" {
		around = &console{env: c.env}
	}
	if here, err := undoRoot(around); err != nil || userdir.RealPath(here) != userdir.RealPath(root) {
		command += " --data " + visible.Quote(root)
	}
	return command
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

// pruneBlock tells a person how much is no longer kept for undo.
func (c *console) pruneBlock(commands int, freed int64) block {
	switch {
	case commands == 0:
		return block{sentence: "nothing so old is kept for undo"}
	case c.dryRun:
		return block{sentence: fmt.Sprintf("would drop what is kept for undo of %s: %s", plural.Many(commands, "command"), formatBytes(freed))}
	}
	return block{sentence: fmt.Sprintf("dropped what was kept for undo of %s: %s are free", plural.Many(commands, "command"), formatBytes(freed))}
}

// runPrune drops records, once that is agreed to: no undo brings them back.
func runPrune(ctx context.Context, c *console, opt past.PruneOptions) error {
	if c.asks() {
		rehearsal := opt
		rehearsal.Changes.DryRun = true
		list, err := past.Prune(ctx, rehearsal)
		if err == nil && len(list) > 0 {
			err = c.confirm(ctx, "drop what is kept for undo of "+plural.Many(len(list), "command")+", for good")
		}
		if err != nil && !errors.Is(err, changeset.ErrNoRecord) {
			return err
		}
	}

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

	c.told(c.pruneBlock(len(list), freed))
	return nil
}

package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/ops/past"
)

type redoOptions struct{ undoOptions }

func newRedo() verb {
	return verb{
		writes: true,
		use:    "redo", short: "Do again what undo took back",
		doc: `The last undo is taken back: one command or, after 'stchat undo --to', all of
them, the oldest first; running redo twice goes two undos back. Nothing is
computed anew: the files become what the command had made of them. If a file is
not as undo left it, nothing is done. 'stchat undo' takes a redo back.
`, no: "there is nothing to do again", also: "undo, log",
		example: `  stchat redo
  stchat redo --dry-run
  stchat redo --force`,
		args:    cobra.NoArgs,
		options: &redoOptions{},
	}
}

func (o *redoOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.force, "force", false, "leave files that were changed since as they are, and do the rest again")
}

func (o *redoOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, _ []string) error {
	root, err := undoRoot(c)
	if err != nil {
		return err
	}
	changes := o.changes
	c.changes(&changes)
	results, err := past.Redo(ctx, past.Options{Root: root, Force: o.force, Changes: changes})
	for _, r := range results {
		if r.Err == nil && len(r.Steps) == 0 && err != nil {
			c.ended(r.Ended)
			continue // err says why
		}
		if failed := o.brought(c, r); failed != nil {
			return failed
		}
	}
	if errors.Is(err, changeset.ErrNoRedo) || errors.Is(err, changeset.ErrNothing) {
		c.note("%v", err)
		return errNo
	}
	if err != nil {
		return withHint(err, undoHints())
	}
	if c.json || c.dryRun {
		return nil
	}
	if command := c.takesBack(root, results); command != "" {
		c.also(fact{"undo", command})
	}
	closeChangedTabs(c, results)
	return nil
}

// takesBack returns the command that takes back what was done again, "" where that would take back more.
func (c *console) takesBack(root string, redone []*past.RedoResult) string {
	first, last := &redone[0].Doc, &redone[len(redone)-1].Doc
	isNewest := past.Newest(root) == last.ID
	switch {
	case len(redone) == 1 && isNewest:
		return c.undoCommand(root, "")
	case len(redone) == 1 && last.Operation != nil:
		return c.undoCommand(root, *last.Operation)
	case len(redone) > 1 && isNewest:
		return c.undoCommand(root, "--to "+first.ID)
	}
	return ""
}

// brought prints what was done again, or why it was not.
func (o *redoOptions) brought(c *console, r *past.RedoResult) error {
	if since, ok := errors.AsType[*changeset.SinceError](r.Err); ok {
		since.Redo = true
		since.ID = cmp.Or(r.Doc.ID, since.ID) // of what was undone, and not of the undo
		r.Err = &hinted{since, "; --force leaves these files as they are and does the rest again"}
	}
	say(c, &saying{counted: true, hints: undoHints()}, "", r)
	if r.Err != nil {
		return errReported
	}
	if c.json {
		return c.document(r.Doc)
	}
	return o.print(c, redone(c, r), undonePlan(r.Steps, r.Doc.Opens))
}

// redone returns lines that say which command is done again, and what becomes of each file.
func redone(c *console, r *past.RedoResult) []string {
	d := &r.Doc
	did := c.did("brought back", "would bring back")
	command := "a command whose record was dropped"
	if len(d.Command) > 0 {
		command = c.commandOf(d.Command, d.Time)
	}
	first := did + " in " + c.path(d.Root) + ": " + command + ", " + d.ID
	if c.tells() && !c.verbose && len(d.Command) > 0 {
		redid := c.did("done again: ", "would do again: ")
		first = redid + c.whenDone(d.Command, d.Time)
	}
	return append([]string{first}, c.becomes(r.Steps, d.Opens, d.DryRun)...)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/ops/repair"
	"stchat/internal/rules"
	"stchat/internal/visible"
)

func newRepair() verb {
	return verb{
		use: "repair PATH...", short: "Fix chats that are damaged or point nowhere",
		doc: `Fix what 'stchat check' finds, as far as possible without guessing. PATH is a
chat, a folder (every *.jsonl below it), or a SillyTavern user folder.

Without --write nothing is changed: the changes are shown as a diff.

With --write a chat and the files that belong to it are changed together or not
at all, and 'stchat undo' takes that back. Damaged lines, and swipe texts that
are replaced, go to <name>.damaged with their line numbers; nothing is thrown
away. Other lines stay as they are, byte for byte. Running the command again
finds nothing to do.

Close or reload the chats in SillyTavern first: an open tab overwrites the
repaired file at its next save. --bump-integrity gives each repaired chat a new
integrity slug, so that such a tab is stopped instead. Luker's tab is not
stopped: close the chat first, for what an open tab holds wins.

'stchat check --list-rules' marks the rules that repair can fix. Some are fixed
only when --rule names them. unlisted-branch: the branch is noted in its parent,
on the last message that both share. dangling-main-chat, dangling-checkpoint and
dangling-branch: a link to a chat that does not exist is removed. If the chat is
known to have been renamed, the link gets the new name even without --rule.
group-missing-chat: a name that leads to no chat goes off its group's list.
Extension state that no longer fits the messages (recap-scene, beyond-end,
pending-old, prompt-dangling and others) is moved to <name>.damaged.
`, no: "without --write there is something to repair",
		example: `  stchat repair "chats/Mira/Harbour.jsonl"
  stchat repair SillyTavern/data/default-user --write
  stchat repair chats --write --rule torn-tail --quarantine damaged
  stchat repair "chats/Mira/Branch #1.jsonl" --write --rule unlisted-branch`,
		means:   edits(),
		options: &repairOptions{},
	}
}

type repairOptions struct {
	listFlags
	write bool
	opt   repair.Options
}

func (o *repairOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.BoolVar(&o.write, "write", false, "write the changes; without it they are only shown")
	fs.Var(ruleWords(&o.opt.Rules), "rule", "repair only what `RULE` finds")
	fs.StringVar(&o.opt.Quarantine, "quarantine", "", "put what is taken out into files in `DIR` instead of beside the chats")
	fs.BoolVar(&o.opt.BumpIntegrity, "bump-integrity", false, "give each repaired chat a new slug, so that an open tab is stopped instead of overwriting it; Luker's tab is not stopped")
	fs.Bool("json", false, "one JSON document a file instead of a diff")
}

func (o *repairOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	opt := o.opt
	opt.Changes.DryRun = !o.write
	c.changes(&opt.Changes)
	var err error
	if opt.List, err = o.list(ctx, c, args, "name a chat, a folder or your user folder, e.g. `stchat repair SillyTavern/data/default-user`"); err != nil {
		return err
	}
	for _, id := range opt.Rules {
		if id.Rule().Repairing == rules.ByHand {
			return usagef("--rule: repair does not fix %s: %s", id, id.Rule().Repair)
		}
	}
	end := c.meter("repairing", c.json, &opt.Meter)
	rep, ended := repair.Repair(ctx, opt)
	end()
	if ended != nil && len(rep.Results) == 0 { // chats were only read
		c.work.left = int(opt.Meter.State().Files)
	}
	failed := o.report(c, rep, ended != nil)
	c.wrote = o.write
	if err = errors.Join(ended, c.unprinted()); err != nil {
		return err
	}
	todo := slices.ContainsFunc(rep.Results, func(r *repair.Result) bool { return r.Doc.Total > 0 })
	return outcome(failed, todo && !o.write)
}

// report prints what was, or would be, fixed, with notes and errors, and reports whether
// anything failed.
func (o *repairOptions) report(c *console, rep *repair.Report, ended bool) (failed bool) {
	c.ended(rep.Ended)
	for _, e := range rep.Errs {
		c.fail(e)
		if c.json {
			c.document(c.documentOf(e.Path, e))
		}
	}
	failed = len(rep.Errs) > 0
	if n := len(rep.Others); n > 0 {
		c.note("%s left alone", otherFiles(n, false))
	}
	files, changes := 0, 0
	var chats []string
	for _, r := range rep.Results {
		say(c, &saying{}, r.Doc.Path, &r.Result)
		failed = failed || r.Err != nil
		if r.Doc.Total == 0 {
			continue
		}
		switch {
		case c.json:
			c.document(r.Doc)
		case o.write:
			writeRepaired(c, r, files == 0)
		default:
			writeDiff(c, r, files == 0)
		}
		c.flush()
		files, changes = files+1, changes+r.Doc.Total
		if r.Chat {
			chats = append(chats, r.Doc.Path)
		}
	}
	if len(chats) > 0 && o.write {
		c.closeTabs(o.opt.BumpIntegrity, chats...)
	}
	switch {
	case changes == 0 && (failed || ended):
	case changes == 0:
		c.note("%s checked, nothing to fix", c.many(rep.Chats, "chat"))
	default:
		what := c.many(changes, "thing") + " in " + c.many(files, "file")
		c.note("%s %s", what, either(o.write, "fixed; 'stchat undo' takes it back", "would be fixed; --write does it"))
	}
	return failed
}

// writeDiff writes what would be done to a file, in the style of a diff.
func writeDiff(c *console, r *repair.Result, first bool) {
	fmt.Fprint(c.w, when(!first, "\n"))
	c.diffHead(r.Doc.Path, r.Doc.Path, " (repaired)")
	for _, d := range r.Diffs {
		place := "@@" + when(d.Line != nil, " line "+digits(d.Line)) + when(d.Index != nil, ", message "+digits(d.Index)) + " @@"
		what := c.prose(fmt.Sprintf("%s %s: %s", place, d.Rule, visible.Text(d.Change)), "")
		c.row(strings.Replace(what, place, paint(c.outColor, cyan, place), 1))
		c.diffSides("-", "+", d.Before, d.After)
	}
	if n := r.Doc.Total - len(r.Diffs); n > 0 {
		var all []string
		for _, count := range r.Doc.Counts {
			all = append(all, fmt.Sprintf("%d %s", count.Count, count.Rule))
		}
		c.row(c.prose(fmt.Sprintf("%s and %d more: %s in all", c.sign("…"), n, strings.Join(all, ", ")), ""))
	}
}

// writeRepaired writes what was done to a file, rule by rule.
func writeRepaired(c *console, r *repair.Result, first bool) {
	c.row(when(!first, "\n") + paint(c.outColor, bold, visible.Text(r.Doc.Path)))
	for _, n := range r.Doc.Counts {
		c.row(c.prose(fmt.Sprintf("fixed  %s: %s", n.Rule, c.many(n.Count, "change")), "  "))
	}
	if r.Doc.Backup != nil {
		c.whole("  ", "as it was:", visible.Text(*r.Doc.Backup))
	}
	if r.Doc.Quarantine != nil {
		c.whole("  ", "taken out:", visible.Text(*r.Doc.Quarantine))
	}
}

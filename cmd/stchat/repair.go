package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/folder/rules"
	"stchat/internal/ops/repair"
	"stchat/internal/place/userdir"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newRepair() verb {
	return verb{
		writes: true,
		use:    "repair [PATH...]", short: "Fix chats that are damaged or point nowhere",
		doc: `What would be done is shown, and asked first; -y does it without asking. Damaged
lines and everything else that is taken out are kept in NAME.damaged beside the
chat; all other lines stay byte for byte. 'stchat check --list-rules' marks the
rules that repair can fix. Some are fixed only on request, with --rule.
`, more: `--rule missing-attachment looks for pictures and files that moved within the
user folder, and writes where they are now. A file is it if no other in
user/images, user/files and backgrounds has its name and, where the chat has
that, its size, or if it has the bytes that slim named it for. --from DIR looks
there first. No file is moved.
`, no: "something is to be repaired, or the answer was no",
		also: "check, undo, lost",
		example: `  stchat repair
  stchat repair Mira/Harbour --dry-run
  stchat repair chats --rule torn-tail -y`,
		means:   edits(),
		rules:   []string{"from needs rule = --from goes with --rule missing-attachment"},
		options: &repairOptions{},
	}
}

type repairOptions struct {
	listFlags
	opt repair.Options
}

func (o *repairOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(ruleWords(&o.opt.Rules), "rule", "repair only what `RULE` finds")
	fs.Var(notEmptyText(&o.opt.From), "from", "with --rule missing-attachment: look for files in the folder `DIR` first")
	o.listFlags.addFlags(fs)
}

func (o *repairOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) (err error) {
	opt := o.opt
	if opt.List, err = o.folders(ctx, c, args, nameFolder("repair")); err != nil {
		return err
	}
	for _, id := range opt.Rules {
		if id.Rule().Repairing == rules.ByHand {
			return usagef("--rule: repair does not fix %s: %s", id, id.Rule().Repair)
		}
	}
	if err := o.judgeFrom(); err != nil {
		return err
	}
	if c.yes && !c.dryRun {
		_, err := o.repair(ctx, c, opt, true)
		return err
	}

	things, err := o.repair(ctx, c, opt, false)
	if things == 0 || c.dryRun { // none too if it was interrupted
		return err
	}
	if err := c.confirm(ctx, "repair "+c.many(things, "thing")); err != nil {
		return err
	}
	_, err = o.repair(ctx, c, opt, true)
	return err
}

// judgeFrom refuses a --from that names no folder, or that no rule asks for.
func (o *repairOptions) judgeFrom() error {
	switch {
	case o.opt.From == "":
		return nil
	case !slices.Contains(o.opt.Rules, rules.MissingAttachment):
		return usagef("--from goes with --rule missing-attachment")
	case !userdir.IsDir(o.opt.From):
		return usagef("--from: %s is not a folder", o.opt.From)
	}

	root, _ := userdir.Around(o.opt.From)
	if dir := (userdir.Dir{Root: root}); !userdir.IsUserDir(root) || !dir.ServesFolder(o.opt.From) {
		return withHint(fmt.Errorf("--from: %s: %w", o.opt.From, repair.ErrNotServed), nil)
	}
	return nil
}

// repair repairs chats, or only shows what would be done, and returns how many things that are.
func (o *repairOptions) repair(ctx context.Context, c *console, opt repair.Options, write bool) (things int, err error) {
	c.changes(&opt.Changes)
	opt.Changes.DryRun = !write
	opt.BumpIntegrity = c.newSlugs()
	opt.Store = c.store()
	end := c.meter("repairing", c.json, &opt.Meter)
	rep, ended := repair.Repair(ctx, opt)
	end()
	if ended != nil && len(rep.Results) == 0 { // chats were only read
		c.work.left = int(opt.Meter.State().Files)
	}
	failed := o.report(c, rep, ended != nil, write)
	c.wrote = c.wrote || write
	if err := errors.Join(ended, c.unprinted()); err != nil {
		return 0, err
	}
	for _, r := range rep.Results {
		things += r.Doc.Total
	}
	return things, outcome(failed, things > 0 && !write)
}

// report prints what was, or would be, repaired, with notes and errors, and reports whether
// anything failed.
func (o *repairOptions) report(c *console, rep *repair.Report, ended, write bool) (failed bool) {
	c.ended(rep.Ended)
	for _, e := range rep.Errs {
		c.fail(e)
		if c.json {
			c.document(c.documentOf(e.Path, e))
		}
	}

	failed = len(rep.Errs) > 0
	if n := len(rep.Others); n > 0 {
		c.note("%s left alone", otherFiles(n))
	}

	things := 0
	var found []*repair.Result
	var chats []string
	for _, r := range rep.Results {
		say(c, &saying{}, r.Doc.Path, &r.Result)
		failed = failed || r.Err != nil
		if r.Doc.Total == 0 {
			continue
		}
		things += r.Doc.Total
		found = append(found, r)
		if r.Chat {
			chats = append(chats, r.Doc.Path)
		}
	}

	isTerminal := c.InTTY && c.OutTTY && c.ErrTTY
	isUntold := !write && !c.dryRun && !isTerminal // nobody reads the plan: what is done is told
	switch {
	case things == 0 && !failed && !ended:
		c.told(block{sentence: c.many(rep.Chats, "chat") + " checked, nothing to repair"})
	case things > 0 && !isUntold:
		o.tell(c, found, things, write)
	}

	if len(chats) > 0 && write {
		c.closeTabs(c.newSlugs(), chats...)
	}
	return failed
}

// tell prints what was, or would be, repaired: to a person a block a file, those first of which there is
// most; to a pipe the paths.
func (o *repairOptions) tell(c *console, found []*repair.Result, things int, write bool) {
	repaired := "would repair"
	if write {
		repaired = "repaired"
	}
	in := plural.Many(len(found), "file")
	isOne := len(found) == 1
	if isOne {
		in = nameOf(found[0].Doc.Path)
	}
	sentence := fmt.Sprintf("%s %s in %s", repaired, plural.Many(things, "thing"), in)
	isBlock := isOne && write // which has the sentence
	if !c.json && (!isBlock || !c.tells()) {
		c.told(block{sentence: sentence})
	}

	left := 0
	if c.tells() && !c.verbose && len(found) > chatsShown {
		slices.SortStableFunc(found, func(a, b *repair.Result) int { return cmp.Compare(b.Doc.Total, a.Doc.Total) })
		left = len(found) - chatsShown
		found = found[:chatsShown]
	}

	for i, r := range found {
		switch {
		case c.json:
			c.document(r.Doc)
		case !c.tells() && (write || !c.verbose):
			c.made(r.Doc.Path)
			if c.verbose {
				c.note("%s: repaired: %s", r.Doc.Path, rulesText(r))
			}
		case isBlock:
			writeRepaired(c, r, sentence)
		case write:
			writeRepaired(c, r, nameOf(r.Doc.Path))
		default:
			writeDiff(c, r, i == 0 && !c.tells())
		}

		c.flush()
	}

	if left > 0 {
		c.line("and " + plural.Many(left, "more file") + " (-v)")
	}
}

// writeDiff writes what would be done to a file, in the style of a diff; first means that nothing is above.
func writeDiff(c *console, r *repair.Result, first bool) {
	if !first {
		c.line("")
	}
	c.diffHead(r.Doc.Path, r.Doc.Path, " (repaired)")
	for _, d := range r.Diffs {
		place := diffPlace(&d)
		what := c.prose(fmt.Sprintf("%s %s: %s", place, d.Rule, visible.Text(d.Change)), "")
		c.row(strings.Replace(what, place, paint(c.outColor, cyan, place), 1))
		c.diffSides("-", "+", d.Before, d.After)
	}

	if n := r.Doc.Total - len(r.Diffs); n > 0 {
		c.row(c.prose(fmt.Sprintf("%s and %d more: %s in all", c.sign("…"), n, rulesText(r)), ""))
	}
}

// diffPlace returns where in its file a difference is, as a diff marks it.
func diffPlace(d *repair.Diff) string {
	place := "@@"
	if d.Line != nil {
		place += " line " + digits(d.Line)
	}
	if d.Index != nil {
		place += ", message " + digits(d.Index)
	}
	return place + " @@"
}

// writeRepaired writes what was done to a file.
func writeRepaired(c *console, r *repair.Result, sentence string) {
	b := block{sentence: sentence}
	b.add("repaired", rulesText(r))
	if r.Doc.Quarantine != nil {
		b.add("taken out", "what could not stay; it is kept in this file:")
		b.made = *r.Doc.Quarantine
	}
	c.block(b)
}

// rulesText counts what of a file is repaired, rule by rule.
func rulesText(r *repair.Result) string {
	var all []string
	for _, n := range r.Doc.Counts {
		text := n.Rule
		if n.Count > 1 {
			text += ", " + plural.Many(n.Count, "time")
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

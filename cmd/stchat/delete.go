package main

import (
	"context"
	"slices"

	"stchat/internal/ops/edit"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/progress"

	"github.com/spf13/pflag"
)

func newDelete() verb {
	return verb{
		writes: true,
		use:    "delete CHAT... MESSAGES", short: "Delete messages",
		doc: `Whole lines are removed; the others keep every byte, except for indexes and ids
that have to follow. Tool calls directly before a deleted reply go along, as in
SillyTavern. --save writes the deleted lines to a new file, ready for
'add --at'. A whole chat is deleted with 'rm'. Of several chats it asks first;
elsewhere than on a terminal it then needs -y.
`, no: "no message is chosen, or --expect fails",
		also: "rm, hide, undo",
		example: `  stchat delete Mira/Harbour 12
  stchat delete Mira/Harbour --last 3
  stchat delete Mira/Harbour 40..45 --save removed.jsonl`,
		means:   &subjects{writes: true, whole: true, messages: true},
		options: &deleteOptions{inPlaceFlags: inPlaceFlags{listFlags: listFlags{noFolders: true}}},
	}
}

type deleteOptions struct {
	choiceFlags
	inPlaceFlags
	save string
}

func (o *deleteOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	fs.Var(notEmptyText(&o.save), "save", "write the deleted lines to this new `FILE`")
	o.addManyFlags(fs, deletes)
}

func (o *deleteOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	if o.choosesAll() {
		return usagef("which messages? All: 0..; the whole chat: `%s`", commandLine("stchat rm", o.named(args)))
	}
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "delete Mira/Harbour 12")
	if err != nil {
		return err
	}
	switch {
	case o.save == chat.Stdin:
		return usagef("--save takes the name of a new file, not -")
	case o.save != "" && len(common.Chats) > 1: // one that cannot be read is reported by its name
		return usagef("--save takes one CHAT, not %d", len(common.Chats))
	}

	if isOne := len(common.Chats)+len(o.walked.Errs) <= 1; !isOne && c.asks() {
		if err := o.agreed(ctx, c, common, choice); err != nil {
			return err
		}
	}

	results := edit.Delete(ctx, edit.DeleteOptions{Options: common, Choice: choice, ToolCalls: true, Save: o.save})
	return o.reportMany(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Deleted) })
}

// named returns what names the chats: the arguments and --files-from, else a word for them.
func (o *deleteOptions) named(args []string) []string {
	if o.filesFrom != "" {
		return slices.Concat(args, []string{"--files-from", o.filesFrom})
	}
	if len(args) == 0 {
		return []string{"CHAT"}
	}
	return args
}

// agreed asks before messages of several chats are deleted. Somebody who reads the question sees first how many
// would be deleted in which chats.
func (o *deleteOptions) agreed(ctx context.Context, c *console, common edit.Options, choice choose.Choice) error {
	common.Changes.DryRun = true
	common.Meter = new(progress.Meter)
	results := edit.Delete(ctx, edit.DeleteOptions{Options: common, Choice: choice, ToolCalls: true})
	results = slices.DeleteFunc(results, func(r *edit.Result) bool { return r.Err != nil })
	if len(results) == 0 {
		return nil // why nothing is deleted is told by the run itself
	}

	if c.readsPlan() && !c.json {
		c.dryRun = true
		for _, r := range results {
			c.block(c.editBlock(r))
		}
		c.dryRun = false
		c.flush()
	}
	return c.confirm(ctx, "delete messages in "+c.many(len(results), "chat"))
}

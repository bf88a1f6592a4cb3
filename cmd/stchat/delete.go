package main

import (
	"context"

	"stchat/internal/chat"
	"stchat/internal/ops/edit"

	"github.com/spf13/pflag"
)

// deletes is the usage of --force for a command that may delete messages.
const deletes = "delete all messages of a chat; go on where pending work of an extension refers to messages that move"

func newDelete() verb {
	return verb{
		use: "delete CHAT...", short: "Delete messages",
		doc: `Delete messages. Whole lines are removed; the others keep every byte, except for
indexes and ids that have to follow.

--save FILE writes the deleted lines to a new file, ready for 'add
--at'. --tool-calls also deletes the tool calls directly before a deleted reply,
as SillyTavern's own button does. Prints the indexes of the deleted messages,
with several CHATs each after its path, and a tab.
` + choiceDoc + inPlaceDoc, no: "no message was chosen, or --expect-… fails",
		example: `  stchat delete chat.jsonl -a -10..
  stchat delete chat.jsonl -a 40..45 --save removed.jsonl
  stchat undo`,
		means:   &subjects{chats: true, writes: true, whole: true},
		options: &deleteOptions{inPlaceFlags: inPlaceFlags{listFlags: listFlags{noFolders: true}}},
	}
}

type deleteOptions struct {
	choiceFlags
	inPlaceFlags
	toolCalls bool
	save      string
}

func (o *deleteOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	fs.BoolVar(&o.toolCalls, "tool-calls", false, "also delete the tool calls directly before a deleted reply")
	fs.Var(filled(&o.save), "save", "write the deleted lines to this new `FILE`")
	o.addManyFlags(fs, deletes)
}

func (o *deleteOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "name a chat, e.g. `stchat delete chat.jsonl -a -10..`")
	if err != nil {
		return err
	}
	switch {
	case o.save == chat.Stdin:
		return usagef("--save takes the name of a new file, not -")
	case o.save != "" && len(common.Chats) > 1: // one that cannot be read is reported by its name
		return usagef("--save takes one CHAT, not %d", len(common.Chats))
	}
	results := edit.Delete(ctx, edit.DeleteOptions{Options: common, Choice: choice, ToolCalls: o.toolCalls, Save: o.save})
	return o.reportMany(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Deleted) })
}

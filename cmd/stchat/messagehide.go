package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/ops/edit"
)

const messageHideDoc = `%s messages %s the prompt, as SillyTavern's /%s does:
is_system becomes %v. Messages with an extra.type, such as the narrator's
notes, stay as they are unless --all is given. Prints the indexes of the
messages that changed.
` + manyDoc + choiceDoc + inPlaceDoc

func newMessageHide() verb {
	return hideVerb("hide", "Hide messages from the prompt", fmt.Sprintf(messageHideDoc, "Hide", "from", "hide", true), true)
}

func newMessageUnhide() verb {
	return hideVerb("unhide", "Show hidden messages to the prompt again", fmt.Sprintf(messageHideDoc, "Put hidden", "back into", "unhide", false), false)
}

func hideVerb(name, short, doc string, hide bool) verb {
	return verb{
		use: name + " CHAT...", short: short,
		doc: doc, no: "no message was chosen, or --expect-… fails",
		example: "  stchat message " + name + " chat.jsonl -a 0..19",
		means:   edits(),
		options: &messageHideOptions{hide: hide},
	}
}

type messageHideOptions struct {
	choiceFlags
	inPlaceFlags
	hide, all bool
}

func (o *messageHideOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	fs.BoolVar(&o.all, "all", false, "also messages with an extra.type")
	o.addManyFlags(fs, "")
}

func (o *messageHideOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "name a chat, e.g. `stchat message hide chat.jsonl -a 0..19`")
	if err != nil {
		return err
	}
	results := edit.Hide(ctx, edit.HideOptions{Options: common, Choice: choice, Hide: o.hide, All: o.all})
	return o.reportMany(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Changed) })
}

func newMessageDelete() verb {
	return verb{
		use: "delete CHAT...", short: "Delete messages",
		doc: `Delete messages. Whole lines are removed; the others keep every byte, except for
indexes and ids that have to follow.

--save FILE writes the deleted lines to a new file, ready for 'message add
--at'. --tool-calls also deletes the tool calls directly before a deleted reply,
as SillyTavern's own button does. Prints the indexes of the deleted messages.
` + manyDoc + choiceDoc + inPlaceDoc, no: "no message was chosen, or --expect-… fails",
		example: `  stchat message delete chat.jsonl -a -10..
  stchat message delete chat.jsonl -a 40..45 --save removed.jsonl
  stchat undo`,
		means:   &subjects{chats: true, writes: true, whole: true},
		options: &messageDeleteOptions{},
	}
}

type messageDeleteOptions struct {
	choiceFlags
	inPlaceFlags
	toolCalls bool
	save      string
}

func (o *messageDeleteOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	fs.BoolVar(&o.toolCalls, "tool-calls", false, "also delete the tool calls directly before a deleted reply")
	fs.Var(filled(&o.save), "save", "write the deleted lines to this new `FILE`")
	o.addManyFlags(fs, "delete all messages of a chat; go on where pending work of an extension refers to messages that move")
}

func (o *messageDeleteOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "name a chat, e.g. `stchat message delete chat.jsonl -a -10..`")
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

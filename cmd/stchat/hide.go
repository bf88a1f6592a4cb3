package main

import (
	"context"
	"fmt"

	"stchat/internal/ops/edit"

	"github.com/spf13/pflag"
)

const hideDoc = `%s messages %s the prompt, as SillyTavern's /%s does:
is_system becomes %v. Messages with an extra.type, such as the narrator's
notes, and calls of tools, which the model sees, stay as they are unless --all
is given. Prints the indexes of the messages that changed.
` + manyDoc + choiceDoc + inPlaceDoc

func newHide(hide bool) verb {
	name, short, doc := "hide", "Hide messages from the prompt", fmt.Sprintf(hideDoc, "Hide", "from", "hide", hide)
	if !hide {
		name, short, doc = "unhide", "Show hidden messages to the prompt again", fmt.Sprintf(hideDoc, "Put hidden", "back into", "unhide", hide)
	}
	return verb{
		use: name + " CHAT...", short: short,
		doc: doc, no: "no message was chosen, or --expect-… fails",
		example: "  stchat " + name + " chat.jsonl -a 0..19",
		means:   edits(),
		options: &hideOptions{hide: hide},
	}
}

type hideOptions struct {
	choiceFlags
	inPlaceFlags
	hide, all bool
}

func (o *hideOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	fs.BoolVar(&o.all, "all", false, "also messages with an extra.type, and calls of tools")
	o.addManyFlags(fs, "")
}

func (o *hideOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "name a chat, e.g. `stchat hide chat.jsonl -a 0..19`")
	if err != nil {
		return err
	}
	results := edit.Hide(ctx, edit.HideOptions{Options: common, Choice: choice, Hide: o.hide, All: o.all})
	return o.reportMany(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Changed) })
}

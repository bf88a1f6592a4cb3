package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"stchat/internal/ops/edit"
)

const messageHideDoc = `%s messages %s the prompt, as SillyTavern's /%s does:
is_system becomes %v. Messages with an extra.type, such as the narrator's
notes, stay as they are unless --all is given. Prints the indexes of the
messages that changed.
` + manyDoc + choiceDoc + inPlaceDoc

func newMessageHide(*app) verb {
	return hideVerb("hide", "Hide messages from the prompt", fmt.Sprintf(messageHideDoc, "Hide", "from", "hide", true), true)
}

func newMessageUnhide(*app) verb {
	return hideVerb("unhide", "Show hidden messages to the prompt again", fmt.Sprintf(messageHideDoc, "Put hidden", "back into", "unhide", false), false)
}

func hideVerb(name, short, doc string, hide bool) verb {
	o := &messageHideOptions{hide: hide}
	return verb{
		use: name + " CHAT...", short: short,
		doc: doc, no: "no message was chosen, or --expect-… fails",
		example: "  stchat message " + name + " chat.jsonl -a 0..19",
		flags:   o.addFlags, run: o.run,
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

func (o *messageHideOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	choice, common, err := o.chosenIn(ctx, a, &o.choiceFlags, args, "name a chat, e.g. `stchat message hide chat.jsonl -a 0..19`")
	if err != nil {
		return err
	}
	c := a.console()
	results := edit.Hide(ctx, edit.HideOptions{Options: common, Choice: choice, Hide: o.hide, All: o.all})
	return o.tellMany(c, results, func(r *edit.Result) error { return o.printIndexes(c, r, r.Doc.Changed) })
}

package main

import (
	"context"
	"fmt"

	"stchat/internal/ops/edit"

	"github.com/spf13/pflag"
)

const hideDoc = `%s messages %s the prompt, as SillyTavern's /%s does:
is_system becomes %v. Messages with an extra.type, such as the narrator's
notes, and calls of tools, which the model sees, stay as they are.
`

func newHide(hide bool) verb {
	v := verb{
		writes: true,
		use:    "hide CHAT... MESSAGES", short: "Hide messages from the prompt",
		doc: fmt.Sprintf(hideDoc, "Hide", "from", "hide", hide), no: "no message is chosen, or --expect fails",
		also:    "show, delete",
		example: "  stchat hide Mira/Harbour 0..19\n  stchat hide Mira/@ --until 2026-03-01\n  stchat hide \"Mira/*\" 0 --dry-run",
		means:   &subjects{writes: true, messages: true},
		options: &hideOptions{hide: hide},
	}

	if !hide {
		v.use, v.short = "unhide CHAT... [MESSAGES]", "Show hidden messages to the prompt again"
		v.doc = fmt.Sprintf(hideDoc, "Put hidden", "back into", "unhide", hide) + "Without MESSAGES all hidden ones.\n"
		v.example = "  stchat unhide Mira/Harbour\n  stchat unhide Mira/Harbour 0..19\n  stchat unhide \"Mira/*\" --dry-run"
	}
	return v
}

type hideOptions struct {
	choiceFlags
	inPlaceFlags
	hide bool
}

func (o *hideOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	o.addManyFlags(fs, "")
}

func (o *hideOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	o.chosenBy.Clip = true
	if !o.hide && o.choosesAll() {
		o.hidden = true
	}
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "hide Mira/Harbour 0..19")
	if err != nil {
		return err
	}
	results := edit.Hide(ctx, edit.HideOptions{Options: common, Choice: choice, Hide: o.hide})
	return o.reportMany(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Changed) })
}

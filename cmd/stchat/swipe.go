package main

import (
	"context"
	"fmt"
	"strings"

	"stchat/internal/chat"
	"stchat/internal/ops/cut"
	"stchat/internal/ops/edit"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newSwipe() verb {
	return verb{
		use: "swipe CHAT", short: "Choose, add or delete a swipe",
		doc: `Choose, add or delete a swipe of one message. Swipes count from 1, as the
screen shows them.

--choose K first stores what the message has now in its own swipe, as
SillyTavern does before it swipes. --add TEXT adds a swipe at the end and prints
its number; with --choose and no number it is chosen. --delete K deletes a
swipe; if it was the chosen one, the next is chosen, or the last. What
extensions keep for the swipe (variables of MVU and others) goes with it.
` + asBranchDoc + inPlaceDoc, no: "no message was chosen, or --expect-… fails",
		example: "  stchat swipe chat.jsonl -a -1 --choose 2\n  stchat swipe chat.jsonl -a 12 --add \"Not tonight.\"\n  stchat swipe chat.jsonl -a 12 --choose 1 --as-branch -n \"other answer\"",
		args:    cobra.RangeArgs(1, 2),
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &swipeOptions{},
	}
}

type swipeOptions struct {
	choiceFlags
	inPlaceFlags
	asBranchFlags
	choose string // a number, or newest
	add    string
	remove int
}

func (o *swipeOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	fs.StringVar(&o.choose, "choose", "", "choose swipe `K`; with --add and no number, the new one")
	fs.Lookup("choose").NoOptDefVal = newest
	fs.StringVar(&o.add, "add", "", "add a swipe with this `TEXT`; - reads it from stdin")
	fs.Var(number(&o.remove, 1, "a swipe's number, from 1"), "delete", "delete swipe `K`")
	o.asBranchFlags.addFlags(fs)
	o.inPlaceFlags.addFlags(fs, "with --add: also for messages of the user and of the system; with --delete: also if what an extension keeps for each swipe does not fit the swipes, and leave that as it is")
}

func (o *swipeOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	choice := o.choice()
	if choice.All() {
		return usagef("say which message, e.g. --at -1")
	}
	opt := edit.SwipeOptions{Choice: choice, SwipeChange: edit.SwipeChange{Delete: o.remove}}
	args, err := o.chosenSwipe(args, &opt)
	if err != nil {
		return err
	}
	if fs.Changed("add") {
		if opt.Add = &o.add; o.add == chat.Stdin {
			data, err := readInput(ctx, c, chat.Stdin)
			if err != nil {
				return err
			}
			o.add = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
		}
	}
	wanted := either(opt.Choose > 0, 1, 0) + either(opt.Add != nil, 1, 0) + either(opt.Delete > 0, 1, 0)
	switch {
	case wanted != 1:
		return usagef("give one of --choose K, --add TEXT and --delete K")
	case opt.Chosen && opt.Add == nil:
		return usagef("--choose takes a swipe's number, from 1")
	}
	opt.Options = o.options(c, args)
	if err := o.check(fs); err != nil {
		return err
	}
	if o.as {
		return o.asBranchFlags.run(ctx, c, &o.inPlaceFlags, args, choice, opt.Taints(), func(m *cut.SourceMessage) ([]byte, error) {
			return opt.Line(m.Index+1, m.Line, m.Metadata)
		})
	}
	return o.report(c, edit.Swipe(ctx, opt), func(r *edit.Result) {
		if r.Swipe != 0 {
			fmt.Fprintln(c.w, r.Swipe)
		}
	})
}

// newest is the value of --choose for the swipe that --add adds.
const newest = "new"

// chosenSwipe reads --choose into opt and returns the other arguments. As --choose may
// stand alone, pflag takes its value only after an equals sign: in "--choose 2" the number
// arrives as an argument.
func (o *swipeOptions) chosenSwipe(args []string, opt *edit.SwipeOptions) ([]string, error) {
	text := o.choose
	if len(args) == 2 {
		if text != newest {
			return nil, usagef("one CHAT, not %q too", args[1])
		}
		text, args = args[1], args[:1]
	}
	switch text {
	case "":
	case newest:
		opt.Chosen = true
	default:
		if err := number(&opt.Choose, 1, "a swipe's number, from 1").Set(text); err != nil {
			return nil, usagef("--choose %v", err)
		}
	}
	return args, nil
}

package main

import (
	"context"
	"fmt"

	"stchat/internal/ops/edit"
	"stchat/internal/text/visible"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newSwipe() verb {
	return verb{
		writes: true,
		use:    "swipe CHAT MESSAGE [K]", short: "Show, choose, add or delete swipes of a message",
		doc: `K chooses a swipe; they count from 1, as the screen shows them. What the message
has now is first stored in its own swipe, as SillyTavern does before it swipes.
Without K the swipes are shown.

--add adds a swipe at the end, prints its number and chooses nothing. If the
chosen swipe is deleted, the next is chosen, or the last. What extensions keep
for the swipe goes with it.
`, no: "no message is chosen, or --expect fails",
		also: "edit, show, slim",
		example: `  stchat swipe Mira/@ -1
  stchat swipe Mira/@ -1 2
  stchat swipe Mira/Harbour 12 --add "Not tonight."`,
		args:    cobra.ExactArgs(1),
		means:   &subjects{most: 1, chats: true, writes: true, messages: true, what: swipeNumber},
		rules:   []string{"add excludes delete"},
		options: &swipeOptions{},
	}
}

type swipeOptions struct {
	choiceFlags // of which only --at
	inPlaceFlags
	choose int
	add    string
	remove int
}

func (o *swipeOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(parsed(messagesOrName, o.takeAt), "at", "a", "the `MESSAGE`: a number, or the name of a checkpoint or branch")
	fs.StringVar(&o.add, "add", "", "add a swipe with this `TEXT`; - reads it from stdin")
	fs.Var(number(&o.remove, 1, "a swipe's number, from 1"), "delete", "delete swipe `K`")
	o.inPlaceFlags.addFlags(fs, "also for messages of the user and of the system, and where what an extension keeps for each swipe does not fit the swipes")
}

// takeWhat implements [whatTaker].
func (o *swipeOptions) takeWhat(_ *pflag.FlagSet, text string) error {
	if err := number(&o.choose, 1, "a number from 1").Set(text); err != nil {
		return usagef("K, the swipe, %v", err)
	}
	return nil
}

func (o *swipeOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	choice, err := o.choice(ctx, args)
	if err != nil {
		return err
	}
	if len(choice.Ranges) == 0 {
		return usagef("which message? e.g. `stchat swipe %s -1`", visible.Quote(args[0]))
	}
	adds, deletes := fs.Changed("add"), o.remove > 0
	if o.choose > 0 && (adds || deletes) {
		return usagef("K chooses a swipe; leave it out with --add and --delete")
	}
	if o.choose == 0 && !adds && !deletes {
		return o.show(ctx, c, args[0])
	}

	opt := edit.SwipeOptions{Options: o.options(c, args), Choice: choice, SwipeChange: edit.SwipeChange{Choose: o.choose, Delete: o.remove}}
	if adds {
		text, err := textOrStdin(ctx, c, o.add)
		if err != nil {
			return err
		}
		opt.Add = &text
	}

	c.words = o.words(adds)
	return o.report(c, edit.Swipe(ctx, opt), func(r *edit.Result) {
		if r.Swipe != 0 {
			fmt.Fprintln(c.w, r.Swipe)
		}
	})
}

// words says what is done to a message.
func (o *swipeOptions) words(adds bool) *editDone {
	switch {
	case adds:
		return &editDone{did: "added a swipe to", would: "would add a swipe to", to: "of"}
	case o.remove > 0:
		swipe := fmt.Sprintf("swipe %d of", o.remove)
		return &editDone{did: "deleted " + swipe, would: "would delete " + swipe, to: "of"}
	}
	swipe := fmt.Sprintf("swipe %d of", o.choose)
	return &editDone{did: "chose " + swipe, would: "would choose " + swipe, to: "of"}
}

// show shows the swipes of the message.
func (o *swipeOptions) show(ctx context.Context, c *console, path string) error {
	shown := &showOptions{swipes: true}
	shown.choiceFlags = o.choiceFlags
	return shown.print(ctx, c, []string{path})
}

package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/copying"
)

func newJoin() verb {
	return verb{
		writes: true,
		use:    "join CHAT FROM...", short: "Make one new chat of several",
		doc: `The new chat is beside CHAT, with CHAT's metadata and messages, and behind them
the messages of each FROM. The chats themselves stay as they are. What
SillyTavern and extensions keep by the numbers of messages is CHAT's, and that
of FROM is left out. So are links to chats that CHAT's owner does not have. A
character's chats and a group's are not joined: copy one first.
`,
		also: "split, copy, merge",
		example: `  stchat join Mira/Harbour "Mira/Harbour II"
  stchat join Mira/Harbour "Mira/Harbour II" "Mira/Harbour III" -n "All of it"
  stchat join Mira/Harbour Ines/Night --dry-run`,
		args:    cobra.MinimumNArgs(2),
		means:   single(),
		options: &joinOptions{},
	}
}

// joinOptions are the flags of join.
type joinOptions struct {
	opt copying.JoinOptions
}

func (o *joinOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(notEmptyText(&o.opt.Name), "name", "n", "`NAME` of the new chat; default: \"CHAT joined\"")
}

func (o *joinOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	opt := o.opt
	opt.Chats, opt.Data = args, userFolder(c, args)
	c.changes(&opt.Changes)
	end := c.meter("joining", c.json, &opt.Meter)
	joined := copying.Join(ctx, opt)
	end()
	return sayMade(c, args[0], joined, joined.Result, false, joinHints())
}

// joinHints returns the hints for chats that cannot be joined.
func joinHints() []hint {
	return []hint{
		{copying.ErrMixed, "; copy it first: stchat copy CHAT OWNER"},
		{copying.ErrPath, "; give the name alone"},
	}
}

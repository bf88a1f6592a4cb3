package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/move"
)

const renameDoc = `Rename a chat together with everything that names it: its children's parent,
links to it in every chat of its owner, the group's list, the chat that its card
or group has open, Luker's sidecars, and its own Auto-Recap data, which the
extension would erase otherwise. SillyTavern itself only renames the file.

NAME is made safe as SillyTavern does it; a trailing .jsonl is removed. With
--family, descendants whose names begin with the old name get the new beginning.
With --lorebook, the chat's own lorebook is renamed too, if its name contains
the chat's. Prints the new paths.

A lorebook (worlds/X.json) is renamed with what names it: the metadata of the
user's chats, their timed effects, cards, and SillyTavern's settings.
` + moveDoc

func newRenameCmd(a *app) *cobra.Command {
	return a.command(&renameOptions{}, &cobra.Command{
		Use:     "rename CHAT|LOREBOOK NAME",
		Short:   "Rename a chat or lorebook, with all that names it",
		Long:    renameDoc + exitStatus(""),
		Example: "  stchat rename \"chats/Mira/Harbour.jsonl\" \"The harbour\"\n  stchat rename --family --dry-run \"chats/Mira/Harbour.jsonl\" \"The harbour\"",
		Args:    cobra.ExactArgs(2),
	})
}

type renameOptions struct {
	moveFlags
	family, book bool
}

func (o *renameOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.family, "family", false, "also rename descendants whose names begin with the old name")
	fs.BoolVar(&o.book, "lorebook", false, "also rename the chat's lorebook, if it bears the chat's name or its label (…__CP_NAME)")
	o.moveFlags.addFlags(fs)
}

func (o *renameOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	common, err := o.options(a, args[0])
	if err != nil {
		return err
	}
	c := a.console()
	meter, end := c.meter("reading", o.json)
	common.Meter = meter
	if isBook(args[0]) {
		if o.family || o.book {
			return usagef("--family and --lorebook go with a chat")
		}
		r := move.RenameBook(ctx, move.RenameOptions{Options: common, Chat: args[0], Name: args[1]})
		end()
		return o.tell(c, []*move.Result{r})
	}
	results := move.Rename(ctx, move.RenameOptions{Options: common, Chat: args[0], Name: args[1], Family: o.family, Book: o.book})
	end()
	return o.tell(c, results)
}

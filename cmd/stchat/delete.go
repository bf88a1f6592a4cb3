package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/move"
)

const deleteDoc = `Delete chats, with Luker's sidecars. Attachments, images and lorebooks are never
touched. What is deleted is kept in .stchat until 'stchat undo --prune' drops
it; SillyTavern's own full backup takes that folder in.

--links says what happens to everything that names a deleted chat. With mend its
children get its parent as theirs, which notes them in its place; links to it
are removed, groups no longer list it, and a card or group that had it open
opens its parent instead, or else the chat last changed. With keep nothing else
changes, and what then leads nowhere is listed.

Prints the path of each chat that went.
` + moveDoc

func newDeleteCmd(a *app) *cobra.Command {
	return a.command(&deleteOptions{}, &cobra.Command{
		Use:     "delete CHAT...",
		Short:   "Delete chats, and mend what named them",
		Long:    deleteDoc + exitStatus("never given by this command"),
		Example: "  stchat delete \"chats/Mira/Harbour.jsonl\"\n  stchat undo",
	})
}

type deleteOptions struct {
	moveFlags
	listFlags
	family bool
	links  string
}

func (o *deleteOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.family, "family", false, "also delete all descendants")
	fs.Var(oneOf(&o.links, "mend", "mend", "keep"), "links", "what becomes of links to the chat: `HOW` is mend or keep")
	o.listFlags.addFlags(fs)
	o.moveFlags.addFlags(fs)
}

func (o *deleteOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	paths, err := o.sources(ctx, a, args, "name a chat, e.g. `stchat delete chats/Mira/Harbour.jsonl`")
	if err != nil {
		return err
	}
	common, err := o.options(a, paths...)
	if err != nil {
		return err
	}
	results := move.Delete(ctx, move.DeleteOptions{Options: common, Chats: paths, Family: o.family, Keep: o.links == "keep"})
	return o.tell(a.console(), results)
}

package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/move"
)

const moveCmdDoc = `Move chats to another character, or from group to group. OWNER is a folder of
chats/, a card, a group file, or a group's name.

Links do not work across characters and groups, so a chat with relatives that
would stay behind is refused, unless --family takes all of them along, or --cut
removes the links on both sides. Messages keep their bytes and their speakers'
names. Prints the new paths.
` + moveDoc

func newMoveCmd(a *app) *cobra.Command {
	return a.command(&moveOptions{}, &cobra.Command{
		Use:     "move CHAT... OWNER",
		Short:   "Move chats to another character or group",
		Long:    moveCmdDoc + exitStatus(""),
		Example: "  stchat move chats/Mira/Harbour.jsonl chats/Ines\n  stchat move --family chats/Mira/Harbour.jsonl characters/Ines.png",
		Args:    cobra.MinimumNArgs(2),
	})
}

type moveOptions struct {
	moveFlags
	family, cut bool
	name        string
}

func (o *moveOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(filled(&o.name), "name", "n", "`NAME` of the chat there; one CHAT only")
	fs.BoolVar(&o.family, "family", false, "move all relatives along")
	fs.BoolVar(&o.cut, "cut", false, "remove what names relatives that stay behind, and what they say of the chat")
	o.moveFlags.addFlags(fs)
}

func (o *moveOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	chats, owner := args[:len(args)-1], args[len(args)-1]
	switch {
	case o.family && o.cut:
		return usagef("--family and --cut exclude each other")
	case o.name != "" && (len(chats) > 1 || o.family):
		return usagef("--name takes one CHAT without its family")
	}
	common, err := o.options(a, chats...)
	if err != nil {
		return err
	}
	results := move.Move(ctx, move.MoveOptions{Options: common, Chats: chats, Owner: owner, Family: o.family, Cut: o.cut, Name: o.name})
	return o.tell(a.console(), results)
}

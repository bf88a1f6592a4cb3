package main

import (
	"github.com/spf13/cobra"
)

const openDoc = `Make a chat the one that its character or group opens with: chat in the
character's card, chat_id in the group's file. Nothing else in them changes.

Prints the file that was edited. Reload SillyTavern afterwards: it keeps cards
and groups in memory.
`

func newOpenCmd(a *app) *cobra.Command {
	return a.command(&moveFlags{}, &cobra.Command{
		Use:     "open CHAT...",
		Short:   "Make a chat the one that its owner opens with",
		Long:    openDoc + exitStatus(""),
		Example: "  stchat open \"chats/Mira/Harbour.jsonl\"",
		Args:    cobra.MinimumNArgs(1),
	})
}

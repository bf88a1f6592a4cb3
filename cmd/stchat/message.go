package main

import "github.com/spf13/cobra"

const messageDoc = `Read and edit messages of chats.

See 'stchat message COMMAND --help' for each command.`

func newMessageCmd(a *app) *cobra.Command {
	return a.group(&cobra.Command{
		Use:     "message COMMAND",
		Short:   "Read and edit messages of chats",
		Long:    messageDoc + exitStatus("no message was chosen"),
		Example: "  stchat message get chat.jsonl --at 3..9\n  stchat message count chat.jsonl --role user",
	}, []named{
		{"add", newMessageAddCmd},
		{"apply", newMessageApplyCmd},
		{"count", newMessageCountCmd},
		{"delete", newMessageDeleteCmd},
		{"get", newMessageGetCmd},
		{"hide", newMessageHideCmd},
		{"set", newMessageSetCmd},
		{"swipe", newMessageSwipeCmd},
		{"unhide", newMessageUnhideCmd},
	})
}

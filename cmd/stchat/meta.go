package main

import "github.com/spf13/cobra"

const metaDoc = `Read and edit chat_metadata: what SillyTavern and extensions keep about a chat.

See 'stchat meta COMMAND --help' for each command, and 'stchat diff-meta' for
what differs between two chats.`

func newMetaCmd(a *app) *cobra.Command {
	return a.group(&cobra.Command{
		Use:     "meta COMMAND",
		Short:   "Read and edit the metadata of chats",
		Long:    metaDoc + exitStatus("there is no such value"),
		Example: "  stchat meta get chat.jsonl --value world_info",
	}, []named{
		{"get", newMetaGetCmd},
		{"set", newMetaSetCmd},
	})
}

package main

import (
	"github.com/spf13/cobra"

	"stchat/internal/names"
)

const checkpointDoc = `Write a new chat beside each CHAT with its messages 0 to N inclusive, as
SillyTavern's "Create checkpoint" does. The messages are copied byte for byte;
in the header only the metadata changes: main_chat names the source, integrity
is a new slug, and the flags below can change more.

The source is not touched unless you ask for --link, and the character or group
keeps its current chat unless you ask for --open. The name of a new group chat
is added to its group; otherwise SillyTavern would not show it.

The new file appears whole or not at all, and never replaces another one. With
--force it replaces a checkpoint of the same name that was made from this source
before, unless messages were added to that.

Prints the path of each new chat, one per line.
`

const checkpointExample = `  stchat checkpoint chats/Mira/Harbour.jsonl --at 120 --name "before the storm"
  stchat checkpoint -n "before migration" chats/*/*.jsonl
  stchat checkpoint chat.jsonl -a -2 --link --naming sillytavern
  stchat checkpoint chat.jsonl --isolate --json
  stchat checkpoint - -o - --main-chat "" < chat.jsonl | stchat inspect -`

func newCheckpointCmd(a *app) *cobra.Command {
	return a.command(&cutOptions{kind: names.Checkpoint}, &cobra.Command{
		Use:     "checkpoint CHAT...",
		Short:   "Copy a chat up to a message",
		Long:    checkpointDoc + exitStatus("a --require does not hold"),
		Example: checkpointExample,
	})
}

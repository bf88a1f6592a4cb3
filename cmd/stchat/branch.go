package main

import (
	"github.com/spf13/cobra"

	"stchat/internal/names"
)

const branchDoc = `Write a new chat beside each CHAT with its messages 0 to N inclusive, as
SillyTavern's "Create branch" does. It differs from a checkpoint in its name,
in the link that --link notes in the source (a message has one checkpoint and
any number of branches), and in --swipe, which selects another swipe of message
N.

Everything else works as in 'stchat checkpoint': messages are copied byte for
byte, the source is not touched, the new file appears whole or not at all, and
its path is printed.
`

const branchExample = `  stchat branch "chats/Mira/Harbour.jsonl" --at 42
  stchat branch chat.jsonl --at 42 --swipe 2 --name "the other answer"
  stchat branch chat.jsonl --at 42 --isolate --require auto-recap
  stchat branch "group chats/Trip.jsonl" -a 10 --link`

func newBranchCmd(a *app) *cobra.Command {
	return a.command(&cutOptions{kind: names.Branch}, &cobra.Command{
		Use:     "branch CHAT...",
		Short:   "Branch a chat at a message",
		Long:    branchDoc + exitStatus("a --require does not hold"),
		Example: branchExample,
	})
}

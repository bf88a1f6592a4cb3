package main

import (
	"github.com/spf13/cobra"

	"stchat/internal/names"
)

const branchDoc = `Write a new chat beside each CHAT with its messages 0 to N inclusive, as
SillyTavern's "Create branch" does. It differs from a checkpoint in its name,
in the link that --link notes in the source (a message has one checkpoint and
any number of branches), and in --swipe: message N can be taken with another
of its swipes chosen.

All else is as with 'stchat checkpoint': messages byte for byte, the source
untouched, the new file whole or absent, its path on stdout.
`

const branchExample = `  stchat branch "chats/Mira/Harbour.jsonl" --at 42
  stchat branch chat.jsonl --at 42 --swipe 1 --name "the other answer"
  stchat branch chat.jsonl --at 42 --isolate --require auto-recap
  stchat branch "group chats/Trip.jsonl" -a 10 --link`

func newBranchCmd(a *app) *cobra.Command {
	o := &cutOptions{kind: names.Branch}
	cmd := &cobra.Command{
		Use:               "branch CHAT...",
		Short:             "Write a branch of a chat from a message",
		Long:              branchDoc + exitStatus("a --require does not hold"),
		Example:           branchExample,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeChats,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runCut(cmd.Context(), a, cmd, args)
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().IntVar(&o.swipe, "swipe", -1, "take message N with swipe `K` chosen, from 0")
	return cmd
}

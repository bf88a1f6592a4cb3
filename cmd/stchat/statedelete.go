package main

import (
	"context"

	"github.com/spf13/cobra"

	"stchat/internal/ops/state"
)

const stateDeleteDoc = `Delete namespaces: the sidecar, or the floor log and what an older Luker left
beside it. What is not there is no error.
` + stateChangeDoc

func newStateDeleteCmd(a *app) *cobra.Command {
	o := &stateFlags{}
	cmd := &cobra.Command{
		Use:               "delete PATH NS...",
		Short:             "Delete namespaces",
		Long:              stateDeleteDoc + exitStatus("the chat is not as it was expected to be"),
		Example:           "  stchat state delete chat.jsonl memory_graph\n  stchat state delete characters/Mira.png mood",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeChats,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStateDelete(cmd.Context(), a, o, args)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

func runStateDelete(ctx context.Context, a *app, o *stateFlags, args []string) error {
	path, namespaces, err := onePath(args, "delete chat.jsonl memory_graph")
	if err != nil {
		return err
	}
	opt, err := o.options(a, path)
	if err != nil {
		return err
	}
	return o.tell(a.console(), []*state.Result{state.Delete(ctx, opt, namespaces)})
}

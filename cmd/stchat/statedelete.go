package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/state"
)

const stateDeleteDoc = `Delete namespaces: the sidecar, or the floor log and what an older Luker left
beside it. What is not there is no error.
` + stateChangeDoc

func newStateDeleteCmd(a *app) *cobra.Command {
	return a.command(&stateDeleteOptions{}, &cobra.Command{
		Use:     "delete PATH NS...",
		Short:   "Delete namespaces",
		Long:    stateDeleteDoc + exitStatus("the chat is not as it was expected to be"),
		Example: "  stchat state delete chat.jsonl memory_graph\n  stchat state delete characters/Mira.png mood",
	})
}

type stateDeleteOptions struct{ stateFlags }

func (o *stateDeleteOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
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

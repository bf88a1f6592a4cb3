package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/ops/state"
)

const statePruneDoc = `Drop what is certainly unused by the extensions' own rules: Auto-Recap's pending
operations older than --older-than, versions of the running recap whose scene
no longer has a recap, Auto-Illustrator's prompts for messages beyond the end,
images without a prompt, and commits in Luker's floor logs that are invalid or
beyond the end.

Arguments that end in .jsonl or .png are PATHs; the others are namespaces, such
as recap: and illustrator:, and limit the command to these. Prints what was
dropped, and how much.
` + stateChangeDoc

func newStatePruneCmd(a *app) *cobra.Command {
	return a.command(&statePruneOptions{}, &cobra.Command{
		Use:     "prune PATH... [NS...]",
		Short:   "Drop what is provably dead",
		Long:    statePruneDoc + exitStatus("the chat is not as it was expected to be"),
		Example: "  stchat state prune chat.jsonl --dry-run\n  stchat state prune chats/Mira/*.jsonl recap: --older-than 48h",
	})
}

type statePruneOptions struct {
	listFlags
	stateFlags
	olderThan time.Duration
}

func (o *statePruneOptions) addFlags(fs *pflag.FlagSet) {
	fs.DurationVar(&o.olderThan, "older-than", 24*time.Hour, "drop pending operations that were noted longer ago than `AGE`, such as 48h")
	o.listFlags.addFlags(fs)
	o.stateFlags.addFlags(fs)
}

func (o *statePruneOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	var named, namespaces []string
	for _, arg := range args {
		if chat.CheckName(arg) == nil || state.IsCard(arg) {
			named = append(named, arg)
		} else {
			namespaces = append(namespaces, arg)
		}
	}
	paths, err := o.sources(ctx, a, named, "name a chat, e.g. `stchat state prune chat.jsonl`")
	if err != nil {
		return err
	}
	if o.olderThan < 0 {
		return usagef("--older-than is an age such as 48h, not %s", o.olderThan)
	}
	opt := state.PruneOptions{Paths: paths, Namespaces: namespaces, OlderThan: o.olderThan}
	if len(paths) == 0 {
		return nil
	}
	if opt.Options, err = o.options(a, paths[0]); err != nil {
		return err
	}
	results, err := state.Prune(ctx, opt)
	if err != nil {
		return stateUsage(err)
	}
	c := a.console()
	if !o.json {
		for _, r := range results {
			for _, gone := range r.Doc.Removed {
				if r.Err == nil {
					fmt.Fprintf(c.Out, "%s\t%d\t%s\n", c.path(r.Doc.Path), gone.Count, gone.What)
				}
			}
		}
	}
	return o.tell(c, results)
}

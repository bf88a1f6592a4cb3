package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/jsondoc"
	"stchat/internal/library"
	"stchat/internal/ops/state"
	"stchat/internal/visible"
)

const stateListDoc = `List the state of chats and characters: namespace, kind, size, entries, and for
a floor log its commits, the first and the last message that they belong to, and
whether it can be replayed.

Kinds: plain and floor are state of extensions; legacy is what an older Luker
left beside a floor log; orphans is what Luker set aside; chat_sync is Luker's
copy of the chat's slug; recap: and illustrator: are in the chat itself.
` + namespaceDoc

func newStateListCmd(a *app) *cobra.Command {
	return a.command(&stateListOptions{}, &cobra.Command{
		Use:     "list PATH...",
		Short:   "List what extensions keep",
		Long:    stateListDoc + exitStatus(""),
		Example: "  stchat state list chat.jsonl\n  stchat state list chats/Mira/*.jsonl characters/Mira.png --json",
	})
}

type stateListOptions struct {
	listFlags
	data string
	json bool
}

func (o *stateListOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the path")
	fs.BoolVar(&o.json, "json", false, "print JSON documents, one per line")
}

func (o *stateListOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	paths, err := o.sources(ctx, a, args, "name a chat or a card, e.g. `stchat state list chat.jsonl`")
	if err != nil {
		return err
	}
	c := a.console()
	lib := new(library.Library)
	failed := false
	for _, path := range paths {
		l, err := state.ListOf(ctx, lib, state.ReadOptions{Path: path, Data: userFolder(a, o.data, []string{path})})
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed = true
			if err := c.failed(c.Out, o.json, path, stateUsage(err)); err != nil {
				return err
			}
			continue
		}
		if o.json {
			err = jsondoc.Write(c.Out, l, "")
		} else {
			err = printStates(c, l, len(paths) > 1)
		}
		if err != nil {
			return err
		}
	}
	return outcome(failed, false)
}

// printStates prints the state of one chat or character, with titled below its path.
func printStates(c *console, l *state.List, titled bool) error {
	if titled {
		fmt.Fprintln(c.Out, c.path(l.Path))
	}
	if len(l.Namespaces) == 0 {
		c.note("%s: no extension state", l.Path)
		return nil
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAMESPACE\tKIND\tSIZE\tENTRIES\tCOMMITS\tFLOORS\tREPLAYS")
	for _, n := range l.Namespaces {
		floors, replays := "-", "-"
		if n.FirstFloor != nil && n.LastFloor != nil {
			floors = fmt.Sprintf("%d..%d", *n.FirstFloor, *n.LastFloor)
		}
		if n.Replays != nil {
			replays = map[bool]string{true: "yes", false: "no"}[*n.Replays]
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", visible.Text(n.Name), n.Kind, formatBytes(n.Bytes), countText(n.Entries), countText(n.Commits), floors, replays)
	}
	return w.Flush()
}

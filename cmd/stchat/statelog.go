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

const stateLogDoc = `Print the history of a namespace: the commits of its floor log, with message,
swipe (from 1), whether it counts, the number of operations, and size.

For recap:, print the versions of the running recap, with number, date, scenes,
the messages at which the previous scene and this one end, and whether the scene
still exists.
` + namespaceDoc

func newStateLogCmd(a *app) *cobra.Command {
	return a.command(&stateLogOptions{}, &cobra.Command{
		Use:     "log PATH NS",
		Short:   "Print the history of a namespace",
		Long:    stateLogDoc + exitStatus(""),
		Example: "  stchat state log chat.jsonl memory_graph\n  stchat state log chat.jsonl recap:",
	})
}

type stateLogOptions struct {
	data string
	json bool
}

func (o *stateLogOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the path")
	fs.BoolVar(&o.json, "json", false, "print a JSON document")
}

func (o *stateLogOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	path, rest, err := onePath(args, "log chat.jsonl memory_graph")
	if err != nil {
		return err
	}
	if len(rest) > 1 {
		return usagef("one namespace, not %q too", rest[1])
	}
	c := a.console()
	l, err := state.LogOf(ctx, new(library.Library), state.ReadOptions{Path: path, Data: userFolder(a, o.data, []string{path})}, rest[0])
	if err != nil {
		return stateUsage(err)
	}
	for _, n := range l.Notes {
		c.note("%s", n)
	}
	if o.json {
		return jsondoc.Write(c.Out, l, "")
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	if l.Namespace == state.Recap {
		fmt.Fprintln(w, "VERSION\tDATE\tSCENES\tPREV > NEW\tCURRENT\tSCENE")
		for _, v := range l.Versions {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s > %s\t%s\t%s\n", orDash(string(v.Version)), orDash(deref(v.Date)), countText(v.Scenes), countText(v.Prev), countText(v.New),
				map[bool]string{true: "current", false: "-"}[v.Current], map[bool]string{true: "there", false: "gone"}[v.Scene])
		}
		return w.Flush()
	}
	fmt.Fprintln(w, "MESSAGE\tSWIPE\tCOUNTS\tOPERATIONS\tBYTES")
	for _, m := range l.Commits {
		counts := map[bool]string{true: "yes", false: "no"}[m.Active]
		if !m.Valid {
			counts = "not valid"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\n", countText(m.Floor), countText(m.Swipe), counts, m.Operations, m.Bytes)
	}
	return w.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return visible.Text(s)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

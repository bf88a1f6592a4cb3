package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/jsondoc"
	"stchat/internal/library"
	"stchat/internal/ops/state"
)

const stateGetDoc = `Print what a namespace holds, on one line; for several namespaces, an object
with a value or null for each.

If there is a floor log, its commits are replayed: those of the chosen swipes,
and with --at N only those of messages 0 to N. --stored prints the file as it
is, in this case the log itself.

recap: shows what Auto-Recap keeps: the running recap, the recap of each scene,
and pending work. illustrator: shows Auto-Illustrator's prompts as trees, by
message, and its images, with whether each file exists.
` + namespaceDoc

const stateGetExample = `  stchat state get chat.jsonl memory_graph
  stchat state get chat.jsonl memory_graph --at 40
  stchat state get chat.jsonl recap: illustrator:
  stchat state get characters/Mira.png mood`

func newStateGetCmd(a *app) *cobra.Command {
	return a.command(&stateGetOptions{}, &cobra.Command{
		Use:     "get PATH NS...",
		Short:   "Print what a namespace holds",
		Long:    stateGetDoc + exitStatus("the one NS holds nothing; null is printed"),
		Example: stateGetExample,
	})
}

type stateGetOptions struct {
	at     int
	stored bool
	data   string
	json   bool
}

func (o *stateGetOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(messageNumber(&o.at), "at", "a", "as of message `N`; -1 is the last")
	fs.BoolVar(&o.stored, "stored", false, "the file as it is, and not what its commits come to")
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the path")
	fs.BoolVar(&o.json, "json", false, "print a JSON document")
}

// messageNumber returns the value of an --at that takes the number of one message.
func messageNumber(to *int) flagValue { return number(to, -1<<31, "the number of a message") }

func (o *stateGetOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	path, namespaces, err := onePath(args, "get chat.jsonl memory_graph")
	if err != nil {
		return err
	}
	opt := state.GetOptions{ReadOptions: state.ReadOptions{Path: path, Data: userFolder(a, o.data, []string{path})}, Namespaces: namespaces, Stored: o.stored}
	if fs.Changed("at") {
		opt.At = &o.at
		if o.stored {
			return usagef("--at and --stored exclude each other: the file is as it is now")
		}
	}
	c := a.console()
	v, err := state.Get(ctx, new(library.Library), opt)
	if err != nil {
		return stateUsage(err)
	}
	for _, w := range v.Warnings {
		c.warn("%s", w)
	}
	for _, n := range v.Notes {
		c.note("%s", n)
	}
	switch {
	case o.json:
		err = jsondoc.Write(c.Out, v, "")
	case len(namespaces) > 1:
		err = c.line(strings.TrimSuffix(string(v.Values), "\n"))
	case v.Only == nil:
		err = c.line("null")
	default:
		err = c.line(strings.TrimSuffix(string(v.Only), "\n"))
	}
	if err == nil && len(namespaces) == 1 && v.Only == nil {
		err = errNo
	}
	return err
}

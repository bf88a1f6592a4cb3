package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops"
	"stchat/internal/ops/state"
)

const stateDoc = `Read and edit what extensions keep: Luker's sidecars beside a chat, its floor
logs, which say what each message changed, the state beside a character's card,
and views of what Auto-Recap and Auto-Illustrator keep (recap:, illustrator:).

See 'stchat state COMMAND --help' for each command.`

func newStateCmd(a *app) *cobra.Command {
	return a.group(&cobra.Command{
		Use:     "state COMMAND",
		Short:   "Read and edit what extensions keep",
		Long:    stateDoc + exitStatus("there is no such state"),
		Example: "  stchat state list chat.jsonl\n  stchat state get chat.jsonl memory_graph",
	}, []named{
		{"delete", newStateDeleteCmd},
		{"get", newStateGetCmd},
		{"list", newStateListCmd},
		{"log", newStateLogCmd},
		{"prune", newStatePruneCmd},
		{"set", newStateSetCmd},
	})
}

// namespaceDoc explains namespaces in a command's help.
const namespaceDoc = `
PATHS AND NAMESPACES
PATH is a chat, or a card such as characters/Mira.png. NS is normalised as Luker
does it: lower case, and an underscore for all but a-z, 0-9, point, underscore
and hyphen. Where a namespace has a floor log, the log counts.
`

// stateChangeDoc explains what the commands that change state have in common.
const stateChangeDoc = namespaceDoc + `
All that a call changes is changed together or not at all; 'stchat undo' takes
it back. Sidecars have no integrity slug. A tab of Luker that has the chat open
keeps what it has read until it is reloaded.
`

// stateFlags are the flags of every command that changes state.
type stateFlags struct{ termFlags }

func (o *stateFlags) addFlags(fs *pflag.FlagSet) {
	o.addDryRun(fs)
	o.addTerms(fs, "a chat that is edited itself")
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the path")
	fs.BoolVar(&o.json, "json", false, "print a JSON document for each PATH")
}

func (o *stateFlags) options(a *app, path string) (opt state.Options, err error) {
	opt.Path = path
	opt.Terms, err = o.terms(a, []string{path})
	return opt, err
}

// stateHints returns the hints for state that cannot be read or changed.
func stateHints() []hint {
	return append(editHints(),
		hint{state.ErrPlain, "; delete it first, or change it as it is"},
		hint{state.ErrNoLog, "; --floor of 'stchat state set' begins one"},
	)
}

// tell prints what became of the state of each PATH, and returns the worst outcome.
func (o *stateFlags) tell(c *console, results []*state.Result) error {
	how := saying{dryRun: o.dryRun, steps: !o.json, json: o.json, hints: stateHints()}
	of := func(r *state.Result) (string, *ops.Result[state.Changed]) { return r.Doc.Path, &r.Result }
	edited := false
	var chats []string
	failed, no, err := sayAll(c, how, results, of, func(r *state.Result) error {
		if edited = edited || r.Doc.DidWrite; r.Doc.DidWrite && r.Chat {
			chats = append(chats, r.Doc.Path)
		}
		if !r.Doc.Changed {
			c.note("%s: unchanged", r.Doc.Path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case len(chats) > 0:
		c.closeTabs(o.bump, chats...)
	case edited:
		c.note("if this chat is open in Luker, reload it there: it keeps the state that it has read")
	}
	return outcome(failed, no)
}

// onePath splits arguments into one PATH and the namespaces after it, and requires both.
func onePath(args []string, example string) (path string, rest []string, err error) {
	if len(args) == 0 || args[0] == "" {
		return "", nil, usagef("name a chat or a card, e.g. `stchat state %s`", example)
	}
	if len(args) == 1 {
		return "", nil, usagef("say which namespace, e.g. `stchat state %s`", example)
	}
	return args[0], args[1:], nil
}

// stateUsage makes the error of a bad namespace a usage error, and adds hints to others.
func stateUsage(err error) error {
	if errors.Is(err, state.ErrNamespace) {
		return usagef("%v", err)
	}
	return withHint(err, stateHints())
}

// countText returns a number, - if it is unknown.
func countText(n *int) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

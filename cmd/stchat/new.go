package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/jsondoc"
	"stchat/internal/ops/move"
)

const newDoc = `Make a new chat of a character or a group. OWNER is a folder of chats/, a card,
a group file, or a group's name. SillyTavern adds the greeting when the chat is
first opened, so a character's new chat is a file with only a header, and a
group's new chat is a name in the group's list, without a file.

--like CHAT copies that chat's settings (author's note, scenario, lorebook,
backgrounds and so on), but nothing of its story. Prints the chat's path.
`

func newNewCmd(a *app) *cobra.Command {
	return a.command(&newOptions{}, &cobra.Command{
		Use:     "new OWNER",
		Short:   "Make a new chat",
		Long:    newDoc + exitStatus(""),
		Example: "  stchat new chats/Mira --open\n  stchat new characters/Mira.png -n \"Winter\" --like chats/Mira/Harbour.jsonl",
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	})
}

type newOptions struct {
	moveFlags
	valueFlags
	name, like string
	open       bool
}

func (o *newOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(filled(&o.name), "name", "n", "`NAME` of the chat; default: as SillyTavern names it")
	fs.StringVar(&o.like, "like", "", "take over the settings of `CHAT`")
	fs.BoolVar(&o.open, "open", false, "make it the chat that its owner opens with")
	o.own = ownFlag
	o.valueFlags.addFlags(fs)
	o.moveFlags.addFlags(fs)
}

func (o *newOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	common, err := o.options(a, args[0])
	if err != nil {
		return err
	}
	opt := move.NewOptions{Options: common, Owner: args[0], Name: o.name, Like: o.like, Open: o.open}
	if opt.Set, err = o.changes(ctx, a, false); err != nil {
		return err
	}
	c := a.console()
	r := move.New(ctx, opt)
	if errors.Is(r.Err, move.ErrNoFile) {
		return usagef("%s: a group's new chat has no file until SillyTavern greets in it, so --like and --set are for characters' chats", args[0])
	}
	how := saying{dryRun: o.dryRun, steps: o.dryRun && !o.json, json: o.json, hints: moveHints()}
	if err := say(c, how, args[0], r); err != nil {
		return err
	}
	if r.Err != nil {
		return errReported
	}
	if o.json {
		return jsondoc.Write(c.Out, r.Doc, "")
	}
	_, err = fmt.Fprintln(c.Out, c.path(r.Doc.Path))
	return err
}

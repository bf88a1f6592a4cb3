package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/move"
	"stchat/internal/userdir"
)

const openDoc = `Make a chat the one that its character or group opens with: chat in the
character's card, chat_id in the group's file. Nothing else in them changes.

Prints the file that was edited. Reload SillyTavern afterwards: it keeps cards
and groups in memory.
`

func newOpenCmd(a *app) *cobra.Command {
	return a.command(&moveFlags{}, &cobra.Command{
		Use:     "open CHAT...",
		Short:   "Make a chat the one that its owner opens with",
		Long:    openDoc + exitStatus("never given by this command"),
		Example: "  stchat open \"chats/Mira/Harbour.jsonl\"",
		Args:    cobra.MinimumNArgs(1),
	})
}

func (o *moveFlags) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	owners := map[string]string{}
	for _, path := range args {
		kind, _ := userdir.KindOf(path)
		folder := userdir.RealPath(filepath.Dir(path))
		if other, ok := owners[folder]; ok && kind == userdir.Solo {
			return usagef("%s and %s are of one character, which has one chat open", other, path)
		}
		owners[folder] = path
	}
	opt, err := o.options(a, args...)
	if err != nil {
		return err
	}
	c := a.console()
	how := saying{dryRun: o.dryRun, steps: o.dryRun && !o.json, json: o.json, hints: moveHints()}
	of := func(r *move.OpenResult) (string, *move.OpenResult) { return r.Doc.Path, r }
	failed, no, err := sayAll(c, how, move.Open(ctx, opt, args), of, func(r *move.OpenResult) (err error) {
		if !o.json {
			_, err = fmt.Fprintln(c.Out, c.path(r.Doc.Card))
		}
		if err == nil && !r.Doc.Changed {
			c.note("%s: unchanged", r.Doc.Card)
		}
		return err
	})
	if err != nil {
		return err
	}
	if failed || no {
		return errReported
	}
	if !o.dryRun {
		c.note("reload SillyTavern: it keeps cards and groups in memory")
	}
	return nil
}

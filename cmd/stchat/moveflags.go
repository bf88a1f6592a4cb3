package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"stchat/internal/ops/move"
	"stchat/internal/userdir"
)

// moveDoc explains what the commands that rename, move and delete chats have in common.
const moveDoc = `
All files that change are changed together or not at all; 'stchat undo' takes it
back. If one of the chats is open in SillyTavern, reload it there afterwards:
its next save would undo the edit. In Luker close it first: what an open tab
holds wins.
`

// moveFlags are the flags of the commands that make, open, rename, move and delete chats.
type moveFlags struct {
	data   string
	bump   bool
	noSync bool
	dryRun bool
	json   bool
}

func (o *moveFlags) addFlags(fs *pflag.FlagSet) {
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
		fs.BoolVar(&o.dryRun, "dry-run", false, "do everything but write; show what would change")
		fs.BoolVar(&o.bump, "bump-integrity", false, "give every chat that is edited in place a new slug, so that an open tab is stopped instead of overwriting the edit; Luker's tab is not stopped")
		fs.BoolVar(&o.noSync, "no-sync", false, "do not force data to disk: faster on copies, not safe against power loss")
	})
	fs.BoolVar(&o.json, "json", false, "print JSON documents, one per line")
}

func (o *moveFlags) options(a *app, paths ...string) (opt move.Options, err error) {
	opt = move.Options{Data: userFolder(a, o.data, paths), BumpIntegrity: o.bump, NewUUID: uuid.NewString}
	opt.Changes, err = a.changes(o.dryRun, o.noSync)
	return opt, err
}

// moveHints returns the hints for a chat that cannot be moved.
func moveHints() []hint {
	return []hint{
		{move.ErrRelatives, "; --family takes them along, --cut gives up the kinship"},
		{move.ErrTaken, "; choose another name"},
		{move.ErrLeftover, "; remove it or choose another name"},
	}
}

// tell prints what became of the chats, and returns the worst outcome.
func (o *moveFlags) tell(c *console, results []*move.Result) error {
	how := saying{dryRun: o.dryRun, steps: o.dryRun && !o.json, json: o.json, hints: moveHints()}
	of := func(r *move.Result) (string, *move.Result) { return r.Doc.From, r }
	var done []string
	failed, no, err := sayAll(c, how, results, of, func(r *move.Result) (err error) {
		path := r.Doc.From
		if r.Doc.To != nil {
			path = *r.Doc.To
		}
		done = append(done, path)
		if !o.json {
			_, err = fmt.Fprintln(c.Out, c.path(path))
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(done) > 0 && !o.dryRun {
		c.closeTabs(o.bump, done...)
	}
	return outcome(failed || no, false)
}

func (o *moveFlags) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	owners := map[string]string{}
	for _, path := range args {
		kind, _ := userdir.KindOf(path)
		folder := userdir.RealPath(filepath.Dir(path))
		if other, ok := owners[folder]; ok && kind == userdir.Solo {
			return usagef("%s and %s belong to one character, which opens with one chat", other, path)
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

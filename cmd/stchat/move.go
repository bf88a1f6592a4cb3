package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
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
	move.Options

	verb, target string // of what a person is told beforehand: the command, and the new name or owner
	verbose      bool
}

// addVerb adds --verbose for a command that tells a person what it does, counted.
func (o *moveFlags) addVerb(fs *pflag.FlagSet, verb string) {
	o.verb = verb
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "list every file, and what changes in it")
	o.addFlags(fs)
}

func (o *moveFlags) addFlags(fs *pflag.FlagSet) {
	fs.Var(filled(&o.Data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
		fs.BoolVar(&o.Changes.DryRun, "dry-run", false, "do everything but write; show what would change")
		fs.BoolVar(&o.BumpIntegrity, "bump-integrity", false, "give every chat that is edited in place a new slug, so that an open tab is stopped instead of overwriting the edit; Luker's tab is not stopped")
		addNoSync(fs, &o.Changes.NoSync)
	})
	fs.Bool("json", false, "print JSON documents, one per line")
}

func (o *moveFlags) options(c *console, paths ...string) (move.Options, error) {
	opt := o.Options
	opt.Data, opt.NewUUID = userFolder(c, opt.Data, paths), uuid.NewString
	return opt, c.changes(&opt.Changes)
}

// how returns how results are printed.
func (o *moveFlags) how() saying {
	return saying{dryRun: o.Changes.DryRun, steps: o.verbose, no: never}
}

// noteRest adds what a plan tells a person to the notes for a pipe.
func noteRest(r *move.Result) {
	for _, book := range r.Doc.Unnamed {
		r.Note("no chat names the lorebook %q any more; it is left as it is", book)
	}
	if len(r.Doc.Unreachable) > 0 {
		r.Note("not reached: %s", strings.Join(r.Doc.Unreachable, ", "))
	}
}

// report prints what became of the chats, and returns the worst outcome.
func (o *moveFlags) report(c *console, results []*move.Result) error {
	of := func(r *move.Result) (string, *move.Result) { return r.Doc.From, r }
	var done []string
	how := o.how()
	if c.shown && !c.json {
		how.counted = !o.verbose
		o.plan(c, results)
	} else {
		for _, r := range results {
			noteRest(r)
		}
	}
	how.end = func() {
		if len(done) > 0 && !o.Changes.DryRun {
			c.closeTabs(o.BumpIntegrity, done...)
		}
	}
	return sayAll(c, how, results, of, func(r *move.Result) {
		path := r.Doc.From
		if r.Doc.To != nil {
			path = *r.Doc.To
		}
		if userdir.HasExtension(path) {
			done = append(done, path)
		}
		for _, e := range r.Doc.Edits {
			if userdir.HasExtension(e.Path) {
				done = append(done, e.Path)
			}
		}
		c.made(path)
	})
}

func (o *moveFlags) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	owners := map[string]string{}
	for _, path := range args {
		kind, _ := userdir.KindOf(path)
		folder := userdir.RealPath(filepath.Dir(path))
		if other, ok := owners[folder]; ok && kind == userdir.Solo {
			return usagef("%s and %s belong to one character, which opens with one chat", other, path)
		}
		owners[folder] = path
	}
	opt, err := o.options(c, args...)
	if err != nil {
		return err
	}
	of := func(r *move.OpenResult) (string, *move.OpenResult) { return r.Doc.Path, r }
	err = sayAll(c, o.how(), move.Open(ctx, opt, args), of, func(r *move.OpenResult) {
		if c.made(r.Doc.Card); !r.Doc.Changed {
			c.note("%s: unchanged", r.Doc.Card)
		}
	})
	if err == nil && !o.Changes.DryRun {
		c.note("reload SillyTavern: it keeps cards and groups in memory")
	}
	return err
}

func newOpen() verb {
	return verb{
		use: "open CHAT...", short: "Make a chat the one that its owner opens with",
		doc: `Make a chat the one that its character or group opens with: chat in the
character's card, chat_id in the group's file. Nothing else in them changes.

Prints the file that was edited. Reload SillyTavern afterwards: it keeps cards
and groups in memory.
`,
		example: "  stchat open \"chats/Mira/Harbour.jsonl\"",
		args:    cobra.MinimumNArgs(1),
		means:   single(),
		options: &moveFlags{},
	}
}

func newRename() verb {
	return verb{
		use: "rename CHAT|LOREBOOK NAME", short: "Rename a chat or lorebook, with all that names it",
		doc: `Rename a chat together with everything that names it: its children's parent,
links to it in every chat of its owner, the group's list, the chat that its card
or group has open, Luker's sidecars, and its own Auto-Recap data, which the
extension would erase otherwise. SillyTavern itself only renames the file.

NAME is made safe as SillyTavern does it; a trailing .jsonl is removed. With
--family, descendants whose names begin with the old name get the new beginning.
With --lorebook, the chat's own lorebook is renamed too, if its name contains
the chat's. Prints the new paths.

A lorebook (worlds/X.json) is renamed with what names it: the metadata of the
user's chats, their timed effects, cards, and SillyTavern's settings.
` + moveDoc,
		example: "  stchat rename \"chats/Mira/Harbour.jsonl\" \"The harbour\"\n  stchat rename --family --dry-run \"chats/Mira/Harbour.jsonl\" \"The harbour\"",
		args:    cobra.ExactArgs(2),
		means:   &subjects{most: 1, chats: true, writes: true, whole: true},
		options: &renameOptions{},
	}
}

type renameOptions struct {
	moveFlags
	family, book bool
}

func (o *renameOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.family, "family", false, "also rename descendants whose names begin with the old name")
	fs.BoolVar(&o.book, "lorebook", false, "also rename the chat's lorebook, if it bears the chat's name or its label (…__CP_NAME)")
	o.addVerb(fs, "rename")
}

func (o *renameOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	o.target = args[1]
	common, err := o.options(c, args[0])
	if err != nil {
		return err
	}
	meter, end := c.meter("reading", c.json)
	common.Meter = meter
	if isBook(args[0]) {
		if o.family || o.book {
			return usagef("--family and --lorebook go with a chat")
		}
		r := move.RenameBook(ctx, move.RenameOptions{Options: common, Chat: args[0], Name: args[1]})
		end()
		return o.report(c, []*move.Result{r})
	}
	results := move.Rename(ctx, move.RenameOptions{Options: common, Chat: args[0], Name: args[1], Family: o.family, Book: o.book})
	end()
	return o.report(c, results)
}

func newMove() verb {
	return verb{
		use: "move CHAT... OWNER", short: "Move chats to another character or group",
		doc: `Move chats to another character, or from group to group. OWNER is a folder of
chats/, a card, a group file, or a group's name.

Links do not work across characters and groups, so a chat with relatives that
would stay behind is refused, unless --family takes all of them along, or --cut
removes the links on both sides. Messages keep their bytes and their speakers'
names. Prints the new paths.
` + moveDoc,
		example: "  stchat move chats/Mira/Harbour.jsonl chats/Ines\n  stchat move --family chats/Mira/Harbour.jsonl characters/Ines.png",
		args:    cobra.MinimumNArgs(2),
		rules: []string{
			"family excludes cut",
			"name excludes family = --name takes one CHAT without its family",
		},
		means:   &subjects{others: 1, chats: true, writes: true, whole: true},
		options: &moveOptions{},
	}
}

type moveOptions struct {
	moveFlags
	family, cut bool
	name        string
}

func (o *moveOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(filled(&o.name), "name", "n", "`NAME` of the chat there; one CHAT only")
	fs.BoolVar(&o.family, "family", false, "move all relatives along")
	fs.BoolVar(&o.cut, "cut", false, "remove what names relatives that stay behind, and what they say of the chat")
	o.addVerb(fs, "move")
}

func (o *moveOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	chats, owner := args[:len(args)-1], args[len(args)-1]
	o.target = filepath.Base(owner)
	if o.name != "" && len(chats) > 1 {
		return usagef("--name takes one CHAT without its family")
	}
	common, err := o.options(c, chats...)
	if err != nil {
		return err
	}
	results := move.Move(ctx, move.OwnerOptions{Options: common, Chats: chats, Owner: owner, Family: o.family, Cut: o.cut, Name: o.name})
	return o.report(c, results)
}

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"stchat/internal/jsondoc"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/ops/book"
)

const cloneLorebookDoc = `Copy a lorebook under a new name, in the same folder. SOURCE is a lorebook
(worlds/NAME.json), or a chat, which stands for its lorebook
(chat_metadata.world_info). SillyTavern copies only the lorebook's name into a
checkpoint or branch, so that all of them write into one book; with a clone, a
chat has a book of its own.

Entries keep their bytes, uids and order, and the file's other settings stay; a
name inside the file becomes the clone's. Entries that extensions keep for
themselves (titled __operation_queue, _registry_*, __index_*) are left out
unless --internal says otherwise; reset copies them and empties the queue.
--drop leaves out entries whose whole title matches GLOB: * matches any run of
characters, including /, ? matches one character, and [a-z] one of a set.

Without --name the clone is called "NAME (1)", "NAME (2)" and so on, like
SillyTavern's own duplicates. A name that is taken gets such a number too: a
lorebook is never overwritten.

--rebind edits a chat in place so that it uses the clone: world_info,
Auto-Recap's lorebookName, and the timed effects of entries change; no other
line of the chat does. With several SOURCEs, each chat gets the clone of the
SOURCE that it is, or whose lorebook it names.

Prints the path of each clone, one per line.
`

// cloneLorebookOptions are the flags of clone-lorebook.
type cloneLorebookOptions struct {
	listFlags
	name     string
	internal string
	drop     []string
	rebind   []string
	bump     bool
	data     string
	noSync   bool
	dryRun   bool
	json     bool
}

func newCloneLorebook(*app) verb {
	o := &cloneLorebookOptions{}
	return verb{
		use: "clone-lorebook SOURCE...", short: "Copy a lorebook and point chats at the copy",
		doc: cloneLorebookDoc,
		example: `  stchat clone-lorebook "worlds/Harbour.json" --name "Harbour, spring"
  stchat clone-lorebook chats/Mira/branch.jsonl --rebind chats/Mira/branch.jsonl
  stchat clone-lorebook chats/Mira/*.jsonl --internal reset --drop "draft*"
  stchat clone-lorebook worlds/Sea.json --rebind a.jsonl --rebind b.jsonl`,
		rules: []string{"bump-integrity needs rebind: nothing else writes a chat"},
		means: single(),
		flags: o.addFlags, run: o.run,
	}
}

func (o *cloneLorebookOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.VarP(filled(&o.name), "name", "n", "`NAME` of the clone; default: numbered")
	fs.Var(oneOf(&o.internal, "drop", lorebook.InternalNames()...), "internal", "extension-internal entries: `HOW` is drop, keep or reset")
	fs.StringArrayVar(&o.drop, "drop", nil, "leave out entries whose title matches `GLOB` (repeatable)")
	fs.StringArrayVar(&o.rebind, "rebind", nil, "point `CHAT` at the clone, in place (repeatable)")
	fs.BoolVar(&o.bump, "bump-integrity", false, "with --rebind: give the chat a new slug, so that an open tab is stopped instead of overwriting it; Luker's tab is not stopped")
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	addNoSync(fs, &o.noSync)
	fs.BoolVar(&o.dryRun, "dry-run", false, "do everything but write, and say what would be written")
	fs.BoolVar(&o.json, "json", false, "print JSON documents instead of paths, one per line")
}

// options turns the flags into book.Options.
func (o *cloneLorebookOptions) options(a *app, args []string) (book.Options, error) {
	opt := book.Options{
		Sources: args, Name: o.name, Drop: o.drop, Rebind: o.rebind, BumpIntegrity: o.bump,
		Data: userFolder(a, o.data, args), NewUUID: uuid.NewString,
	}
	var err error
	if opt.Changes, err = a.changes(o.dryRun, o.noSync); err != nil {
		return opt, err
	}
	for _, glob := range o.drop {
		if err := lorebook.CheckGlob(glob); err != nil {
			return opt, usagef("--drop: %v", err)
		}
	}
	if slices.Contains(o.rebind, "") {
		return opt, usagef("--rebind is empty")
	}
	if opt.Internal, err = lorebook.ParseInternal(o.internal); err != nil || o.internal == "" {
		return opt, usagef("--internal is %s, not %q", strings.Join(lorebook.InternalNames(), ", "), o.internal)
	}
	return opt, nil
}

func (o *cloneLorebookOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	args, err := o.sources(ctx, a, args, "name a lorebook, or a chat that has one, e.g. `stchat clone-lorebook worlds/Harbour.json`")
	if err != nil {
		return err
	}
	opt, err := o.options(a, args)
	if err != nil {
		return err
	}
	results, err := book.Run(ctx, opt)
	if err != nil {
		return withHint(err, nil)
	}
	return o.tell(a.console(), results)
}

// tell prints the results in the order of the sources, and returns the worst outcome.
func (o *cloneLorebookOptions) tell(c *console, results []*book.Result) error {
	how := saying{dryRun: o.dryRun, steps: !o.json, json: o.json, hints: []hint{{ops.ErrNotInPlace, " (--rebind)"}}}
	failed := false
	var inPlace []string
	var printed error
	for _, r := range results {
		how.json = how.json && printed == nil
		err := say(c, how, r.Doc.Source, r)
		if r.Err != nil {
			failed = true
		} else if inPlace = append(inPlace, r.Doc.Rebound...); printed == nil {
			err = o.printResult(c, r)
		}
		if printed == nil {
			printed = err
		}
	}
	if len(inPlace) > 0 && !o.dryRun {
		c.closeTabs(o.bump, inPlace...)
	}
	if err := unprinted(printed, "every clone that was to be named there is written"); err != nil {
		return err
	}
	return outcome(failed, false)
}

// printResult puts one result on stdout.
func (o *cloneLorebookOptions) printResult(c *console, r *book.Result) error {
	if o.json {
		return jsondoc.Write(c.Out, r.Doc, "")
	}
	_, err := fmt.Fprintln(c.Out, c.path(r.Doc.Path))
	return err
}

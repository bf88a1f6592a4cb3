package main

import (
	"context"

	"github.com/spf13/pflag"

	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/ops/book"
)

// cloneLorebookOptions are the flags of clone-lorebook.
type cloneLorebookOptions struct {
	listFlags
	opt book.Options
}

func newCloneLorebook() verb {
	return verb{
		writes: true,
		use:    "clone-lorebook SOURCE...", short: "Copy a lorebook and point chats at the copy",
		doc: `Copy a lorebook under a new name, in the same folder. SOURCE is a lorebook
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
`,
		example: `  stchat clone-lorebook "worlds/Harbour.json" --name "Harbour, spring"
  stchat clone-lorebook chats/Mira/branch.jsonl --rebind chats/Mira/branch.jsonl
  stchat clone-lorebook chats/Mira/*.jsonl --internal reset --drop "draft*"
  stchat clone-lorebook worlds/Sea.json --rebind a.jsonl --rebind b.jsonl`,
		means:   single(),
		options: &cloneLorebookOptions{},
	}
}

func (o *cloneLorebookOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.VarP(filled(&o.opt.Name), "name", "n", "`NAME` of the clone; default: numbered")
	fs.Var(oneOf(&o.opt.Internal, lorebook.Drop, lorebook.Internals()...), "internal", "extension-internal entries: `HOW` is drop, keep or reset")
	fs.Var(each(&o.opt.Drop, lorebook.CheckGlob), "drop", "leave out entries whose title matches `GLOB` (repeatable)")
	fs.Var(each(&o.opt.Rebind, func(string) error { return nil }).notEmpty(), "rebind", "point `CHAT` at the clone, in place (repeatable)")
}

func (o *cloneLorebookOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	args, err := o.sources(ctx, c, args, "name a lorebook, or a chat that has one, e.g. `stchat clone-lorebook worlds/Harbour.json`")
	if err != nil {
		return err
	}
	opt := o.opt
	opt.Sources, opt.Data = args, userFolder(c, args)
	if opt.Rebind, err = c.resolve(single(), opt.Rebind); err != nil {
		return err
	}
	c.changes(&opt.Changes)
	opt.BumpIntegrity = c.newSlugs()
	results, err := book.Run(ctx, opt)
	if err != nil {
		return withHint(err, nil)
	}
	how := &saying{steps: !c.json, hints: []hint{{ops.ErrNotInPlace, " (--rebind)"}}, no: never, bumped: opt.BumpIntegrity}
	of := func(r *book.Result) (string, *book.Result) { return r.Doc.Source, r }
	return sayAll(c, how, results, of, func(r *book.Result) {
		how.edited = append(how.edited, r.Doc.Rebound...)
		c.made(r.Doc.Path)
	})
}

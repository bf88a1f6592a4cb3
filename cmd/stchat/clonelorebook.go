package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/ops/book"
	"stchat/internal/text/plural"
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
		doc: `Copy a lorebook (worlds/NAME.json) under a new name, in the same folder; a chat
stands for its lorebook. SillyTavern copies only a lorebook's name into a
branch, so that both write into one book. --rebind gives each SOURCE, a chat,
its clone. Entries that extensions keep for themselves are left out unless
--internal says otherwise. Prints the path of each clone, one per line.
`, more: `Entries keep their bytes, uids and order, and the file's other settings stay; a
name inside the file becomes the clone's. The entries that extensions keep for
themselves are titled __operation_queue, _registry_* and __index_*; --internal
reset copies them and empties the queue. --drop leaves out entries whose whole
title matches GLOB: * matches any run of characters, including /, ? matches one
character, and [a-z] one of a set.

Without --name the clone is called "NAME (1)", "NAME (2)" and so on, like
SillyTavern's own duplicates. A name that is taken gets such a number too: a
lorebook is never overwritten.

--rebind edits the chat in place, so that world_info, Auto-Recap's lorebookName
and the timed effects of entries name the clone; no other line of the chat
changes. 'stchat meta set CHAT lorebook=NAME' points a chat at any other
lorebook.
`,
		also: "branch, inspect, meta set",
		example: `  stchat clone-lorebook "worlds/Harbour.json" --name "Harbour, spring"
  stchat clone-lorebook --rebind Mira/Harbour
  stchat clone-lorebook --rebind "Mira/*" --internal reset --drop "draft*"`,
		means:   &subjects{writes: true, books: true},
		options: &cloneLorebookOptions{},
	}
}

func (o *cloneLorebookOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.VarP(notEmptyText(&o.opt.Name), "name", "n", "`NAME` of the clone; default: numbered")
	fs.Var(oneOf(&o.opt.Internal, lorebook.Drop, lorebook.Internals()...), "internal", "extension-internal entries: `HOW` is drop, keep or reset")
	fs.Var(each(&o.opt.Drop, lorebook.CheckGlob), "drop", "leave out entries whose title matches `GLOB` (repeatable)")
	fs.BoolVar(&o.opt.Rebind, "rebind", false, "each SOURCE, a chat, gets its clone: the chat is edited in place")
}

func (o *cloneLorebookOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	args, err := o.sources(ctx, c, args, "name a lorebook, or a chat that has one, e.g. `stchat clone-lorebook worlds/Harbour.json`")
	if err != nil {
		return err
	}
	opt := o.opt
	opt.Sources, opt.Data = args, userFolder(c, args)
	if i := slices.IndexFunc(args, isBook); opt.Rebind && i >= 0 {
		return usagef("--rebind takes chats, each of which gets its clone, and %s is a lorebook; 'stchat meta set CHAT lorebook=NAME' points a chat at one", args[i])
	}
	c.changes(&opt.Changes)
	opt.BumpIntegrity = c.newSlugs()

	how := &saying{hints: []hint{{ops.ErrNotInPlace, " (--rebind)"}}, no: never, bumped: opt.BumpIntegrity}
	of := func(r *book.Result) (string, *book.Result) { return r.Doc.Source, r }
	return sayAll(c, how, book.Run(ctx, opt), of, func(r *book.Result) {
		how.edited = append(how.edited, r.Doc.Rebound...)
		if c.tells() {
			c.block(c.cloneBlock(r))
			return
		}
		c.tellState(r.Doc.Path, r.Doc.Changes)
		c.made(r.Doc.Path)
	})
}

// cloneBlock tells a person of a lorebook's clone.
func (c *console) cloneBlock(r *book.Result) block {
	d := &r.Doc
	cloned := c.did("cloned", "would clone")
	b := block{
		sentence: fmt.Sprintf("%s the lorebook %q as %q: %s", cloned, d.From, d.Name, plural.Of(d.Entries, "entry", "entries")),
		made:     d.Path,
	}
	if d.Dropped > 0 {
		b.add("left out", plural.Of(d.Dropped, "entry", "entries"))
	}
	for _, chat := range d.Rebound {
		uses := c.did("uses it now", "would use it")
		b.add("chat", nameOf(chat)+" "+uses)
	}

	b.facts = append(b.facts, c.stateFacts(d.Changes, 0)...)
	return b
}

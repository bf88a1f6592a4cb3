package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/ops/move"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/text/visible"
)

// moveDoc explains what the commands that rename, move and delete chats have in common.
const moveDoc = `
All files that change are changed together or not at all; 'stchat undo' takes it
back. If the chat is open in SillyTavern, close the tab first: its next save
makes the old file anew, whatever its integrity. Reload other chats that are
edited: their next save would undo it. In Luker close them first: what an open
tab holds wins.
`

// moveFlags are the flags of the commands that make, open, rename, move and delete chats.
type moveFlags struct {
	move.Options

	verb, target string // of what a person is told beforehand: the command, and the new name or owner
}

// addVerb adds --verbose for a command that tells a person what it does, counted.
func (o *moveFlags) addVerb(fs *pflag.FlagSet, verb string) {
	o.verb = verb
	o.addFlags(fs)
}

func (o *moveFlags) addFlags(fs *pflag.FlagSet) {
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
	})
}

func (o *moveFlags) options(c *console, paths ...string) move.Options {
	opt := o.Options
	opt.BumpIntegrity = c.newSlugs()
	opt.Data = userFolder(c, paths)
	c.changes(&opt.Changes)
	return opt
}

// how returns how results are printed.
func (o *moveFlags) how(c *console) *saying {
	return &saying{no: never, bumped: c.newSlugs()}
}

// report prints what became of the chats, and returns the worst outcome.
func (o *moveFlags) report(c *console, results []*move.Result) error {
	of := func(r *move.Result) (string, *move.Result) { return r.Doc.From, r }
	how := o.how(c)
	if c.tells() {
		o.plan(c, results)
	} else {
		for _, r := range results { // what the plan tells a person
			for _, book := range r.Doc.Unnamed {
				r.Tell(ops.Fact{Kind: ops.FactUnnamedBook, Name: book})
			}
			if len(r.Doc.Unreachable) > 0 {
				r.Tell(ops.Fact{Kind: ops.FactUnreached, Name: strings.Join(r.Doc.Unreachable, ", ")})
			}
		}
	}
	return sayAll(c, how, results, of, func(r *move.Result) {
		path := cmp.Or(deref(r.Doc.To), r.Doc.From)
		isToldByPlan := o.verb == "rm" && c.tells()
		isUnchanged := r.ID == "" && len(r.Steps) == 0 && path == r.Doc.From // in a dry run of a family only the first has steps
		if isUnchanged {
			if isToldByPlan {
				return
			}
			if c.tells() {
				c.block(block{sentence: nameOf(path) + " is unchanged", made: path})
				return
			}
			c.made(path)
			return
		}

		stays := deref(r.Doc.To) == r.Doc.From // from group to group
		if userdir.HasExtension(path) && stays {
			how.edited = append(how.edited, path)
		}
		if userdir.HasExtension(path) && !stays {
			how.left++
			how.lukers = how.lukers || slices.ContainsFunc(r.Steps, isOfLuker)
		}
		for _, e := range r.Doc.Edits {
			if userdir.HasExtension(e.Path) && e.Path != path && e.Path != r.Doc.From {
				how.edited = append(how.edited, e.Path)
			}
		}

		if !isToldByPlan {
			c.made(path)
		}
	})
}

// isOfLuker reports whether a step is about a file that Luker keeps beside a chat.
func isOfLuker(s changeset.Step) bool {
	return luker.IsSidecar(filepath.Base(s.Path))
}

// twoOfOneOwner returns two chats of one character or group, with what that is; "": there are none.
func twoOfOneOwner(chats []string) (a, b, kind string) {
	lib := new(library.Library)
	of := map[string]string{}
	for _, path := range chats {
		owner, kind := ownerOf(lib, path)
		other, known := of[owner]
		if known && owner != "" && userdir.RealPath(other) != userdir.RealPath(path) {
			return other, path, kind
		}
		of[owner] = path
	}
	return "", "", ""
}

// ownerOf returns what a chat belongs to, the folder of a character's chats or the file of a group, and what
// that is called; "" for none.
func ownerOf(lib *library.Library, path string) (owner, kind string) {
	switch of, _ := userdir.KindOf(path); of {
	case userdir.Solo:
		return userdir.RealPath(filepath.Dir(path)), "character"
	case userdir.Group:
		dir, _ := userdir.Enclosing(path)
		groups, err := lib.Groups(dir)
		if err != nil {
			return "", "" // the command itself says so
		}
		if listing := groups.Listing(userdir.ChatName(path)); len(listing) > 0 {
			return listing[0].Path, "group"
		}
	}
	return "", ""
}

func (o *moveFlags) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	if a, b, kind := twoOfOneOwner(args); kind != "" {
		return usagef("%s and %s belong to one %s, which opens with one chat", a, b, kind)
	}

	of := func(r *move.OpenResult) (string, *move.OpenResult) { return r.Doc.Path, r }
	results := move.Open(ctx, o.options(c, args...), args)
	err := sayAll(c, o.how(c), results, of, func(r *move.OpenResult) {
		if c.tells() {
			c.block(openBlock(c, r))
			return
		}
		c.tellUnchanged(r.Doc.Card, !r.Doc.Changed)
		c.made(r.Doc.Card)
	})
	anyChanged := slices.ContainsFunc(results, func(r *move.OpenResult) bool { return r.Doc.Changed })
	if anyChanged && !c.dryRun {
		c.note("reload SillyTavern: it keeps cards and groups in memory")
	}
	return err
}

func newOpen() verb {
	return verb{
		writes: true,
		use:    "open CHAT...", short: "Make a chat the one that its owner opens with",
		doc: `Make a chat the one that its character or group opens with: chat in the
character's card, chat_id in the group's file. Nothing else in them changes.

Prints the file that was edited. Reload SillyTavern afterwards: it keeps cards
and groups in memory.
`,
		also: "new, list",
		example: `  stchat open Mira/Harbour
  stchat open "Mira/Harbour - Branch #1"
  stchat open Mira/Harbour --dry-run`,
		args:    cobra.MinimumNArgs(1),
		means:   single(),
		options: &moveFlags{},
	}
}

func newRename() verb {
	return verb{
		writes: true,
		use:    "rename CHAT|LOREBOOK NAME", short: "Rename a chat or lorebook, with all that names it",
		doc: `Rename a chat together with everything that names it: its children's parent,
links to it in every chat of its owner, the group's list, the chat that its card
or group has open, the files of Luker beside it, and its own Auto-Recap data.
SillyTavern itself only renames the file. With --family, descendants whose names
begin with the old name get the new beginning. A lorebook (worlds/X.json) is
renamed with what names it. If the chat is open, close its tab first.
`, more: `NAME is made safe as SillyTavern does it; a trailing .jsonl is removed. The data
of Auto-Recap would otherwise be erased by the extension. A lorebook whose name
contains the chat's keeps it; a note has the command that renames it. Prints the
new paths.

What names a lorebook is the metadata of the user's chats, their timed effects,
cards, and SillyTavern's settings. If it is gone, since SillyTavern's page
renamed it to NAME, that lorebook takes over what still has the old name.
` + moveDoc,
		also: "move, copy, undo",
		example: `  stchat rename Mira/Harbour "The harbour"
  stchat rename --family --dry-run Mira/Harbour "The harbour"
  stchat rename worlds/Sea.json Ocean`,
		args: cobra.ExactArgs(2),
		means: &subjects{
			most: 1, chats: true, writes: true, whole: true, books: true, lost: true,
			owner: "those are renamed in SillyTavern; `stchat rename` is for a chat, OWNER/NAME, or a lorebook",
		},
		options: &renameOptions{},
	}
}

type renameOptions struct {
	moveFlags
	family bool
}

func (o *renameOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.family, "family", false, "also rename descendants whose names begin with the old name")
	o.addVerb(fs, "rename")
}

func (o *renameOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	o.target = args[1]
	if isBook(args[0]) && o.family {
		return usagef("--family goes with a chat")
	}
	opt := move.RenameOptions{Options: o.options(c, args[0]), Chat: args[0], Name: args[1], Family: o.family}
	end := c.meter("reading", c.json, &opt.Meter)
	var results []*move.Result
	if isBook(args[0]) {
		results = []*move.Result{move.RenameBook(ctx, opt)}
	} else {
		results = move.Rename(ctx, opt)
	}

	end()
	err := o.report(c, results)
	for _, r := range results {
		if own := r.Doc.OwnBook; own != nil && r.Err == nil {
			c.note("its lorebook keeps its name; to rename it too: `stchat rename %s %s`", visible.Quote(own.Path), visible.Quote(own.Name))
		}
	}
	return err
}

func newMove() verb {
	return verb{
		writes: true,
		use:    "move CHAT... OWNER", short: "Move chats to another character or group",
		doc: `Move chats to another character, or from group to group. OWNER is a name, a
folder of chats/, a card or a group file. Links do not work across characters
and groups, so a chat with relatives that would stay behind is refused, unless
--family takes all of them along, or --cut removes the links on both sides. If
the chat is open, close its tab first.
`, more: `Messages keep their bytes and their speakers' names. Prints the new paths.
` + moveDoc,
		also: "rename, copy, undo",
		example: `  stchat move Mira/Harbour Ines
  stchat move --family Mira/Harbour characters/Ines.png
  stchat move --cut "Mira/Harbour - Branch #1" Ines`,
		args: cobra.MinimumNArgs(2),
		rules: []string{
			"family excludes cut",
			"name excludes family = --name takes one CHAT without its family",
		},
		means:   &subjects{others: 1, writes: true, whole: true},
		options: &moveOptions{},
	}
}

type moveOptions struct {
	moveFlags
	family, cut bool
	name        string
}

func (o *moveOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(notEmptyText(&o.name), "name", "n", "`NAME` of the chat there; one CHAT only")
	fs.BoolVar(&o.family, "family", false, "move all relatives along")
	fs.BoolVar(&o.cut, "cut", false, "remove the links between the chat and relatives that stay behind")
	o.addVerb(fs, "move")
}

func (o *moveOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	chats, owner := args[:len(args)-1], args[len(args)-1]
	o.target = filepath.Base(owner)
	if o.name != "" && len(chats) > 1 {
		return usagef("--name takes one CHAT without its family")
	}
	results := move.Move(ctx, move.OwnerOptions{Options: o.options(c, chats...), Chats: chats, Owner: owner, Family: o.family, Cut: o.cut, Name: o.name})
	return o.report(c, results)
}

func newNew() verb {
	return verb{
		writes: true,
		use:    "new OWNER", short: "Make a new chat",
		doc: `OWNER is a character or a group: its name, a folder of chats/, a card or a group
file. SillyTavern adds the greeting when the chat is first opened, so a
character's new chat is a file with only a header, and a group's new chat is a
name in the group's list, without a file.
`,
		also:    "open, copy, import",
		example: "  stchat new Mira\n  stchat new Mira --open\n  stchat new Mira -n Winter",
		args:    cobra.ExactArgs(1),
		options: &newOptions{},
	}
}

type newOptions struct {
	moveFlags
	name string
	open bool
}

func (o *newOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(notEmptyText(&o.name), "name", "n", "`NAME` of the chat; default: as SillyTavern names it")
	fs.BoolVar(&o.open, "open", false, "make it the chat that its owner opens with")
}

func (o *newOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	opt := move.NewOptions{Options: o.options(c, args[0]), Owner: args[0], Name: o.name, Open: o.open}
	opt.Data = cmp.Or(c.finder().Root(), c.data)
	r := move.New(ctx, opt)
	of := func(r *move.NewResult) (string, *move.NewResult) { return args[0], r }
	how := o.how(c)
	how.end = func() {
		if r.Err == nil && !c.dryRun && (r.Doc.Opened || r.Doc.Listed != nil) {
			c.closeTabs(false)
		}
	}
	return sayAll(c, how, []*move.NewResult{r}, of, func(r *move.NewResult) {
		if c.tells() {
			c.block(newBlock(c, r))
			return
		}
		c.made(r.Doc.Path)
	})
}

// isBook reports whether a path is that of a lorebook.
func isBook(path string) bool { return strings.EqualFold(filepath.Ext(path), ".json") }

// rootOf returns the folder whose records take back a change of a chat.
func rootOf(path string) string {
	if dir, ok := userdir.Enclosing(path); ok {
		return dir.Root
	}
	return filepath.Dir(path)
}

// newBlock tells a person of a new chat.
func newBlock(c *console, r *move.NewResult) block {
	d := &r.Doc
	made := c.did("made", "would make")
	b := block{
		sentence: fmt.Sprintf("%s %q, a new chat of %s", made, names.Short(d.Called, d.Name), d.Called),
		facts:    factsOf(r.Facts, ""),
		made:     d.Path,
	}
	if d.Opened {
		b.addOpen(c, d.Called)
	}
	if d.Listed != nil {
		b.add("group", "lists it; SillyTavern makes the file when it greets there")
	}
	return b
}

// openBlock tells a person which chat a character or group opens with.
func openBlock(c *console, r *move.OpenResult) block {
	d := &r.Doc
	owner := strings.TrimSuffix(filepath.Base(d.Card), filepath.Ext(d.Card))
	opens := "opens"
	switch {
	case !d.Changed:
		return block{sentence: fmt.Sprintf("%s opens with %q already", owner, nameOf(d.Path))}
	case c.dryRun:
		opens = "would open"
	}

	b := block{sentence: fmt.Sprintf("%s %s with %q", owner, opens, nameOf(d.Path))}
	if d.From != "" {
		b.add("before", names.Short(owner, d.From))
	}
	return b
}

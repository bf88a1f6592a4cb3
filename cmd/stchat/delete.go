package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/move"
	"stchat/internal/userdir"
)

const newDoc = `Make a new chat of a character or a group. OWNER is a folder of chats/, a card,
a group file, or a group's name. SillyTavern adds the greeting when the chat is
first opened, so a character's new chat is a file with only a header, and a
group's new chat is a name in the group's list, without a file.

--like CHAT copies that chat's settings (author's note, scenario, lorebook,
backgrounds and so on), but nothing of its story. Prints the chat's path.
`

func newNew(*app) verb {
	o := &newOptions{}
	return verb{
		use: "new OWNER", short: "Make a new chat",
		doc:     newDoc,
		example: "  stchat new chats/Mira --open\n  stchat new characters/Mira.png -n \"Winter\" --like chats/Mira/Harbour.jsonl",
		args:    cobra.ExactArgs(1),
		offers: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		flags: o.addFlags, run: o.run,
	}
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
	of := func(r *move.NewResult) (string, *move.NewResult) { return args[0], r }
	failed, _, err := sayAll(c, o.how(), []*move.NewResult{r}, of, func(r *move.NewResult) (err error) {
		if !o.json {
			_, err = fmt.Fprintln(c.Out, c.path(r.Doc.Path))
		}
		return err
	})
	return errors.Join(err, outcome(failed, false))
}

const deleteDoc = `Delete chats, with Luker's sidecars. Attachments, images and lorebooks are never
touched with them. What is deleted is kept in .stchat until
'stchat undo --prune' drops it; SillyTavern's own full backup includes that
folder.

--links says what happens to everything that names a deleted chat. With mend,
its children become children of its parent, which links to them instead; links
to it are removed, groups no longer list it, and a card or group that had it
open opens its parent instead, or else the most recently changed chat. With
keep, nothing else changes, and links that then lead nowhere are listed.

A lorebook (worlds/X.json) is deleted if nothing names it; otherwise it is
refused, with what names it.

Prints the path of each deleted file.
` + moveDoc

func newDelete(*app) verb {
	o := &deleteOptions{}
	return verb{
		use: "delete CHAT|LOREBOOK...", short: "Delete chats, and mend what named them",
		doc:     deleteDoc,
		example: "  stchat delete \"chats/Mira/Harbour.jsonl\"\n  stchat undo",
		flags:   o.addFlags, run: o.run,
	}
}

type deleteOptions struct {
	moveFlags
	listFlags
	family bool
	links  string
}

func (o *deleteOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.family, "family", false, "also delete all descendants")
	fs.Var(oneOf(&o.links, "mend", "mend", "keep"), "links", "what becomes of links to the chat: `HOW` is mend or keep")
	o.listFlags.addFlags(fs)
	o.moveFlags.addFlags(fs)
}

func (o *deleteOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	paths, err := o.sources(ctx, a, args, "name a chat, e.g. `stchat delete chats/Mira/Harbour.jsonl`")
	if err != nil {
		return err
	}
	common, err := o.options(a, paths...)
	if err != nil {
		return err
	}
	var results []*move.Result
	chats := slices.DeleteFunc(slices.Clone(paths), isBook)
	if len(chats) > 0 {
		results = move.Delete(ctx, move.DeleteOptions{Options: common, Chats: chats, Family: o.family, Keep: o.links == "keep"})
	} else if o.family || fs.Changed("links") {
		return usagef("--family and --links go with a chat")
	}
	for _, path := range paths {
		if isBook(path) {
			results = append(results, move.DeleteBook(ctx, common, path))
		}
	}
	c := a.console()
	err = o.tell(c, results)
	if !o.dryRun {
		tellKept(c, results)
	}
	return err
}

// isBook reports whether a path is that of a lorebook.
func isBook(path string) bool { return strings.EqualFold(filepath.Ext(path), ".json") }

// tellKept prints where the deleted chats are kept, and how to drop them for good.
func tellKept(c *console, results []*move.Result) {
	told := map[string]bool{}
	for _, r := range results {
		if r.ID == "" || told[r.ID] {
			continue
		}
		told[r.ID] = true
		root := filepath.Dir(r.Doc.From)
		if dir, ok := userdir.Enclosing(r.Doc.From); ok {
			root = dir.Root
		}
		c.note("deleted files are kept in %s; 'stchat undo %s' brings them back, 'stchat undo --prune %s' drops them for good",
			c.path(filepath.Join(root, userdir.Own)), r.ID, r.ID)
	}
}

package main

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/move"
	"stchat/internal/plural"
	"stchat/internal/userdir"
)

func newNew() verb {
	return verb{
		use: "new OWNER", short: "Make a new chat",
		doc: `Make a new chat of a character or a group. OWNER is a folder of chats/, a card,
a group file, or a group's name. SillyTavern adds the greeting when the chat is
first opened, so a character's new chat is a file with only a header, and a
group's new chat is a name in the group's list, without a file.

--like CHAT copies that chat's settings (author's note, scenario, lorebook,
backgrounds and so on), but nothing of its story. Prints the chat's path.
`,
		example: "  stchat new chats/Mira --open\n  stchat new characters/Mira.png -n \"Winter\" --like chats/Mira/Harbour.jsonl",
		args:    cobra.ExactArgs(1),
		options: &newOptions{},
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

func (o *newOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	common, err := o.options(c, args[0])
	if err != nil {
		return err
	}
	opt := move.NewOptions{Options: common, Owner: args[0], Name: o.name, Like: o.like, Open: o.open}
	if opt.Set, err = o.changes(ctx, c, false); err != nil {
		return err
	}
	opt.Data = c.finder(o.Data).Root()
	r := move.New(ctx, opt)
	if errors.Is(r.Err, move.ErrNoFile) {
		return usagef("%s: a group's new chat has no file until SillyTavern greets in it, so --like and --set are for characters' chats", args[0])
	}
	of := func(r *move.NewResult) (string, *move.NewResult) { return args[0], r }
	return sayAll(c, o.how(), []*move.NewResult{r}, of, func(r *move.NewResult) { c.made(r.Doc.Path) })
}

func newDelete() verb {
	return verb{
		use: "delete CHAT|LOREBOOK...", short: "Delete chats, and repair what named them",
		doc: `Delete chats, with Luker's sidecars. Attachments, images and lorebooks are never
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

--checkpoints deletes checkpoints only, and of these only such as hold nothing
that their parent lacks (an edited message or a swipe counts), have no child,
and are not open anywhere. One made without --link and without "Checkpoint #"
in its name is a branch to SillyTavern, and is not found. All is judged before
anything goes; what stays is counted by reason.

Prints the path of each deleted file.
` + moveDoc,
		example: "  stchat delete \"chats/Mira/Harbour.jsonl\"\n  stchat delete Mira/Harbour\n  stchat delete \"Mira/*\" --checkpoints --older-than 30d --keep 3 --dry-run\n  stchat undo",
		rules: []string{
			"checkpoints needs older-than|keep = --checkpoints takes --older-than AGE, --keep N, or both",
			"older-than needs checkpoints",
			"keep needs checkpoints",
			"checkpoints excludes family",
		},
		options: &deleteOptions{},
	}
}

type deleteOptions struct {
	moveFlags
	listFlags
	family      bool
	links       string
	checkpoints bool
	olderThan   string
	newest      int
}

func (o *deleteOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.family, "family", false, "also delete all descendants")
	fs.Var(oneOf(&o.links, "mend", "mend", "keep"), "links", "what becomes of links to the chat: `HOW` is mend or keep")
	fs.BoolVar(&o.checkpoints, "checkpoints", false, "delete only checkpoints without a message of their own; PATH may be a folder, or OWNER/*")
	fs.StringVar(&o.olderThan, "older-than", "", "with --checkpoints: those last changed before `TIME`, such as 30d or 2026-03-01")
	fs.Var(number(&o.newest, 1, "a number of checkpoints, from 1"), "keep", "with --checkpoints: the newest `N` of each parent stay")
	o.listFlags.addFlags(fs)
	o.addVerb(fs, "delete")
}

func (o *deleteOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	example := "name a chat, e.g. `stchat delete chats/Mira/Harbour.jsonl`"
	take, means := o.sources, &subjects{chats: true, writes: true, whole: true}
	if o.checkpoints {
		take, means = o.chats, &subjects{writes: true, whole: true}
	}
	args, err := c.resolve(fs, means, args)
	if err != nil {
		return err
	}
	paths, err := take(ctx, c, args, example)
	if err != nil {
		return err
	}
	common, err := o.options(c, paths...)
	if err != nil {
		return err
	}
	var results []*move.Result
	chats := slices.DeleteFunc(slices.Clone(paths), isBook)
	if o.checkpoints {
		return o.deleteCheckpoints(ctx, c, move.DeleteOptions{Options: common, Chats: chats, Keep: o.links == "keep"})
	} else if len(chats) > 0 {
		results = move.Delete(ctx, move.DeleteOptions{Options: common, Chats: chats, Family: o.family, Keep: o.links == "keep"})
	} else if o.family || fs.Changed("links") {
		return usagef("--family and --links go with a chat")
	}
	for _, path := range paths {
		if isBook(path) {
			results = append(results, move.DeleteBook(ctx, common, path))
		}
	}
	err = o.report(c, results)
	if !o.Changes.DryRun && (!c.shown || c.json) {
		noteKept(c, results)
	}
	return err
}

// keptCheckpoints is the last document of delete --checkpoints.
type keptCheckpoints struct {
	Schema  int         `json:"schema"`
	Summary bool        `json:"summary"`
	Deleted int         `json:"deleted"`
	Kept    []move.Kept `json:"kept"`
	DryRun  bool        `json:"dry_run"`
}

func (o *deleteOptions) deleteCheckpoints(ctx context.Context, c *console, opt move.DeleteOptions) error {
	before, err := moment("older-than", o.olderThan, c.Now())
	if err != nil {
		return err
	}
	results, kept := move.DeleteCheckpoints(ctx, opt, move.Spent{Before: before, Newest: o.newest})
	err = o.report(c, results)
	if !o.Changes.DryRun && (!c.shown || c.json) {
		noteKept(c, results)
	}
	if c.json {
		sum := keptCheckpoints{1, true, 0, kept, o.Changes.DryRun}
		for _, r := range results {
			if r.Err == nil {
				sum.Deleted++
			}
		}
		c.document(sum)
		return err
	}
	why := map[string]int{}
	for _, k := range kept {
		why[k.Why]++
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		c.note("%s kept: %s", plural.S(why[reason], "checkpoint"), reason)
	}
	return err
}

// isBook reports whether a path is that of a lorebook.
func isBook(path string) bool { return strings.EqualFold(filepath.Ext(path), ".json") }

// noteKept prints where the deleted chats are kept, and how to drop them for good.
func noteKept(c *console, results []*move.Result) {
	seen := map[string]bool{}
	for _, r := range results {
		if r.ID == "" || seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		root := filepath.Dir(r.Doc.From)
		if dir, ok := userdir.Enclosing(r.Doc.From); ok {
			root = dir.Root
		}
		c.note("deleted files are kept in %s; 'stchat undo %s' brings them back, 'stchat undo --prune %s' drops them for good",
			c.path(filepath.Join(root, userdir.Own)), r.ID, r.ID)
	}
}

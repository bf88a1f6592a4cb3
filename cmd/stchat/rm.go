package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"stchat/internal/ops/move"
	"stchat/internal/userdir"

	"github.com/spf13/pflag"
)

func newRm() verb {
	return verb{
		writes: true,
		use:    "rm CHAT|LOREBOOK...", short: "Delete chats, and repair what named them",
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

--checkpoints, with --older-than or --keep, deletes only checkpoints that hold
nothing that their parent lacks (an edited message or a swipe counts), have no
child, and are not open anywhere. One made without --link and without
"Checkpoint #" in its name is a branch to SillyTavern, and is not found. All is
judged before anything goes; what stays is counted by reason.

Prints the path of each deleted file.
` + moveDoc,
		example: "  stchat rm \"chats/Mira/Harbour.jsonl\"\n  stchat rm Mira/Harbour\n  stchat rm \"Mira/*\" --checkpoints --older-than 30d --keep 3 --dry-run\n  stchat undo",
		rules: []string{
			"checkpoints needs older-than|keep = --checkpoints takes --older-than AGE, --keep N, or both",
			"older-than needs checkpoints",
			"keep needs checkpoints",
			"checkpoints excludes family",
		},
		options: &rmOptions{},
	}
}

type rmOptions struct {
	moveFlags
	listFlags
	family      bool
	links       string
	checkpoints bool
	spent       move.Spent
}

func (o *rmOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.family, "family", false, "also delete all descendants")
	fs.Var(oneOf(&o.links, "mend", "mend", "keep"), "links", "what becomes of links to the chat: `HOW` is mend or keep")
	fs.BoolVar(&o.checkpoints, "checkpoints", false, "delete only checkpoints without a message of their own; CHAT may be a folder or OWNER/*")
	fs.Var(until(&o.spent.Before), "older-than", "with --checkpoints: those last changed before `TIME`, such as 30d or 2026-03-01")
	fs.Var(number(&o.spent.Newest, 1, "a number of checkpoints, from 1"), "keep", "with --checkpoints: the newest `N` of each parent stay")
	o.listFlags.addFlags(fs)
	o.addVerb(fs, "rm")
}

func (o *rmOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	example := "name a chat, e.g. `stchat rm chats/Mira/Harbour.jsonl`"
	read, allowed := o.sources, &subjects{writes: true, whole: true, deletes: "stchat delete"}
	if o.checkpoints {
		read, allowed = o.chats, &subjects{writes: true, whole: true, deletes: "stchat delete"}
	}
	c.means = allowed
	args, err := c.resolve(allowed, args)
	if err != nil {
		return err
	}
	paths, err := read(ctx, c, args, example)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(paths, isChat) && (o.family || fs.Changed("links")) && !o.checkpoints {
		return usagef("--family and --links go with a chat")
	}
	common := o.options(c, paths...)
	if err := o.agreed(ctx, c, common, paths); err != nil {
		return err
	}
	results, kept := o.delete(ctx, common, paths)
	err = o.report(c, results)
	if !c.dryRun && (!c.shown || c.json) {
		noteKept(c, results)
	}
	if o.checkpoints {
		o.reportKept(c, results, kept)
	}
	return err
}

// delete deletes what is named, and returns which checkpoints stay.
func (o *rmOptions) delete(ctx context.Context, common move.Options, paths []string) (results []*move.Result, kept []move.Kept) {
	opt := move.DeleteOptions{Options: common, Chats: paths, Family: o.family, Keep: o.links == "keep"}
	if o.checkpoints {
		return move.DeleteCheckpoints(ctx, opt, o.spent)
	}
	opt.Chats = slices.DeleteFunc(slices.Clone(paths), isBook)
	if len(opt.Chats) > 0 {
		results = move.Delete(ctx, opt)
	}
	for _, path := range paths {
		if isBook(path) {
			results = append(results, move.DeleteBook(ctx, common, path))
		}
	}
	return results, nil
}

// agreed asks before several chats are deleted; what goes is shown first.
func (o *rmOptions) agreed(ctx context.Context, c *console, common move.Options, paths []string) error {
	isOne := len(paths) == 1 && !o.family && !o.checkpoints
	if isOne || !c.asks() {
		return nil
	}
	common.Changes.DryRun = true
	results, _ := o.delete(ctx, common, paths)
	results = slices.DeleteFunc(results, func(r *move.Result) bool { return r.Err != nil || isBook(r.Doc.From) })
	if len(results) < 2 && !o.checkpoints || len(results) == 0 {
		return nil // an error is told by the run itself
	}
	if c.InTTY && c.ErrTTY && c.shown {
		c.dryRun = true
		o.plan(c, results)
		c.dryRun = false
	}
	return c.confirm("delete " + c.many(len(results), "chat"))
}

// isChat reports whether a path is not that of a lorebook.
func isChat(path string) bool { return !isBook(path) }

// keptCheckpoints is the last document of delete --checkpoints.
type keptCheckpoints struct {
	Schema  int         `json:"schema"`
	Summary bool        `json:"summary"`
	Deleted int         `json:"deleted"`
	Kept    []move.Kept `json:"kept"`
	DryRun  bool        `json:"dry_run"`
}

// reportKept prints how many checkpoints stay, by reason.
func (o *rmOptions) reportKept(c *console, results []*move.Result, kept []move.Kept) {
	if c.json {
		gone := slices.DeleteFunc(slices.Clone(results), func(r *move.Result) bool { return r.Err != nil })
		c.document(keptCheckpoints{1, true, len(gone), kept, c.dryRun})
		return
	}
	why := map[string]int{}
	for _, k := range kept {
		why[k.Why]++
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		c.note("%s kept: %s%s", c.many(why[reason], "checkpoint"), when(why[reason] > 1, "each "), reason)
	}
}

// noteKept prints where the deleted chats are kept, and how to drop them for good.
func noteKept(c *console, results []*move.Result) {
	seen := map[string]bool{}
	for _, r := range results {
		if r.ID == "" || seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		root := rootOf(r.Doc.From)
		c.note("deleted files are kept in %s; '%s' brings them back, '%s' drops them for good",
			c.path(filepath.Join(root, userdir.Own)), c.undoCommand(root, r.ID), c.undoCommand(root, "--prune "+r.ID))
	}
}

package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/ops/move"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"

	"github.com/spf13/pflag"
)

func newRm() verb {
	return verb{
		writes: true,
		use:    "rm CHAT|LOREBOOK...", short: "Delete chats, and repair what named them",
		doc: `Delete chats, and what Luker keeps beside them; never attachments, images or
lorebooks. What named a deleted chat is repaired. What is deleted is kept in
.stchat until 'stchat undo --prune ID' drops it. --older-than deletes those of
the chats and folders named whose last message is that old; --checkpoints only
checkpoints without a message of their own. A lorebook (worlds/X.json) is
deleted if nothing names it. If a chat is open, close its tab first.
`, more: `With several chats, --family, --older-than or --checkpoints it asks first, and
elsewhere than on a terminal needs -y. SillyTavern's own full backup includes
the folder .stchat.

The children of a deleted chat become children of its parent, which links to
them instead; links to it are removed, groups no longer list it, and a card or
group that had it open opens its parent instead, or else the most recently
changed chat.

--older-than looks at dates as 'stchat list --until' shows them. Chats that are
open or pinned stay, those with a child that stays, and the N newest of each
owner with --keep. What stays is counted by reason.

--checkpoints, with --older-than or --keep, deletes only checkpoints that hold
nothing that their parent lacks (an edited message or a swipe counts); the date
of the file counts too, and --keep is for each parent. One made without --link
and without "Checkpoint #" in its name is a branch to SillyTavern, and is not
found.

A lorebook that something names is refused, with what names it. Prints the path
of each deleted file.
` + moveDoc,
		also: "delete, move, undo, list",
		example: `  stchat rm Mira/Harbour
  stchat rm chats --older-than 52w --keep 3 --dry-run
  stchat rm "Mira/*" --checkpoints --older-than 30d`,
		rules: []string{
			"checkpoints needs older-than|keep = --checkpoints takes --older-than AGE, --keep N, or both",
			"keep needs older-than|checkpoints",
			"checkpoints excludes family",
			"older-than excludes family",
		},
		options: &rmOptions{},
	}
}

type rmOptions struct {
	moveFlags
	listFlags
	family   bool
	clearing move.Clearing
}

func (o *rmOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.family, "family", false, "also delete all descendants")
	fs.Var(since(&o.clearing.Before).notEmpty(), "older-than", "only chats last changed before `TIME`, such as 52w or 2026-03-01; CHAT may be a folder or OWNER/*")
	fs.Var(number(&o.clearing.Newest, 1, "a number of chats, from 1"), "keep", "the newest `N` of each owner stay; of checkpoints, of each parent")
	fs.BoolVar(&o.clearing.Checkpoints, "checkpoints", false, "only checkpoints without a message of their own; CHAT may be a folder or OWNER/*")
	o.listFlags.addFlags(fs)
	o.addVerb(fs, "rm")
}

// clears reports whether not all that is named is deleted.
func (o *rmOptions) clears() bool { return o.clearing != move.Clearing{} }

func (o *rmOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	allowed := &subjects{writes: true, whole: true, books: true, deletes: "stchat delete"}
	args, err := c.resolve(allowed, args)
	if err != nil {
		return err
	}
	read := o.sources
	if o.clears() {
		read = o.chats
	}
	paths, err := read(ctx, c, args, "name a chat, e.g. `stchat rm chats/Mira/Harbour.jsonl`")
	if err != nil {
		return err
	}
	if err := o.judge(paths); err != nil {
		return err
	}

	common := o.options(c, paths...)
	told, err := o.agreed(ctx, c, common, paths)
	if err != nil {
		return err
	}
	common.Changes.Call = new(changeset.Call) // one record
	results, kept := o.delete(ctx, common, paths)
	err = o.report(c, results)
	if !c.dryRun && (!c.shown || c.json) {
		noteKept(c, results)
	}
	if o.clears() && !told {
		o.reportKept(c, results, kept)
	}
	return err
}

// judge refuses lorebooks where only chats are deleted.
func (o *rmOptions) judge(paths []string) error {
	book := slices.IndexFunc(paths, isBook)
	folder := slices.IndexFunc(paths, userdir.IsDir)
	switch {
	case folder >= 0 && !o.clears():
		return chat.CheckName(paths[folder])
	case book >= 0 && o.clears():
		return usagef("%s: --older-than, --keep and --checkpoints go with chats", paths[book])
	case book >= 0 && o.family && !slices.ContainsFunc(paths, isChat):
		return usagef("--family goes with a chat")
	}
	return nil
}

// delete deletes what is named, and returns which chats stay.
func (o *rmOptions) delete(ctx context.Context, common move.Options, paths []string) (results []*move.Result, kept []move.Kept) {
	opt := move.DeleteOptions{Options: common, Chats: paths, Family: o.family}
	if o.clears() {
		return move.Clear(ctx, opt, o.clearing)
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

// agreed asks before several chats are deleted; what goes is shown first. told reports whether what stays is.
func (o *rmOptions) agreed(ctx context.Context, c *console, common move.Options, paths []string) (told bool, err error) {
	isOne := len(paths) == 1 && !o.family && !o.clears()
	if isOne || !c.asks() {
		return false, nil
	}
	common.Changes.DryRun = true
	results, kept := o.delete(ctx, common, paths)
	results = slices.DeleteFunc(results, func(r *move.Result) bool { return r.Err != nil || isBook(r.Doc.From) })
	if len(results) == 0 || len(results) == 1 && !o.clears() && !o.family {
		return false, nil // an error is told by the run itself
	}
	if c.readsPlan() {
		told = !c.json
		c.dryRun = true
		o.plan(c, results)
		if told {
			o.reportKept(c, results, kept)
		}
		c.dryRun = false
	}
	return told, c.confirm(ctx, "delete "+c.many(len(results), "chat"))
}

// isChat reports whether a path is not that of a lorebook.
func isChat(path string) bool { return !isBook(path) }

// keptChats is the last document of an rm that deletes some of the chats named.
type keptChats struct {
	Schema  int         `json:"schema"`
	Summary bool        `json:"summary"`
	Deleted int         `json:"deleted"`
	Kept    []move.Kept `json:"kept"`
	DryRun  bool        `json:"dry_run"`
}

// reportKept prints how many chats stay, by reason.
func (o *rmOptions) reportKept(c *console, results []*move.Result, kept []move.Kept) {
	if c.json {
		gone := slices.DeleteFunc(slices.Clone(results), func(r *move.Result) bool { return r.Err != nil })
		c.document(keptChats{1, true, len(gone), kept, c.dryRun})
		return
	}

	noun := "chat"
	if o.clearing.Checkpoints {
		noun = "checkpoint"
	}
	if len(results) == 0 && len(kept) == 0 {
		c.note("no %s here", noun)
		return
	}
	why := map[string]int{}
	for _, k := range kept {
		why[k.Why]++
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		which := "it"
		if why[reason] > 1 {
			which = "each"
		}
		c.note("%s kept: %s %s", c.many(why[reason], noun), which, stays(reason))
	}
}

// stays says why a chat is kept, behind "it": documents have shorter words.
func stays(reason string) string {
	switch reason {
	case "too young":
		return "is too recent"
	case "one of the newest":
		return "is one of the newest"
	case "is open":
		return "is what its owner opens with"
	}
	return reason
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

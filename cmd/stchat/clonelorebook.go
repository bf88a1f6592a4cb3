package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/plural"
)

const cloneLorebookDoc = `Copy a lorebook under a new name, in the same folder. SOURCE is a lorebook
(worlds/NAME.json), or a chat, whose lorebook (chat_metadata.world_info) is
meant. SillyTavern copies only the lorebook's name into a checkpoint or branch,
so that all of them write into one book; a clone ends that.

Entries keep their bytes, uids and order, and the file's other settings stay; a
name inside the file becomes the clone's. Entries that extensions keep for
themselves (titled __operation_queue, _registry_*, __index_*) are left out,
unless --internal says otherwise; reset copies them with the queue emptied.
--drop leaves out entries whose whole title matches GLOB: * is any run of
characters, / too, ? is one, [a-z] one of a set.

Without --name the clone is called "NAME (1)", "NAME (2)" and so on, as
SillyTavern's own duplicate is. A name that is taken gets such a number too: a
lorebook is never overwritten.

--rebind points a chat at the clone, in place: world_info, Auto-Recap's
lorebookName, and the timed effects of entries follow; no other line of the
chat changes. With several SOURCEs each chat gets the clone of the SOURCE that
it is, or of the one whose lorebook it names.

stdout gets the path of the clone, one a line.
`

const cloneLorebookExample = `  stchat clone-lorebook "worlds/Harbour.json" --name "Harbour, spring"
  stchat clone-lorebook chats/Mira/branch.jsonl --rebind chats/Mira/branch.jsonl
  stchat clone-lorebook chats/Mira/*.jsonl --internal reset --drop "draft*"
  stchat clone-lorebook worlds/Harbour.json --rebind a.jsonl --rebind b.jsonl --dry-run`

// cloneLorebookOptions are the flags of clone-lorebook.
type cloneLorebookOptions struct {
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

func newCloneLorebookCmd(a *app) *cobra.Command {
	o := &cloneLorebookOptions{}
	cmd := &cobra.Command{
		Use:     "clone-lorebook SOURCE...",
		Short:   "Copy a lorebook, and point chats at the copy",
		Long:    cloneLorebookDoc + exitStatus("never given by this command"),
		Example: cloneLorebookExample,
		Args:    cobra.MinimumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"json", "jsonl"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, cmd.Flags(), args)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

func (o *cloneLorebookOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&o.name, "name", "n", "", "`NAME` of the clone; default: numbered")
	fs.StringVar(&o.internal, "internal", "drop", "extension-internal entries: `HOW` is drop, keep or reset")
	fs.StringArrayVar(&o.drop, "drop", nil, "leave out entries whose title matches `GLOB`")
	fs.StringArrayVar(&o.rebind, "rebind", nil, "point `CHAT` at the clone, in place")
	fs.BoolVar(&o.bump, "bump-integrity", false, "with --rebind: give the chat a new slug, so that an open tab is stopped instead of overwriting it")
	fs.StringVar(&o.data, "data", "", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	fs.BoolVar(&o.noSync, "no-sync", false, "do not force data to disk: faster on copies, not safe against power loss")
	fs.BoolVar(&o.dryRun, "dry-run", false, "do everything but write; say what would be written")
	fs.BoolVar(&o.json, "json", false, "one JSON document a clone instead of paths")
}

// options turns the flags into what ops takes.
func (o *cloneLorebookOptions) options(a *app, fs *pflag.FlagSet, args []string) (ops.LorebookOptions, error) {
	opt := ops.LorebookOptions{
		Sources: args, Name: o.name, Drop: o.drop, Rebind: o.rebind, BumpIntegrity: o.bump,
		Data: o.data, NoSync: o.noSync, DryRun: o.dryRun, Now: a.Now(), NewUUID: uuid.NewString,
	}
	if fs.Changed("name") && o.name == "" {
		return opt, usagef("--name is empty")
	}
	if o.bump && len(o.rebind) == 0 {
		return opt, usagef("--bump-integrity goes with --rebind: nothing else writes a chat")
	}
	for _, glob := range o.drop {
		if err := lorebook.CheckGlob(glob); err != nil {
			return opt, usagef("--drop: %v", err)
		}
	}
	if slices.Contains(args, "") || slices.Contains(o.rebind, "") {
		return opt, usagef("a path is empty")
	}
	var err error
	if opt.Internal, err = lorebook.ParseInternal(o.internal); err != nil || o.internal == "" {
		return opt, usagef("--internal is %s, not %q", strings.Join(lorebook.InternalNames(), ", "), o.internal)
	}
	return opt, nil
}

func (o *cloneLorebookOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	opt, err := o.options(a, fs, args)
	if err != nil {
		return err
	}
	results, err := ops.CloneLorebooks(ctx, opt)
	if err != nil {
		return err
	}
	return o.tell(a.console(), results)
}

// tell prints the results in the order of the sources, and gives the worst outcome.
func (o *cloneLorebookOptions) tell(c *console, results []*ops.LorebookResult) error {
	failed, inPlace := 0, false
	var printed error
	for _, r := range results {
		for _, w := range r.Warnings {
			c.warn("%s", w)
		}
		for _, s := range r.State {
			c.note("%s: %s: %s", s.Chat, s.Extension, s.Change)
		}
		inPlace = inPlace || len(r.Rebound) > 0
		if r.Written {
			if printed == nil {
				printed = o.printResult(c, r)
			}
		}
		for _, err := range r.Errs {
			c.fail(err)
		}
		if len(r.Errs) > 0 {
			failed++
		}
	}
	if inPlace && !o.dryRun {
		c.closeTabs(o.bump, true)
	}
	if err := unprinted(printed, "every clone that was to be named there is written"); err != nil {
		return err
	}
	if failed > 0 {
		return errReported
	}
	return nil
}

// printResult puts one result on stdout.
func (o *cloneLorebookOptions) printResult(c *console, r *ops.LorebookResult) error {
	if o.dryRun {
		for _, act := range r.Actions {
			c.note("%s", act)
		}
	}
	if o.json {
		return writeJSON(c.Out, r)
	}
	if !o.dryRun {
		c.note("%s: %s, %d left out", r.Path, plural.Of(r.Entries, "entry", "entries"), r.Dropped)
	}
	_, err := fmt.Fprintln(c.Out, c.path(r.Path))
	return err
}

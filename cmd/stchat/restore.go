package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/cut"
	"stchat/internal/ops/keep"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

type restoreOptions struct {
	storeFlag
	pickFlags
	opt  keep.RestoreOptions
	at   int
	data string
}

func newRestore() verb {
	return verb{
		use: "restore CHAT", short: "Bring a version of a chat back",
		doc: `Make a chat from one of its versions in the history, or with --backup from one
of SillyTavern's own backups. Without --rev and --as-of, it is the newest
version that differs from the file. Every piece is verified before anything
appears.

  plain         writes a new chat beside CHAT, as branch does: CHAT is its
                parent, it has a new slug and, of a group, its place in the
                list. Its name is CHAT__NAME, else CHAT__ and the version's time
  CHAT is gone  writes it again under its own name: its exact bytes, its place
                in the group's list, Luker's sidecars of that time
  -o PATH       writes the exact bytes to PATH, or - for stdout, nothing else
  --in-place    puts the version in CHAT's place, with a new slug, and Luker's
                sidecars as they were; the present state is kept in the
                history, where there is one, and for undo. Lorebooks stay
  FOLDER        with --as-of and -o DIR: writes every file of a user folder, or
                of one in it, as it was, below DIR, which must be absent or
                empty

CHAT is a path, even of a file that is gone, or OWNER/NAME: the chat that has
this name now, else the one that had it last, and with --as-of the one that had
it then. It may be any file that is kept: a lorebook, a card, a group's file, a
sidecar, a backup. In its place a group keeps today's list of chats, and a card
today's chat. REV is one version of the whole history; one of another chat goes
to -o, or with -n to a new chat. --at cuts the version after a message; the
result is then no longer exact.

Prints the path of each file that was written.
`, no: "no version differs from the chat as it is",
		example: `  stchat restore "chats/Mira/Harbour.jsonl"
  stchat restore Mira/Harbour --as-of 2d --in-place
  stchat restore Mira/Harbour --backup backups/chat_mira_20261120-210411.jsonl
  stchat restore Mira/Harbour --rev 12 -o - | less
  stchat restore SillyTavern/data/default-user --as-of 1w -o last-week`,
		args: cobra.MaximumNArgs(1),
		rules: []string{
			"backup excludes rev|as-of = --backup names the version; leave out --rev and --as-of",
			"in-place excludes output|name|at = --in-place puts a whole version in CHAT's place; leave out --output, --name and --at",
			"output excludes name|open = --output writes a copy; leave out --name and --open",
			"rev excludes as-of = --rev and --as-of both name the version; take one of them",
		},
		options: &restoreOptions{},
	}
}

func (o *restoreOptions) addFlags(fs *pflag.FlagSet) {
	o.pickFlags.addFlags(fs, "take")
	fs.Var(filled(&o.opt.Backup), "backup", "take this backup of SillyTavern's, `FILE`, instead of a version of the history")
	fs.IntVarP(&o.at, "at", "a", 0, "last `MESSAGE` of the version that is taken, from 0; -1 is the last one")
	fs.VarP(filled(&o.opt.Name), "name", "n", "`NAME` of the new chat: CHAT__NAME")
	fs.VarP(filled(&o.opt.Output), "output", "o", "write the exact bytes to `PATH` instead, or - for stdout; with a FOLDER the folder to fill")
	fs.BoolVar(&o.opt.InPlace, "in-place", false, "put the version in CHAT's place")
	fs.BoolVar(&o.opt.Open, "open", false, "make it the chat that its character or group opens with")
	o.storeFlag.addFlags(fs)
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	addNoSync(fs, &o.opt.Changes.NoSync)
	fs.BoolVar(&o.opt.Changes.DryRun, "dry-run", false, "do everything but write, and say what would be written")
	fs.Bool("json", false, "print JSON documents instead of paths, one per line")
}

// check refuses flags and arguments that do not go together.
func (o *restoreOptions) check(c *console, fs *pflag.FlagSet, folder bool) error {
	opt := &o.opt
	switch {
	case folder && (o.asOf == "" || opt.Output == "" || opt.Output == cut.Stdout):
		return usagef("a folder is restored with --as-of TIME and --output DIR")
	case folder && (opt.Backup != "" || opt.InPlace || opt.Open || opt.Name != "" || fs.Changed("at")):
		return usagef("a folder is restored with --as-of and --output alone")
	case opt.Output != "" && fs.Changed("at") && opt.Output != cut.Stdout && !strings.HasSuffix(opt.Output, ".jsonl"):
		return usagef("with --at the --output must end in .jsonl: %q", opt.Output)
	case opt.Output == cut.Stdout && c.json:
		return usagef("--json and --output - both write to stdout")
	}
	return nil
}

func (o *restoreOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	if len(args) > 0 {
		args = []string{c.folderOf(o.data, args[0])}
	}
	where, err := o.where(c, args, o.data)
	if err != nil {
		return err
	}
	which, _, err := o.pick(fs, where.Now)
	if err != nil {
		return err
	}
	info, err := os.Stat(where.Chat)
	folder := err == nil && info.IsDir()
	if err := o.check(c, fs, folder); err != nil {
		return err
	}
	opt := o.opt
	if err := c.changes(&opt.Changes); err != nil {
		return err
	}
	if folder {
		results, err := keep.RestoreFolder(ctx, keep.FolderOptions{Folder: where.Chat, Store: where.Store, Now: where.Now, AsOf: which.AsOf, Output: opt.Output, Changes: opt.Changes})
		if err != nil {
			return beginsOne(err)
		}
		return reportRestored(c, opt.Changes.DryRun, results)
	}
	opt.Where, opt.Pick, opt.NewUUID, opt.Stdout = where, which, uuid.NewString, c.Out
	if fs.Changed("at") {
		opt.At = &o.at
	}
	r, err := keep.Restore(ctx, opt)
	switch {
	case errors.Is(err, keep.ErrNothing), errors.Is(err, keep.ErrNobody):
		c.note("%s", err)
		return errNo
	case err != nil:
		return withHint(err, []hint{{keep.ErrUnknown, inLost}})
	case opt.Output == cut.Stdout && opt.At == nil:
		c.notes(r.Notes)
		return nil
	}
	return reportRestored(c, opt.Changes.DryRun, []*keep.RestoreResult{r})
}

// reportRestored prints what was written, or would be, and returns the worst outcome.
func reportRestored(c *console, dryRun bool, results []*keep.RestoreResult) error {
	var inPlace []string
	how := saying{dryRun: dryRun && !c.json, no: never, end: func() {
		if len(inPlace) > 0 && !c.lukersTabs(inPlace) {
			c.note("if this chat is open in SillyTavern, reload it now: until then its saves are refused")
		}
	}}
	of := func(r *keep.RestoreResult) (string, *keep.RestoreResult) { return r.Doc.Source, r }
	return sayAll(c, how, results, of, func(r *keep.RestoreResult) {
		if !c.json && !dryRun && r.Doc.Path != cut.Stdout {
			path := r.Doc.Path
			if c.OutTTY {
				path = visible.Args(path)
			}
			fmt.Fprintln(c.w, path)
		}
		if r.Doc.InPlace && !dryRun && userdir.HasExtension(r.Doc.Path) {
			inPlace = append(inPlace, r.Doc.Path)
		}
	})
}

// inLost is the hint for a chat of which neither the history nor a backup is known to have a version.
const inLost = "; 'stchat lost' looks for it everywhere, and names what brings it back"

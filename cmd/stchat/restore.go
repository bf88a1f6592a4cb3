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

const restoreDoc = `Make a chat from one of its versions in the history, or with --backup from one
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
`

type restoreOptions struct {
	storeFlag
	pickFlags
	backup  string
	at      int
	name    string
	output  string
	inPlace bool
	open    bool
	data    string
	noSync  bool
	dryRun  bool
	json    bool
}

func newRestore(*app) verb {
	o := &restoreOptions{}
	return verb{
		use: "restore CHAT", short: "Bring a version of a chat back",
		doc: restoreDoc, no: "no version differs from the chat as it is",
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
		flags: o.addFlags, run: o.run,
	}
}

func (o *restoreOptions) addFlags(fs *pflag.FlagSet) {
	o.pickFlags.addFlags(fs, "take")
	fs.Var(filled(&o.backup), "backup", "take this backup of SillyTavern's, `FILE`, instead of a version of the history")
	fs.IntVarP(&o.at, "at", "a", 0, "last `MESSAGE` of the version that is taken, from 0; -1 is the last one")
	fs.VarP(filled(&o.name), "name", "n", "`NAME` of the new chat: CHAT__NAME")
	fs.VarP(filled(&o.output), "output", "o", "write the exact bytes to `PATH` instead, or - for stdout; with a FOLDER the folder to fill")
	fs.BoolVar(&o.inPlace, "in-place", false, "put the version in CHAT's place")
	fs.BoolVar(&o.open, "open", false, "make it the chat that its character or group opens with")
	o.storeFlag.addFlags(fs)
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	addNoSync(fs, &o.noSync)
	fs.BoolVar(&o.dryRun, "dry-run", false, "do everything but write, and say what would be written")
	fs.BoolVar(&o.json, "json", false, "print JSON documents instead of paths, one per line")
}

// check refuses flags and arguments that do not go together.
func (o *restoreOptions) check(fs *pflag.FlagSet, folder bool) error {
	switch {
	case folder && (o.asOf == "" || o.output == "" || o.output == cut.Stdout):
		return usagef("a folder is restored with --as-of TIME and --output DIR")
	case folder && (o.backup != "" || o.inPlace || o.open || o.name != "" || fs.Changed("at")):
		return usagef("a folder is restored with --as-of and --output alone")
	case o.output != "" && fs.Changed("at") && o.output != cut.Stdout && !strings.HasSuffix(o.output, ".jsonl"):
		return usagef("with --at the --output must end in .jsonl: %q", o.output)
	case o.output == cut.Stdout && o.json:
		return usagef("--json and --output - both write to stdout")
	}
	return nil
}

func (o *restoreOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	if len(args) > 0 {
		args = []string{a.folderOf(o.data, args[0])}
	}
	where, err := o.where(a, args, o.data)
	if err != nil {
		return err
	}
	which, picked, err := o.pick(fs, where.Now)
	if err != nil {
		return err
	}
	info, err := os.Stat(where.Chat)
	folder := err == nil && info.IsDir()
	if err := o.check(fs, folder); err != nil {
		return err
	}
	changes, err := a.changes(o.dryRun, o.noSync)
	if err != nil {
		return err
	}
	c := a.console()
	if folder {
		results, err := keep.RestoreFolder(ctx, keep.FolderOptions{Folder: where.Chat, Store: where.Store, Now: where.Now, AsOf: which.AsOf, Output: o.output, Changes: changes})
		if err != nil {
			return beginsOne(err)
		}
		return o.tell(c, results)
	}
	opt := keep.RestoreOptions{
		Where: where, Pick: which, Picked: picked, Backup: o.backup, Name: o.name, Output: o.output, InPlace: o.inPlace, Open: o.open,
		Changes: changes, NewUUID: uuid.NewString, Stdout: a.Out,
	}
	if fs.Changed("at") {
		opt.At = &o.at
	}
	r, err := keep.Restore(ctx, opt)
	switch {
	case errors.Is(err, keep.ErrNothing), errors.Is(err, keep.ErrNobody):
		c.note("%s", err)
		return errNo
	case errors.Is(err, keep.ErrUnknown):
		return &hinted{err, "; 'stchat lost' looks for it everywhere, and names what brings it back"}
	case err != nil:
		return withHint(err, nil)
	case o.output == cut.Stdout && opt.At == nil:
		for _, note := range r.Notes {
			c.note("%s", note)
		}
		return nil
	}
	return o.tell(c, []*keep.RestoreResult{r})
}

// tell prints what was written, and returns the worst outcome.
func (o *restoreOptions) tell(c *console, results []*keep.RestoreResult) error {
	how := saying{dryRun: o.dryRun && !o.json, json: o.json}
	of := func(r *keep.RestoreResult) (string, *keep.RestoreResult) { return r.Doc.Source, r }
	var inPlace []string
	failed, no, err := sayAll(c, how, results, of, func(r *keep.RestoreResult) (err error) {
		if !o.json && !o.dryRun && r.Doc.Path != cut.Stdout {
			path := r.Doc.Path
			if c.OutTTY {
				path = visible.Args(path)
			}
			_, err = fmt.Fprintln(c.Out, path)
		}
		if r.Doc.InPlace && !o.dryRun && userdir.HasExtension(r.Doc.Path) {
			inPlace = append(inPlace, r.Doc.Path)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(inPlace) > 0 && !c.lukersTabs(inPlace) {
		c.note("if this chat is open in SillyTavern, reload it now: until then its saves are refused")
	}
	return outcome(failed || no, false)
}

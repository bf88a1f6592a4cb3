package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/past"
	"stchat/internal/place/userdir"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

type restoreOptions struct {
	pickFlags
	opt keep.RestoreOptions
	at  int
}

func newRestore() verb {
	return verb{
		writes: true,
		use:    "restore CHAT", short: "Bring a version of a chat back",
		doc: `Make a chat from one of its versions in the history, or with --backup from one
of SillyTavern's own backups; without --rev and --as-of from the newest version
that differs. It is a new chat beside CHAT, as of branch; a CHAT that is gone is
there again. --in-place puts the version in CHAT's place, -o PATH writes its
exact bytes. A FOLDER with --as-of and -o DIR is written as it was, below DIR.
Prints the path of each file that was written.
`, more: `Every piece is verified before anything appears.

  plain         writes a new chat beside CHAT, as branch does: CHAT is its
                parent, its integrity is new, and of a group it is in the list.
                Its name is CHAT__NAME, else CHAT__ and the version's time
  CHAT is gone  writes it again under its own name: its exact bytes, its place
                in the group's list, the files of Luker beside it at that time
  -o PATH       writes the exact bytes to PATH, or - for stdout, nothing else
  --in-place    puts the version in CHAT's place, with a new integrity, and the
                files of Luker beside it as they were; the present state is kept
                in the history, where there is one, and for undo. Lorebooks stay
  FOLDER        with --as-of and -o DIR: writes every file of a user folder, or
                of one in it, as it was, below DIR, which must be absent or
                empty

CHAT is a path, even of a file that is gone, or OWNER/NAME: the chat that has
this name now, else the one that had it last, and with --as-of the one that had
it then. It may be any file that is kept: a lorebook, a card, a group's file, a
file of Luker, a backup. In its place a group keeps today's list of chats, and a
card today's chat. REV is one version of the whole history; one of another chat
goes to -o, or with -n to a new chat. --at cuts the version after a message; the
result is then no longer exact.

  stchat restore Mira/Harbour --backup backups/chat_mira_20261120-210411.jsonl
  stchat restore Mira/Harbour --rev 12 -o - | less
`, no: "no version differs, or none is kept from then",
		also: "log, lost, snapshot, undo",
		example: `  stchat restore Mira/Harbour --rev -1
  stchat restore Mira/Harbour --as-of 2d --in-place
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
	fs.Var(notEmptyText(&o.opt.Backup), "backup", "take this backup of SillyTavern's, `FILE`, instead of a version of the history")
	fs.VarP(number(&o.at, math.MinInt, "a message number such as 23 or -1, of the version"), "at", "a", "last `MESSAGE` of the version that is taken, from 0; -1 is the last one")
	fs.VarP(notEmptyText(&o.opt.Name), "name", "n", "`NAME` of the new chat: CHAT__NAME")
	fs.VarP(notEmptyText(&o.opt.Output), "output", "o", "write the exact bytes to `PATH` instead, or - for stdout; with a FOLDER the folder to fill")
	fs.BoolVar(&o.opt.InPlace, "in-place", false, "put the version in CHAT's place")
	fs.BoolVar(&o.opt.Open, "open", false, "make it the chat that its character or group opens with")
}

func (o *restoreOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	owner := "" // whose chats are meant
	if len(args) > 0 {
		if err := refuseSeveral(args[0]); err != nil {
			return err
		}
		folder := c.folderOf(args[0])
		if folder != args[0] {
			owner = args[0]
		}
		args = []string{folder}
	}

	where, err := c.where(args)
	if err != nil {
		return err
	}
	if where.Pick, err = o.pick(fs); err != nil {
		return err
	}
	opt, folder := o.opt, userdir.IsDir(where.Chat)
	opt.Where = where
	opt.At = given(fs, "at", &o.at)
	opt.Stdout = c.Out
	isIncomplete := folder && (where.AsOf.IsZero() || opt.Output == "" || opt.Output == cut.Stdout)
	switch {
	case isIncomplete && owner != "":
		return usagef("which chat? %s is the one that is open; messages come back with `stchat lost %s`; all chats of %s are restored with --as-of TIME and --output DIR",
			visible.Quote(owner+"/@"), visible.Quote(owner+"/@"), owner)
	case isIncomplete:
		return usagef("a folder is restored with --as-of TIME and --output DIR")
	case folder && (opt.Backup != "" || opt.InPlace || opt.Open || opt.Name != "" || opt.At != nil):
		return usagef("a folder is restored with --as-of and --output alone")
	case opt.Output != "" && opt.At != nil && opt.Output != cut.Stdout && !strings.HasSuffix(opt.Output, ".jsonl"):
		return usagef("with --at the --output must end in .jsonl: %q", opt.Output)
	case opt.Output == cut.Stdout && c.json:
		return usagef("--json and --output - both write to stdout")
	}
	if err := c.refuseTerminal(opt.Output); err != nil {
		return err
	}
	c.changes(&opt.Changes)
	if folder {
		results, err := keep.RestoreFolder(ctx, opt)
		if err != nil {
			return c.beginsOne(err)
		}
		return reportRestored(c, results, opt.Output, false)
	}

	r, err := keep.Restore(ctx, opt)
	switch {
	case errors.Is(err, keep.ErrNothing), errors.Is(err, keep.ErrNobody):
		c.note("%s", err)
		return errNo
	case errors.Is(err, keep.ErrUnknown):
		if command := c.broughtBackBy(where); command != "" {
			return &hinted{err, fmt.Sprintf("; `%s` brings it back", command)}
		}
		return withHint(err, []hint{{keep.ErrUnknown, inLost}})
	case err != nil:
		return withHint(err, []hint{{ops.ErrNotRead, "; -o writes a file anywhere"}})
	case opt.Output == cut.Stdout && opt.At == nil:
		c.notes(r.Notes)
		return nil
	}
	return reportRestored(c, []*keep.RestoreResult{r}, "", opt.Open)
}

// changesOwner reports whether a card or a group was edited, so that it opens with the chat or lists it.
func changesOwner(r *keep.RestoreResult) bool {
	isOther := func(s ops.Step) bool { return s.Do == changeset.Replace && s.Path != r.Doc.Path }
	return slices.ContainsFunc(r.Doc.Steps, isOther)
}

// reportRestored prints what was written, or would be, and returns the worst outcome. folder is where all
// files of a folder were written, "" for chats; opens says that the owner of a chat opens with it.
func reportRestored(c *console, results []*keep.RestoreResult, folder string, opens bool) error {
	var inPlace []string
	bumped := false // what was put in its place has a new integrity
	changedOwner := false
	how := &saying{no: never, end: func() {
		switch {
		case c.dryRun:
		case len(inPlace) > 0:
			c.reload(bumped, inPlace, "this chat in SillyTavern", " now, or its next save undoes this")
		case changedOwner:
			c.closeTabs(false)
		}
	}}

	if folder != "" && c.tells() {
		c.block(c.folderBlock(results, folder))
	}
	of := func(r *keep.RestoreResult) (string, *keep.RestoreResult) { return r.Doc.Source, r }
	return sayAll(c, how, results, of, func(r *keep.RestoreResult) {
		c.tellState(r.Doc.Path, r.Doc.State)
		switch {
		case r.Doc.Path == cut.Stdout || c.json:
		case c.tells() && folder == "":
			b := c.restoreBlock(r)
			if opens {
				b.addOpen(c, ownerShown(r.Doc.Path))
			}
			c.block(b)
		case !c.tells():
			c.made(r.Doc.Path)
		}
		changedOwner = changedOwner || changesOwner(r)
		if r.Doc.InPlace && userdir.HasExtension(r.Doc.Path) {
			inPlace = append(inPlace, r.Doc.Path)
			bumped = bumped || r.Doc.Integrity != nil
		}
	})
}

// restoreBlock tells a person of one file that was brought back.
func (c *console) restoreBlock(r *keep.RestoreResult) block {
	d := &r.Doc
	b := block{made: d.Path}
	of := nameOf(cmp.Or(d.Source, d.Path))
	version := "as of " + localTime(deref(d.AtVersion))
	switch {
	case d.InPlace && c.dryRun:
		b.sentence = fmt.Sprintf("would put %s back %s", of, version)
	case d.InPlace:
		b.sentence = fmt.Sprintf("put %s back %s", of, version)
	case d.Exact && c.dryRun:
		b.sentence = fmt.Sprintf("would bring back %s %s", of, version)
	case d.Exact:
		b.sentence = fmt.Sprintf("brought back %s %s", of, version)
	case c.dryRun:
		b.sentence = fmt.Sprintf("would make %q of %s %s", nameOf(d.Path), of, version)
	default:
		b.sentence = fmt.Sprintf("made %q of %s %s", nameOf(d.Path), of, version)
	}

	if d.Messages > 0 {
		b.sentence += ": " + plural.Many(d.Messages, "message")
	}
	b.facts = factsOf(r.Facts, c.ownBook(d.Path))
	b.facts = append(b.facts, c.stateFacts(d.State, d.At)...)
	b.addLuker(&d.Document)
	if d.InPlace {
		b.add("kept", "what was in its place, for undo")
	}
	return b
}

// folderBlock tells a person of a folder whose files were written as they were.
func (c *console) folderBlock(results []*keep.RestoreResult, folder string) block {
	var kinds tally
	newest := ""
	for _, r := range results {
		if r.Err != nil {
			continue
		}
		kinds.add(fileKind(r.Doc.Path), 1)
		newest = max(newest, localTime(deref(r.Doc.AtVersion)))
	}
	wrote := c.did("wrote", "would write")
	return block{sentence: fmt.Sprintf("%s %s as of %s", wrote, kinds.text(), newest), made: folder}
}

// broughtBackBy returns the command that brings a chat back that one of ours took away, "" for none.
func (c *console) broughtBackBy(where keep.Where) string {
	root, err := undoRoot(c)
	if err != nil {
		return ""
	}
	id := past.KeptBy(root, where.Chat)
	if id == "" {
		return ""
	}
	return c.undoCommand(root, id)
}

// inLost is the hint for a chat of which neither the history nor a backup is known to have a version.
const inLost = "; 'stchat lost' looks for it everywhere, and names what brings it back"

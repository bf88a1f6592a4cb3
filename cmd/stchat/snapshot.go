package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/jsondoc"
	"stchat/internal/ops"
	"stchat/internal/ops/keep"
	"stchat/internal/plural"
	"stchat/internal/visible"
)

const snapshotDoc = `Keep a version of every chat that changed since the last snapshot, with group
files, lorebooks, cards and Luker's sidecars, in one file: .stchat/history.db
in the user folder. Lines that the history already has are not stored again, so
a version with one more message takes about a kilobyte. Every version can be
restored byte for byte, damaged or not: see log and restore.

PATH is a chat, a folder or a SillyTavern user folder; without one it is the
user folder around the working folder, else the one that STCHAT_DATA names.
Chats outside a user folder need a history file of their own, named by --store.
A history belongs to one folder; another folder is refused as long as the first
one exists.

Files that look unchanged (size, times, inode) are not read; --rescan reads all.
With --backups, SillyTavern's own backups/chat_*.jsonl of whole user folders are
taken too, as earlier versions of their chats.

Prints one line per file that has a new version. A run that is killed or fills
the disk leaves the versions that it took so far, each of them whole.

Only you can read the history. It is in the user folder, so that it is found
there and moves with it; SillyTavern's own backup of a user includes hidden
files, and so the history. On a network disk let only one machine write to it;
a disk without locks is refused.
`

const snapshotExample = `  stchat snapshot SillyTavern/data/default-user
  stchat snapshot --backups -m "before the update"
  stchat snapshot chats/Mira
  stchat snapshot --store ~/old-chats.db ~/old-chats`

type snapshotOptions struct {
	listFlags
	storeFlag
	backups bool
	note    string
	rescan  bool
	data    string
	dryRun  bool
	json    bool
}

func newSnapshotCmd(a *app) *cobra.Command {
	return a.command(&snapshotOptions{}, &cobra.Command{
		Use:     "snapshot [PATH...]",
		Short:   "Keep a version of every chat that changed",
		Long:    snapshotDoc + exitStatus(""),
		Example: snapshotExample,
	})
}

func (o *snapshotOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	o.storeFlag.addFlags(fs)
	fs.BoolVar(&o.backups, "backups", false, "also take SillyTavern's own backups, as earlier versions")
	fs.StringVarP(&o.note, "message", "m", "", "a `NOTE` for the new versions; those with a note are never pruned")
	fs.BoolVar(&o.rescan, "rescan", false, "also read files that look unchanged")
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`, where no PATH is named")
	fs.BoolVar(&o.dryRun, "dry-run", false, "do everything but write; say what would be kept")
	fs.BoolVar(&o.json, "json", false, "print JSON documents, one per new version, and one that sums up")
}

func (o *snapshotOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	if o.data != "" && len(args) == 0 && o.filesFrom == "" {
		args = []string{o.data}
	}
	list, err := o.folders(ctx, a, args, nameFolder("snapshot"))
	if err != nil {
		return err
	}
	if o.backups && !list.Shard.Whole() {
		return usagef("--backups goes without --shard: to know whose backup one is takes all chats")
	}
	c := a.console()
	meter, end := c.meter("keeping", o.json)
	w := bufio.NewWriter(c.Out)
	sum, err := keep.Snapshot(ctx, keep.SnapshotOptions{
		List: list, Store: o.of(a), Backups: o.backups, Note: o.note, Rescan: o.rescan, DryRun: o.dryRun, Now: a.Now(), Meter: meter,
		Each: func(t keep.Taken) error {
			if o.json {
				return jsondoc.Write(w, t, "")
			}
			_, err := fmt.Fprintln(w, takenLine(c, t))
			return err
		},
	})
	end()
	if err == nil && o.json {
		err = jsondoc.Write(w, sum, "")
	}
	if flushed := w.Flush(); err == nil {
		err = flushed
	}
	for _, e := range sum.Errs {
		c.fail(o.told(e))
	}
	if err != nil {
		c.work.done = sum.Unchanged + sum.Versions // others were read, but not kept yet
		c.work.left = max(0, int(meter.State().Files)-c.work.done)
		return withHint(err, nil)
	}
	if sum.Files > 0 || len(sum.Errs) == 0 {
		c.note("%s", snapshotSum(sum))
	}
	return outcome(len(sum.Errs) > 0, false)
}

// told adds which flag helps with a source that was left out.
func (o *snapshotOptions) told(err *ops.SourceError) error {
	if errors.Is(err, keep.ErrLoose) {
		return &hinted{err, "; name one with --store"}
	}
	return err
}

// takenLine returns one new version as a line of text.
func takenLine(c *console, t keep.Taken) string {
	if !c.OutTTY {
		return fmt.Sprintf("%s\t%d\t%d", t.Path, t.Rev, t.Stored)
	}
	return fmt.Sprintf("%s  rev %d, %s more", visible.Text(t.Path), t.Rev, formatBytes(t.Stored))
}

// snapshotSum returns the sum as a line of text.
func snapshotSum(s *keep.Snapshotted) string {
	kept := "kept"
	if s.DryRun {
		kept = "would be kept"
	}
	text := fmt.Sprintf("%s, %s: %s %s", plural.S(s.Files, "file"), formatBytes(s.Bytes), plural.S(s.Versions, "new version"), kept)
	if !s.DryRun {
		text += ", " + formatBytes(s.Stored)
	}
	if s.LeftOut > 0 {
		text += fmt.Sprintf("; %d left out", s.LeftOut)
	}
	return text
}

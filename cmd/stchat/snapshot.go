package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/names"
	"stchat/internal/ops/keep"
	"stchat/internal/plural"
	"stchat/internal/visible"
)

type snapshotOptions struct {
	listFlags
	storeFlag
	opt     keep.SnapshotOptions
	verbose bool
	data    string
}

func newSnapshot() verb {
	return verb{
		use: "snapshot [PATH...]", short: "Keep a version of every chat that changed",
		doc: `Keep a version of every chat that changed since the last snapshot, with group
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

Prints one line per file that has a new version; on a terminal one per owner,
unless --verbose is given. A run that is killed or fills the disk leaves the
versions that it took so far, each of them whole.

Only you can read the history. It is in the user folder, so that it is found
there and moves with it; SillyTavern's own backup of a user includes hidden
files, and so the history. On a network disk let only one machine write to it;
a disk without locks is refused.
`,
		example: `  stchat snapshot SillyTavern/data/default-user
  stchat snapshot --backups -m "before the update"
  stchat snapshot chats/Mira
  stchat snapshot --store ~/old-chats.db ~/old-chats`,
		means:   reads(),
		options: &snapshotOptions{},
	}
}

func (o *snapshotOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	o.storeFlag.addFlags(fs)
	fs.BoolVar(&o.opt.Backups, "backups", false, "also take SillyTavern's own backups, as earlier versions")
	fs.StringVarP(&o.opt.Note, "message", "m", "", "a `NOTE` for the new versions; those with a note are never pruned")
	fs.BoolVar(&o.opt.Rescan, "rescan", false, "also read files that look unchanged")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "on a terminal: one line per file, as in a pipe")
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`, where no PATH is named")
	fs.BoolVar(&o.opt.DryRun, "dry-run", false, "do everything but write; say what would be kept")
	fs.Bool("json", false, "print JSON documents, one per new version, and one that sums up")
}

func (o *snapshotOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	if o.data != "" && len(args) == 0 && o.filesFrom == "" {
		args = []string{o.data}
	}
	list, err := o.folders(ctx, c, args, nameFolder("snapshot"))
	if err != nil {
		return err
	}
	if o.opt.Backups && !list.Shard.Whole() {
		return usagef("--backups goes without --shard: to know whose backup one is takes all chats")
	}
	meter, end := c.meter("keeping", c.json)
	few := &takenFiles{screen: newScreen(c, 0), of: map[string][]string{}, kinds: map[string]int{}}
	opt := o.opt
	opt.List, opt.Store, opt.Now, opt.Meter = list, o.of(c), c.Now(), meter
	opt.Each = func(t keep.Taken) error {
		switch {
		case c.json:
			return c.document(t)
		case c.shown && !o.verbose:
			few.add(t)
		case c.OutTTY:
			fmt.Fprintf(c.w, "%s  rev %d, %s more\n", visible.Text(t.Path), t.Rev, formatBytes(t.Stored))
		default:
			fmt.Fprintf(c.w, "%s\t%d\t%d\n", t.Path, t.Rev, t.Stored)
		}
		return nil
	}
	sum, err := keep.Snapshot(ctx, opt)
	end()
	if err == nil && c.json {
		c.document(sum)
	}
	few.print()
	err = cmp.Or(err, c.printed())
	for _, e := range sum.Errs {
		c.fail(withHint(e, []hint{{keep.ErrLoose, "; name one with --store"}}))
	}
	if err != nil {
		c.work.done = sum.Unchanged + sum.Versions // others were read, but not kept yet
		c.work.left = max(0, int(meter.State().Files)-c.work.done)
		return withHint(err, nil)
	}
	if sum.Files > 0 || len(sum.Errs) == 0 {
		if c.shown && !o.verbose && !c.json {
			c.note("%s", few.sum(sum))
		} else {
			c.note("%s", snapshotSum(sum))
		}
	}
	if sum.Gone > 0 && !o.opt.DryRun {
		c.note("%s gone since the last one: stchat log --gone%s", plural.Of(sum.Gone, "chat is", "chats are"), o.leads(c, list.Paths))
	}
	return outcome(len(sum.Errs) > 0, false)
}

// leads returns the arguments of a command about the folder that was taken.
func (o *snapshotOptions) leads(c *console, paths []string) (args string) {
	if store := o.of(c); store != "" {
		args = " " + visible.Quote("--store="+absolute(store))
	}
	if len(paths) == 1 {
		if info, err := os.Stat(paths[0]); err == nil && info.IsDir() {
			args += " " + visible.Args(absolute(paths[0]))
		}
	}
	return args
}

// takenFiles are new versions as a person sees them: a line for each owner.
type takenFiles struct {
	screen
	owners []string
	of     map[string][]string // short names by owner
	kinds  map[string]int
}

// namesShown is how many of an owner's files are named.
const namesShown = 3

func (f *takenFiles) add(t keep.Taken) {
	owner, name, ok := strings.Cut(t.Chat, "/")
	if !ok {
		owner, name = "", t.Chat
	}
	kind := map[string]string{"worlds": "lorebook", "groups": "group", "characters": "card"}[owner]
	switch {
	case t.Messages != nil:
		kind = "chat"
	case kind == "":
		kind = "sidecar"
	}
	f.kinds[kind]++
	if f.of[owner] == nil {
		f.owners = append(f.owners, owner)
	}
	f.of[owner] = append(f.of[owner], f.shortened(names.Short(owner, name)))
}

func (f *takenFiles) print() {
	for _, owner := range f.owners {
		all := f.of[owner]
		text, more := strings.Join(all[:min(len(all), namesShown)], ", "), ""
		if n := len(all) - namesShown; n > 0 {
			more = fmt.Sprintf(", and %d more", n)
		}
		head := ""
		if owner != "" {
			head = f.fitName(visible.Text(owner), f.measure/2) + "  "
		}
		fmt.Fprintln(f.w, paint(f.color, bold+";"+cyan, head)+f.fit(text, visible.Width(head)+len(more))+more)
	}
}

// sum says how many files have a new version, by kind.
func (f *takenFiles) sum(s *keep.Snapshotted) string {
	var parts []string
	for _, kind := range []string{"chat", "lorebook", "group", "card", "sidecar"} {
		if n := f.kinds[kind]; n > 0 {
			parts = append(parts, plural.S(n, kind))
		}
	}
	stored := " stored"
	if s.DryRun {
		stored = " would be stored"
	}
	text := fmt.Sprintf("%d of %s changed", s.Versions, plural.S(s.Files, "file"))
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ") + "; " + formatBytes(s.Stored) + stored
	}
	if s.LeftOut > 0 {
		text += fmt.Sprintf("; %d left out", s.LeftOut)
	}
	return text
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

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/grid"
	"stchat/internal/history"
	"stchat/internal/jsondoc"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/keep"
	"stchat/internal/plural"
	"stchat/internal/sendate"
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

Prints one line per file that has a new version; on a terminal one per owner,
unless --verbose is given. A run that is killed or fills the disk leaves the
versions that it took so far, each of them whole.

Only you can read the history. It is in the user folder, so that it is found
there and moves with it; SillyTavern's own backup of a user includes hidden
files, and so the history. On a network disk let only one machine write to it;
a disk without locks is refused.
`

type snapshotOptions struct {
	listFlags
	storeFlag
	backups bool
	note    string
	rescan  bool
	verbose bool
	data    string
	dryRun  bool
	json    bool
}

func newSnapshot(*app) verb {
	o := &snapshotOptions{}
	return verb{
		use: "snapshot [PATH...]", short: "Keep a version of every chat that changed",
		doc: snapshotDoc,
		example: `  stchat snapshot SillyTavern/data/default-user
  stchat snapshot --backups -m "before the update"
  stchat snapshot chats/Mira
  stchat snapshot --store ~/old-chats.db ~/old-chats`,
		means: reads(),
		flags: o.addFlags, run: o.run,
	}
}

func (o *snapshotOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	o.storeFlag.addFlags(fs)
	fs.BoolVar(&o.backups, "backups", false, "also take SillyTavern's own backups, as earlier versions")
	fs.StringVarP(&o.note, "message", "m", "", "a `NOTE` for the new versions; those with a note are never pruned")
	fs.BoolVar(&o.rescan, "rescan", false, "also read files that look unchanged")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "on a terminal: one line per file, as in a pipe")
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
	few := &takenFiles{screen: newScreen(c, w, 0), of: map[string][]string{}, kinds: map[string]int{}}
	sum, err := keep.Snapshot(ctx, keep.SnapshotOptions{
		List: list, Store: o.of(a), Backups: o.backups, Note: o.note, Rescan: o.rescan, DryRun: o.dryRun, Now: a.Now(), Meter: meter,
		Each: func(t keep.Taken) error {
			if o.json {
				return jsondoc.Write(w, t, "")
			}
			if c.shown && !o.verbose {
				few.add(t)
				return nil
			}
			_, err := fmt.Fprintln(w, takenLine(c, t))
			return err
		},
	})
	end()
	if err == nil && o.json {
		err = jsondoc.Write(w, sum, "")
	}
	few.print()
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
		if c.shown && !o.verbose && !o.json {
			c.note("%s", few.sum(sum))
		} else {
			c.note("%s", snapshotSum(sum))
		}
	}
	if sum.Gone > 0 && !o.dryRun {
		c.note("%s gone since the last one: stchat log --gone%s", gone(sum.Gone), o.leads(a, list.Paths))
	}
	return outcome(len(sum.Errs) > 0, false)
}

// leads returns the arguments of a command about the folder that was taken.
func (o *snapshotOptions) leads(a *app, paths []string) (args string) {
	if store := o.of(a); store != "" {
		args = " " + visible.Quote("--store="+absolute(store))
	}
	if len(paths) == 1 {
		if info, err := os.Stat(paths[0]); err == nil && info.IsDir() {
			args += " " + visible.Args(absolute(paths[0]))
		}
	}
	return args
}

// told adds which flag helps with a source that was left out.
func (o *snapshotOptions) told(err *ops.SourceError) error {
	if errors.Is(err, keep.ErrLoose) {
		return &hinted{err, "; name one with --store"}
	}
	return err
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
			head = f.fit(visible.Text(owner), f.measure/2) + "  "
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

const logDoc = `Say what happened: without CHAT, or with a FOLDER, list the snapshots of a user
folder, newest first, and what each found new, changed (+ messages added,
~ changed, - removed), renamed, gone, or back. --since leaves out older ones.
--gone lists the chats that are gone now instead, each with the command that
brings it back, and --as-of what was in the folder at that time.

With CHAT it lists the versions of a chat, newest first: number, time, where
it came from, messages, what was added, changed and removed since the version
before, note, and the last message. --backups also lists SillyTavern's own
backups of the chat, and needs no history; a backup is matched to its chat by
its slug, or else by the lines they share. Versions of other chats that once had
the same name follow under a heading of their own.

CHAT is a path, even of a file that is gone or was renamed, or OWNER/NAME: the
character's folder or the group's name, and the chat. It may be any file that is
kept: a lorebook, a card, a group's file, a sidecar, a backup. With --rev or
--as-of, log lists what that version changed, one row per message: + added,
~ changed, - removed.

REV is a number as listed, which no other version of any chat has, or counts
from the end: -1 is the newest version. TIME is a date, a time, or an age such
as 90m, 2h, 3d or 2w: the last version that is not later.
`

// pickFlags are --rev and --as-of.
type pickFlags struct {
	rev  int64
	asOf string
}

func (p *pickFlags) addFlags(fs *pflag.FlagSet, what string) {
	fs.Int64Var(&p.rev, "rev", 0, what+" `REV`: a number as log lists it, or from the end, -1 being the newest")
	fs.StringVar(&p.asOf, "as-of", "", what+" the last version not later than `TIME`: 2026-03-01, \"2026-03-01 18:42\", RFC 3339, or an age such as 90m, 2h, 3d, 2w")
}

// versionTime reads the time of --as-of.
func versionTime(text string, now time.Time) (time.Time, error) {
	t, ok := sendate.ParseMoment(text, now)
	if !ok {
		return t, usagef("--as-of takes a date (2026-03-01), a time (\"2026-03-01 18:42\", RFC 3339) or an age (2h, 3d), not %q", text)
	}
	return t, nil
}

// pick returns the version that the flags name; given is false if neither was used.
func (p *pickFlags) pick(fs *pflag.FlagSet, now time.Time) (which keep.Pick, given bool, err error) {
	switch {
	case fs.Changed("rev") && p.rev == 0:
		return which, true, usagef("--rev takes a number such as 12 or -1; versions count from 1")
	case fs.Changed("as-of"):
		t, err := versionTime(p.asOf, now)
		return keep.Pick{AsOf: t}, true, err
	}
	return keep.Pick{Rev: p.rev}, p.rev != 0, nil
}

type logOptions struct {
	storeFlag
	pickFlags
	since   string
	gone    bool
	backups bool
	limit   int
	data    string
	json    bool
}

func newLog(*app) verb {
	o := &logOptions{}
	return verb{
		use: "log [CHAT|FOLDER]", short: "Say what happened, or list the versions of a chat",
		doc: logDoc,
		example: `  stchat log --since 1w
  stchat log --gone
  stchat log "chats/Mira/Harbour.jsonl"
  stchat log Mira/Harbour --backups
  stchat log Mira/Harbour --rev -1
  stchat log . --as-of 2d`,
		args: cobra.MaximumNArgs(1),
		rules: []string{
			"rev excludes as-of = --rev and --as-of both name the version; take one of them",
			"limit excludes rev|as-of = --limit goes with a list, not with one version",
			"gone excludes since|as-of|limit|rev|backups = --gone lists what is gone now; it goes alone",
			"since excludes rev|as-of|backups = --since is about the snapshots of a folder",
		},
		pages: everything,
		flags: o.addFlags, run: o.run,
	}
}

func (o *logOptions) addFlags(fs *pflag.FlagSet) {
	o.pickFlags.addFlags(fs, "list what changed in")
	fs.StringVar(&o.since, "since", "", "of a folder: leave out snapshots before `TIME`: 2026-03-01, \"2026-03-01 18:42\" or an age such as 2w")
	fs.BoolVar(&o.gone, "gone", false, "of a folder: list the chats that are gone, and how each comes back")
	fs.BoolVar(&o.backups, "backups", false, "also list SillyTavern's own backups of the chat")
	fs.Var(number(&o.limit, 1, "a number of at least 1"), "limit", "list at most `N` versions or snapshots")
	o.storeFlag.addFlags(fs)
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the path")
	fs.BoolVar(&o.json, "json", false, "print JSON documents, one per version, message, snapshot or file")
}

func (o *logOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		root, err := undoRoot(a, o.data)
		if err != nil {
			return err
		}
		args = []string{root}
	}
	args = []string{a.folderOf(o.data, args[0])}
	where, err := o.where(a, args, o.data)
	if err != nil {
		return err
	}
	where.Backups = o.backups
	which, one, err := o.pick(fs, where.Now)
	if err != nil {
		return err
	}
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
		return o.folder(ctx, a, args[0], which)
	}
	if o.gone || o.since != "" {
		return usagef("--gone and --since are about a folder, and %s is none", visible.Quote(args[0]))
	}
	c := a.console()
	w := bufio.NewWriter(c.Out)
	var note string
	if one {
		note, err = keep.Changes(ctx, where, which, func(d keep.Changed) error {
			return put(w, o.json, d, changedLine(c, d))
		})
	} else {
		list := &logTable{}
		note, err = keep.Log(ctx, where, o.limit, func(d keep.Logged) error {
			if c.shown && !o.json {
				list.add(d)
				return nil
			}
			if !o.json {
				list.head(d, func(text string) { fmt.Fprintln(w, "# "+text) })
			}
			return put(w, o.json, d, loggedLine(d))
		})
		s := newScreen(c, w, 0)
		list.print(&s)
	}
	if note != "" {
		c.note("%s", note)
	}
	if flushed := w.Flush(); err == nil {
		err = flushed
	}
	return o.told(err)
}

// folder lists what happened in a folder, what is gone there, or what was in it at a time.
func (o *logOptions) folder(ctx context.Context, a *app, folder string, which keep.Pick) (err error) {
	if which.Rev != 0 || o.backups {
		return usagef("--rev and --backups are about a chat, and %s is a folder", visible.Quote(folder))
	}
	opt := keep.FolderOptions{Folder: folder, Store: o.of(a), AsOf: which.AsOf, Now: a.Now()}
	c := a.console()
	w := bufio.NewWriter(c.Out)
	n := 0
	switch {
	case o.gone:
		err = keep.GoneChats(ctx, opt, func(g *keep.GoneChat) error {
			n++
			command := restoreCommand(o.of(a), g.Rev, g.Path, g.Name)
			g.Command = &command
			return put(w, o.json, g, goneLine(c, g))
		})
		if err == nil && n == 0 {
			c.note("nothing is gone")
		}
	case !which.AsOf.IsZero():
		err = keep.FolderAsOf(ctx, opt, func(k *keep.Kept) error { return put(w, o.json, k, keptLine(c, k)) })
	default:
		var from time.Time
		if o.since != "" {
			if from, err = since(o.since, opt.Now); err != nil {
				return err
			}
		}
		err = keep.FolderLog(ctx, opt, from, o.limit, func(r keep.Ran) error { return put(w, o.json, r, strings.Join(ranLines(c, r), "\n")) })
	}
	if flushed := w.Flush(); err == nil {
		err = flushed
	}
	return beginsOne(err)
}

// beginsOne adds to the error that there is no history how to begin one.
func beginsOne(err error) error {
	if errors.Is(err, history.ErrNoStore) {
		return &hinted{err, "; 'stchat snapshot' begins one"}
	}
	if err == nil {
		return nil
	}
	return withHint(err, nil)
}

// restoreCommand returns the command that brings a version back, from any folder: of a chat that
// is gone under its own name, unless another one has that.
func restoreCommand(store string, rev int64, path, name string) string {
	words := []string{"stchat restore --rev", strconv.FormatInt(rev, 10)}
	if name != "" {
		words = append(words, "--name", visible.Quote(name))
	}
	if store != "" {
		words = append(words, visible.Quote("--store="+absolute(store)))
	}
	return strings.Join(append(words, visible.Args(absolute(path))), " ")
}

// absolute returns a path that leads there from any folder.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// goneLine returns a chat that is gone as a line of text.
func goneLine(c *console, g *keep.GoneChat) string {
	if !c.shown {
		return strings.Join([]string{visible.Text(g.Path), strconv.FormatInt(g.Rev, 10), g.At, strconv.Itoa(g.Messages), *g.Command}, "\t")
	}
	return fmt.Sprintf("%s  %s  %s\n  %s", visible.Text(g.Path), localTime(g.At), plural.S(g.Messages, "message"), *g.Command)
}

// keptLine returns a file as it was as a line of text.
func keptLine(c *console, k *keep.Kept) string {
	cells := []string{visible.Text(k.Path), "", "", "", ""}
	if k.Messages != nil {
		cells[1] = strconv.Itoa(*k.Messages)
	}
	switch {
	case k.Rev == nil:
		cells[4] = "not kept any more"
	case !k.Exact:
		cells[4] = "an older version"
		fallthrough
	default:
		cells[2], cells[3] = strconv.FormatInt(*k.Bytes, 10), strconv.FormatInt(*k.Rev, 10)
	}
	if c.shown {
		return fmt.Sprintf("%5s  %6s  %s  %s", cells[3], cells[1], cells[0], cells[4])
	}
	return strings.Join(cells, "\t")
}

// ranLines returns a snapshot and what it found as lines of text.
func ranLines(c *console, r keep.Ran) (lines []string) {
	if c.shown {
		head := fmt.Sprintf("%4d  %s", r.Run, localTime(r.At))
		if r.Note != "" {
			head += "  (" + visible.Text(r.Note) + ")"
		}
		lines = append(lines, head)
	} else if len(r.Changes) == 0 {
		lines = append(lines, strings.Join([]string{strconv.FormatInt(r.Run, 10), r.At, "", "", "", "", "", visible.Text(r.Note)}, "\t"))
	}
	for _, f := range r.Changes {
		rev, counts := "", ""
		if f.Rev != nil {
			rev = strconv.FormatInt(*f.Rev, 10)
		}
		if f.Added != nil {
			counts = fmt.Sprintf("+%d ~%d -%d", *f.Added, *f.Changed, *f.Removed)
		}
		if !c.shown {
			lines = append(lines, strings.Join([]string{strconv.FormatInt(r.Run, 10), r.At, f.Change, visible.Text(f.Path), visible.Text(deref(f.From)), rev, counts, visible.Text(r.Note)}, "\t"))
			continue
		}
		name := visible.Text(f.Path)
		if f.From != nil {
			name = visible.Text(*f.From) + " → " + name
		}
		lines = append(lines, fmt.Sprintf("      %-8s  %5s  %-14s  %s", f.Change, rev, counts, name))
	}
	return lines
}

// put prints a document, or else its line.
func put(w io.Writer, json bool, doc any, line string) error {
	if json {
		return jsondoc.Write(w, doc, "")
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// told adds what helps to an error.
func (o *logOptions) told(err error) error {
	if errors.Is(err, keep.ErrUnknown) && !o.backups {
		return &hinted{err, "; --backups also looks in SillyTavern's own"}
	}
	if err == nil {
		return nil
	}
	return withHint(err, nil)
}

// loggedLine returns a version as a row for a pipe.
func loggedLine(d keep.Logged) string {
	rev, counts := logged(d)
	return strings.Join([]string{rev, d.At, string(d.Source), strconv.Itoa(d.Messages), counts, visible.Text(d.Note), visible.Text(d.Last)}, "\t")
}

// logged returns a version's number, and what changed in it.
func logged(d keep.Logged) (rev, counts string) {
	rev = "-"
	if d.Rev != nil {
		rev = strconv.FormatInt(*d.Rev, 10)
	}
	return rev, fmt.Sprintf("+%d ~%d -%d", d.Added, d.Changed, d.Removed)
}

// logTable collects versions for a person.
type logTable struct {
	grid.Table
	other string // the other chat whose versions come now
}

// head tells where versions of another chat begin.
func (t *logTable) head(d keep.Logged, tell func(string)) {
	if d.Other && t.other != d.Path {
		t.other = d.Path
		tell("another chat, which had this name: " + visible.Args(d.Path))
	}
}

func (t *logTable) add(d keep.Logged) {
	t.head(d, func(text string) { t.Rows = append(t.Rows, grid.Row{Heading: text}) })
	rev, counts := logged(d)
	t.Rows = append(t.Rows, grid.Row{Cells: []string{
		rev, localTime(d.At), string(d.Source), strconv.Itoa(d.Messages), counts, visible.Text(d.Note), visible.Text(d.Last),
	}})
}

func (t *logTable) print(s *screen) {
	if len(t.Rows) == 0 {
		return
	}
	t.Columns = []grid.Column{
		{Title: "rev", Right: true},
		{Title: "time", Code: dim},
		{Title: "source", Optional: true},
		{Title: "messages", Right: true, Code: green},
		{Title: "changes"},
		{Title: "note", Name: true, Text: true},
		{Title: "last message", Text: true, Code: dim},
	}
	s.table(&t.Table)
}

// changedLine returns a changed message as a line of text.
func changedLine(c *console, d keep.Changed) string {
	sign := "~"
	var text string
	switch {
	case d.From == nil:
		sign, text = "+", *d.To
	case d.To == nil:
		sign, text = "-", *d.From
	default:
		text = *d.From + " → " + *d.To
		if c.shown {
			text = visible.Truncate(visible.Text(*d.From), 60) + " → " + visible.Truncate(visible.Text(*d.To), 60)
		}
	}
	if !c.shown {
		return fmt.Sprintf("%s\t%d\t%s\t%s\t%s", sign, d.Index, d.Role, visible.Text(d.Name), visible.Text(text))
	}
	return fmt.Sprintf("%s %5d  %-9s  %s: %s", sign, d.Index, d.Role, visible.Text(d.Name), visible.Truncate(visible.Text(text), 130))
}

// localTime returns a document's time in local time, for people.
func localTime(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return at
	}
	return t.Local().Format(minute)
}

// gone counts chats that are gone, in words.
func gone(n int) string {
	if n == 1 {
		return "1 chat is"
	}
	return fmt.Sprintf("%d chats are", n)
}

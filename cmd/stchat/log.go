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
	"stchat/internal/ops/keep"
	"stchat/internal/plural"
	"stchat/internal/sendate"
	"stchat/internal/visible"
)

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

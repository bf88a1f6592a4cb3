package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/history"
	"stchat/internal/ops/address"
	"stchat/internal/ops/keep"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
	"stchat/internal/text/visible"
)

// pickFlags are --rev and --as-of.
type pickFlags struct {
	rev  int64
	asOf time.Time
}

func (p *pickFlags) addFlags(fs *pflag.FlagSet, what string) {
	fs.Int64Var(&p.rev, "rev", 0, what+" `REV`: a number as log lists it, or from the end, -1 being the newest")
	fs.Var(asOf(&p.asOf), "as-of", what+" the last version not later than `TIME`: 2026-03-01, \"2026-03-01 18:42\", RFC 3339, yesterday, or an age such as 2h, 3d, \"2 weeks ago\"")
}

// pick returns the version that the flags name, the zero Pick if neither was used.
func (p *pickFlags) pick(fs *pflag.FlagSet) (keep.Pick, error) {
	if fs.Changed("rev") && p.rev == 0 {
		return keep.Pick{}, usagef("--rev takes a number such as 12 or -1; versions count from 1")
	}
	return keep.Pick{Rev: p.rev, AsOf: p.asOf}, nil
}

type logOptions struct {
	pickFlags
	since     time.Time
	backups   bool
	commands  bool // only these
	snapshots bool // only these, with what each found
	limit     int
}

func newLog() verb {
	return verb{
		use: "log [CHAT|FOLDER|OWNER]", short: "Show what happened, or list the versions of a chat",
		doc: `What happened in a user folder, in a folder of it or with the chats of an owner,
newest first: the commands that undo knows, and the snapshots. With CHAT, its
versions: number, time, where it came from, messages, what was added, changed
and removed; with --rev or --as-of, what that version changed. CHAT may be gone
or renamed, and any other file that is kept: a lorebook, a card, a group.
`, more: `--snapshots lists what each snapshot found new, changed (+ messages added, ~
changed, - removed), renamed, gone or back; --as-of lists what was in the folder
at that time. With --backups also SillyTavern's own backups of CHAT. What a
version changed is a row a message.

In a pipe: time, "command" or "snapshot", ID or number, text, files, "undone".
`,
		example: `  stchat log --since 1w
  stchat log Mira/Harbour --backups
  stchat log Mira/Harbour --rev -1`,
		also: "undo, restore, lost",
		args: cobra.MaximumNArgs(1),
		rules: []string{
			"rev excludes as-of = --rev and --as-of both name the version; take one of them",
			"limit excludes rev|as-of = --limit goes with a list, not with one version",
			"since excludes rev|as-of|backups = --since is about what happened in a folder",
			"commands excludes snapshots|rev|as-of|backups",
			"snapshots excludes rev|as-of|backups",
		},
		pages:   everything,
		options: &logOptions{},
	}
}

func (o *logOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.commands, "commands", false, "only commands")
	fs.BoolVar(&o.snapshots, "snapshots", false, "only snapshots, with the files that each found changed")
	fs.Var(since(&o.since), "since", "leave out what is older than `TIME`")
	fs.Var(number(&o.limit, 0, "a number, 0 for all"), "limit", "list at most `N`; 0: all")
	o.pickFlags.addFlags(fs, "list what changed in")
	fs.BoolVar(&o.backups, "backups", false, "also list SillyTavern's own backups of the chat")
}

func (o *logOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		root, err := undoRoot(c)
		if err != nil {
			return err
		}
		args = []string{root}
	}

	arg := strings.TrimSuffix(args[0], "/*") // all chats of an owner are what the owner has
	if group := c.groupOf(arg); group != nil {
		return o.group(ctx, c, arg, group)
	}
	args = []string{c.folderOf(arg)}
	where, err := c.where(args)
	if err != nil {
		return err
	}
	where.Backups = o.backups
	if where.Pick, err = o.pick(fs); err != nil {
		return err
	}
	if userdir.IsDir(where.Chat) {
		if where.Chat, err = onlyUser(where.Chat); err != nil {
			return err
		}
		return o.folder(ctx, c, where)
	}

	if !o.since.IsZero() || o.commands || o.snapshots {
		return usagef("--since, --commands and --snapshots are about a folder, and %s is none", visible.Quote(where.Chat))
	}
	return o.chat(ctx, c, where)
}

// chat lists the versions of a chat, or what changed in one of them.
func (o *logOptions) chat(ctx context.Context, c *console, where keep.Where) (err error) {
	t := newListing(c)
	var note, none string
	if where.Pick != (keep.Pick{}) {
		t.Columns = []grid.Column{{}, {Right: true}, {Title: "role", Optional: true}, {Title: "name", Name: true}, {Title: "text", Text: true}}
		none = "no message was changed in that version"
		note, err = keep.Changes(ctx, where, func(d keep.Changed) error { return t.put(d, t.changed(d)) })
	} else {
		note, err = o.versions(ctx, t, where)
	}

	if note != "" {
		c.note("%s", note)
	}
	t.end(none, err)

	return o.unknown(c, where, err)
}

// unknown adds to the error that no version of a chat is known what helps, or why there is none.
func (o *logOptions) unknown(c *console, where keep.Where, err error) error {
	none, isNone := errors.AsType[*address.NoneError](err)
	if !errors.Is(err, keep.ErrUnknown) || isNone && none.Empty {
		return withHint(err, nil)
	}
	path := where.Chat
	if found, findErr := c.finder().Find(where.Chat); findErr == nil && len(found.Paths) == 1 {
		path = found.Paths[0]
	}
	_, missing := os.Lstat(path)
	_, noStore := os.Stat(keep.StoreOf(rootOf(path), c.store()))
	if missing == nil && noStore != nil && !o.backups {
		return c.beginsOne(history.ErrNoStore)
	}

	hints := "; --backups also looks in SillyTavern's own, 'stchat lost CHAT -v' in what undo keeps"
	if o.backups {
		hints = inLost
	}
	if missing != nil && !isNone {
		hints = ", and no file is called so" + hints
	}
	return withHint(err, []hint{{keep.ErrUnknown, hints}})
}

// versions lists the versions of a chat.
func (o *logOptions) versions(ctx context.Context, t *listing, where keep.Where) (note string, err error) {
	t.Columns = []grid.Column{
		{Title: "rev", Right: true},
		{Title: "time", Code: dim},
		{Title: "source", Optional: true},
		{Title: "messages", Right: true, Code: green},
		{Title: "changes", Code: signed},
		{Title: "note", Name: true, Text: true},
		{Title: "last message", Text: true},
	}

	other := "" // the other chat whose versions come now
	return keep.Log(ctx, where, o.limit, func(d keep.Logged) error {
		if d.Other && other != d.Path {
			other = d.Path
			t.head("another chat, which had this name: "+visible.Args(d.Path), "")
		}
		return t.put(d, t.logged(d))
	})
}

// folder lists what happened in a folder, or what was in it at a time.
func (o *logOptions) folder(ctx context.Context, c *console, where keep.Where) (err error) {
	if where.Rev != 0 || o.backups {
		return usagef("--rev and --backups are about a chat, and %s is a folder", visible.Quote(where.Chat))
	}
	t, none := newListing(c), ""
	switch {
	case !where.AsOf.IsZero():
		t.Columns = []grid.Column{{Title: "rev", Right: true}, {Title: "messages", Right: true, Code: green}, {Title: "file", Name: true, Code: cyan}, {Code: yellow}}
		var list []*keep.Kept
		list, err = keep.FolderAsOf(ctx, where)
		for _, k := range list {
			err = cmp.Or(err, t.put(k, t.kept(k)))
		}
	case !o.snapshots:
		return o.story(ctx, c, where, tellingOf(where.Chat))
	default:
		t.Columns = []grid.Column{{Title: "found"}, {Title: "rev", Right: true}, {Title: "changes", Code: signed}, {Title: "file", Name: true, Code: cyan}}
		none = "there is no snapshot"
		if !o.since.IsZero() {
			none += " since then"
		}
		err = keep.FolderLog(ctx, where, o.since, o.limit, t.ran)
	}

	t.end(none, err)
	return c.beginsOne(err)
}

// group tells what happened to the chats of a group.
func (o *logOptions) group(ctx context.Context, c *console, name string, group *address.Owner) error {
	isVersion := o.rev != 0 || !o.asOf.IsZero()
	if isVersion || o.backups || o.snapshots {
		return usagef("%s is a group; --rev and --backups are about one of its chats, --as-of and --snapshots about a folder", name)
	}
	where := keep.Where{Chat: group.Dir.Root, Store: c.store(), Data: c.dataFolder(), Now: c.Now()}
	return o.story(ctx, c, where, tellingOfGroup(name, group))
}

// beginsOne adds to the error that there is no history how to begin one. Where it would lie is told if that is
// not its usual place.
func (c *console) beginsOne(err error) error {
	if errors.Is(err, history.ErrNoStore) && c.store() == "" {
		err = history.ErrNoStore
	}
	return withHint(err, []hint{{history.ErrNoStore, "; 'stchat snapshot' begins one"}})
}

// absolute returns a path that leads there from any folder.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// listing is a list as log and undo print it: rows of a table for a person, which is printed at the
// end, lines for a pipe, or documents.
type listing struct {
	screen
	grid.Table
	c    *console
	rows bool
}

func newListing(c *console) *listing {
	return &listing{screen: newScreen(c, 0), c: c, rows: c.shown && !c.json}
}

// put prints a document, if there is one, or else a row.
func (t *listing) put(doc any, row grid.Row) error {
	switch {
	case t.c.json && doc != nil:
		return t.c.document(doc)
	case t.rows:
		t.Rows = append(t.Rows, row)
	default:
		t.c.row(row.Cells...)
	}
	return nil
}

// head begins a part of the list.
func (t *listing) head(text, about string) {
	switch {
	case t.rows:
		t.Rows = append(t.Rows, grid.Row{Heading: text, About: about})
	case !t.c.json:
		fmt.Fprintln(t.w, "# "+text)
	}
}

// end prints the table; where nothing is in it, and no error says why, a person is told so.
func (t *listing) end(none string, err error) {
	if len(t.Rows) > 0 {
		t.table(&t.Table)
	} else if t.rows && none != "" && err == nil {
		t.c.note("%s", none)
	}
}

// kept returns the row of a file as it was.
func (t *listing) kept(k *keep.Kept) grid.Row {
	path := visible.Text(k.Path)
	about := ""
	switch {
	case k.Rev == nil:
		about = "not kept any more"
	case !k.Exact:
		about = "an older version"
	}

	if t.rows {
		return grid.Row{Cells: []string{digits(k.Rev), digits(k.Messages), path, about}}
	}
	return grid.Row{Cells: []string{path, digits(k.Messages), digits(k.Bytes), digits(k.Rev), about}}
}

// ran puts a snapshot and what it found.
func (t *listing) ran(r keep.Ran) (err error) {
	run, note := strconv.FormatInt(r.Run, 10), visible.Text(r.Note)
	switch {
	case t.c.json:
		return t.c.document(r)
	case t.rows:
		t.head(run+"  "+localTime(r.At), note)
	case len(r.Changes) == 0:
		return t.put(nil, grid.Row{Cells: []string{run, r.At, "", "", "", "", "", note}})
	}

	for _, f := range r.Changes {
		rev := digits(f.Rev)
		counts := ""
		name := visible.Text(f.Path)
		if f.Added != nil {
			counts = fmt.Sprintf("+%d ~%d -%d", *f.Added, *f.Changed, *f.Removed)
		}
		cells := []string{run, r.At, f.Change, name, textOr(f.From), rev, counts, note}
		if t.rows {
			if f.From != nil {
				name = visible.Text(*f.From) + t.sign(" → ") + name
			}
			cells = []string{f.Change, rev, counts, name}
		}
		if err = t.put(nil, grid.Row{Cells: cells}); err != nil {
			break
		}
	}
	return err
}

// logged returns the row of a version. A person sees no messages of a file that is no chat.
func (t *listing) logged(d keep.Logged) grid.Row {
	at := d.At
	last := d.Last
	if t.rows {
		at = localTime(d.At)
		last = d.Said
	}
	messages := strconv.Itoa(d.Messages)
	counts := fmt.Sprintf("+%d ~%d -%d", d.Added, d.Changed, d.Removed)
	if t.rows && !userdir.HasExtension(d.Path) {
		messages = ""
		counts = ""
	}
	return grid.Row{Cells: []string{
		cmp.Or(digits(d.Rev), "-"), at, string(d.Source), messages, counts, visible.Text(d.Note), t.c.excerpt(last),
	}}
}

// changed returns the row of a changed message.
func (t *listing) changed(d keep.Changed) grid.Row {
	sign, code := "~", yellow
	from := deref(d.From)
	to := deref(d.To)
	arrow := " → "
	index := strconv.Itoa(d.Index)
	if t.rows { // no more than is shown
		arrow = t.sign(arrow)
		index = "#" + index
		width := t.width
		if d.To != nil {
			width = max((t.width-40)/2, 10) // half of what other columns leave
		}
		from = visible.CutRight(visible.Text(from), width, t.sign("…"))
		to = visible.CutRight(visible.Text(to), t.width, t.sign("…"))
	}

	text := from + arrow + to
	switch {
	case d.From == nil:
		sign = "+"
		code = green
		text = to
	case d.To == nil:
		sign = "-"
		code = red
		text = from
	case t.rows && *d.From == *d.To: // another key changed
		text = to
	}
	return grid.Row{Cells: []string{sign, index, deref(d.Role), textOr(d.Name), visible.Text(text)}, Codes: []string{code, "", "", roleColor(deref(d.Role))}}
}

// localTime returns a document's time in local time, for people.
func localTime(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return at
	}
	return t.Local().Format(minute)
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/history"
	"stchat/internal/ops/keep"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

type storeOptions struct {
	verify, mend, prune, forget, compact bool
	rules                                history.Rules
}

func newStore() verb {
	return verb{
		writes: true,
		use:    "store [CHAT...]", short: "Check the history, or make it smaller",
		doc: `Show what the history of a user folder holds, check it (--verify), or make it
smaller: --prune drops the versions that no --keep flag keeps, --forget drops
everything kept of the given chats, which are named whole, and --compact returns
free space to the disk. Undo records, SillyTavern's backups and copies of the
history that you made are not touched.
`, more: `The folder is that of --data, else the one that you are in, else the one that
STCHAT_DATA names.

  --verify   reads everything, computes every checksum again, and lists what
             cannot be restored, version by version, and which names, times and
             notes were changed. --mend stores lost lines again from files that
             still have them
  --prune    drops the versions of each chat that no --keep flag keeps. Versions
             with a note stay, and so does the last one of a chat that is gone
  --forget   drops everything kept of the given chats, which are named whole:
             what no other chat shares is overwritten, and the file is
             compacted. The chats' files stay, and the next snapshot would take
             them again
  --compact  returns free space in the file to the disk

Only days, weeks and months that have a version are counted. --prune and
--forget ask first; elsewhere than on a terminal they need -y.

In a pipe there is a name, a tab and a value on each line.
`, no: "--verify found that something is wrong",
		also: "snapshot, log, restore",
		example: `  stchat store --verify
  stchat store --prune --keep-last 20 --keep-daily 30 --keep-monthly 24
  stchat store --forget Mira/Harbour --dry-run`,
		rules: []string{
			"verify excludes prune|forget|compact = --verify, --prune, --forget and --compact are different things to ask for",
			"prune excludes forget|compact = --verify, --prune, --forget and --compact are different things to ask for",
			"forget excludes compact = --verify, --prune, --forget and --compact are different things to ask for",
			"mend needs verify",
			"forget needs ARG = name the chats to forget, e.g. Mira/Harbour",
			"ARG needs forget = chats are named with --forget, and a user folder with --data; `stchat log` lists the versions of one",
			"keep-last|keep-daily|keep-weekly|keep-monthly needs prune = --keep rules go with --prune",
			"prune needs keep-last|keep-daily|keep-weekly|keep-monthly = --prune needs a rule, such as --keep-daily 30: it would leave nothing",
		},
		options: &storeOptions{},
	}
}

func (o *storeOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.verify, "verify", false, "read all of it, and list what cannot be restored")
	fs.BoolVar(&o.mend, "mend", false, "with --verify: store lost lines again from files that still have them")
	fs.BoolVar(&o.prune, "prune", false, "drop versions that no --keep rule names")
	for _, rule := range []struct {
		n          *int
		name, what string
	}{
		{&o.rules.Last, "last", "the newest `N`"},
		{&o.rules.Daily, "daily", "the newest of each of the last `N` days"},
		{&o.rules.Weekly, "weekly", "the newest of each of the last `N` weeks"},
		{&o.rules.Monthly, "monthly", "the newest of each of the last `N` months"},
	} {
		fs.Var(number(rule.n, 1, "a number of at least 1"), "keep-"+rule.name, "with --prune: keep "+rule.what)
	}

	fs.BoolVar(&o.forget, "forget", false, "drop all that is kept of the given chats")
	fs.BoolVar(&o.compact, "compact", false, "return free space in the file to the disk")
}

func (o *storeOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	root, err := undoRoot(c)
	if err != nil {
		return err
	}
	opt := keep.HistoryOptions{Root: root, Store: c.store(), Now: c.Now(), DryRun: c.dryRun}
	var d *keep.History
	switch {
	case o.verify:
		d, err = keep.Verify(ctx, opt, o.mend)
	case o.prune:
		prune := func(opt keep.HistoryOptions) (*keep.History, error) { return keep.Prune(ctx, opt, o.rules) }
		d, err = c.agreedFor(ctx, opt, prune, func(would *keep.History) string {
			return "drop " + c.many(would.Freed.Versions, "version") + " of the history for good"
		})
	case o.forget:
		for _, arg := range args {
			if err := refuseSeveral(arg); err != nil {
				return err
			}
		}
		forget := func(opt keep.HistoryOptions) (*keep.History, error) { return keep.Forget(ctx, opt, args) }
		d, err = c.agreedFor(ctx, opt, forget, func(would *keep.History) string {
			return "forget " + c.many(would.Freed.Versions, "version") + " of " + c.namesOf(would.Forgot) + " for good"
		})
	case o.compact:
		d, err = keep.Compact(ctx, opt)
	default:
		d, err = keep.Describe(ctx, opt)
	}
	if err != nil {
		return c.beginsOne(err)
	}
	if c.json {
		c.document(d)
	} else {
		o.print(c, d)
	}

	c.flush()
	if len(d.Problems) > 0 {
		return errNo
	}
	if o.forget && !c.dryRun {
		for _, chat := range args {
			if _, stat := os.Stat(chat); stat == nil {
				c.note("%s: the file is still there, and the next snapshot would take it again", chat)
			}
		}
	}

	if d.Freed != nil {
		for _, other := range d.Others {
			c.note("%s once had the same name, and stays", visible.Quote(other))
		}
	}
	return nil
}

// namesOf names chats in a sentence.
func (c *console) namesOf(paths []string) string {
	var named []string
	for _, path := range paths {
		named = append(named, strconv.Quote(visible.Text(c.addressOf(path))))
	}
	return strings.Join(named, ", ")
}

// agreedFor changes the store once that is agreed to: no undo takes it back. what says it of the versions
// that go. An error of a dry run comes before the question.
func (c *console) agreedFor(ctx context.Context, opt keep.HistoryOptions, change func(keep.HistoryOptions) (*keep.History, error), what func(would *keep.History) string) (*keep.History, error) {
	if c.asks() {
		rehearsal := opt
		rehearsal.DryRun = true
		would, err := change(rehearsal)
		if err != nil {
			return nil, err
		}
		if would.Freed.Versions == 0 && would.Freed.Pieces == 0 {
			return change(opt) // nothing goes
		}
		if err := c.confirm(ctx, what(would)); err != nil {
			return nil, err
		}
	}
	return change(opt)
}

// print prints a history as text.
func (o *storeOptions) print(c *console, d *keep.History) {
	wrong := newListing(c)
	wrong.Columns = []grid.Column{{Code: red}, {Name: true, Code: cyan}, {Text: true}}
	for _, p := range d.Problems {
		cells := []string{string(p.Rule)}
		if p.Chat != nil {
			cells = append(cells, fmt.Sprintf("%s rev %d", visible.Text(*p.Chat), *p.Rev))
		}
		if p.Index != nil {
			cells[len(cells)-1] += fmt.Sprintf(" message %d", *p.Index)
		}
		cells = append(cells, visible.Text(p.Text))
		if wrong.rows && len(cells) < 3 {
			cells = slices.Insert(cells, 1, "")
		}
		_ = wrong.put(nil, grid.Row{Cells: cells}) // it fails for documents only
	}

	wrong.end("", nil)
	if o.verify {
		c.told(o.verifyBlock(d))
		return
	}
	freed := d.Freed
	if o.compact {
		freed = nil
	}
	if freed != nil {
		c.told(c.freedBlock(d))
	}
	if !c.shown {
		storeRows(c, d, freed)
		return
	}

	rows := []grid.Row{
		{Cells: []string{"  chats and files", plural.Grouped(int(d.Chats))}},
		{Cells: []string{"  versions", fmt.Sprintf("%s, %s as files", plural.Grouped(int(d.Versions)), formatBytes(d.Raw))}},
		{Cells: []string{"  lines", plural.Grouped(int(d.Pieces))}},
		{Cells: []string{"  on disk", formatBytes(d.Bytes)}},
	}
	s := newScreen(c, 0)
	s.line(cyan, visible.Text(d.Store))
	s.table(&grid.Table{Columns: []grid.Column{{}, {Code: green}}, Rows: rows})
}

// storeRows prints a history for a pipe, a name and a value on each line, and what was dropped from it, if
// anything was to be.
func storeRows(c *console, d *keep.History, freed *history.Freed) {
	c.row("store", visible.Text(d.Store))
	count := func(name string, n int64) { c.row(name, strconv.FormatInt(n, 10)) }
	count("chats and files", d.Chats)
	count("versions", d.Versions)
	count("bytes as files", d.Raw)
	count("lines", d.Pieces)
	count("bytes on disk", d.Bytes)
	if freed != nil {
		count("dropped versions", int64(freed.Versions))
		count("dropped bytes", freed.Bytes)
	}
	for _, path := range d.Forgot {
		c.row("forgotten", visible.Text(c.addressOf(path)))
	}
}

// verifyBlock tells a person what came of checking the history.
func (o *storeOptions) verifyBlock(d *keep.History) block {
	found := "nothing is wrong"
	if n := len(d.Problems); n > 0 {
		found = plural.Many(n, "problem")
	}
	b := block{sentence: fmt.Sprintf("%s: %s in %s checked", found, plural.Many(int(d.Versions), "version"), formatBytes(d.Bytes))}
	if d.Mended != nil {
		b.add("repaired", plural.Many(*d.Mended, "line")+" stored again")
	}
	return b
}

// freedBlock tells a person what went from the history.
func (c *console) freedBlock(d *keep.History) block {
	f := d.Freed
	dropped := c.did("dropped", "would drop")
	b := block{sentence: fmt.Sprintf("%s %s and %s: %s", dropped, plural.Many(f.Versions, "version"), plural.Many(int(f.Pieces), "line"), formatBytes(f.Bytes))}
	for _, path := range d.Forgot {
		b.add("forgotten", visible.Text(c.addressOf(path)))
	}
	return b
}

type snapshotOptions struct {
	listFlags
	opt keep.SnapshotOptions
}

func newSnapshot() verb {
	return verb{
		writes: true,
		use:    "snapshot [PATH...]", short: "Keep a version of every chat that changed",
		doc: `Keep a version of every chat that changed since the last snapshot, with group
files, lorebooks, cards and the files that Luker keeps beside chats. Every
version can be restored byte for byte, damaged or not: see log and restore. All
are in one file that only you can read, .stchat/history.db in the user folder,
or the one that STCHAT_STORE names; chats outside a user folder need the latter.
`,
		also: "log, restore, lost, store",
		example: `  stchat snapshot
  stchat snapshot Mira/Harbour
  stchat snapshot --backups -m "before the update"`,
		means:   &subjects{all: true},
		options: &snapshotOptions{},
	}
}

func (o *snapshotOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.BoolVar(&o.opt.Backups, "backups", false, "also take SillyTavern's own backups, as earlier versions")
	fs.StringVarP(&o.opt.Note, "note", "m", "", "a `NOTE` for the new versions; those with a note are never pruned")
}

func (o *snapshotOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	list, err := o.folders(ctx, c, args, nameFolder("snapshot"))
	if err != nil {
		return err
	}
	isFirst := c.tells() && !c.dryRun && c.store() == "" && beginsHistory(list.Paths)
	few := &takenFiles{screen: newScreen(c, 0), kinds: map[string]int{}}
	opt := o.opt
	opt.List = list
	opt.Store = c.store()
	opt.Now = c.Now()
	opt.DryRun = c.dryRun
	end := c.meter("keeping", c.json, &opt.Meter)
	opt.Each = func(t keep.Taken) error {
		if c.shown && !c.verbose && !c.json {
			few.add(t)
			return nil
		}
		return c.printTaken(t)
	}

	sum, err := keep.Snapshot(ctx, opt)
	end()
	if few.any() && err == nil {
		c.title(few.sum(sum))
	}
	few.print()
	c.flush()
	for _, e := range sum.Errs {
		c.failed("", withHint(e, []hint{{keep.ErrLoose, "; name one with " + storeVariable}}))
	}
	if err == nil && c.json {
		c.document(sum)
	}
	if err = cmp.Or(err, c.printed()); err != nil {
		c.work.done = sum.Unchanged + sum.Versions // others were read, but not kept yet
		c.work.left = max(0, int(opt.Meter.State().Files)-c.work.done)
		return withHint(err, nil)
	}

	switch isEmpty := sum.Files == 0 && len(sum.Errs) > 0; {
	case isEmpty || few.any():
	case c.tells() && !c.verbose:
		c.title(few.sum(sum))
	case c.verbose:
		c.note("%s", snapshotSum(sum))
	}

	if isFirst && sum.Versions > 0 {
		c.line("all versions are in " + userdir.Own + "/history.db, which only you can read")
	}
	if sum.Gone > 0 && !c.dryRun {
		c.noteGone(sum, list.Paths)
	}
	return outcome(len(sum.Errs) > 0, false)
}

// printTaken prints one new version.
func (c *console) printTaken(t keep.Taken) error {
	switch {
	case c.json:
		return c.document(t)
	case c.OutTTY && c.dryRun:
		fmt.Fprintf(c.w, "%s  rev %d\n", visible.Text(t.Path), t.Rev)
	case c.OutTTY:
		fmt.Fprintf(c.w, "%s  rev %d, %s more\n", visible.Text(t.Path), t.Rev, formatBytes(t.Stored))
	default:
		fmt.Fprintf(c.w, "%s\t%d\t%d\n", t.Path, t.Rev, t.Stored)
	}
	return nil
}

// noteGone says how many chats of some paths are gone since the last snapshot, and which command tells
// what is lost.
func (c *console) noteGone(sum *keep.Snapshotted, paths []string) {
	command := "stchat lost"
	isFolder := len(paths) == 1 && userdir.IsDir(paths[0])
	if isFolder && userdir.RealPath(paths[0]) != userdir.RealPath(".") {
		command += " " + visible.Args(absolute(paths[0]))
	}
	where := ""
	if sum.Part { // it did not look everywhere
		where = " from there, or elsewhere now,"
	}
	c.note("%s gone%s since the last one: `%s`", plural.Of(sum.Gone, "chat is", "chats are"), where, c.withStore(command))
}

// beginsHistory reports whether the user folder in which paths lie has no history yet.
func beginsHistory(paths []string) bool {
	if len(paths) == 0 {
		return false
	}
	folder := absolute(paths[0])
	if !userdir.IsDir(folder) {
		folder = filepath.Dir(folder)
	}
	root, ok := userdir.Around(folder)
	if !ok {
		return false
	}
	_, err := os.Stat(filepath.Join(root, userdir.Own, "history.db"))
	return errors.Is(err, fs.ErrNotExist)
}

// takenFiles are new versions as a person sees them: a line for each owner.
type takenFiles struct {
	screen
	names groups[string, string] // by owner
	kinds map[string]int
}

// namesShown is how many of an owner's files are named.
const namesShown = 3

func (f *takenFiles) add(t keep.Taken) {
	owner, name, ok := strings.Cut(t.Chat, "/")
	if !ok {
		owner, name = "", t.Chat
	}
	kind := cmp.Or(kindOfFolder(owner), "sidecar")
	if t.Messages != nil {
		kind = "chat"
	}
	f.kinds[kind]++
	f.names.add(owner, name)
}

func (f *takenFiles) any() bool { return len(f.names.keys) > 0 }

// print prints a line for each owner, up to as many as facts.
func (f *takenFiles) print() {
	owners := f.names.keys
	folders := map[string]string{"worlds": "lorebooks", "characters": "cards"} // as a person calls them
	column := 0                                                                // of what an owner has
	for _, owner := range owners {
		column = max(column, visible.Width(visible.Text(cmp.Or(folders[owner], owner))))
	}
	left := 0
	if len(owners) > factsShown+1 {
		left = len(owners) - factsShown
		owners = owners[:factsShown]
	}
	for _, owner := range owners {
		const lead, gap = "  ", "  "
		most := f.measure/2 - len(lead+gap)
		head := f.fitName(visible.Text(cmp.Or(folders[owner], owner)), f.measure-most)
		head = lead + visible.Pad(head, min(column, most)) + gap
		fmt.Fprintln(f.w, paint(f.color, cyan, head)+f.fileNames(owner, head))
	}

	if left > 0 {
		fmt.Fprintln(f.w, paint(f.color, dim, "  "+plural.Grouped(left)+" more (-v)"))
	}
}

// fileNames names as many of an owner's files as fit on a line behind head, or counts them.
func (f *takenFiles) fileNames(owner, head string) string {
	all := f.names.of[owner]
	slices.Sort(all) // what a chat grew from before it
	shown := all[:min(len(all), namesShown)]
	short := names.Shorts(owner, shown, func(i int) []string { return shown[:i] })
	for i := range short {
		short[i] = f.shortened(short[i])
	}
	for n := len(short); n > 0; n-- {
		text := strings.Join(short[:n], ", ")
		if more := len(all) - n; more > 0 {
			text += ", and " + plural.Grouped(more) + " more"
		}
		if visible.Width(head+text) <= f.measure {
			return text
		}
	}

	if len(all) == 1 {
		return f.fitName(short[0], visible.Width(head))
	}
	return plural.Many(len(all), "file")
}

// sum says how many files have a new version, by kind.
func (f *takenFiles) sum(s *keep.Snapshotted) string {
	var parts []string
	for _, kind := range []string{"chat", "lorebook", "group", "card", "sidecar"} {
		if n := f.kinds[kind]; n > 0 {
			parts = append(parts, plural.Many(n, kind))
		}
	}

	of := plural.Many(s.Files, "file")
	kept := "kept"
	if s.DryRun {
		kept = "would keep"
	}
	text := fmt.Sprintf("%s %s (of %s)", kept, strings.Join(parts, ", "), of)
	switch {
	case len(parts) == 0:
		text = of + " unchanged: nothing to keep"
	case !s.DryRun:
		text += ", " + formatBytes(s.Stored)
	}

	if s.LeftOut > 0 {
		text += fmt.Sprintf("; %d left out", s.LeftOut)
	}
	return text
}

// snapshotSum returns the sum as a line of text.
func snapshotSum(s *keep.Snapshotted) string {
	text := fmt.Sprintf("%s, %s: %s", plural.S(s.Files, "file"), formatBytes(s.Bytes), plural.S(s.Versions, "new version"))
	if s.DryRun {
		text += " would be kept"
	} else {
		text += " kept, " + formatBytes(s.Stored)
	}
	if s.LeftOut > 0 {
		text += fmt.Sprintf("; %d left out", s.LeftOut)
	}
	return text
}

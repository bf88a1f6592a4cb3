package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"stchat/internal/grid"
	"stchat/internal/history"
	"stchat/internal/ops/keep"
	"stchat/internal/plural"
	"stchat/internal/visible"
)

type historyOptions struct {
	storeFlag
	verify  bool
	mend    bool
	prune   bool
	rules   history.Rules
	forget  bool
	compact bool
	data    string
	dryRun  bool
}

func newHistory() verb {
	return verb{
		use: "history [CHAT...]", short: "Check the history, or make it smaller",
		doc: `Show what the history of a user folder holds, check it, or make it smaller.
The folder is that of --data, or else the one around the working folder.

  --verify   reads everything, computes every checksum again, and lists what
             cannot be restored, version by version, and which names, times and
             notes were changed; a search.db that does not fit is removed, and
             made anew. With --mend, lost lines are stored again from files that
             still have them
  --prune    drops the versions of each chat that no --keep flag keeps. Versions
             with a note stay, and so does the last one of a chat that is gone
  --forget   drops everything kept of the given chats: what no other chat shares
             is overwritten, and the file is compacted. The chats' files stay,
             and the next snapshot would take them again
  --compact  returns free space in the file to the disk

Only days, weeks and months that have a version are counted. Undo records,
SillyTavern's backups and copies of the history that you made are not touched.
`, no: "--verify found that something is wrong",
		example: `  stchat history
  stchat history --verify
  stchat history --prune --keep-last 20 --keep-daily 30 --keep-monthly 24
  stchat history --forget Mira/Harbour --dry-run`,
		rules: []string{
			"verify excludes prune|forget|compact = --verify, --prune, --forget and --compact are different things to ask for",
			"prune excludes forget|compact = --verify, --prune, --forget and --compact are different things to ask for",
			"forget excludes compact = --verify, --prune, --forget and --compact are different things to ask for",
			"mend needs verify",
			"forget needs ARG = name the chats to forget, e.g. Mira/Harbour",
			"ARG needs forget = chats are named with --forget; `stchat log` lists the versions of one",
			"keep-last|keep-daily|keep-weekly|keep-monthly needs prune = --keep rules go with --prune",
			"prune needs keep-last|keep-daily|keep-weekly|keep-monthly = --prune needs a rule, such as --keep-daily 30: it would leave nothing",
		},
		options: &historyOptions{},
	}
}

func (o *historyOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.verify, "verify", false, "read all of it, and name what does not come back")
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
	fs.BoolVar(&o.compact, "compact", false, "give room in the file back to the disk")
	o.storeFlag.addFlags(fs)
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: the one around the working folder")
	fs.BoolVar(&o.dryRun, "dry-run", false, "do everything but write; say what would be freed")
	fs.Bool("json", false, "print a JSON document instead of text")
}

func (o *historyOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	root, err := undoRoot(c, o.data)
	if err != nil {
		return err
	}
	opt := keep.HistoryOptions{Root: root, Store: o.of(c), Now: c.Now(), DryRun: o.dryRun}
	var d *keep.History
	switch {
	case o.verify:
		d, err = keep.Verify(ctx, opt, o.mend)
	case o.prune:
		d, err = keep.Prune(ctx, opt, o.rules)
	case o.forget:
		d, err = keep.Forget(ctx, opt, args)
	case o.compact:
		d, err = keep.Compact(ctx, opt)
	default:
		d, err = keep.Describe(ctx, opt)
	}
	if err != nil {
		return beginsOne(err)
	}
	if c.json {
		c.document(d)
	} else {
		o.print(c, d)
	}
	if len(d.Problems) > 0 {
		return errNo
	}
	if o.forget && !o.dryRun {
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

// print prints a history as text.
func (o *historyOptions) print(c *console, d *keep.History) {
	s := newScreen(c, 0)
	wrong := &grid.Table{Columns: []grid.Column{{Code: red}, {Name: true, Code: cyan}, {Text: true}}}
	for _, p := range d.Problems {
		cells := []string{string(p.Rule)}
		if p.Chat != nil {
			cells = append(cells, fmt.Sprintf("%s rev %d", visible.Text(*p.Chat), *p.Rev))
		}
		if p.Index != nil {
			cells[len(cells)-1] += fmt.Sprintf(" message %d", *p.Index)
		}
		cells = append(cells, visible.Text(p.Text))
		if !c.shown {
			c.row(cells...)
		} else if len(cells) < 3 {
			cells = slices.Insert(cells, 1, "")
		}
		wrong.Rows = append(wrong.Rows, grid.Row{Cells: cells})
	}
	if c.shown && len(wrong.Rows) > 0 {
		s.table(wrong)
	}
	if o.verify {
		if d.Mended != nil {
			c.note("%s stored again", plural.S(*d.Mended, "line"))
		}
		found := "nothing is wrong"
		if n := len(d.Problems); n > 0 {
			found = plural.S(n, "problem")
		}
		c.note("%s in %s checked, %s", plural.S(int(d.Versions), "version"), formatBytes(d.Bytes), found)
		return
	}
	if f := d.Freed; f != nil && !o.compact {
		verb := "dropped"
		if o.dryRun {
			verb = "would be dropped"
		}
		c.note("%s and %s %s: %s", plural.S(f.Versions, "version"), plural.S(int(f.Pieces), "line"), verb, formatBytes(f.Bytes))
	}
	index := "none; the first search makes it"
	if d.Indexed {
		index = formatBytes(d.IndexBytes)
	}
	s.line(cyan, visible.Text(d.Store))
	s.table(&grid.Table{Columns: make([]grid.Column, 2), Rows: []grid.Row{
		{Cells: []string{"  chats and files", strconv.Itoa(int(d.Chats))}},
		{Cells: []string{"  versions", fmt.Sprintf("%d, %s as files", d.Versions, formatBytes(d.Raw))}},
		{Cells: []string{"  lines", strconv.Itoa(int(d.Pieces))}},
		{Cells: []string{"  on disk", formatBytes(d.Bytes)}},
		{Cells: []string{"  word index", index}},
	}})
}

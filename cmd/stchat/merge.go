package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/ops/address"
	"stchat/internal/ops/merge"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newMerge() verb {
	return verb{
		writes: true,
		use:    "merge [INTO] FROM", short: "Merge two copies of a chat, of chats, or of a user folder",
		doc: `Merge two copies of a chat, of the chats of a character or group, or of a whole
user folder, which may be in a zip. FROM is only read; what only it has comes
into INTO whole. Where both went on, FROM's chat comes as a branch. Without
INTO, FROM goes into the user folder that you are in. Where more than one file
would change or come, it shows what, and asks. --conflicts merges the conflict
files of sync programs. The same FROM again finds nothing to do.
`, more: `What comes of a thing, in the table:

  =  the same
  <  INTO has all of it, perhaps more
  >  FROM has more: INTO's file gets its lines
  Y  both went on: INTO's chat stays, FROM's comes as a branch, CHAT__FOLDER
  2  another chat of the same name: it comes under another name
  +  new
  !  refused; the others are done

Without INTO, FROM is another user folder, or a character, a group or a chat of
one. A chat's copy is found by its name, its messages, or its integrity.
Messages are the same if speaker, text and date are, with any swipe chosen.
Whatever else INTO's messages hold is never overwritten: it makes a branch of
what only FROM has, too, but for fewer swipes, as after slim. Links are joined.

A user folder may be in a zip, such as SillyTavern's own backup. merge
takes its chats, groups, cards and lorebooks, and the images and files that they
name; never settings, personas, presets, tags, secrets or extensions. A lorebook
or an image whose name has other content in INTO comes under another name, and
what comes from FROM names that one. If a card or group differs, INTO's stays; a
card with another name and another greeting is another character.

--conflicts merges X.sync-conflict-…, "X (conflicted copy …)" and, where they
have X's integrity, X-COMPUTER and "X (1)", each into its X, and then removes
it; if there is no X, it gets that name.

Elsewhere than on a terminal it needs --yes. One 'stchat undo' takes all of it
back. A pipe gets a row for each thing: sign, path, FROM's path, the new path,
messages that only INTO's has, that only FROM's has, the first that differs.
`,
		also:    "import, join, diff, undo",
		example: "  stchat merge /media/phone/default-user\n  stchat merge Mira /media/phone/default-user/chats/Mira --dry-run\n  stchat merge Mira/Harbour ~/Downloads/Harbour.jsonl",
		args:    cobra.MaximumNArgs(2),
		rules: []string{
			"conflicts excludes ARGS = --conflicts takes one user folder and no FROM",
			"conflicts excludes base|owner = --conflicts has no FROM: --base and --owner do not go with it",
		},
		options: &mergeOptions{},
	}
}

type mergeOptions struct {
	opt     merge.Options
	planned bool // the rows have been shown

	inPlace bool     // a group or one of these was edited
	edited  []string // chats and lorebooks
}

// owners reads THEIRS=OURS.
func owners(pair string) (names [2]string, err error) {
	theirs, ours, _ := strings.Cut(pair, "=")
	if theirs == "" || strings.Trim(ours, ".") == "" || strings.ContainsAny(ours, `/\`) {
		return names, refusal(fmt.Sprintf("takes THEIRS=OURS, not %q", pair))
	}
	return [2]string{theirs, ours}, nil
}

func (o *mergeOptions) addFlags(fs *pflag.FlagSet) {
	o.opt.Owners = map[string]string{}
	fs.Var(notEmptyText(&o.opt.Base), "base", "`PATH` of what both were at the last merge: a message that it has and one side lacks was deleted or edited there")
	fs.Var(parsed(owners, func(pair [2]string) { o.opt.Owners[pair[0]] = pair[1] }), "owner", "in user folders, `THEIRS=OURS`: the character THEIRS of FROM is OURS in INTO; may be repeated")
	fs.BoolVar(&o.opt.Conflicts, "conflicts", false, "instead of FROM: merge the conflict files that Syncthing, Dropbox or OneDrive left in the user folder INTO, and remove them")
}

func (o *mergeOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	opt := &o.opt
	if err := o.sides(c, args); err != nil {
		return err
	}
	c.changes(&opt.Changes)
	opt.BumpIntegrity = c.newSlugs()
	if c.asks() {
		if err := o.agreed(ctx, c); err != nil {
			return err
		}
	}

	opt.Changes.Call = new(changeset.Call) // one record
	r := o.merge(ctx, c)
	if err := o.report(c, r); err != nil {
		return err
	}
	if o.inPlace && !c.dryRun {
		c.closeTabs(opt.BumpIntegrity, o.edited...)
	}
	return outcome(r.Err != nil || r.Doc.Refused > 0, false)
}

// sides finds INTO and FROM.
func (o *mergeOptions) sides(c *console, args []string) (err error) {
	opt := &o.opt
	around := c.finder().Root()
	isAround := !opt.Conflicts && len(args) < 2 || len(args) == 0
	switch {
	case len(args) == 0 && !opt.Conflicts:
		return usagef("merge takes [INTO] FROM, e.g. `stchat merge chats/Mira /media/phone/default-user/chats/Mira`")
	case isAround && around == "":
		return usagef("this is no SillyTavern user folder; name INTO, or go into that folder")
	case isAround:
		opt.Into = around
	case !opt.Conflicts && strings.EqualFold(filepath.Ext(args[0]), ".zip"):
		return usagef("%s is a zip, which is FROM: `stchat merge %s`", args[0], visible.Args(args[1], args[0]))
	default:
		if opt.Into, err = o.into(c, unquoted(args[0])); err != nil {
			return err
		}
	}

	if opt.Conflicts {
		return nil
	}
	opt.From = unquoted(args[len(args)-1])
	return o.judgeFrom(c)
}

// judgeFrom refuses a FROM that names what is here.
func (o *mergeOptions) judgeFrom(c *console) error {
	from := o.opt.From
	if _, err := os.Stat(from); err == nil || address.IsPath(from) {
		return nil
	}
	f := c.finder()
	found, err := f.Find(from)
	if err != nil || !found.Owner && len(found.Paths) == 0 {
		return nil // it is a path where nothing is
	}
	return usagef("FROM is the path of a copy that lies elsewhere, and %s is here already; 'stchat join' puts chats behind one another in a new one", from)
}

// agreed asks whether to do what a dry run has shown, where more than one file would change or come.
func (o *mergeOptions) agreed(ctx context.Context, c *console) error {
	dry := *o
	dry.opt.Changes.DryRun = true
	r := dry.merge(ctx, c)
	files := map[string]bool{}
	for _, s := range r.Doc.Steps {
		files[cmp.Or(deref(s.To), s.Path)] = true
	}
	if r.Err != nil || len(files) < 2 { // an error is told by the run itself
		return nil
	}
	if c.readsPlan() {
		if err := dry.report(c, r); err != nil {
			return err
		}
		o.planned = true
	}
	return c.confirm(ctx, fmt.Sprintf("change or make %s in %s", c.many(len(files), "file"), o.opt.Into))
}

// merge runs the merge.
func (o *mergeOptions) merge(ctx context.Context, c *console) *merge.Result {
	opt := o.opt
	end := c.meter("reading", c.json || opt.Conflicts, &opt.Meter)
	defer end()
	return merge.Run(ctx, opt)
}

// into returns the path of INTO, which may be named as OWNER or OWNER/NAME.
func (o *mergeOptions) into(c *console, arg string) (string, error) {
	f := c.finder()
	f.Whole = true
	found, err := f.Find(arg)
	switch {
	case err != nil && !found.Owner: // which may have no chats
		return "", withHint(err, nil)
	case found.Owner:
		owner, err := address.OwnerOf(f.Lib, arg, cmp.Or(f.Root(), c.data))
		switch {
		case err != nil:
			return "", withHint(err, nil)
		case owner.Group != nil:
			return owner.Group.Path, nil
		}
		return owner.Folder, nil
	case len(found.Paths) > 1:
		return "", usagef("%s are several chats; name one of them, or their owner", arg)
	}

	if found.Guess {
		c.note("%s is %s", visible.Quote(arg), shortName(found.Paths[0]))
	}
	return cmp.Or(strings.Join(found.Paths, ""), arg), nil
}

// report prints the rows of one FROM, and the summary.
func (o *mergeOptions) report(c *console, r *merge.Result) error {
	say(c, &saying{}, o.opt.From, &r.Result)
	if r.Err != nil {
		return nil
	}
	for _, s := range r.Doc.Steps {
		o.inPlace = o.inPlace || s.Do == changeset.Replace
		if s.Do == changeset.Replace && filepath.Base(filepath.Dir(s.Path)) != "groups" {
			o.edited = append(o.edited, s.Path)
		}
	}

	if c.json {
		for _, row := range r.Rows {
			c.document(row)
		}
		return c.document(r.Doc)
	}

	t := &mergeTable{c: c, root: mergeRoot(o.opt.Into), all: c.verbose || !c.shown, planned: o.planned}
	t.Columns = []grid.Column{{}, {Name: true, Code: cyan}, {Wrap: true}}
	for _, row := range r.Rows {
		t.row(row)
	}
	c.told(c.mergeBlock(r, o.opt))
	c.table(&t.Table)
	return c.unprinted()
}

// mergeBlock tells a person what came of a merge, which a table below shows thing by thing.
func (c *console) mergeBlock(r *merge.Result, opt merge.Options) block {
	d := &r.Doc
	merged := "merged"
	if d.DryRun {
		merged = "would merge"
	}
	from := "the conflict files"
	if opt.From != "" {
		from = nameOf(opt.From)
		if userdir.IsDir(opt.From) {
			from = filepath.Base(opt.From)
		}
	}

	b := block{sentence: fmt.Sprintf("%s %s of %s", merged, plural.Many(d.Done, "change"), from)}
	if d.Done == 0 {
		b.sentence = "nothing of " + from + " is new"
	}
	isElsewhere := userdir.RealPath(opt.Into) != userdir.RealPath(c.finder().Root())
	if userdir.IsUserDir(opt.Into) && isElsewhere { // which of two folders has changed should be seen
		b.add("into", visible.Quote(opt.Into))
	}
	if d.Same > 0 {
		b.add("the same", plural.Grouped(d.Same))
	}
	if d.Ahead > 0 {
		b.add("ahead here", plural.Grouped(d.Ahead))
	}
	if d.Refused > 0 {
		b.add("refused", plural.Grouped(d.Refused))
	}
	if len(d.Left) > 0 {
		b.add("not merged", strings.Join(d.Left, ", "))
	}
	return b
}

// mergeRoot returns the folder from which paths in INTO are shown: the user's, if there is one.
func mergeRoot(into string) string {
	for _, inside := range []string{filepath.Join(into, "x.jsonl"), into} { // of a folder of chats, of a file
		if dir, ok := userdir.Enclosing(inside); ok {
			return dir.Root
		}
	}
	return into
}

// mergeTable collects rows for a person, and prints them for a pipe.
type mergeTable struct {
	grid.Table
	c    *console
	root string // of INTO; paths below it are shown without it
	all  bool   // what is the same, too

	planned bool // what was shown before it was done is not shown again
}

func (t *mergeTable) row(r *merge.Row) {
	if r.Err != nil {
		t.c.fail(withHint(r.Err, editHints()))
	}
	if t.planned && r.Err == nil {
		return
	}
	staysOut := r.Sign == merge.Behind && r.OwnFrom > 0 // which a script must know, too
	for _, text := range r.Told {
		switch {
		case staysOut:
			t.c.warn("%s: %s", r.Path, text)
		case t.c.tells(), t.c.verbose:
			t.c.note("%s: %s", r.Path, text)
		}
	}

	switch {
	case !t.all && r.Links == 0 && (r.Sign == merge.Same || r.Sign == merge.Behind):
		return
	case !t.c.shown:
		t.c.row(string(r.Sign), r.Path, r.From, deref(r.To), strconv.Itoa(r.Own), strconv.Itoa(r.OwnFrom), digits(r.At))
		t.c.flush()
		return
	}

	colour := map[merge.Sign]string{merge.New: green, merge.Ahead: green, merge.Parted: yellow, merge.Other: yellow, merge.Refused: red}[r.Sign]
	t.Rows = append(t.Rows, grid.Row{Cells: []string{string(r.Sign), visible.Text(t.short(r.Path)), visible.Text(mergeText(r))}, Codes: []string{colour}})
}

// short returns a path as it is in INTO.
func (t *mergeTable) short(path string) string {
	if rel, err := filepath.Rel(t.root, path); err == nil && filepath.IsLocal(rel) && rel != "." {
		return filepath.ToSlash(rel)
	}
	return path
}

// mergeText says what became of a row's chat.
func mergeText(r *merge.Row) (text string) {
	name := userdir.ChatName(deref(r.To))
	if r.Kind != merge.SoloChat && r.Kind != merge.AttachmentKind {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	switch r.Sign {
	case merge.Same:
		text = "the same"
	case merge.Behind:
		text = "nothing new"
		if r.Own > 0 {
			text += ", " + plural.Grouped(r.Own) + " more here"
		}
	case merge.Ahead:
		text = mergeCount(r) + " more"
	case merge.New:
		text = mergeCount(r)
		if len(r.Renamed) > 0 {
			text += fmt.Sprintf("; there %q", r.Renamed[0].From)
		}
	case merge.Other:
		text = fmt.Sprintf("another %s of that name: comes as %q", r.Kind, name)
	case merge.Parted:
		text = partedText(r, name)
	case merge.Refused:
		text = "refused: " + strings.TrimPrefix(*r.Error, r.From+":")
	}

	if r.Links > 0 {
		text += ", " + plural.Many(r.Links, "link")
	}
	return text
}

// partedText says where two chats part, and that theirs comes under a name.
func partedText(r *merge.Row, name string) string {
	at := *r.At
	if r.Noted != nil {
		at = *r.Noted + 1
	}
	text := fmt.Sprintf("parted at %d, %s here, %s there: theirs is %q", at, plural.Grouped(r.Own), plural.Grouped(r.OwnFrom), name)
	if r.Noted != nil {
		text += ", noted at " + digits(r.Noted)
	}
	return text
}

// mergeCount says how much a row's thing has.
func mergeCount(r *merge.Row) string {
	switch r.Kind {
	case merge.SoloChat:
		return plural.Many(r.OwnFrom, "message")
	case merge.BookKind:
		return plural.Of(r.OwnFrom, "entry", "entries")
	}
	return "a new " + string(r.Kind)
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/changeset"
	"stchat/internal/grid"
	"stchat/internal/ops/address"
	"stchat/internal/ops/merge"
	"stchat/internal/plural"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

func newMerge() verb {
	return verb{
		use: "merge INTO FROM...", short: "Merge two copies of a chat, of chats, or of a user folder",
		doc: `Merge two copies of a chat, of the chats of a character or group, or of a whole
user folder. FROM is only read. What only FROM has comes into INTO whole, and no
text is dropped:

  =  the same
  <  INTO has all of it, perhaps more
  >  FROM has more: INTO's file gets its lines
  Y  both went on: INTO's chat stays, FROM's comes as a branch, CHAT__LABEL
  2  another chat of the same name: it comes under another name
  +  new
  !  refused; the others are done

A chat's copy is found by its name, its messages, or its integrity slug.
Messages are the same if speaker, text and date are, with any swipe chosen.
Hidden messages, attachments and whatever else INTO's messages hold are never
overwritten: they too make a branch of what only FROM has. Links to checkpoints
and branches are joined.

A user folder may be in a zip, such as SillyTavern's own backup. merge
takes its chats, groups, cards and lorebooks, and the images and files that they
name; never settings, personas, presets, tags, secrets or extensions. A lorebook
or an image whose name has other content in INTO comes under another name, and
what comes from FROM names that one. If a card or group differs, INTO's stays; a
card with another name and another greeting is another character.

With --conflicts, it merges the files that Syncthing, Dropbox or OneDrive left
beside chats that were changed in two places (X.sync-conflict-…, "X (conflicted
copy …)"; X-COMPUTER and "X (1)", where they have X's integrity slug), each into
its X, and then removes it; if there is no X, it gets that name.

It writes at once, and one 'stchat undo' takes it back. The same FROM again
finds nothing to do. --dry-run prints the same table. Several FROM are merged
one after another, and one undo takes all of them back; a dry run compares each
with INTO as it is.

In a pipe there is a row for each thing, separated by tabs: sign, path, FROM's
path, the new path, messages that only INTO's has, that only FROM's has, and
the first that differs.
`,
		example: "  stchat merge \"chats/Mira/Harbour.jsonl\" ~/Downloads/Harbour.jsonl\n  stchat merge chats/Mira /media/phone/default-user/chats/Mira --dry-run\n  stchat merge data/default-user /media/phone/default-user",
		args:    cobra.MinimumNArgs(1),
		rules: []string{
			"ARG needs conflicts|ARGS = merge takes INTO FROM..., e.g. `stchat merge chats/Mira /media/phone/default-user/chats/Mira`",
			"conflicts excludes ARGS = --conflicts takes one user folder and no FROM",
			"conflicts excludes base|label|owner|only = --conflicts has no FROM: --base, --label, --owner and --only do not go with it",
		},
		options: &mergeOptions{},
	}
}

type mergeOptions struct {
	opt      merge.Options
	data     string
	reworded string
	verbose  bool

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

// checkOnly refuses a glob of --only that cannot match.
func checkOnly(glob string) error {
	if _, err := path.Match(glob, ""); err != nil {
		return refusal(fmt.Sprintf("%s: %v", glob, err))
	}
	return nil
}

func (o *mergeOptions) addFlags(fs *pflag.FlagSet) {
	o.opt.Owners = map[string]string{}
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR` in which INTO is found as OWNER or OWNER/NAME; default: around the working folder")
	fs.Var(filled(&o.opt.Base), "base", "`PATH` of what both were at the last merge: a message that it has and one side lacks was deleted or edited there")
	fs.Var(chatName(&o.opt.Label), "label", "`NAME` in the names of branches; default: the folder by which FROM differs from INTO")
	fs.Var(parsed(owners, func(pair [2]string) { o.opt.Owners[pair[0]] = pair[1] }), "owner", "in user folders, `THEIRS=OURS`: the character THEIRS of FROM is OURS in INTO; may be repeated")
	fs.Var(each(&o.opt.Only, checkOnly), "only", "only paths in FROM that `GLOB` matches; may be repeated")
	fs.Var(oneOf(&o.reworded, "branch", "branch", "keep"), "reworded", "where FROM only has another wording of messages: `HOW` is branch, or keep for INTO's")
	fs.BoolVar(&o.opt.NoLink, "no-link", false, "do not note branches in the chats that they part from")
	fs.BoolVar(&o.opt.Conflicts, "conflicts", false, "instead of FROM: merge the conflict files that Syncthing, Dropbox or OneDrive left in the user folder INTO, and remove them")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "also list what is the same")
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
		fs.BoolVar(&o.opt.Changes.DryRun, "dry-run", false, "do everything but write; show what would change")
		fs.BoolVar(&o.opt.BumpIntegrity, "bump-integrity", false, "give every chat that is edited in place a new slug, so that an open tab is stopped instead of overwriting the edit; Luker's tab is not stopped")
		addNoSync(fs, &o.opt.Changes.NoSync)
	})
	fs.Bool("json", false, "print JSON documents, one per line: a row each, and a summary")
}

func (o *mergeOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) (err error) {
	opt := &o.opt
	opt.Reworded = o.reworded == "keep"
	if opt.Into, err = o.into(c, args[0]); err != nil {
		return err
	}
	c.changes(&opt.Changes)
	opt.Changes.Call = new(changeset.Call) // one record
	froms, failed := args[1:], false
	if opt.Conflicts {
		froms = []string{""}
	}
	for _, opt.From = range froms {
		end := c.meter("reading", c.json || opt.Conflicts, &opt.Meter)
		r := merge.Run(ctx, *opt)
		end()
		if err := o.report(c, r); err != nil {
			return err
		}
		failed = failed || r.Err != nil || r.Doc.Refused > 0
	}
	if o.inPlace && !opt.Changes.DryRun {
		c.closeTabs(opt.BumpIntegrity, o.edited...)
	}
	return outcome(failed, false)
}

// into returns the path of INTO, which may be named as OWNER or OWNER/NAME.
func (o *mergeOptions) into(c *console, arg string) (string, error) {
	f := c.finder(o.data)
	f.Whole = true
	found, err := f.Find(arg)
	switch {
	case err != nil && !found.Owner: // which may have no chats
		return "", withHint(err, nil)
	case found.Owner:
		owner, err := address.OwnerOf(f.Lib, arg, o.data)
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
		c.note("%s is %s", arg, found.Paths[0])
	}
	return cmp.Or(strings.Join(found.Paths, ""), arg), nil
}

// report prints the rows of one FROM, and the summary.
func (o *mergeOptions) report(c *console, r *merge.Result) error {
	say(c, &saying{dryRun: o.opt.Changes.DryRun}, o.opt.From, &r.Result)
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
	t := &mergeTable{c: c, root: mergeRoot(o.opt.Into), all: o.verbose || !c.shown}
	t.Columns = []grid.Column{{}, {Name: true, Code: cyan}, {Wrap: true}}
	for _, row := range r.Rows {
		t.row(row)
	}
	text := fmt.Sprintf("%s the same, %s ahead, %s %s, %s refused", c.number(r.Doc.Same), c.number(r.Doc.Ahead), c.number(r.Doc.Done), either(r.Doc.DryRun, "to do", "done"), c.number(r.Doc.Refused)) +
		when(len(r.Doc.Left) > 0, "; not merged: "+strings.Join(r.Doc.Left, ", "))
	if c.shown {
		c.table(&t.Table)
		fmt.Fprintln(c.w, c.prose(text, ""))
	} else {
		c.note("%s", text)
	}
	return c.unprinted()
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
}

func (t *mergeTable) row(r *merge.Row) {
	if r.Err != nil {
		t.c.fail(withHint(r.Err, editHints()))
	}
	for _, text := range r.Told {
		t.c.note("%s: %s", r.Path, text)
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
		text = "nothing new" + when(r.Own > 0, ", "+plural.Grouped(r.Own)+" more here")
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
		parted := *r.At
		if r.Noted != nil {
			parted = *r.Noted + 1
		}
		text = fmt.Sprintf("parted at %d, %s here, %s there: theirs is %q", parted, plural.Grouped(r.Own), plural.Grouped(r.OwnFrom), name) + when(r.Noted != nil, ", noted at "+digits(r.Noted))
	case merge.Refused:
		text = "refused: " + strings.TrimPrefix(*r.Error, r.From+":")
	}
	return text + when(r.Links > 0, ", "+plural.Many(r.Links, "link"))
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

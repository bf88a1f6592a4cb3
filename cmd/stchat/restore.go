package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/cut"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/chat"
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
of SillyTavern's own backups. Without --rev and --as-of, it is the newest
version that differs from the file. Every piece is verified before anything
appears.

  plain         writes a new chat beside CHAT, as branch does: CHAT is its
                parent, it has a new slug and, of a group, its place in the
                list. Its name is CHAT__NAME, else CHAT__ and the version's time
  CHAT is gone  writes it again under its own name: its exact bytes, its place
                in the group's list, Luker's sidecars of that time
  -o PATH       writes the exact bytes to PATH, or - for stdout, nothing else
  --in-place    puts the version in CHAT's place, with a new slug, and Luker's
                sidecars as they were; the present state is kept in the
                history, where there is one, and for undo. Lorebooks stay
  FOLDER        with --as-of and -o DIR: writes every file of a user folder, or
                of one in it, as it was, below DIR, which must be absent or
                empty

CHAT is a path, even of a file that is gone, or OWNER/NAME: the chat that has
this name now, else the one that had it last, and with --as-of the one that had
it then. It may be any file that is kept: a lorebook, a card, a group's file, a
sidecar, a backup. In its place a group keeps today's list of chats, and a card
today's chat. REV is one version of the whole history; one of another chat goes
to -o, or with -n to a new chat. --at cuts the version after a message; the
result is then no longer exact.

Prints the path of each file that was written, or would be.
`, no: "no version differs, or nothing was there then",
		example: `  stchat restore "chats/Mira/Harbour.jsonl"
  stchat restore Mira/Harbour --as-of 2d --in-place
  stchat restore Mira/Harbour --backup backups/chat_mira_20261120-210411.jsonl
  stchat restore Mira/Harbour --rev 12 -o - | less
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
	fs.Var(filled(&o.opt.Backup), "backup", "take this backup of SillyTavern's, `FILE`, instead of a version of the history")
	fs.IntVarP(&o.at, "at", "a", 0, "last `MESSAGE` of the version that is taken, from 0; -1 is the last one")
	fs.VarP(filled(&o.opt.Name), "name", "n", "`NAME` of the new chat: CHAT__NAME")
	fs.VarP(filled(&o.opt.Output), "output", "o", "write the exact bytes to `PATH` instead, or - for stdout; with a FOLDER the folder to fill")
	fs.BoolVar(&o.opt.InPlace, "in-place", false, "put the version in CHAT's place")
	fs.BoolVar(&o.opt.Open, "open", false, "make it the chat that its character or group opens with")
}

func (o *restoreOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	if len(args) > 0 {
		args = []string{c.folderOf(args[0])}
	}
	where, err := c.where(args)
	if err != nil {
		return err
	}
	if where.Pick, err = o.pick(fs); err != nil {
		return err
	}
	opt, folder := o.opt, userdir.IsDir(where.Chat)
	opt.Where, opt.At, opt.Stdout = where, given(fs, "at", &o.at), c.Out
	switch {
	case folder && (where.AsOf.IsZero() || opt.Output == "" || opt.Output == cut.Stdout):
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
			return beginsOne(err)
		}
		return reportRestored(c, results)
	}
	r, err := keep.Restore(ctx, opt)
	switch {
	case errors.Is(err, keep.ErrNothing), errors.Is(err, keep.ErrNobody):
		c.note("%s", err)
		return errNo
	case err != nil:
		return withHint(err, []hint{{keep.ErrUnknown, inLost}, {ops.ErrNotRead, "; -o writes a file anywhere"}})
	case opt.Output == cut.Stdout && opt.At == nil:
		c.notes(r.Notes)
		return nil
	}
	return reportRestored(c, []*keep.RestoreResult{r})
}

// reportRestored prints what was written, or would be, and returns the worst outcome.
func reportRestored(c *console, results []*keep.RestoreResult) error {
	var inPlace []string
	how := &saying{counted: c.json, no: never, end: func() {
		if len(inPlace) > 0 && !c.lukersTabs(inPlace) {
			c.note("reload this chat in SillyTavern now: until then its saves are refused")
		}
	}}
	of := func(r *keep.RestoreResult) (string, *keep.RestoreResult) { return r.Doc.Source, r }
	return sayAll(c, how, results, of, func(r *keep.RestoreResult) {
		if !c.json && r.Doc.Path != cut.Stdout {
			fmt.Fprintln(c.w, either(c.OutTTY, visible.Args(r.Doc.Path), r.Doc.Path))
		}
		if r.Doc.InPlace && !c.dryRun && userdir.HasExtension(r.Doc.Path) {
			inPlace = append(inPlace, r.Doc.Path)
		}
	})
}

// inLost is the hint for a chat of which neither the history nor a backup is known to have a version.
const inLost = "; 'stchat lost' looks for it everywhere, and names what brings it back"

func newLost() verb {
	return verb{
		writes: true,
		use:    "lost [PATH...]", short: "Find messages that only older versions have",
		doc: `Find messages that only older versions of chats have, because a chat is gone, is
empty, or starts over with its greeting. Each chat is shown with the version
that has most of what is lost, and with the command that brings it back.

The chats are compared with the versions that snapshot keeps, SillyTavern's own
backups (backups/chat_*.jsonl), the old files that repair and undo keep, and
with --from the chats in other folders. What you deleted with stchat does not
count. Backups are named after the character, not the chat; a backup is matched
to its chat by its header and its messages.

A message counts as lost if no chat in the user folder has its text, as a
message or as a swipe. An edit is not a loss: a missing message with another in
its place counts as reworded. So renaming, branching and swiping raise no alarm;
messages that you deleted yourself do. Of a chat that lost fewer than five they
are only counted; -v lists it too. Greetings alone are no loss. A chat that is
gone comes back as it was last, and chats that are gone while others have all of
their messages are listed by themselves.

--restore brings back the chats that are gone and lost something, each under its
own name; and of the CHATs that are named any that is gone, and what a live one
has lost, as a new chat beside it. It lists them first, and asks on a terminal;
elsewhere it needs --yes. One undo takes all of it back. CHAT is a path, also of
a file that is gone, or OWNER/NAME.

The backups of a character do not give the name of a chat that is gone; the
command suggests one. SillyTavern keeps 50 backups for each character, but
counts those of "Mira Holm" as backups of "Mira" too: the heading says when a
save deletes the oldest.

In a pipe there is a row for each chat, separated by tabs: owner, chat, messages
now (empty: it is gone), lost, reworded, best version, its time, its messages,
command. docs/json.md describes the JSON documents.
`, no: "something is lost, or was not brought back",
		example: `  stchat lost
  stchat lost --restore
  stchat lost --restore "chats/Mira/Harbour.jsonl"
  stchat lost SillyTavern/data/default-user -v
  stchat lost "chats/Mira/Harbour.jsonl" --since 2w
  stchat lost --from /media/usb/default-user/chats`,
		rules: []string{
			"yes needs restore",
			"dry-run needs restore",
		},
		pages:   everything,
		options: &lostOptions{},
	}
}

type lostOptions struct {
	listFlags
	from    []string
	since   time.Time
	restore bool
	changes changeset.Options
}

func (o *lostOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.StringArrayVar(&o.from, "from", nil, "also look at the chats in `FOLDER`; may be repeated")
	fs.Var(since(&o.since), "since", "look at no version older than `TIME`: 2026-03-01, \"2026-03-01 18:42\", yesterday, or an age such as 2w")
	fs.BoolVar(&o.restore, "restore", false, "bring back the chats that are gone, or those that are named")
}

func (o *lostOptions) run(ctx context.Context, c *console, flags *pflag.FlagSet, args []string) error {
	opt := keep.LostOptions{From: o.from, Since: o.since, Store: c.store(), Data: cmp.Or(c.data, c.Getenv(dataVariable)), Now: c.Now()}
	var paths []string
	var err error
	for _, arg := range args {
		found, err := c.resolve(reads(), []string{arg})
		if err != nil && !isA[*address.NoneError](err) {
			return err
		}
		if _, stat := os.Stat(arg); err != nil || len(found) == 1 && found[0] == arg && isAny(stat, fs.ErrNotExist, syscall.ENOTDIR) {
			opt.Names = append(opt.Names, arg)
			continue
		}
		paths = append(paths, found...)
	}
	if len(opt.Names) == 0 || len(paths) > 0 || o.filesFrom != "" {
		if opt.List, err = o.folders(ctx, c, paths, nameFolder("lost")); err != nil {
			return err
		}
	}
	changes := o.changes
	c.changes(&changes)
	end := c.meter("reading", c.json, &opt.Meter)
	res, err := keep.Lost(ctx, opt)
	end()
	if err != nil {
		c.work.count(opt.Meter)
		return err
	}
	defer res.Close()
	for _, row := range slices.Concat(res.Chats, res.Few, res.LivingOn) {
		if err := o.command(ctx, c, row); err != nil {
			return err
		}
	}
	if o.restore {
		isUnknown := func(err error) bool { return errors.Is(err, keep.ErrUnknown) }
		if i := slices.IndexFunc(res.Errs, isUnknown); i >= 0 {
			return res.Errs[i]
		}
		isChat := func(path string) bool { return !userdir.IsDir(path) }
		named := len(opt.Names) > 0 || slices.ContainsFunc(paths, isChat)
		return o.bringBack(ctx, c, res, named, keep.RestoreOptions{Changes: changes})
	}
	o.write(c, res)
	return outcome(len(res.Errs) > 0, len(res.Chats)+len(res.Few) > 0)
}

// command notes the command that brings back what a chat lost, if there is one.
func (o *lostOptions) command(ctx context.Context, c *console, row *keep.LostChat) error {
	if row.To == "" {
		return nil
	}
	command := o.restores(c, row)
	if o.isCopy(row) {
		if err := o.parted(ctx, row); err != nil {
			return err
		}
		command = "stchat merge " + visible.Args(absolute(row.To), absolute(*row.Best.Path))
	}
	row.Command = &command
	return nil
}

// bringBack restores the chats that are gone and lost something, and those that were named, once that
// is agreed to. named says that some were.
func (o *lostOptions) bringBack(ctx context.Context, c *console, res *keep.LostResult, named bool, opt keep.RestoreOptions) error {
	var chosen []*keep.LostChat
	for _, chat := range res.Chats {
		if chat.To != "" && (chat.LiveMessages == nil || chat.Named) {
			chosen = append(chosen, chat)
		}
	}
	left := len(res.Chats) - len(chosen)
	for _, chat := range slices.Concat(res.Few, res.LivingOn) {
		if chat.To != "" && chat.Named {
			chosen = append(chosen, chat)
		}
	}
	res.Chats, res.Few, res.LivingOn = chosen, nil, nil

	o.write(c, res)
	if err := c.printed(); err != nil {
		return err
	}
	if left > 0 && !c.json {
		c.note("%s more that lost something: name a chat to bring back what it has lost", c.many(left, "chat"))
	}
	if len(res.Chats) == 0 {
		return outcome(len(res.Errs) > 0, left > 0 || named)
	}
	if err := c.confirm("bring back " + plural.Many(len(res.Chats), "chat")); err != nil {
		return err
	}
	return cmp.Or(reportRestored(c, keep.RestoreLost(ctx, res.Chats, opt)), outcome(len(res.Errs) > 0, false))
}

// isCopy reports whether what a live chat has lost is in a copy in one of the other folders: there
// it was gone on with, so the two are merged.
func (o *lostOptions) isCopy(chat *keep.LostChat) bool {
	return chat.Best.Path != nil && chat.LiveMessages != nil && slices.ContainsFunc(o.from, func(folder string) bool {
		return userdir.Inside(folder, *chat.Best.Path)
	})
}

// parted finds where a chat and its copy part, if each went on by itself: the first message of the chat that
// follows the last one that both have, as merge says it.
func (o *lostOptions) parted(ctx context.Context, lost *keep.LostChat) error {
	open := chat.Options{Any: true}
	d, err := look.Diff(ctx, look.DiffOptions{A: look.DiffSide{Path: lost.To, Open: open}, B: look.DiffSide{Path: *lost.Best.Path, Open: open}})
	if err != nil {
		return err
	}
	defer d.Close()
	if d.Parted != nil && d.Parted.A+1 < d.A.Messages && d.Parted.B+1 < d.B.Messages {
		lost.Parted = new(d.Parted.A + 1)
	}
	return nil
}

// restores returns the command that brings back what a chat has lost, from any folder.
func (o *lostOptions) restores(c *console, chat *keep.LostChat) string {
	if chat.Best.Rev != nil {
		return restoreCommand(c, *chat.Best.Rev, chat.To, chat.Name)
	}
	return joined(" ", "stchat restore --backup", visible.Quote(absolute(*chat.Best.Path)), visible.Args(absolute(chat.To)))
}

// write prints the chats and a summary.
func (o *lostOptions) write(c *console, res *keep.LostResult) {
	lost := res.Chats
	if c.verbose {
		lost = slices.Concat(res.Chats, res.Few)
	}
	switch {
	case c.json:
		for _, chat := range slices.Concat(lost, res.LivingOn) {
			c.document(chat)
		}
	case c.shown:
		writeLost(c, lost, res)
	default:
		for _, chat := range slices.Concat(lost, res.LivingOn) {
			c.row(lostRow(chat)...)
		}
	}

	failedAll(c, res.Errs)
	c.flush()
	if c.json {
		c.document(res.Summary)
		return
	}
	o.sum(c, res.Summary)
}

// sum says in a few lines what is lost.
func (o *lostOptions) sum(c *console, sum keep.LostSummary) {
	compared := "compared with " + sourcesText(sum.Sources)
	if sum.Chats > 0 {
		c.note("%s, %s only in older versions; %s", c.many(sum.Chats, "chat"), c.many(sum.Lost, "message"), compared)
	}
	if sum.Few.Chats > 0 {
		more := "; -v lists them"
		if c.verbose {
			more = ""
		}
		few := fmt.Sprintf("fewer than five of %s: %s only in older versions%s", c.many(sum.Few.Chats, "chat"), c.many(sum.Few.Messages, "message"), more)
		if sum.Chats == 0 {
			few += "; " + compared
		}
		c.note("%s", few)
	}
	if sum.Chats+sum.Few.Chats+sum.Unreadable == 0 {
		c.note("nothing is lost, %s", compared)
	}
	if sum.LivingOn > 0 {
		c.note("%s gone with nothing lost: other chats have all that was said there, or it was a greeting", plural.Of(sum.LivingOn, "chat is", "chats are"))
	}
}

// lostRow is a chat in a pipe.
func lostRow(chat *keep.LostChat) []string {
	return []string{
		textOr(chat.Owner), textOr(chat.Chat), digits(chat.LiveMessages), strconv.Itoa(chat.Lost), strconv.Itoa(chat.Reworded),
		cmp.Or(digits(chat.Best.Rev), textOr(chat.Best.Path)), chat.Best.At, strconv.Itoa(chat.Best.Messages), textOr(chat.Command),
	}
}

// sourcesText names what the chats were compared with.
func sourcesText(sources []keep.LostSource) string {
	versions := map[string]int{}
	for _, s := range sources {
		versions[s.Kind] += s.Versions
	}
	var parts []string
	for _, kind := range []struct{ is, one, many string }{
		{keep.LostInHistory, "version in the history", "versions in the history"},
		{keep.LostInBackups, "backup", "backups"},
		{keep.LostInUndo, "file kept for undo", "files kept for undo"},
		{keep.LostInOld, "old file", "old files"},
		{keep.LostInCopies, "copy", "copies"},
	} {
		if n, is := versions[kind.is]; is {
			parts = append(parts, plural.Of(n, kind.one, kind.many))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

// writeLost lists the chats that lost something below their owners, with how many of each owner's
// places for backups are taken, and then those that are gone and lost nothing.
func writeLost(c *console, lost []*keep.LostChat, res *keep.LostResult) {
	t := &grid.Table{Columns: []grid.Column{
		{Title: "chat", Name: true, Code: cyan}, {Title: "messages now", Right: true, Code: green}, {Title: "lost", Right: true, Code: red}, {Optional: true},
	}}
	var byOwner groups[string, *keep.LostChat]
	for _, chat := range lost {
		byOwner.add(ops.Or(chat.Owner, "(owner unknown)"), chat)
	}
	for _, owner := range byOwner.keys {
		chats := byOwner.of[owner]
		t.Rows = append(t.Rows, grid.Row{Heading: visible.Text(owner), About: quotaText(res.Summary.Places, owner, chats)})
		for i, name := range shortLost(owner, chats) {
			t.Rows = append(t.Rows, lostTableRow(c, name, chats[i]))
		}
	}

	if len(res.LivingOn) > 0 {
		t.Rows = append(t.Rows, grid.Row{Heading: "gone, with nothing lost", About: "other chats have all that was said there, or it was a greeting"})
	}
	for _, chat := range res.LivingOn {
		name := deref(chat.Chat)
		if chat.Owner != nil {
			name = *chat.Owner + "/" + name
		}
		t.Rows = append(t.Rows, lostTableRow(c, name, chat))
	}
	c.table(t)
}

// shortLost returns the names of an owner's chats as tables show them.
func shortLost(owner string, chats []*keep.LostChat) []string {
	var all []string
	for _, chat := range chats {
		all = append(all, deref(chat.Chat))
	}
	return names.Shorts(owner, all, nil)
}

// lostTableRow is a chat as a person sees it.
func lostTableRow(c *console, name string, chat *keep.LostChat) grid.Row {
	now, code := digits(chat.LiveMessages), ""
	if chat.LiveMessages == nil {
		now, code = "gone", red
	}
	parted := ""
	if chat.Parted != nil {
		parted = "parted at " + digits(chat.Parted)
	}
	below := "the best version is " + visible.Quote(deref(chat.Best.Path))
	if chat.Command != nil {
		below = *chat.Command
	}
	row := grid.Row{
		Cells: []string{visible.Text(name), now, plural.Grouped(chat.Lost), parted},
		Codes: []string{"", code},
		Below: []string{"  " + below},
	}
	if n := chat.Further; n.Versions > 0 {
		further := fmt.Sprintf("further %s in %s: run it again after this", plural.Many(n.Messages, "message"), plural.Many(n.Versions, "older version"))
		row.Below = append(row.Below, c.prose(further, "  "))
	}
	if chat.Alone {
		row.Below = append(row.Below, "  stchat move "+visible.Args(absolute(chat.ComesTo()))+" GROUP", c.prose("no group is known to have had it: the second command puts it into one", "  "))
	}
	if chat.Ambiguous {
		row.Below = append(row.Below, c.prose("another chat is as likely to be the one that lost them", "  "))
	}
	return row
}

// quotaText returns how many of the places for an owner's backups are taken, and by whom.
func quotaText(places []backups.Quota, owner string, chats []*keep.LostChat) string {
	mine := func(name string) bool {
		return name == owner || slices.ContainsFunc(chats, func(chat *keep.LostChat) bool { return chat.Chat != nil && *chat.Chat == name })
	}
	var taken []string
	for _, p := range places {
		if !slices.ContainsFunc(p.Owners, mine) {
			continue
		}
		parts := []string{fmt.Sprintf("%s, %s, %d of %d places", plural.Many(p.Backups, "backup"), formatBytes(p.Bytes), p.Used, p.Limit)}
		for _, s := range p.Others {
			who := slices.Concat(s.Owners, []string{s.Key})[0]
			parts = append(parts, fmt.Sprintf("%d of them %s's", s.Used, visible.Text(who)))
		}
		taken = append(taken, strings.Join(parts, ", ")+when(p.Used >= p.Limit, ": SillyTavern deletes the oldest at the next save"))
	}
	return strings.Join(taken, "; ")
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newLost() verb {
	return verb{
		writes: true,
		use:    "lost [PATH...] [MESSAGES]", short: "Find what is gone, and put it back",
		doc: `Compare chats with their older versions: those that snapshot keeps, the backups
of SillyTavern, what repair and undo keep, and with --from the chats in other
folders. Of a folder: the chats that are gone, empty, or start over with their
greeting. Of a CHAT: the messages and swipes that it had and has no more.
--restore puts back what a CHAT lost, with MESSAGES or --match only that;
without a CHAT it brings back the chats that are gone. It asks first.
`, more: `Of a folder, each chat comes with the command that brings it back. A message
counts as lost if no chat in the user folder has its text, as a message or as a
swipe; one with another in its place counts as reworded. Of a chat that lost
fewer than five messages they are only counted; -v lists it too. Greetings alone
are no loss, nor is what you deleted with stchat rm.

Of a CHAT that is there, a message or swipe is a line: its number then, speaker,
first words, when it was last there and in what. Older wordings of messages that
were edited are counted; -v lists them.

--restore with such a CHAT puts messages back where they stood, between the
neighbours that are still there, and swipes into their messages; with MESSAGES,
by their numbers in the list, or --match only those. Without a CHAT it brings
back the chats that are gone and lost something, and with a CHAT that is gone
that one, under its own name. It shows what it would do, and asks; elsewhere
than on a terminal it needs -y. One undo takes all of it back.

In a pipe a chat of a folder is a row with owner, chat, messages now (empty: it
is gone), lost, reworded, best version, its time, its messages, command; a
message is one with path, kind, number (a swipe's behind a dot), speaker, time,
source, version or file, first words. Older wordings are always there.

  stchat lost Mira/Harbour 12..15 --restore
  stchat lost Mira/Harbour --match lighthouse --restore
  stchat lost --restore
  stchat lost --from /media/usb/default-user/chats
`, no: "something is lost, or was not brought back",
		also: "log, restore, snapshot",
		example: `  stchat lost
  stchat lost Mira/Harbour
  stchat lost Mira/Harbour --restore`,
		rules: []string{
			"yes needs restore",
			"dry-run needs restore",
			"as-swipe needs restore",
			"match needs ARG = --match picks messages of a chat: name it",
		},
		pages:   everything,
		options: &lostOptions{},
	}
}

type lostOptions struct {
	listFlags
	from     []string
	since    time.Time
	restore  bool
	asSwipe  bool
	named    bool // chats are named, and not only folders
	messages []choose.Range
	match    []*regexp.Regexp
	changes  changeset.Options
}

func (o *lostOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.StringArrayVar(&o.from, "from", nil, "also look at the chats in `FOLDER`; may be repeated")
	fs.Var(since(&o.since), "since", "look at no version older than `TIME`: 2026-03-01, \"2026-03-01 18:42\", yesterday, or an age such as 2w")
	fs.BoolVar(&o.restore, "restore", false, "put back what the CHATs lost; without one bring back the chats that are gone")
	fs.Var(parsed(regexp.Compile, func(re *regexp.Regexp) { o.match = append(o.match, re) }).notEmpty(), "match", "only texts that match the regular expression `RE`; all that are given must match")
	fs.BoolVar(&o.asSwipe, "as-swipe", false, "older wordings too, as swipes of the messages that are there")
}

// takeMessages implements [messageTaker]: the numbers are those of the list.
func (o *lostOptions) takeMessages(_ *pflag.FlagSet, ranges []choose.Range) error {
	for _, r := range ranges {
		if r.From < 0 || r.To < 0 {
			return usagef("MESSAGES are numbers of the list, which do not count from the end")
		}
	}
	o.messages = ranges
	return nil
}

func (o *lostOptions) run(ctx context.Context, c *console, flags *pflag.FlagSet, args []string) error {
	args, err := (&subjects{messages: true}).following(flags, o, args)
	if err != nil {
		return err
	}
	opt := keep.LostOptions{
		From: o.from, Since: o.since, Store: c.store(), Data: c.dataFolder(), Now: c.Now(),
		Messages: o.messages, Match: o.match,
	}
	if args, err = o.withLines(ctx, c, args); err != nil {
		return err
	}
	opt.Asked = args
	means := reads()
	if o.restore {
		means = &subjects{wholeOwner: true}
	}
	var paths []string
	for _, arg := range args {
		found, err := c.resolve(means, []string{arg})
		if err != nil && !isA[*address.NoneError](err) {
			return err
		}
		if _, stat := os.Stat(arg); err != nil || len(found) == 1 && found[0] == arg && isAny(stat, fs.ErrNotExist, syscall.ENOTDIR) {
			opt.Names = append(opt.Names, arg)
			continue
		}
		paths = append(paths, found...)
	}

	if len(opt.Names) == 0 || len(paths) > 0 {
		if opt.List, err = o.folders(ctx, c, paths, nameFolder("lost")); err != nil {
			return err
		}
	}
	if err := o.judgeChosen(opt.Names, paths); err != nil {
		return err
	}
	o.named = len(opt.Names) > 0 || slices.ContainsFunc(paths, isNoFolder)
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
		return o.bringBack(ctx, c, res, keep.RestoreOptions{Changes: changes})
	}

	o.write(c, res)
	return outcome(len(res.Errs) > 0, res.Summary.Chats+len(res.Few)+notAskedFor(res) > 0)
}

// isNoFolder reports whether a path is that of a chat, not of a folder with chats.
func isNoFolder(path string) bool { return !userdir.IsDir(path) }

// judgeChosen refuses MESSAGES and --match where no chat, or not one alone, is named.
func (o *lostOptions) judgeChosen(names, paths []string) error {
	if len(o.messages)+len(o.match) == 0 {
		return nil
	}
	chats := len(names) + len(slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !isNoFolder(path) }))
	if chats == 0 {
		return usagef("MESSAGES and --match pick what one chat has lost: name a chat, not a folder")
	}
	if len(o.messages) > 0 && chats > 1 {
		return usagef("MESSAGES are numbers in the list of one chat; name only that")
	}
	return nil
}

// command notes the command that brings back what a chat lost, if there is one.
func (o *lostOptions) command(ctx context.Context, c *console, row *keep.LostChat) error {
	var command string
	switch {
	case row.Backup != "":
		path := filepath.Join(row.Root, filepath.FromSlash(row.Backup))
		command = restoreToFile(c, row, absolute(path))
	case row.To == "":
		return nil
	case o.isCopy(row):
		if err := o.parted(ctx, row); err != nil {
			return err
		}
		command = "stchat merge " + visible.Args(absolute(row.To), absolute(*row.Best.Path))
	default:
		command = restoreByPath(c, row)
	}

	row.Command = &command
	return nil
}

// bringBack restores the chats that are gone and lost something, and those that were named, once that
// is agreed to.
func (o *lostOptions) bringBack(ctx context.Context, c *console, res *keep.LostResult, opt keep.RestoreOptions) error {
	var chosen []*keep.LostChat
	left, unknown := 0, 0
	for _, chat := range res.Chats {
		switch {
		case chat.To == "":
			unknown++
		case chat.LiveMessages == nil || chat.Named:
			chosen = append(chosen, chat)
		default:
			left++
		}
	}

	for _, chat := range slices.Concat(res.Few, res.LivingOn) {
		if chat.To != "" && chat.Named {
			chosen = append(chosen, chat)
		}
	}

	res.Chats = chosen
	res.Few = nil
	res.LivingOn = nil
	putBack := o.goingBack(res.Named)
	if len(chosen) > 0 && len(putBack) > 0 {
		return usagef("%s is gone, and %s is there: bring back one after the other", o.address(chosen[0]), nameOf(putBack[0].Path))
	}

	o.write(c, res)
	if err := c.printed(); err != nil {
		return err
	}
	if left > 0 && !c.json {
		c.note("%s more that lost something: name a chat to bring back what it has lost", c.many(left, "chat"))
	}
	if unknown > 0 && !c.json {
		c.note("%s more whose owner is unknown: see `stchat lost`", c.many(unknown, "chat"))
	}
	if len(putBack) > 0 {
		return o.putBack(ctx, c, putBack, opt.Changes, len(res.Errs) > 0)
	}
	if len(res.Chats) == 0 {
		return outcome(len(res.Errs) > 0, left+unknown > 0 || o.named)
	}
	if err := c.confirm(ctx, "bring back "+plural.Many(len(res.Chats), "chat")); err != nil {
		return err
	}
	return cmp.Or(reportRestored(c, keep.RestoreLost(ctx, res.Chats, opt), "", false), outcome(len(res.Errs) > 0, false))
}

// isCopy reports whether what a live chat has lost is in a copy in one of the other folders: there
// it was continued, so the two are merged.
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

// restoreByPath returns the command that brings back the best version of a chat, from any folder.
func restoreByPath(c *console, chat *keep.LostChat) string {
	return c.withStore("stchat restore " + bestVersion(chat) + " " + visible.Args(absolute(chat.To)))
}

// restoreByAddress is [restoreByPath] as a person types it, with how the chat is named from the working
// folder.
func restoreByAddress(c *console, chat *keep.LostChat, address string) string {
	return c.withStore(c.atRoot("stchat restore "+address+" "+bestVersion(chat), chat.Root))
}

// restoreToFile returns the command that writes the bytes of a backup to a file, as nobody knows whose chat it
// is. path is that of the backup, which only the history has.
func restoreToFile(c *console, chat *keep.LostChat, path string) string {
	file := visible.Quote(filepath.Base(path))
	return c.withStore("stchat restore " + visible.Args(path) + " " + bestVersion(chat) + " -o " + file)
}

// bestVersion returns the flags with which restore brings back the best version of a chat, under another
// name where the chat's own is taken.
func bestVersion(chat *keep.LostChat) string {
	flags := "--backup " + visible.Quote(absolute(deref(chat.Best.Path)))
	if chat.Best.Rev != nil {
		flags = "--rev " + digits(chat.Best.Rev)
	}
	if chat.Name != "" {
		flags += " --name " + visible.Quote(chat.Name)
	}
	return flags
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
		o.table(c, lost, res)
	default:
		for _, chat := range slices.Concat(lost, res.LivingOn) {
			c.row(lostRow(chat)...)
		}
	}

	for _, in := range res.Named {
		o.list(c, in)
	}

	failedAll(c, res.Errs)
	c.flush()
	if c.json {
		c.document(res.Summary)
		return
	}
	for _, chat := range lost {
		if chat.Guess {
			c.note("%s: its backups do not say how it was called; it is the only such chat of %s", o.address(chat), visible.Text(deref(chat.Owner)))
		}
	}
	isLost := res.Summary.Chats+res.Summary.Few.Chats > 0
	putsBack := o.restore && len(o.goingBack(res.Named)) > 0 // older wordings too, of which nothing is lost
	if isLost || !putsBack {
		o.sum(c, res.Summary, notAskedFor(res))
	}
}

// sum says in a few lines what is lost; left is how much of it was not asked for.
func (o *lostOptions) sum(c *console, sum keep.LostSummary, left int) {
	compared := "compared with " + sourcesText(sum.Sources)
	if sum.Chats > 0 {
		what := c.many(sum.Lost, "message")
		if sum.Swipes > 0 {
			what = lostText(c, sum.Lost, sum.Swipes)
		}
		c.note("%s, %s only in older versions; %s", c.many(sum.Chats, "chat"), what, compared)
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

	nothing := sum.Chats+sum.Few.Chats+sum.Unreadable == 0
	if nothing && left > 0 {
		c.note("what was asked for is not lost; %s", plural.Of(left, "other is", "others are"))
	}
	if nothing && left == 0 {
		c.note("nothing is lost, %s%s", compared, o.elsewhere())
	}
	if sum.LivingOn > 0 {
		c.note("%s gone with nothing lost: other chats have all that was said there, or it was a greeting", plural.Of(sum.LivingOn, "chat is", "chats are"))
	}
}

// elsewhere says what a look at folders leaves out, "" for a look at chats.
func (o *lostOptions) elsewhere() string {
	if o.named {
		return ""
	}
	return "; `stchat lost CHAT` also finds what only another chat still has"
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

// table lists the chats that lost something below their owners, with how many of each owner's
// places for backups are taken, and then those that are gone and lost nothing.
func (o *lostOptions) table(c *console, lost []*keep.LostChat, res *keep.LostResult) {
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
			t.Rows = append(t.Rows, o.tableRow(c, name, chats[i]))
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
		t.Rows = append(t.Rows, o.tableRow(c, name, chat))
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

// tableRow is a chat as a person sees it.
func (o *lostOptions) tableRow(c *console, name string, chat *keep.LostChat) grid.Row {
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
		below = o.shownCommand(c, chat)
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
		row.Below = append(row.Below, "  "+c.atRoot("stchat move "+o.address(chat)+" GROUP", chat.Root), c.prose("no group is known to have had it: the second command puts it into one", "  "))
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
		text := strings.Join(parts, ", ")
		if p.Used >= p.Limit {
			text += ": SillyTavern deletes the oldest at the next save"
		}
		taken = append(taken, text)
	}
	return strings.Join(taken, "; ")
}

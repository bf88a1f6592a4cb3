package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/grid"
	"stchat/internal/names"
	"stchat/internal/ops/address"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/plural"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

func newLost() verb {
	return verb{
		use: "lost [PATH...]", short: "Find messages that only older versions have",
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
messages that you deleted yourself do, if there are at least five (--min). A
greeting alone is no loss. "log --gone" also lists chats that are gone while
others have all of their messages.

--restore brings back the chats that are gone, each under its own name, and of
the CHATs that are named also what a live one has lost, as a new chat beside it.
It lists them first, and asks on a terminal; elsewhere it needs --yes. One undo
takes all of it back. CHAT is a path, also of a file that is gone, or
OWNER/NAME.

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
  stchat lost SillyTavern/data/default-user --min 1
  stchat lost "chats/Mira/Harbour.jsonl" --since 2w
  stchat lost --from /media/usb/default-user/chats`,
		rules: []string{
			"yes needs restore",
			"dry-run needs restore",
			"no-sync needs restore",
		},
		pages:   everything,
		options: &lostOptions{},
	}
}

type lostOptions struct {
	listFlags
	storeFlag
	from    []string
	min     int
	since   string
	restore bool
	yes     bool
	changes changeset.Options
}

func (o *lostOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	o.storeFlag.addFlags(fs)
	fs.StringArrayVar(&o.from, "from", nil, "also look at the chats in `FOLDER`; may be repeated")
	fs.Var(number(&o.min, 1, "a number of messages, from 1"), "min", "show a chat that has lost at least `N` messages; default: 5, and 1 with --from and of one that is gone")
	fs.StringVar(&o.since, "since", "", "look at no version older than `TIME`: 2026-03-01, \"2026-03-01 18:42\" or an age such as 2w")
	fs.BoolVar(&o.restore, "restore", false, "bring back the chats that are gone, or those that are named")
	fs.BoolVarP(&o.yes, "yes", "y", false, "with --restore: do not ask")
	addNoSync(fs, &o.changes.NoSync)
	fs.BoolVar(&o.changes.DryRun, "dry-run", false, "with --restore: do everything but write, and say what would be written")
	fs.Bool("json", false, "print JSON documents, one per line: per chat, and a summary")
}

func (o *lostOptions) run(ctx context.Context, c *console, flags *pflag.FlagSet, args []string) error {
	opt := keep.LostOptions{From: o.from, Min: o.min, Gone: o.min, Store: o.of(c), Now: c.Now()}
	named := map[string]bool{} // the real paths of the chats among the arguments
	var paths []string
	var err error
	for _, arg := range args {
		found, err := c.resolve(flags, reads(), []string{arg})
		if err != nil && !isA[*address.NoneError](err) {
			return err
		}
		if _, stat := os.Stat(arg); err != nil || len(found) == 1 && found[0] == arg && isNotThere(stat) {
			opt.Names = append(opt.Names, arg)
			continue
		}
		paths = append(paths, found...)
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				named[userdir.RealPath(path)] = true
			}
		}
	}
	if len(opt.Names) == 0 || len(paths) > 0 || o.filesFrom != "" {
		if opt.List, err = o.folders(ctx, c, paths, nameFolder("lost")); err != nil {
			return err
		}
	}
	if o.min == 0 {
		if opt.Min, opt.Gone = 5, 1; len(o.from) > 0 {
			opt.Min = 1 // another place, not an edit
		}
	}
	if opt.Since, err = since(o.since, c.Now()); err != nil {
		return err
	}
	changes := o.changes
	if err = c.changes(&changes); err != nil {
		return err
	}
	var end func()
	opt.Meter, end = c.meter("reading", c.json)
	res, err := keep.Lost(ctx, opt)
	end()
	if err != nil {
		c.work.count(opt.Meter)
		return err
	}
	defer res.Close()
	for _, row := range res.Chats {
		if row.To == "" {
			continue
		}
		command := o.restores(c, row)
		if o.isCopy(row) {
			if err := o.parted(ctx, row); err != nil {
				return err
			}
			command = "stchat merge " + visible.Args(absolute(row.To), absolute(*row.Best.Path))
		}
		row.Command = &command
	}
	if o.restore {
		return o.bringBack(ctx, c, res, named, len(named)+len(opt.Names) > 0, keep.RestoreOptions{Changes: changes, NewUUID: uuid.NewString})
	}
	o.write(c, res)
	return outcome(len(res.Errs) > 0, len(res.Chats) > 0)
}

// bringBack restores the chats that are gone, or were named, once that is agreed to; some is true
// if any was named.
func (o *lostOptions) bringBack(ctx context.Context, c *console, res *keep.LostResult, named map[string]bool, some bool, opt keep.RestoreOptions) error {
	all := res.Chats
	res.Chats = slices.DeleteFunc(slices.Clone(all), func(chat *keep.LostChat) bool {
		return chat.To == "" || chat.LiveMessages != nil && !named[userdir.RealPath(chat.To)]
	})
	left := len(all) - len(res.Chats)
	if o.write(c, res); c.printed() != nil {
		return c.printed()
	}
	if left > 0 && !c.json {
		c.note("%s more that lost something: name a chat to bring back what it has lost", plural.S(left, "chat"))
	}
	if len(res.Chats) == 0 {
		return outcome(len(res.Errs) > 0, left > 0 || some)
	}
	if !o.yes && !o.changes.DryRun {
		switch agreed, asked := c.ask("bring back " + plural.S(len(res.Chats), "chat") + "?"); {
		case !asked:
			return usagef("nothing is written without --yes, as there is nobody to ask")
		case !agreed:
			return errNo
		}
	}
	err := reportRestored(c, o.changes.DryRun, keep.RestoreLost(ctx, res.Chats, opt))
	if err == nil {
		err = outcome(len(res.Errs) > 0, false)
	}
	return err
}

// isCopy reports whether what a live chat has lost is in a copy in one of the other folders: there
// it was gone on with, so the two are merged.
func (o *lostOptions) isCopy(chat *keep.LostChat) bool {
	return chat.Best.Path != nil && chat.LiveMessages != nil && slices.ContainsFunc(o.from, func(folder string) bool {
		rel, err := filepath.Rel(userdir.RealPath(folder), userdir.RealPath(*chat.Best.Path))
		return err == nil && filepath.IsLocal(rel)
	})
}

// parted finds where a chat and its copy part.
func (o *lostOptions) parted(ctx context.Context, lost *keep.LostChat) error {
	open := chat.Options{Any: true}
	d, err := look.Diff(ctx, look.DiffOptions{A: look.DiffSide{Path: lost.To, Open: open}, B: look.DiffSide{Path: *lost.Best.Path, Open: open}})
	if err != nil {
		return err
	}
	defer d.Close()
	if d.Parted != nil {
		lost.Parted = &d.Parted.A
	}
	return nil
}

// isNotThere reports whether a file does not exist, under this name.
func isNotThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// restores returns the command that brings back what a chat has lost, from any folder.
func (o *lostOptions) restores(c *console, chat *keep.LostChat) string {
	words := []string{"stchat", "restore"}
	switch {
	case chat.Best.Rev != nil:
		return restoreCommand(o.of(c), *chat.Best.Rev, chat.To, chat.Name)
	case chat.Best.Path != nil:
		words = append(words, "--backup", visible.Quote(absolute(*chat.Best.Path)))
	}
	return strings.Join(append(words, visible.Args(absolute(chat.To))), " ")
}

func (o *lostOptions) write(c *console, res *keep.LostResult) {
	for _, chat := range res.Chats {
		if c.json {
			c.document(chat)
		} else if !c.shown {
			c.row(plainLost(chat)...)
		}
	}
	if c.shown && !c.json {
		writeLost(c, res)
	}
	failedAll(c, res.Errs)
	switch sum := res.Summary; {
	case c.json:
		c.document(sum)
	case sum.Chats > 0:
		c.note("%s, %s only in older versions; compared with %s", plural.S(sum.Chats, "chat"), plural.S(sum.Lost, "message"), sourcesText(sum.Sources))
	case sum.Unreadable == 0:
		c.note("nothing is lost, compared with %s", sourcesText(sum.Sources))
	}
}

// sourcesText names what the chats were compared with.
func sourcesText(sources []keep.LostSource) string {
	var parts []string
	for _, kind := range []struct{ is, one, many string }{
		{keep.LostInHistory, "version in the history", "versions in the history"},
		{keep.LostInBackups, "backup", "backups"},
		{keep.LostInUndo, "file kept for undo", "files kept for undo"},
		{keep.LostInOld, "old file", "old files"},
		{keep.LostInCopies, "copy", "copies"},
	} {
		n, is := 0, false
		for _, s := range sources {
			if s.Kind == kind.is {
				n, is = n+s.Versions, true
			}
		}
		if is {
			parts = append(parts, plural.Of(n, kind.one, kind.many))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// plainLost returns the cells of a chat's row for a pipe.
func plainLost(chat *keep.LostChat) []string {
	live, best := "", textOr(chat.Best.Path)
	if chat.LiveMessages != nil {
		live = strconv.Itoa(*chat.LiveMessages)
	}
	if chat.Best.Rev != nil {
		best = strconv.FormatInt(*chat.Best.Rev, 10)
	}
	return []string{textOr(chat.Owner), textOr(chat.Chat), live, strconv.Itoa(chat.Lost), strconv.Itoa(chat.Reworded), best, chat.Best.At, strconv.Itoa(chat.Best.Messages), textOr(chat.Command)}
}

// writeLost lists the chats below their owners, with how many of each owner's places for
// backups are taken.
func writeLost(c *console, res *keep.LostResult) {
	var owners []string
	byOwner := map[string][]*keep.LostChat{}
	for _, chat := range res.Chats {
		owner := "(owner unknown)"
		if chat.Owner != nil {
			owner = *chat.Owner
		}
		if byOwner[owner] == nil {
			owners = append(owners, owner)
		}
		byOwner[owner] = append(byOwner[owner], chat)
	}
	t := &grid.Table{Columns: []grid.Column{
		{Title: "chat", Name: true}, {Title: "messages now", Right: true, Code: green}, {Title: "lost", Right: true, Code: red}, {Optional: true},
	}}
	for _, owner := range owners {
		var all []string
		for _, chat := range byOwner[owner] {
			all = append(all, deref(chat.Chat))
		}
		short := names.Shorts(owner, all, nil)
		t.Rows = append(t.Rows, grid.Row{Heading: visible.Text(owner), About: placesOf(res.Summary.Places, owner, byOwner[owner])})
		for i, chat := range byOwner[owner] {
			live, code, parted, below := "gone", red, "", "the best version is "+visible.Quote(deref(chat.Best.Path))
			if chat.LiveMessages != nil {
				live, code = strconv.Itoa(*chat.LiveMessages), ""
			}
			if chat.Parted != nil {
				parted = fmt.Sprintf("parted at %d", *chat.Parted)
			}
			if chat.Command != nil {
				below = *chat.Command
			}
			row := grid.Row{Cells: []string{visible.Text(short[i]), live, strconv.Itoa(chat.Lost), parted}, Codes: []string{"", code}, Below: []string{"  " + below}}
			if n := chat.Further; n.Versions > 0 {
				row.Below = append(row.Below, fmt.Sprintf("  further %s in %s: run it again after this", plural.S(n.Messages, "message"), plural.S(n.Versions, "older version")))
			}
			if chat.Ambiguous {
				row.Below = append(row.Below, "  another chat is as likely to be the one that lost them")
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if len(t.Rows) > 0 {
		c.table(t)
	}
}

// placesOf returns how many of the places for an owner's backups are taken, and by whom.
func placesOf(places []keep.LostPlaces, owner string, chats []*keep.LostChat) string {
	mine := func(p keep.LostPlaces) bool {
		for _, name := range p.Owners {
			for _, chat := range chats {
				if name == owner || chat.Chat != nil && name == *chat.Chat {
					return true
				}
			}
		}
		return false
	}
	var taken []string
	for _, p := range places {
		if !mine(p) {
			continue
		}
		var text strings.Builder
		fmt.Fprintf(&text, "%s, %s, %d of %d places", plural.S(p.Backups, "backup"), formatBytes(p.Bytes), p.Used, p.Limit)
		for _, s := range p.Others {
			who := s.Key
			if len(s.Owners) > 0 {
				who = s.Owners[0]
			}
			fmt.Fprintf(&text, ", %d of them %s's", s.Used, visible.Text(who))
		}
		if p.Used >= p.Limit {
			text.WriteString(": SillyTavern deletes the oldest at the next save")
		}
		taken = append(taken, text.String())
	}
	return strings.Join(taken, "; ")
}

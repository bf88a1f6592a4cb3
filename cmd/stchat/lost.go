package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/jsondoc"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/past"
	"stchat/internal/plural"
	"stchat/internal/visible"
)

const lostDoc = `Find messages that only older versions of chats have, because a chat is gone, is
empty, or starts over with its greeting. Each chat is shown with the version
that has most of what is lost, and with the command that brings it back. Nothing
is written.

The chats are compared with the versions that snapshot keeps, SillyTavern's own
backups (backups/chat_*.jsonl), the old files that repair and undo keep, and
with --from the chats in other folders. What you deleted with stchat does not
count. Backups are named after the character, not the chat; a backup is matched
to its chat by its header and its messages.

A message counts as lost if no chat in the user folder has its text, as a
message or as a swipe. An edit is not a loss: a missing message with another in
its place counts as reworded. So renaming, branching and swiping raise no alarm;
messages that you deleted yourself do, if there are at least five (--min).

The backups of a character do not give the name of a chat that is gone; the
command suggests one. SillyTavern keeps 50 backups for each character, but
counts those of "Mira Holm" as backups of "Mira" too: the heading says when a
save deletes the oldest.

In a pipe there is a row for each chat, separated by tabs: owner, chat, messages
now (empty: it is gone), lost, reworded, best version, its time, its messages,
command. docs/json.md describes the JSON documents.
`

func newLost(*app) verb {
	o := &lostOptions{}
	return verb{
		use: "lost [PATH...]", short: "Find messages that only older versions have",
		doc: lostDoc, no: "something is lost",
		example: `  stchat lost
  stchat lost SillyTavern/data/default-user --min 1
  stchat lost "chats/Mira/Harbour.jsonl" --since 2w
  stchat lost --from /media/usb/default-user/chats`,
		means: reads(),
		flags: o.addFlags, run: o.run,
	}
}

type lostOptions struct {
	listFlags
	storeFlag
	from  []string
	min   int
	since string
	json  bool
}

func (o *lostOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	o.storeFlag.addFlags(fs)
	fs.StringArrayVar(&o.from, "from", nil, "also look at the chats in `FOLDER`; may be repeated")
	fs.Var(number(&o.min, 1, "a number of messages, from 1"), "min", "show a chat that has lost at least `N` messages; default: 5, and of one that is gone 1")
	fs.StringVar(&o.since, "since", "", "look at no version older than `TIME`: 2026-03-01, \"2026-03-01 18:42\" or an age such as 2w")
	fs.BoolVar(&o.json, "json", false, "print JSON documents, one per line: per chat, and a summary")
}

func (o *lostOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	list, err := o.folders(ctx, a, args, nameFolder("lost"))
	if err != nil {
		return err
	}
	opt := past.LostOptions{List: list, From: o.from, Min: o.min, Gone: o.min, Store: func(root string) string { return keep.StoreOf(root, o.of(a)) }}
	if o.min == 0 {
		opt.Min, opt.Gone = 5, 1
	}
	if o.since != "" {
		if opt.Since, err = since(o.since, a.Now()); err != nil {
			return err
		}
	}
	c := a.console()
	var end func()
	opt.Meter, end = c.meter("reading", o.json)
	res, err := past.Lost(ctx, opt)
	end()
	if err != nil {
		c.work.count(opt.Meter)
		return err
	}
	for _, chat := range res.Chats {
		if chat.Path != nil {
			command := restores(chat)
			chat.Command = &command
		}
	}
	if err := o.write(c, res); err != nil {
		return err
	}
	return outcome(len(res.Errs) > 0, len(res.Chats) > 0)
}

// restores returns the command that brings back what a chat has lost.
func restores(chat *past.LostChat) string {
	best, of := "", *chat.Path
	switch {
	case chat.Best.Rev != nil:
		best, of = " --rev "+strconv.Itoa(*chat.Best.Rev), chat.Best.Of
	case chat.Best.Path != nil:
		best = " --backup " + visible.Quote(*chat.Best.Path)
		if strings.HasPrefix(*chat.Best.Path, "-") {
			best = " --backup=" + visible.Quote(*chat.Best.Path)
		}
	}
	return "stchat restore" + best + " " + visible.Args(of)
}

func (o *lostOptions) write(c *console, res *past.LostResult) error {
	w := bufio.NewWriter(c.Out)
	switch {
	case o.json:
		for _, chat := range res.Chats {
			if err := jsondoc.Write(w, chat, ""); err != nil {
				return err
			}
		}
	case c.shown:
		writeLost(w, c, res)
	default:
		for _, chat := range res.Chats {
			fmt.Fprintln(w, strings.Join(plainLost(chat), "\t"))
		}
	}
	for _, err := range res.Errs {
		if err := c.failed(w, o.json, "", err); err != nil {
			return err
		}
	}
	if o.json {
		if err := jsondoc.Write(w, res.Summary, ""); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if sum := res.Summary; !o.json && sum.Chats > 0 {
		c.note("%s, %s only in older versions", plural.S(sum.Chats, "chat"), plural.S(sum.Lost, "message"))
	} else if !o.json && sum.Unreadable == 0 {
		c.note("nothing is lost")
	}
	return nil
}

// plainLost returns the cells of a chat's row for a pipe.
func plainLost(chat *past.LostChat) []string {
	live, best := "", textOr(chat.Best.Path)
	if chat.LiveMessages != nil {
		live = strconv.Itoa(*chat.LiveMessages)
	}
	if chat.Best.Rev != nil {
		best = strconv.Itoa(*chat.Best.Rev)
	}
	return []string{textOr(chat.Owner), textOr(chat.Chat), live, strconv.Itoa(chat.Lost), strconv.Itoa(chat.Reworded), best, chat.Best.At, strconv.Itoa(chat.Best.Messages), textOr(chat.Command)}
}

// writeLost lists the chats below their owners, with how many of each owner's places for
// backups are taken.
func writeLost(w *bufio.Writer, c *console, res *past.LostResult) {
	var owners []string
	byOwner := map[string][]*past.LostChat{}
	width := 0
	for _, chat := range res.Chats {
		owner := "(owner unknown)"
		if chat.Owner != nil {
			owner = *chat.Owner
		}
		if byOwner[owner] == nil {
			owners = append(owners, owner)
		}
		byOwner[owner] = append(byOwner[owner], chat)
		width = max(width, visible.Width(lostName(chat)))
	}
	width = min(width, 40)
	for _, owner := range owners {
		title := paint(c.outColor, cyan, visible.Text(owner))
		if places := placesOf(res.Summary.Places, owner, byOwner[owner]); places != "" {
			title += "   " + places
		}
		fmt.Fprintln(w, title)
		for _, chat := range byOwner[owner] {
			live := ""
			if chat.LiveMessages != nil {
				live = plural.S(*chat.LiveMessages, "message") + " now"
			}
			command := "the best version is " + visible.Quote(deref(chat.Best.Path))
			if chat.Command != nil {
				command = *chat.Command
			}
			fmt.Fprintf(w, "  %s  %s  %s  %s\n", visible.Pad(visible.Truncate(lostName(chat), width), width), visible.Pad(live, 18),
				paint(c.outColor, red, padLeft(fmt.Sprintf("%d lost", chat.Lost), 9)), command)
			if chat.Ambiguous {
				fmt.Fprintf(w, "  %s  another chat is as likely to be the one that lost them\n", visible.Pad("", width))
			}
		}
	}
}

// lostName returns a chat's name, marked if the chat is gone.
func lostName(chat *past.LostChat) string {
	name := visible.Text(deref(chat.Chat))
	if chat.LiveMessages == nil {
		name = strings.TrimSpace("(gone) " + name)
	}
	return name
}

// placesOf returns how many of the places for an owner's backups are taken, and by whom.
func placesOf(places []past.LostPlaces, owner string, chats []*past.LostChat) string {
	mine := func(p past.LostPlaces) bool {
		for _, name := range p.Owners {
			for _, chat := range chats {
				if name == owner || chat.Chat != nil && name == *chat.Chat {
					return true
				}
			}
		}
		return false
	}
	var told []string
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
		told = append(told, text.String())
	}
	return strings.Join(told, "; ")
}

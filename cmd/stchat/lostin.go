package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/history/lost"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/ops/keep"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

// What a chat that is there has lost, message by message.

// goingBack returns the chats of which something is put back.
func (o *lostOptions) goingBack(named []*keep.LostIn) (list []*keep.LostIn) {
	for _, in := range named {
		goes := func(item *keep.LostItem) bool { return in.GoesBack(item, o.asSwipe) }
		if slices.ContainsFunc(in.Items, goes) {
			list = append(list, in)
		}
	}
	return list
}

// countGoing counts what is put back into a chat.
func (o *lostOptions) countGoing(in *keep.LostIn) (messages, swipes int) {
	for _, item := range in.Items {
		switch {
		case !in.GoesBack(item, o.asSwipe):
		case item.Kind == lost.Message:
			messages++
		default:
			swipes++
		}
	}
	return messages, swipes
}

// notAskedFor counts what chats have lost that MESSAGES and --match did not pick.
func notAskedFor(res *keep.LostResult) (n int) {
	for _, in := range res.Named {
		n += in.Left
	}
	return n
}

// lostText counts messages and swipes.
func lostText(c *console, messages, swipes int) string {
	var parts []string
	if messages > 0 {
		parts = append(parts, c.many(messages, "message"))
	}
	if swipes > 0 {
		parts = append(parts, c.many(swipes, "swipe"))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, " and ")
}

// putBack puts back what the chats have lost, once that is agreed to. failed says that something could
// not be read.
func (o *lostOptions) putBack(ctx context.Context, c *console, chats []*keep.LostIn, changes changeset.Options, failed bool) error {
	allMessages, allSwipes := 0, 0
	into := nameOf(chats[0].Path)
	if len(chats) > 1 {
		into = plural.Many(len(chats), "chat")
	}
	for _, in := range chats {
		messages, swipes := o.countGoing(in)
		allMessages += messages
		allSwipes += swipes
	}

	what := fmt.Sprintf("put %s back into %s", lostText(c, allMessages, allSwipes), visible.Text(into))
	if err := c.confirm(ctx, what); err != nil {
		return err
	}

	results := keep.PutBack(ctx, chats, o.asSwipe, edit.Terms{ExpectMessages: -1, BumpIntegrity: c.newSlugs(), Changes: changes})
	how := &saying{hints: editHints(), bumped: true}
	of := func(r *edit.Result) (string, *ops.Result[edit.Document]) { return r.Doc.Path, &r.Result }
	err := sayAll(c, how, results, of, func(r *edit.Result) {
		in := chats[slices.IndexFunc(chats, func(in *keep.LostIn) bool { return in.Path == r.Doc.Path })]
		if r.Doc.DidWrite {
			how.edited, how.bumped = append(how.edited, r.Doc.Path), how.bumped && r.Bumped
		}
		switch {
		case c.json:
		case c.tells():
			c.block(o.putBlock(c, in, r))
		default:
			c.made(r.Doc.Path)
		}
	})
	return cmp.Or(err, outcome(failed, false))
}

// putBlock tells a person what was put back into a chat.
func (o *lostOptions) putBlock(c *console, in *keep.LostIn, r *edit.Result) block {
	messages, swipes := o.countGoing(in)
	b := block{sentence: fmt.Sprintf("put %s back into %s", lostText(c, messages, swipes), nameOf(in.Path))}
	if c.dryRun {
		b.sentence = "would " + b.sentence
	}
	last := 0
	if r.Doc.Messages != nil {
		last = *r.Doc.Messages - 1
	}
	b.facts = c.stateFacts(r.Doc.State, last)
	return b
}

// list prints what a chat has lost; with --restore, what of it is put back.
func (o *lostOptions) list(c *console, in *keep.LostIn) {
	if c.json || !c.shown {
		for _, item := range in.Items {
			if c.json {
				c.document(item)
			} else {
				c.row(lostItemRow(item)...)
			}
		}
		return
	}
	o.show(c, in)
}

// lostItemRow is what a chat has lost in a pipe.
func lostItemRow(item *keep.LostItem) []string {
	return []string{
		item.Path, string(item.Kind), lostNumber(item), visible.Text(item.Name), item.At, item.Source,
		cmp.Or(digits(item.Rev), deref(item.File)), visible.Text(firstWords(item)),
	}
}

// lostNumber is the number that a message had, with that of a swipe behind a dot.
func lostNumber(item *keep.LostItem) string {
	number := strconv.Itoa(item.Number)
	if item.Swipe != nil {
		number += "." + strconv.Itoa(*item.Swipe)
	}
	return number
}

// firstWords returns the beginning of a text in one line.
func firstWords(item *keep.LostItem) string { return strings.Join(strings.Fields(item.Text), " ") }

// show tells a person what a chat has lost.
func (o *lostOptions) show(c *console, in *keep.LostIn) {
	messages, swipes, wordings := in.Count()
	if messages+swipes+wordings == 0 {
		return // which the summary says
	}
	title := fmt.Sprintf("%s of %s: gone, but still recoverable", lostText(c, messages, swipes), nameOf(in.Path))
	if messages+swipes == 0 {
		title = "nothing of " + nameOf(in.Path) + " is gone"
	}
	c.title(title)

	t := &grid.Table{Columns: []grid.Column{{Code: cyan}, {Name: true}, {Text: true}, {Optional: true}, {}}}
	hidden := 0
	for _, item := range in.Items {
		goesBack := o.restore && in.GoesBack(item, o.asSwipe)
		if item.Kind == lost.Wording && !c.verbose && !goesBack {
			hidden++
			continue
		}
		t.Rows = append(t.Rows, grid.Row{Cells: []string{
			lostNumber(item), visible.Text(item.Name), c.excerpt(o.itemText(in, item)), localTime(item.At), lostSource(item),
		}})
	}

	c.table(t)
	o.remarks(c, in, hidden)
}

// itemText is how an item begins, behind what it is if that is no message.
func (o *lostOptions) itemText(in *keep.LostIn, item *keep.LostItem) string {
	text := firstWords(item)
	switch item.Kind {
	case lost.Swipe:
		text = "swipe: " + text
	case lost.Wording:
		text = "as it was: " + text
	}
	if o.restore && !in.GoesBack(item, o.asSwipe) {
		text = "(stays) " + text
	}
	return text
}

// lostSource says in what an item was last.
func lostSource(item *keep.LostItem) string {
	switch item.Source {
	case keep.LostInHistory:
		return "version " + digits(item.Rev)
	case keep.LostInBackups:
		return "backup"
	case keep.LostInUndo:
		return "kept for undo"
	case keep.LostInOld:
		return "old file"
	}
	return "copy"
}

// remarks says below a list what is not in it, and what comes next.
func (o *lostOptions) remarks(c *console, in *keep.LostIn, hidden int) {
	remark := func(text string) { fmt.Fprintln(c.w, c.prose(text, "  ")) }
	strays := 0
	for _, item := range in.Items {
		if item.Stray && in.GoesBack(item, o.asSwipe) {
			strays++
		}
	}

	if strays > 0 {
		remark(fmt.Sprintf("%s without a neighbour that is still there: it goes to the end", c.many(strays, "message")))
	}
	if hidden > 0 && o.asSwipe {
		remark(plural.Of(hidden, "older wording stays", "older wordings stay") + ": SillyTavern shows no swipes of the user's messages; -v lists them")
	}
	if hidden > 0 && !o.asSwipe {
		remark(plural.Of(hidden, "older wording", "older wordings") + " of messages that were edited since: -v lists them, --as-swipe makes them swipes")
	}
	if alone := o.countAlone(in); alone > 0 {
		remark(plural.Of(alone, "swipe is", "swipes are") + " of a message that is gone too, and can only come back with it")
	}
	if in.Left > 0 {
		remark(fmt.Sprintf("%s more, which were not asked for", c.number(in.Left)))
	}
	if o.restore {
		return
	}
	if len(o.goingBack([]*keep.LostIn{in})) > 0 {
		fmt.Fprintln(c.w, "  "+o.again(c, lostAddress(in.Path, in.Owner), in.Root)+" --restore")
	}
	if in.Whole != nil {
		remark("most of it is in one version, which this brings back as a chat of its own:")
		fmt.Fprintln(c.w, "  "+restoreByAddress(c, in.Whole, lostAddress(in.Path, in.Owner)))
	}
}

// countAlone counts swipes that stay where they are since the message that they belong to does.
func (o *lostOptions) countAlone(in *keep.LostIn) (n int) {
	for _, item := range in.Items {
		if item.Kind == lost.Swipe && !in.GoesBack(item, o.asSwipe) {
			n++
		}
	}
	return n
}

// again returns the command that tells of a chat what this call did.
func (o *lostOptions) again(c *console, address, root string) string {
	var command strings.Builder
	command.WriteString("stchat lost " + address)
	for _, folder := range o.from {
		command.WriteString(" --from " + visible.Quote(absolute(folder)))
	}
	return c.withStore(c.atRoot(command.String(), root))
}

// address returns how a chat is named in a command: OWNER/NAME, or its path where that is not sure to
// mean it.
func (o *lostOptions) address(chat *keep.LostChat) string {
	path := chat.To
	if chat.LiveMessages == nil {
		path = chat.ComesTo()
	}
	return lostAddress(path, deref(chat.Owner))
}

// lostAddress returns OWNER/NAME of a chat, which may be gone, quoted, or its path.
func lostAddress(path, owner string) string {
	kind, _ := userdir.KindOf(path)
	address := owner + "/" + userdir.ChatName(path)
	if owner == "" || kind == userdir.File || strings.ContainsAny(address, `*?[]"\`) || strings.Count(address, "/") > 1 {
		return visible.Args(absolute(path))
	}
	return visible.Args(address)
}

// shownCommand returns the command that brings back what a chat has lost, as a person types it.
func (o *lostOptions) shownCommand(c *console, chat *keep.LostChat) string {
	if chat.Backup != "" {
		return c.atRoot(restoreToFile(c, chat, chat.Backup), chat.Root)
	}
	address := lostAddress(chat.To, deref(chat.Owner))
	if o.isCopy(chat) {
		return c.atRoot("stchat merge "+address+" "+visible.Args(absolute(*chat.Best.Path)), chat.Root)
	}
	if chat.Name != "" || chat.To != deref(chat.Path) { // another chat has its name
		return restoreByAddress(c, chat, address)
	}
	return o.again(c, address, chat.Root) + " --restore"
}

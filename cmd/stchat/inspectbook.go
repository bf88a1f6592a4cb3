package main

import (
	"cmp"
	"context"
	"strconv"

	"stchat/internal/folder/inspect"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

// inspectBooks prints what lorebooks hold, and which chats name them. It returns how many it printed.
func inspectBooks(ctx context.Context, c *console, paths []string) (printed int, err error) {
	opt := ops.InspectBooksOptions{Paths: paths}
	end := c.meter("reading chats", c.json, &opt.Meter)
	opt.Each = func(b *inspect.Book, err error) error {
		if err != nil {
			c.failed("", err)
			return nil
		}
		if c.json {
			return c.document(b)
		}
		if printed > 0 {
			c.line("")
		}
		printed++
		if c.shown {
			showBook(c, b)
		} else {
			writeBook(c, b)
		}
		return c.printed()
	}
	err = ops.InspectBooks(ctx, opt)
	end()
	return printed, cmp.Or(err, c.printed())
}

// writeBook writes all about a lorebook for a pipe: lines of a name and a value.
func writeBook(c *console, b *inspect.Book) {
	l := &b.Lorebook
	count := func(name string, n *int) {
		if n != nil {
			c.row(name, strconv.Itoa(*n))
		}
	}
	c.row("lorebook", visible.Text(l.Name))
	c.row("file", visible.Text(b.Path))
	c.row("bytes", strconv.FormatInt(b.Bytes, 10))
	count("entries", l.Entries)
	count("internal entries", l.Internal)
	count("pending operations", l.Pending)
	if l.Error != nil {
		c.row("damage", visible.Text(*l.Error))
	}
	count("chats", b.ChatTotal)
	for _, named := range b.Chats {
		c.row("chat", visible.Text(named.Path))
	}
}

// showBook shows a person all about a lorebook.
func showBook(c *console, b *inspect.Book) {
	k := card{c: c}
	l := &b.Lorebook
	c.title(l.Name)
	k.line("file", visible.Quote(b.Path))
	k.line("size", formatBytes(b.Bytes))
	if l.Entries != nil {
		k.line("entries", plural.Grouped(*l.Entries), plural.Grouped(*l.Internal)+" of an extension")
	}
	if l.Pending != nil {
		k.line("queue", plural.Many(*l.Pending, "operation")+" pending")
	}

	if b.ChatTotal == nil {
		k.line("chats", "not known: the lorebook is in no user folder")
	} else {
		k.line("chats", plural.Grouped(*b.ChatTotal))
	}
	s := newScreen(c, 0)
	k.list("", len(b.Chats), len(b.Chats), func(i int) []string {
		named := b.Chats[i]
		owner := deref(named.Owner)
		return []string{s.shortened(names.Short(owner, named.Name)), visible.Text(owner)}
	})

	if l.Error != nil {
		k.damage = true
		k.line("damage", visible.Text(*l.Error))
	}
}

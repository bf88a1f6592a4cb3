package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/ops"
	"stchat/internal/ops/look"
	"stchat/internal/place/names"
	"stchat/internal/show/grid"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newList() verb {
	return verb{
		use: "list [PATH...]", short: "List chats, the newest first",
		doc: `One row a chat: its name, messages, size, and when its last message was sent.
PATH is an owner, a folder, a chat, or a user folder; without one it is the user
folder that you are in. ● marks the chat that its character or group opens with.

A condition of --where is KEY (the metadata have it), !KEY, KEY=VALUE,
KEY!=VALUE or KEY~GLOB. Where a chat has no date, its file's counts.

In a pipe: path, owner, name, messages, bytes, date of the last message.
`,
		also: "inspect, tree, search",
		example: `  stchat list
  stchat list Mira --sort size
  stchat list --where lorebook=Saltmere --until 52w`,
		means:   reads(),
		pages:   everything,
		options: &listOptions{},
	}
}

type listOptions struct {
	listFlags
	opt look.ListOptions
}

func (o *listOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.Var(oneOf(&o.opt.Order, look.ByDate, look.Orders()...), "sort", "sort by `KEY`: date, name, size or messages; the newest and the largest come first")
	fs.BoolVar(&o.opt.Reverse, "reverse", false, "the other way round")
	fs.Var(number(&o.opt.Limit, 0, "a number, 0 for all"), "limit", "show at most `N` chats; 0: all")
	fs.Var(since(&o.opt.Since).notEmpty(), "since", "whose last message was sent at `TIME` or later")
	fs.Var(until(&o.opt.Until).notEmpty(), "until", "whose last message was sent at `TIME` or earlier")
	fs.Var(parsed(condition, func(c ops.Condition) { o.opt.Where = append(o.opt.Where, c) }).notEmpty(), "where", "whose metadata meet `CONDITION`; may be repeated")
}

func (o *listOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) (err error) {
	opt := o.opt
	if opt.List, err = o.folders(ctx, c, args, nameFolder("list")); err != nil {
		return err
	}
	end := c.meter("reading", c.json, &opt.Meter)
	res, err := look.List(ctx, opt)
	end()
	if err != nil {
		c.work.count(opt.Meter)
		return err
	}

	switch {
	case c.json:
		for _, l := range res.Chats {
			c.document(l)
		}
	case c.shown:
		o.write(c, res)
	default:
		for _, l := range res.Chats {
			c.row(visible.Text(l.Path), textOr(l.Owner), visible.Text(l.Name), strconv.Itoa(l.Messages), strconv.FormatInt(l.Bytes, 10), textOr(l.LastDate))
		}
	}
	if err := c.printed(); err != nil {
		return err
	}
	for _, err := range res.Errs {
		c.failed("", err)
	}
	return c.outcome(false)
}

// none says that no chat is listed, and which of the flags may have left them out.
func (o *listOptions) none() string {
	var asked []string
	if len(o.opt.Where) > 0 {
		asked = append(asked, "--where")
	}
	if !o.opt.Since.IsZero() {
		asked = append(asked, "--since")
	}
	if !o.opt.Until.IsZero() {
		asked = append(asked, "--until")
	}
	if len(asked) == 0 {
		return "no chat here"
	}
	return "no chat meets " + strings.Join(asked, ", ")
}

// write shows a list to a person.
func (o *listOptions) write(c *console, res *look.ListResult) {
	if len(res.Chats) == 0 {
		c.line(o.none())
		return
	}
	owner := ownerName(res.Chats[0])
	several := false
	for _, l := range res.Chats {
		several = several || ownerName(l) != owner
	}

	s := newScreen(c, 0)
	t := &grid.Table{Columns: []grid.Column{
		{Title: "chat", Name: true, Code: cyan},
		{Title: "messages", Right: true, Code: green},
		{Title: "size", Right: true, Code: green},
		{Title: "last message", Code: dim},
	}}

	if several {
		t.Columns = append(t.Columns, grid.Column{Title: "owner", Code: cyan})
	}
	messages, bytes := 0, int64(0)
	for _, l := range res.Chats {
		row := listRow(&s, l)
		if several {
			row.Cells = append(row.Cells, visible.Text(ownerName(l)))
		}
		t.Rows = append(t.Rows, row)
		messages += l.Messages
		bytes += l.Bytes
	}

	s.table(t)

	count := plural.Many(len(res.Chats), "chat")
	if res.Left > 0 {
		count = plural.Grouped(len(res.Chats)) + " of " + plural.Many(len(res.Chats)+res.Left, "chat")
	}
	c.line(c.prose(count+", "+plural.Many(messages, "message")+", "+formatBytes(bytes), ""))
}

// listRow returns the row of a chat for a person; the one that its owner opens with is marked.
func listRow(s *screen, l *look.Listed) grid.Row {
	lead := "  "
	if l.Current {
		lead = s.sign("● ")
	}
	last := ""
	if !l.Last.IsZero() {
		last = l.Last.Local().Format(minute)
	}
	short := names.Short(ownerName(l), l.Name)
	return grid.Row{Lead: lead, Cells: []string{s.shortened(short), plural.Grouped(l.Messages), formatBytes(l.Bytes), last}}
}

// ownerName returns the name of a chat's character or group, "" if it has none.
func ownerName(l *look.Listed) string { return deref(l.Owner) }

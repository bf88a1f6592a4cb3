package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/folder/inspect"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/show/grid"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newInspect() verb {
	return verb{
		use: "inspect [PATH...]", short: "Show what a chat contains",
		doc: `Show what a chat contains: messages by role, dates, swipes, what the bytes are
spent on, parent, checkpoints and branches, lorebook, state of extensions, and
damage. Nothing is written. Damage is shown, but is not an error.

PATH is a chat, a folder (every *.jsonl below it; links are not followed), a
SillyTavern user folder (chats/*/ and "group chats"/ only), or SillyTavern's own
folder, for all its users; - is standard input. Without PATH it is the user
folder around the working folder, or else the one that STCHAT_DATA names.

One chat is shown as a card, several as a table: one row per chat, checkpoints
and branches below their parent, and a total.

What is counted:
  role       system for narrators, comments and calls of tools, else user if
             is_user is true, else character, hidden or not
  hidden     is_system without extra.type or tool calls: what /hide makes
  swipes     messages with more than one swipe, and all swipes stored
  parts      bytes as written, with quotes and brackets: mes, swipes,
             swipe_info, extra, and other, which is the rest of the lines
  dates      of the first and last message that have one; a date that cannot be
             read is shown as it is
  damage     lines that other commands leave out with --skip-damaged

With --messages there is one row per message. In a pipe there is no colour, no
heading, and nothing is cut; tabs separate the columns. The columns of a chat:
path, depth below its parent, kind, character or group, header, messages, of the
user, of the character, of the system, hidden, messages with several swipes,
swipes, bytes, first date, last date, parent, lorebook, damaged lines; and of a
message: path (of several chats), index, role, name, date, swipe chosen /
swipes, marks, first line, bytes. With --json there is one document per line,
described in docs/json.md; for several chats, the last one is a summary.
`,
		example: `  stchat inspect "chats/Mira/Harbour.jsonl"
  stchat inspect SillyTavern/data/default-user
  stchat inspect chats --json | jq -r 'select(.damage_total > 0).path'
  stchat inspect chat.jsonl --messages | less
  stchat inspect - < chat.jsonl`,
		means:   reads(),
		pages:   everything,
		options: &inspectOptions{},
	}
}

type inspectOptions struct {
	listFlags
	messages bool
}

func (o *inspectOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.BoolVar(&o.messages, "messages", false, "show one row per message")
}

func (o *inspectOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	list, err := o.folders(ctx, c, args, nameFolder("inspect"))
	if err != nil {
		return err
	}
	opt := ops.InspectOptions{List: list, Stdin: c.In}
	end := c.meter("inspecting", c.json || o.messages, &opt.Meter)
	var reports []*inspect.Report
	opt.Each = func(r *inspect.Report, err error) error {
		switch {
		case err != nil:
			c.failed("", err)
		case c.json:
			return c.document(r)
		default:
			reports = append(reports, r)
		}
		return nil
	}

	shown := &grid.Table{} // of messages, for a person
	if o.messages {
		o.listMessages(c, &opt, shown)
	}
	res, err := ops.Inspect(ctx, opt)
	end()
	if err == nil && !o.messages {
		writeReports(c, reports, res)
	}
	c.table(shown)
	if err = cmp.Or(err, c.printed()); err != nil {
		c.work.done, c.work.left = res.Done, res.Chats-res.Done
		return err
	}
	for _, err := range res.Errs {
		c.fail(err)
	}
	return c.outcome(false)
}

// writeReports prints what was read of chats: a table of several, with their sums, or all of one.
func writeReports(c *console, reports []*inspect.Report, res *ops.Inspected) {
	onlyErrors := len(reports) == 0 && c.erred
	switch {
	case c.json && res.Several:
		c.document(res.Summary)
	case c.json, onlyErrors:
	case res.Several && c.shown:
		writeShownTable(c, inspect.Tree(reports), res.Summary)
	case res.Several:
		writeTable(c, inspect.Tree(reports), res.Summary)
	case len(reports) == 1:
		writeCard(c, reports[0])
		for _, text := range reports[0].Warnings {
			c.warn("%s: %s", chat.Label(reports[0].Path), text)
		}
	}
}

// listMessages makes the inspection list messages as they are read, or put them in a table for a person.
func (o *inspectOptions) listMessages(c *console, opt *ops.InspectOptions, t *grid.Table) {
	t.Columns = []grid.Column{
		{Right: true},
		{Title: "name", Name: true},
		{Title: "date", Code: dim, Optional: true},
		{Title: "swipe", Right: true, Optional: true},
		{Title: "size", Right: true, Code: green, Optional: true},
		{Title: "text", Text: true},
	}

	path, several := "", false
	opt.Begin = func(p string, many bool) error {
		if c.shown && many && !c.json {
			t.Rows = append(t.Rows, grid.Row{Heading: visible.Text(chat.Label(p))})
		}
		path, several = p, many
		return nil
	}

	opt.Damaged = func(path string, damage []jsonl.Damage, more int) { c.damaged(path, "not counted", damage, more) }
	opt.FirstLine = !c.json
	if c.shown && c.Width > 0 {
		const most = 16 // bytes of a letter in one cell with its marks
		opt.Head = c.Width * most
	}
	opt.Message = func(m *inspect.Message) error {
		switch {
		case c.json:
			return c.document(m)
		case c.shown:
			t.Rows = append(t.Rows, messageRow(c, m))
		default:
			if several {
				fmt.Fprintf(c.w, "%s\t", visible.Text(path))
			}
			fmt.Fprintf(c.w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%d\n", m.Index, m.Role, textOr(m.Name), textOr(m.Date), swipeText(m), marks(m), visible.Text(firstLine(m)), m.Bytes)
		}
		return c.printed() // the reader of a pipe gets each row at once
	}
}

// messageRow returns a message's row for a person.
func messageRow(c *console, m *inspect.Message) grid.Row {
	text := visible.Text(firstLine(m))
	if m.Name == nil || m.Role == "system" {
		text = "(" + m.Role + ") " + text
	}
	if mark := marks(m); mark != "" {
		text = "[" + mark + "] " + text
	}
	return grid.Row{
		Cells: []string{"#" + strconv.Itoa(m.Index), textOr(m.Name), shownDate(c, deref(m.Date)), swipeText(m), formatBytes(int64(m.Bytes)), text},
		Codes: []string{"", roleColor(m.Role)},
	}
}

// roleColor returns the colour of a speaker's name.
func roleColor(role string) string {
	return cmp.Or(map[string]string{"user": bold + ";" + cyan, "system": dim, "narrator": dim, "comment": dim}[role], bold+";"+green)
}

// textOr returns s escaped for a terminal, "" for nil.
func textOr(s *string) string {
	return visible.Text(deref(s))
}

// swipeText returns the chosen swipe, from 1, and how many are stored; "" if none are.
func swipeText(m *inspect.Message) string {
	if m.Swipes <= 0 {
		return ""
	}
	chosen := "?"
	if m.Swipe != nil && *m.Swipe <= m.Swipes {
		chosen = strconv.Itoa(*m.Swipe)
	}
	return chosen + "/" + strconv.Itoa(m.Swipes)
}

// marks lists the links and other marks of a message.
func marks(m *inspect.Message) string {
	var list []string
	if m.Checkpoint != nil {
		list = append(list, "checkpoint")
	}
	if n := len(m.Branches); n > 0 {
		list = append(list, plural.Of(n, "branch", "branches"))
	}
	if m.SceneBreak {
		list = append(list, "scene break")
	}
	if m.Hidden {
		list = append(list, "hidden")
	}
	return strings.Join(list, ", ")
}

// firstLine returns the first line of a message that is not blank.
func firstLine(m *inspect.Message) string {
	line, _, _ := strings.Cut(strings.TrimLeft(deref(m.Text), " \t\r\n"), "\n")
	return strings.TrimRight(line, "\r")
}

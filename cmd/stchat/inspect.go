package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/folder/inspect"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newInspect() verb {
	return verb{
		use: "inspect [PATH...]", short: "Show what a chat, a folder or a lorebook contains",
		doc: `Of a chat: messages by role, dates, swipes, what the bytes are spent on, parent,
checkpoints and branches, lorebook, state of extensions, and damage. Of a
folder: totals, its owners, damaged chats, and how many chats name each
lorebook. Of a lorebook: the chats that name it, its entries and its queue. PATH
may also be an owner, a user folder, SillyTavern's own folder, or - for standard
input; without it it is the user folder that you are in. Nothing is written.
`, more: `Damage is shown, but is not an error. Of a folder the owners come with the
largest first. A character or a setting may use a lorebook that no chat names.
Of a lorebook it shows how many entries are an extension's own, and the
operations that wait in its queue. "stchat list" has a row per chat.

Of a folder every *.jsonl below it is read; of a user folder those of chats/*/
and "group chats"/ only; of SillyTavern's own folder those of all its users.
Links are not followed, but for those in chats/ to folders. Outside of a user
folder, STCHAT_DATA names one.

What is counted in a chat:
  role       system for narrators, comments and calls of tools, else user if
             is_user is true, else character, hidden or not
  hidden     is_system without extra.type or tool calls: what /hide makes
  swipes     messages with more than one swipe, and all swipes stored
  parts      bytes as written, with quotes and brackets: mes, swipes,
             swipe_info, extra, and other, which is the rest of the lines
  dates      of the first and last message that have one; a date that cannot be
             read is shown as it is
  damage     lines that other commands leave out with --skip-damaged

In a pipe nothing is cut. A folder and a lorebook are lines of a name, a tab and
a value: "owner Mira" has bytes, "lorebook Saltmere" a number of chats, "damage
PATH" a number of lines. A row of --messages is path (of several chats), index,
role, name, date, swipe chosen / swipes, marks, first line, bytes. With --json
there is one document per chat or lorebook, described in docs/json.md; for
several chats, the last one is a summary.

  stchat inspect chats --json | jq -r 'select(.damage_total > 0).path'
  stchat inspect Mira/@ --messages | less
`,
		also: "list, show, check, stats",
		example: `  stchat inspect
  stchat inspect Mira/Harbour
  stchat inspect worlds/Saltmere.json`,
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

func (o *inspectOptions) run(ctx context.Context, c *console, flags *pflag.FlagSet, args []string) error {
	list, err := o.folders(ctx, c, args, nameFolder("inspect"))
	if err != nil {
		return err
	}
	var books, chats []string
	for _, path := range list.Paths {
		if ops.IsBook(path) {
			books = append(books, path)
		} else {
			chats = append(chats, path)
		}
	}
	if len(books) == 0 {
		return o.inspectChats(ctx, c, list, flags.Args())
	}
	if o.messages {
		return usagef("%s is a lorebook; --messages goes with chats", books[0])
	}

	printed, err := inspectBooks(ctx, c, books)
	if err != nil {
		return err
	}
	if len(chats) == 0 {
		return c.outcome(false)
	}
	if printed > 0 && !c.json {
		c.line("")
	}
	list.Paths = chats
	return o.inspectChats(ctx, c, list, flags.Args())
}

// inspectChats inspects chats and folders of them, which args named.
func (o *inspectOptions) inspectChats(ctx context.Context, c *console, list ops.List, args []string) error {
	opt := ops.InspectOptions{List: list, Stdin: c.In}
	hasFolder := meansFolder(c, list, args)
	end := c.meter("inspecting", c.json || o.messages, &opt.Meter)
	cards := 0
	opt.Each = func(r *inspect.Report, err error) error {
		switch {
		case err != nil:
			c.failed("", err)
		case c.json:
			return c.document(r)
		case !hasFolder:
			if cards > 0 {
				c.line("")
			}
			cards++
			writeCard(c, r)
			c.flush() // before the warnings, and the next chat may take long
			for _, text := range r.Warnings {
				c.warn("%s: %s", chat.Label(r.Path), text)
			}
			return c.printed()
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
		o.writeSum(c, res, hasFolder, args)
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

// meansFolder reports whether a folder is inspected, or all chats of a group, which have no folder of
// their own; args are as they were typed.
func meansFolder(c *console, list ops.List, args []string) bool {
	isOwner := func(arg string) bool {
		found, err := c.finder().Find(arg)
		return err == nil && found.Owner
	}
	return slices.ContainsFunc(list.Paths, userdir.IsDir) || slices.ContainsFunc(args, isOwner)
}

// writeSum prints what the chats add up to.
func (o *inspectOptions) writeSum(c *console, res *ops.Inspected, hasFolder bool, args []string) {
	onlyErrors := res.Overview.Chats == 0 && c.erred
	switch {
	case c.json && res.Several:
		c.document(res.Overview.Summary)
	case c.json || !hasFolder || onlyErrors:
	case c.shown:
		s := newScreen(c, 0)
		o.showOverview(c, &s, &res.Overview, args)
	default:
		writeOverview(c, &res.Overview)
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

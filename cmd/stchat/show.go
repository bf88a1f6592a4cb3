package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"stchat/internal/ops/look"
	"stchat/internal/place/names"
	"stchat/internal/show/prose"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newShow() verb {
	return verb{
		use: "show CHAT... [MESSAGES]", short: "Print messages",
		doc: `Without MESSAGES all of them are printed: on a terminal to be read, the text as
SillyTavern shows it; in a pipe as NAME: TEXT, as it is stored, with a blank
line between messages. --raw prints the stored lines, byte for byte, which 'add'
takes. A damaged line is an error, unless --skip-damaged leaves it out.
`, no: "no message is chosen",
		also: "search, export, inspect",
		example: `  stchat show Mira/Harbour 3..9
  stchat show Mira/@ --last 20
  stchat show "Mira/*" --role user --count`,
		means:   &subjects{messages: true, owners: "show"},
		pages:   everything,
		rules:   []string{"raw excludes swipes|reasoning|display", "count excludes raw|swipes|reasoning|display"},
		options: &showOptions{},
	}
}

// messageReadFlags are the flags of the commands that read messages.
type messageReadFlags struct {
	listFlags
	choiceFlags
	skipDamaged bool
}

func (o *messageReadFlags) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.skipDamaged, "skip-damaged", false, "leave damaged lines out instead of refusing the chat")
	o.choiceFlags.addFlags(fs)
	o.listFlags.addFlags(fs)
}

// read returns the options for each chat, and the chats.
func (o *messageReadFlags) read(ctx context.Context, c *console, args []string, example string) (look.MessageOptions, []string, error) {
	paths, err := o.chats(ctx, c, args, "name a chat, e.g. `"+example+"`")
	if err != nil {
		return look.MessageOptions{}, nil, err
	}
	o.chosenBy.Clip = true
	choice, err := o.choice(ctx, paths)
	return look.MessageOptions{
		Choice: choice, SkipDamaged: o.skipDamaged,
		Open: chat.Options{Data: userFolder(c, paths), Stdin: c.In},
	}, paths, err
}

// messageCount is what show --count --json prints.
type messageCount struct {
	Schema   int    `json:"schema"`
	Path     string `json:"path" is:"path"`
	Messages int    `json:"messages"`
}

type showOptions struct {
	messageReadFlags
	count, raw                 bool
	swipes, reasoning, display bool
}

func (o *showOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.swipes, "swipes", false, "all swipes: the number of the chosen one, and the others, from 1")
	fs.BoolVar(&o.reasoning, "reasoning", false, "also the reasoning, before the text")
	fs.BoolVar(&o.display, "display", false, "the text as it is displayed, where a translation is stored")
	fs.BoolVar(&o.raw, "raw", false, "the stored lines, byte for byte")
	fs.BoolVar(&o.count, "count", false, "only how many messages there are")
	o.messageReadFlags.addFlags(fs)
}

func (o *showOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	if c.json && (o.raw || o.display) {
		return usagef("--json prints whole documents: leave --raw and --display out")
	}
	return o.print(ctx, c, args)
}

// print prints the chosen messages of chats, or how many they are.
func (o *showOptions) print(ctx context.Context, c *console, args []string) error {
	opt, paths, err := o.read(ctx, c, args, "stchat show Mira/Harbour 3..9")
	if err != nil {
		return err
	}
	if o.count {
		return o.runCount(ctx, c, opt, paths)
	}
	opt.SwipeTexts = o.swipes
	p := &messagePrinter{console: c, o: o}
	if c.shown && !o.raw && !c.json {
		p.reader = &reader{screen: newScreen(c, 76), reasoning: o.reasoning, ranges: opt.Choice.Ranges}
	}
	chosen := 0
	for _, path := range paths {
		opt.Path = path
		p.title = ""
		if len(paths) > 1 && !c.json && !o.raw {
			p.title = path
		}
		read, err := look.Messages(ctx, opt, p.print)
		chosen += read.Chosen
		if p.reader != nil && err == nil {
			p.reader.end(read)
		}
		if read.Clipped && err == nil {
			noteClipped(c, path)
		}
		c.leftOut(path, read.Skipped, o.skipDamaged)
		if err != nil {
			if ctx.Err() != nil || isClosedPipe(err) {
				return err
			}
			c.flush()
			c.failed(path, withHint(err, []hint{{chat.ErrDamaged, skippable}}))
		}
	}

	none := chosen == 0 && len(paths) > 0
	if none && !c.erred && c.shown {
		c.note("no message is chosen")
	}
	return c.outcome(none)
}

// noteClipped says that a range ends at a chat's last message instead of beyond it.
func noteClipped(c *console, path string) {
	c.note("%s ends there: it has no more messages", shortName(path))
}

// runCount prints how many messages are chosen, for several chats before each one's path.
func (o *showOptions) runCount(ctx context.Context, c *console, opt look.MessageOptions, paths []string) error {
	chosen := 0
	for _, path := range paths {
		opt.Path = path
		read, err := look.Messages(ctx, opt, nil)
		chosen += read.Chosen
		if read.Clipped && err == nil {
			noteClipped(c, path)
		}
		c.leftOut(path, read.Skipped, o.skipDamaged)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.failed(path, withHint(err, []hint{{chat.ErrDamaged, skippable}}))
		case c.json:
			c.document(messageCount{1, path, read.Chosen})
		case len(paths) > 1:
			fmt.Fprintf(c.w, "%d\t%s\n", read.Chosen, c.path(path))
		default:
			fmt.Fprintln(c.w, read.Chosen)
		}
		if err := c.printed(); err != nil {
			return err
		}
	}
	return c.outcome(chosen == 0 && !opt.Choice.All() && len(paths) > 0)
}

// messagePrinter prints messages one after the other.
type messagePrinter struct {
	*console
	o      *showOptions
	title  string // of the chat, until its first message
	any    bool   // something was printed
	reader *reader
}

func (p *messagePrinter) print(m *look.Message) error {
	switch {
	case p.json:
		return p.document(m)
	case p.o.raw:
		line := string(m.Stored)
		if p.OutTTY {
			line = visible.Text(line)
		}
		fmt.Fprintln(p.w, line)
	case p.reader != nil:
		p.reader.print(m)
	default:
		p.printText(m)
	}
	return nil
}

// printText prints a message for a person, with its reasoning and swipes if asked for.
func (p *messagePrinter) printText(m *look.Message) {
	if p.title != "" {
		p.paragraph(paint(p.outColor, bold, "==> "+visible.Text(p.title)+" <=="))
		p.title = ""
	}
	name := "(" + m.Role + ")"
	if m.Name != nil {
		name = visible.Text(*m.Name)
	}
	text := m.Text
	if p.o.display && m.Display != nil {
		text = m.Display
	}
	if p.o.reasoning && deref(m.Reasoning) != "" {
		p.printSaid(m, name, "reasoning", m.Reasoning)
	}
	chosen, about := 0, ""
	if len(m.SwipeTexts) > 0 && m.Swipe != nil {
		chosen = *m.Swipe
		about = fmt.Sprintf("swipe %d, chosen", chosen)
	}
	p.printSaid(m, name, about, text)
	for i, swipe := range m.SwipeTexts {
		if i+1 != chosen {
			p.printSaid(m, name, "swipe "+strconv.Itoa(i+1), swipe)
		}
	}
}

// printSaid prints one text of a message; about says which, and is empty for the message's own.
func (p *messagePrinter) printSaid(m *look.Message, name, about string, text *string) {
	body := deref(text)
	if p.OutTTY { // in a pipe it stays as it is
		body = visible.Lines(body)
	}
	if about != "" {
		name += " (" + about + ")"
	}
	p.paragraph(paint(p.outColor, roleColor(m.Role), name) + ": " + body)
}

// numberOf returns a message's index as people read it, "" if it is unknown.
func numberOf(index *int) string {
	if index == nil {
		return ""
	}
	return "#" + strconv.Itoa(*index)
}

// paragraph prints a paragraph, with a blank line before it.
func (p *messagePrinter) paragraph(text string) {
	if p.any {
		fmt.Fprintln(p.w)
	}
	p.any = true
	fmt.Fprintln(p.w, text)
}

// escaped returns a text without tabs and line ends, which separate fields and rows.
func escaped(s string) string {
	return strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`).Replace(s)
}

// reader prints messages for somebody who reads them.
type reader struct {
	screen
	reasoning   bool
	ranges      []choose.Range // as they were asked for
	chat        string         // path of the chat whose title is printed
	begun       bool           // a message of it is, too
	day         string
	owner, name string
}

// print prints a message, and before the first of a chat its title.
func (r *reader) print(m *look.Message) {
	if r.chat != m.Path {
		r.title(m)
	}
	at, dated := m.Time()
	if dated {
		at = at.Local()
		if day := at.Format("Monday 2 January 2006"); day != r.day {
			if r.begun {
				fmt.Fprintln(r.w)
			}
			r.day = day
			if line, more := r.sign("─"), r.measure-len(day)-4; more > 0 {
				day = line + line + " " + day + " " + strings.Repeat(line, more)
			}
			r.screen.lines(dim, day)
		}
	}

	r.begun = true
	fmt.Fprintln(r.w)
	r.head(m, at, dated)
	if m.Reasoning != nil && *m.Reasoning != "" {
		r.thought(m)
	}
	r.text(cmp.Or(m.Display, m.Text), m.Hidden)
	for _, media := range m.Media {
		r.attached(media.Kind(), media)
	}
	for _, file := range m.Files {
		r.attached("file", file)
	}
	if m.Checkpoint != nil {
		r.link(r.sign("◆")+" checkpoint", *m.Checkpoint)
	}
	for _, branch := range m.Branches {
		r.link(r.sign("├")+" branch", branch)
	}
	for i, swipe := range m.SwipeTexts {
		if m.Swipe == nil || i+1 != *m.Swipe {
			r.line(dim, r.pad()+r.swipe(i+1, m.Swipes))
			r.text(swipe, m.Hidden)
		}
	}
}

// end prints how many messages a chat has, if it was read to its end.
func (r *reader) end(read look.MessagesRead) {
	if read.Chosen > 0 && read.Total >= 0 {
		fmt.Fprintln(r.w)
		r.line(dim, plural.Many(read.Total, "message"))
	}
}

// title prints whose chat it is, and which messages.
func (r *reader) title(m *look.Message) {
	if r.chat != "" {
		fmt.Fprintln(r.w)
	}
	r.chat = m.Path
	r.begun = false
	r.day = ""
	r.owner = m.Owner
	r.name = m.Chat
	parts := []string{r.fitName(visible.Text(m.Owner), 0), r.fitName(visible.Text(names.Short(m.Owner, m.Chat)), 0)}
	if m.Owner == "" {
		parts = parts[1:]
	}
	if indexes := r.indexes(); indexes != "" {
		noun := "messages "
		if len(r.ranges) == 1 && r.ranges[0].From == r.ranges[0].To {
			noun = "message "
		}
		parts = append(parts, noun+indexes)
	}

	if title := strings.Join(parts, r.sign(" · ")); visible.Width(title) <= r.measure {
		fmt.Fprintln(r.w, paint(r.color, bold, parts[0])+paint(r.color, dim, title[len(parts[0]):]))
		return
	}
	r.screen.lines(bold, parts[0])
	for _, part := range parts[1:] {
		r.screen.lines(dim, part)
	}
}

// indexes says which messages were asked for, if that tells their indexes.
func (r *reader) indexes() string {
	var list []string
	for _, asked := range r.ranges {
		text := strconv.Itoa(asked.From)
		switch {
		case asked.From < 0 || asked.To < 0:
			return ""
		case asked.Open():
			text += r.sign("–")
		case asked.To > asked.From:
			text += r.sign("–") + strconv.Itoa(asked.To)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// head prints whose message it is, and at the right what applies to it.
func (r *reader) head(m *look.Message, at time.Time, dated bool) {
	name := textOr(m.Name)
	if strings.TrimSpace(deref(m.Name)) == "" {
		name = "(" + m.Role + ")"
	}
	code := roleColor(m.Role)
	index := numberOf(m.Index)
	if r.indent == 0 {
		r.line(code, strings.TrimSpace(r.fitName(name, len(index)+1)+" "+index))
		return
	}

	right := r.facts(m, at, dated)
	name = r.fitName(name, visible.Width(right)+2)
	line := paint(r.color, code, name)
	if right != "" {
		gap := strings.Repeat(" ", max(r.measure-visible.Width(name)-visible.Width(right), 2))
		line += gap + paint(r.color, dim, right)
	}
	fmt.Fprintln(r.w, line)
}

// facts says what applies to a message; dated says that it is known when it was sent, which is at.
func (r *reader) facts(m *look.Message, at time.Time, dated bool) string {
	var list []string
	if m.Hidden {
		list = append(list, "hidden")
	}
	if m.Type != "" {
		list = append(list, m.Type)
	}
	if m.Swipes > 1 && m.Swipe != nil {
		list = append(list, r.swipe(*m.Swipe, m.Swipes))
	}
	if dated {
		list = append(list, at.Format("15:04"))
	}
	if m.Index != nil {
		list = append(list, numberOf(m.Index))
	}
	return strings.Join(list, "  ")
}

// thought prints that there is reasoning, or the reasoning.
func (r *reader) thought(m *look.Message) {
	if r.reasoning {
		for _, line := range r.lines(*m.Reasoning, 2) {
			r.line(dim, r.pad()+r.sign("│ ")+prose.Text(line))
		}
		fmt.Fprintln(r.w)
		return
	}
	r.line(dim, r.pad()+r.fit(m.Thought(), r.indent))
}

// text prints a text of a message, that of a hidden one dimmed.
func (r *reader) text(text *string, hidden bool) {
	lines := r.lines(deref(text), 0)
	if len(lines) == 0 {
		r.line(dim, r.pad()+"(no text)")
	}
	for _, line := range lines {
		r.runs(line, hidden)
	}
}

// lines lays out a text with so many cells left free at the left.
func (r *reader) lines(text string, free int) [][]prose.Run {
	return prose.Layout{Cells: max(r.measure-r.indent-free, 1), Marks: !r.color, ASCII: r.ascii}.Lines(prose.Read(text))
}

// attached prints an attachment.
func (r *reader) attached(kind string, media look.Media) {
	if name := media.Name(); name != "" {
		kind += ": " + name
	}
	missing := media.Missing()
	r.line("", r.pad()+"["+r.fit(visible.Text(kind), r.indent+2+len(missing))+missing+"]")
}

// link prints the name of a chat that a message leads to.
func (r *reader) link(kind, name string) {
	short := r.shortened(names.Short(r.owner, name, r.name))
	r.line("", r.pad()+r.fit(kind+` "`+r.fitName(short, visible.Width(kind)+r.indent+3)+`"`, r.indent))
}

func (r *reader) swipe(k, n int) string {
	return r.sign("‹") + strconv.Itoa(k) + "/" + strconv.Itoa(n) + r.sign("›")
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/folder/align"
	"stchat/internal/json/metadiff"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/place/names"
	"stchat/internal/show/prose"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newDiff() verb {
	return verb{
		use: "diff A [B]", short: "Compare the messages of two chats, or of a chat and its past",
		doc: `Compare the messages of two chats, or of a chat and an older version of it: with
--rev or --as-of, CHAT's version is A, and B is the chat as it is. Revs and
times are those of log. A or B may be -, standard input. --swipes also compares
the swipes, and which is chosen; --all compares all keys by their values. A
person sees the words that changed; -v leaves nothing out, and --side puts A and
B side by side.
`, more: `Messages that are equal in text, name, role and hidden are common. Between them,
two messages of one role are versions of one if they have the same date, or if
the text of one is a swipe of the other; what is left of a role is paired in
order. Everything else is only in A, or only in B. The metadata is compared,
too, and diff-meta shows how it differs. Of a chat that is gone, B is its newest
version. Damaged lines are left out, as SillyTavern leaves them out.

Without -v, of messages that one chat has alone a person sees the beginnings.
A pipe gets a row per difference: -, + or ~, the index in A and in B, role,
name, what differs, the text in A and in B, with tabs between them.

  stchat diff Mira/Harbour --rev 12..40 --swipes
  stchat diff a.jsonl b.jsonl --all --ignore gen_started --json
`, no: "the messages differ, or none is common",
		also: "diff-meta, log, merge",
		example: `  stchat diff Mira/Harbour "Mira/Harbour - Branch #1"
  stchat diff Mira/Harbour "Mira/Harbour - Branch #1" --side
  stchat diff Mira/Harbour --as-of 1w`,
		args: cobra.RangeArgs(1, 2),
		rules: []string{
			"rev excludes as-of = --rev and --as-of both name the version; take one of them",
			"ignore needs all",
			"swipes excludes all = --all compares the swipes too",
			"json excludes side",
		},
		pages:   everything,
		options: &diffOptions{},
	}
}

type diffOptions struct {
	opt  look.DiffOptions
	rev  string
	asOf time.Time
	side bool
}

func (o *diffOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.opt.Swipes, "swipes", false, "also compare the swipes, and which is chosen")
	fs.BoolVar(&o.opt.All, "all", false, "compare every key of the messages")
	fs.StringArrayVar(&o.opt.Ignore, "ignore", nil, "with --all: leave the key `KEY` out, or those that match it as a glob (repeatable)")
	fs.Var(notEmptyText(&o.rev), "rev", "compare version `N` with the chat, or N..M two versions; -1 is the newest")
	fs.Var(until(&o.asOf).notEmpty(), "as-of", "compare the version of `TIME` with the chat: 2026-03-01, \"2026-03-01 18:42\", yesterday, or an age such as 2d")
	fs.BoolVar(&o.side, "side", false, "show A and B side by side")
}

func (o *diffOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) (err error) {
	past := o.rev != "" || !o.asOf.IsZero()
	if !past {
		args, err = c.resolve(&subjects{chats: true, all: true}, args)
		if err != nil {
			return err
		}
	}
	switch {
	case past && len(args) == 2:
		return usagef("--rev and --as-of compare one chat with its past; name one chat")
	case !past && len(args) == 1:
		return usagef("name two chats, or one and --rev N or --as-of TIME")
	case args[0] == chat.Stdin && args[len(args)-1] == chat.Stdin && len(args) == 2:
		return usagef("standard input can be one side only")
	}

	opt := o.opt
	var times [2]time.Time
	if past {
		versions, err := o.versions(ctx, c, args)
		for _, v := range versions {
			defer v.Close()
		}
		if err != nil {
			return withHint(err, []hint{{keep.ErrUnknown, "; stchat snapshot keeps one"}, {keep.ErrOthers, "; 'stchat log' lists those of this chat"}})
		}
		for i, side := range []*look.DiffSide{&opt.A, &opt.B} {
			*side = look.DiffSide{Path: versions[0].Path, Open: chat.Options{Data: c.data}}
			if i < len(versions) {
				v := versions[i]
				side.Rev = v.Rev
				side.Path = v.Path
				side.Open.Content = v.Content
				times[i] = v.At
				if v.Note != "" {
					c.note("%s", v.Note)
				}
			}
		}
	} else {
		open := chat.Options{Data: userFolder(c, args), Stdin: c.In}
		opt.A, opt.B = look.DiffSide{Path: args[0], Open: open}, look.DiffSide{Path: args[1], Open: open}
	}

	d, err := look.Diff(ctx, opt)
	if err != nil {
		return err
	}
	defer d.Close()
	for _, side := range []look.DiffedChat{d.A, d.B} {
		c.leftOut(side.Path, side.Damage, true)
	}
	return cmp.Or(o.print(c, d, times), outcome(false, !d.Equal))
}

// versions reads the versions that --rev and --as-of name: one, or two if the second is no file.
func (o *diffOptions) versions(ctx context.Context, c *console, args []string) (list []*keep.Versioned, err error) {
	where, err := c.where(args)
	if err != nil {
		return nil, err
	}
	var picks []keep.Pick
	unordered := usagef("--rev takes a number as log lists it, or the older and the newer one, N..M, not %q", o.rev)
	if !o.asOf.IsZero() {
		picks = []keep.Pick{{AsOf: o.asOf}}
	} else {
		from, to, two := strings.Cut(o.rev, "..")
		n, errN := strconv.ParseInt(from, 10, 64)
		m, errM := strconv.ParseInt(cmp.Or(to, "-1"), 10, 64)
		if errN != nil || errM != nil || n == 0 || m == 0 || two && (to == "" || n > m && n > 0 == (m > 0)) {
			return nil, unordered
		}
		picks = []keep.Pick{{Rev: n}}
		if two {
			picks = append(picks, keep.Pick{Rev: m})
		}
	}

	for _, where.Pick = range picks {
		v, err := keep.Version(ctx, where)
		if err != nil {
			return list, err
		}
		list = append(list, v)
	}

	if len(picks) == 2 && *list[0].Rev > *list[1].Rev { // one was counted from the end
		return list, unordered
	}
	if len(picks) == 1 && !list[0].Live {
		where.Pick = keep.Pick{}
		newest, err := keep.Version(ctx, where)
		if err != nil {
			return list, err
		}
		list = append(list, newest)
	}
	return list, nil
}

// print prints the differences.
func (o *diffOptions) print(c *console, d *look.Comparison, times [2]time.Time) error {
	switch {
	case c.json:
		return cmp.Or(d.Each(func(row look.Difference) error { return c.document(row) }), c.document(d.Diffed))
	case !c.shown:
		return d.Each(func(row look.Difference) error {
			c.row(diffSign(row.Op), digits(row.A), digits(row.B), row.Role, escaped(row.Name), strings.Join(row.Keys, ","), escaped(deref(row.From)), escaped(deref(row.To)))
			return nil
		})
	}

	p := &differ{screen: newScreen(c, 0), c: c, d: d, full: c.verbose}
	if !o.side || c.Width > 0 && c.Width < 100 {
		p.measure = min(p.measure, 100)
	}
	if p.side = o.side && p.width >= 100; o.side && !p.side {
		c.note("--side needs 100 columns; here are %d", p.width)
	}
	p.head(times)
	err := d.Each(p.row)
	p.flush(true)
	return err
}

func diffSign(op string) string {
	return map[string]string{"add": "+", "remove": "-", "change": "~"}[op]
}

// How much is shown without --verbose: messages of a run that only one chat has, and lines of each.
const (
	runShown  = 3
	textShown = 6
)

// differ prints a comparison for a person.
type differ struct {
	screen
	c    *console
	d    *look.Comparison
	full bool
	side bool

	gap  [2][]look.Difference // the open run: what is only in A, and only in B; beyond runShown left out
	more [2]int               // how many were left out
}

// head prints what is compared, and how much it differs.
func (p *differ) head(times [2]time.Time) {
	owner, both := "", []string{p.d.A.Name, p.d.B.Name}
	if p.d.A.Owner == p.d.B.Owner {
		owner = p.d.A.Owner
	}
	short := names.Shorts(owner, both, func(i int) []string { return both[:i] })
	var left, about, count [2]string
	end := min(p.measure, 64)
	for i, side := range []look.DiffedChat{p.d.A, p.d.B} {
		name := p.shortened(short[i])
		switch {
		case side.Path == chat.Stdin:
			name = "standard input"
		case side.Rev != nil:
			about[i] = fmt.Sprintf("version %d of %s", *side.Rev, times[i].Local().Format(minute))
		case !times[i].IsZero():
			about[i] = "backup of " + times[i].Local().Format(minute)
		}

		count[i] = plural.Many(side.Messages, "message")

		whole := name
		if name != "" && about[i] != "" {
			whole += ", "
		}
		whole += about[i]
		if visible.Width(whole) <= p.measure-len(count[i])-5 {
			name = whole
			about[i] = ""
		}
		left[i] = "AB"[i:i+1] + "  " + p.fitName(name, len(count[i])+5)
		end = max(end, visible.Width(left[i])+2+len(count[i]))
	}

	for i := range left {
		gap := strings.Repeat(" ", end-visible.Width(left[i])-len(count[i]))
		fmt.Fprintln(p.w, paint(p.color, bold, left[i])+gap+count[i])
		if about[i] != "" {
			p.lines(bold, "   "+about[i])
		}
	}

	p.sum()
}

// sum prints how much the chats differ, and the command that shows how their metadata does.
func (p *differ) sum() {
	text := p.counts()
	command := ""
	if !p.d.MetadataEqual {
		text += "; metadata differs"
		if p.d.A.Rev == nil && p.d.A.Path != p.d.B.Path {
			text += ":"
			command = "stchat diff-meta " + visible.Args(p.d.A.Path, p.d.B.Path)
		}
	}

	p.lines(dim, text)
	if command != "" {
		p.line(dim, "  "+command)
	}
}

// counts says how many messages both chats have, and how many differ.
func (p *differ) counts() string {
	if p.d.Equal {
		return "the messages are equal: " + plural.Many(p.d.Common, "message")
	}
	text := plural.Grouped(p.d.Common) + " in common"
	if parted := p.d.Parted; parted != nil && parted.A > 0 && parted.A == parted.B && parted.A+1 == p.d.Common { // from the beginning on
		text += fmt.Sprintf(" (#0%s#%d)", p.sign("–"), parted.A)
	}
	if p.d.Changed > 0 {
		text += ", " + plural.Grouped(p.d.Changed) + " changed"
	}
	if p.d.Removed > 0 {
		text += ", " + plural.Grouped(p.d.Removed) + " only in A"
	}
	if p.d.Added > 0 {
		text += ", " + plural.Grouped(p.d.Added) + " only in B"
	}
	return text
}

// minute is how a time is shown to a person.
const minute = "2006-01-02 15:04"

// shortened returns a name safe to show, with the signs that the terminal has.
func (s *screen) shortened(name string) string {
	name = visible.Text(name)
	if rest, ok := strings.CutPrefix(name, "…"); ok {
		return s.sign("…") + rest
	}
	return name
}

// row prints a difference, or keeps it until its run is complete.
func (p *differ) row(row look.Difference) error {
	i, lone := map[string]int{"remove": 0, "add": 1}[row.Op]
	switch {
	case !lone:
		p.flush(false)
		p.changed(row)
		return nil
	case i == 0 && len(p.gap[1]) > 0 || !p.follows(i, row):
		p.flush(false)
	}

	if len(p.gap[i]) >= runShown && !p.full {
		p.more[i]++
		return nil
	}
	p.gap[i] = append(p.gap[i], row)
	if p.full && !p.side {
		p.flush(false)
	}
	return nil
}

// follows reports whether a message that one chat has alone follows those of the open run.
func (p *differ) follows(i int, row look.Difference) bool {
	n := len(p.gap[i])
	return n == 0 || p.at(i, row) == p.at(i, p.gap[i][0])+n+p.more[i]
}

// at returns a message's index in A or in B.
func (p *differ) at(i int, d look.Difference) int { return *[]*int{d.A, d.B}[i] }

// flush prints the open run. last says that nothing comes after it.
func (p *differ) flush(last bool) {
	if last {
		p.ends()
	}
	columns := [2][]string{}
	for i, rows := range p.gap {
		for _, row := range rows {
			columns[i] = append(columns[i], p.block(row, i)...)
		}
		if p.more[i] > 0 {
			columns[i] = append(columns[i], "", p.cell(dim, fmt.Sprintf("%s more only in %c (-v)", plural.Grouped(p.more[i]), 'A'+i)))
		}
	}

	p.columns(columns[0], columns[1])
	p.gap, p.more = [2][]look.Difference{}, [2]int{}
}

// ends says which chat ends where the last run begins.
func (p *differ) ends() {
	if p.d.Common+p.d.Changed == 0 {
		return
	}
	messages := [2]int{p.d.A.Messages, p.d.B.Messages}
	for i, rows := range p.gap {
		other := p.gap[1-i]
		if len(other) > 0 && len(rows) == 0 && p.at(1-i, other[0])+len(other)+p.more[1-i] == messages[1-i] {
			fmt.Fprintln(p.w)
			p.line(dim, string(rune('A'+i))+" ends here")
		}
	}
}

// columns prints lines of A and of B beside each other, or one after the other.
func (p *differ) columns(a, b []string) {
	if !p.side {
		for _, line := range append(a, b...) {
			fmt.Fprintln(p.w, line)
		}
		return
	}

	colors := regexp.MustCompile("\x1b\\[[^m]*m")
	for len(a) < len(b) {
		a = append(a, "")
	}
	for i, left := range a {
		right := strings.Join(b[min(i, len(b)):min(i+1, len(b))], "")
		gap := strings.Repeat(" ", max(p.room()-visible.Width(colors.ReplaceAllString(left, "")), 0))
		fmt.Fprintln(p.w, strings.TrimRight(left+gap+" "+paint(p.color, dim, p.sign("│"))+" "+right, " "))
	}
}

// room returns how many cells a column has.
func (p *differ) room() int {
	if p.side {
		return (p.measure - 3) / 2
	}
	return p.measure
}

func (p *differ) cell(code, text string) string {
	return paint(p.color, code, visible.CutRight(text, p.room(), p.sign("…")))
}

// block returns the lines of a message that one chat has alone.
func (p *differ) block(row look.Difference, i int) []string {
	text, style := row.From, prose.Removed
	if i == 1 {
		text, style = row.To, prose.Added
	}
	lines := append([]string{""}, p.heading(row, "")...)
	if !p.color {
		style = 0
	}
	body := p.texts([]prose.Run{{Text: deref(text), Style: style}})
	if len(body) > textShown && !p.full {
		body = append(body[:textShown-1], p.cell(dim, p.pad()+p.sign("…")))
	}
	return append(lines, body...)
}

// heading returns the lines that say which message it is. about is what else there is to say.
func (p *differ) heading(row look.Difference, about string) (lines []string) {
	var index []string
	for _, i := range []*int{row.A, row.B} {
		if i != nil && (len(index) == 0 || *i != *row.A) {
			index = append(index, "#"+strconv.Itoa(*i))
		}
	}

	sign := diffSign(row.Op) + " " + strings.Join(index, p.sign(" → "))
	behind := ""
	if date := shownDate(p.c, deref(row.Date)); date != "" {
		behind += "  " + date
	}
	if about != "" {
		behind += "  " + about
	}
	room := p.room()
	if row.Op == "change" { // above both columns
		room = p.measure
	}

	text := sign
	if name := visible.Text(row.Name); name != "" {
		text += "  " + visible.CutLeft(name, max(room-visible.Width(sign+behind)-2, 16), p.sign("…"))
	}
	text += behind
	width := room
	if visible.Width(text) > room {
		width = room - p.indent
	}
	code := map[string]string{"add": bold + ";" + green, "remove": bold + ";" + red, "change": bold}[row.Op]
	for i, at := range visible.Wrap(text, width) {
		line := paint(p.color, code, text[at[0]:at[1]])
		if i > 0 {
			line = p.pad() + line
		}
		lines = append(lines, line)
	}
	return lines
}

// changed prints two versions of a message.
func (p *differ) changed(row look.Difference) {
	about := strings.Join(row.Keys, ", ")
	if s := row.Swipe; s != nil {
		about = fmt.Sprintf("another swipe (%d of %d)", s.Number, s.Count)
	}
	fmt.Fprintf(p.w, "\n%s\n", strings.Join(p.heading(row, about), "\n"))
	var pieces []align.Piece
	if from, to := deref(row.From), deref(row.To); from != to {
		pieces = align.Words(from, to)
	}
	if len(pieces) == 2 && pieces[0].Op != align.Same && !p.side { // nothing is left of the old text
		pieces = slices.Insert(pieces, 1, align.Piece{Text: "\n"})
	}
	for _, part := range align.Parts(pieces) {
		lines := func(but align.Op) []string {
			if part.Same > 0 && !p.full {
				dots := p.sign("…")
				return []string{p.cell(dim, p.pad()+dots+" "+plural.Many(part.Same, "paragraph")+" "+dots)}
			}
			return p.texts(without(part.Pieces, but))
		}
		if p.side {
			p.columns(lines(align.Added), lines(align.Removed))
		} else {
			p.columns(lines(-1), nil)
		}
	}

	for _, change := range row.Changes {
		if change.Path != "/mes" {
			from, to := metadiff.Excerpts(string(change.From), string(change.To), longValue)
			text := visible.Text(change.Path) + ": " + p.value(from) + p.sign(" → ") + p.value(to)
			var lines []string
			for _, at := range visible.Wrap(text, max(p.room()-p.indent, 1)) {
				lines = append(lines, p.pad()+text[at[0]:at[1]])
			}
			p.columns(lines, nil)
		}
	}
}

// value returns a value of which only a part may be shown.
func (p *differ) value(text string) string {
	if text == "" {
		return "nothing"
	}
	return p.c.excerpt(text)
}

// without returns pieces as runs, without those of one op.
func without(pieces []align.Piece, op align.Op) (runs []prose.Run) {
	for _, piece := range pieces {
		style := map[align.Op]prose.Style{align.Removed: prose.Removed, align.Added: prose.Added}[piece.Op]
		if piece.Op != op {
			runs = append(runs, prose.Run{Text: piece.Text, Style: style})
		}
	}
	return runs
}

// texts lays out the lines of a text. What changed is marked where there are no colours.
func (p *differ) texts(runs []prose.Run) (lines []string) {
	paragraphs := [][]prose.Run{nil}
	for _, run := range runs {
		for i, text := range strings.Split(strings.ReplaceAll(run.Text, "\r\n", "\n"), "\n") {
			if i > 0 {
				paragraphs = append(paragraphs, nil)
			}
			if text = visible.Text(strings.ReplaceAll(text, "\t", "    ")); text != "" {
				last := &paragraphs[len(paragraphs)-1]
				*last = append(*last, prose.Run{Text: p.marked(text, run.Style), Style: run.Style})
			}
		}
	}

	for _, paragraph := range paragraphs {
		if len(paragraph) > 0 {
			for _, line := range prose.Wrap(paragraph, max(p.room()-p.indent, 1)) {
				lines = append(lines, p.pad()+p.painted(line, false))
			}
		}
	}
	return lines
}

// marked returns a piece of text, between marks where there are no colours.
func (p *differ) marked(text string, style prose.Style) string {
	switch {
	case p.color || style == 0:
		return text
	case style == prose.Removed:
		return "[-" + text + "-]"
	}
	return "{+" + text + "+}"
}

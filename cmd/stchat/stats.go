package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"stchat/internal/ops"
	"stchat/internal/ops/look"
	"stchat/internal/ops/publish"
	"stchat/internal/place/names"
	"stchat/internal/show/grid"
	"stchat/internal/show/prose"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newStats() verb {
	return verb{
		use: "stats [PATH...]", short: "Count what was written, by whom, and when",
		doc: `Count messages and words: how much was written, by whom, when. A message
counts once for an owner, where it was first: a branch adds what is its own.
Hidden messages count; the narrator's notes, comments and small lines of the
system do not. A session ends where no message follows within an hour; the time
spent is that of all sessions. -o with --by week makes a page of the last 53
weeks; --since and --until choose another.
`, more: `Of the flags of messages it has all but --at and --last. Days and hours are
local. A session lasts from its first message to its last. Where rows take turns
in a session, a message has the time since the one before it. The page of a year
has the words and the time of each week.
`, no: "no message was counted",
		also: "list, inspect, tree",
		example: `  stchat stats
  stchat stats Mira/Harbour --by month
  stchat stats --by week -o year.html`,
		rules:   []string{"force needs output = --force goes with -o", "json excludes output"},
		means:   &subjects{pages: true},
		pages:   everything,
		options: &statsOptions{},
	}
}

type statsOptions struct {
	listFlags
	choiceFlags
	opt    look.StatsOptions
	by     string
	output string
	force  bool
}

func (o *statsOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(oneOf(&o.by, "", statsBys()...), "by", "count by `WHAT`: "+strings.Join(statsBys(), ", "))
	fs.BoolVar(&o.opt.Every, "copies", false, "count every copy of a message, not each once for its owner")
	fs.StringVarP(&o.output, "output", "o", "", "write a page to `FILE`.html instead")
	fs.BoolVar(&o.force, "force", false, "replace the file")
	addTopic(fs, choosing, o.addFilters)
	o.listFlags.addFlags(fs)
}

// statsBys returns what --by takes: character is another word for owner, and speaker says what the
// documents call name.
func statsBys() (words []string) {
	for _, by := range look.Bys() {
		switch by {
		case "owner":
			words = append(words, "owner", "character")
		case "name":
			words = append(words, "speaker")
		default:
			words = append(words, string(by))
		}
	}
	return words
}

// statsBy returns what a word of --by means, the owner for none.
func statsBy(word string) look.By {
	switch word {
	case "", "character":
		return "owner"
	case "speaker":
		return "name"
	}
	return look.By(word)
}

func (o *statsOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	if o.output != "" && !strings.HasSuffix(strings.ToLower(o.output), ".html") {
		return usagef("-o takes a name that ends in .html: a page is written")
	}
	list, err := o.folders(ctx, c, args, nameFolder("stats"))
	if err != nil {
		return err
	}
	opt := o.opt
	opt.List = list
	opt.Choice = o.unnamed()
	opt.Zone = time.Local
	opt.Open.Data = userFolder(c, list.Paths)
	opt.By = statsBy(o.by)
	end := c.meter("counting", false, &opt.Meter)
	s, err := look.Stats(ctx, opt)
	end()
	if err != nil {
		c.work.count(opt.Meter)
		return err
	}
	for _, d := range s.Damage {
		c.leftOut(d.Path, d.Damage, true)
	}
	failedAll(c, s.Errs)
	return cmp.Or(o.print(ctx, c, s), outcome(len(s.Errs) > 0, s.Messages == 0))
}

func (o *statsOptions) print(ctx context.Context, c *console, s *look.Statistics) error {
	switch {
	case c.json:
		for _, t := range s.Rows {
			c.document(t)
		}
		return c.document(s)
	case o.output != "" && s.Messages > 0:
		return c.writeOutput(ctx, ops.Output{Path: o.output, Force: o.force, Own: publish.IsPage}, func(w io.Writer) error { return publish.Stats(w, s) })
	case !c.shown:
		for _, t := range s.Rows {
			c.row(escaped(t.Key), strconv.Itoa(t.Chats), strconv.Itoa(t.Messages), strconv.Itoa(t.Words), strconv.Itoa(t.UserWords),
				strconv.Itoa(t.Swipes), textOr(t.FirstDate), textOr(t.LastDate))
		}
		return nil
	}

	p := &statsPrinter{newScreen(c, 0), s}
	if s.Messages == 0 {
		c.note("no message was counted")
		return nil
	}
	if o.by != "" {
		p.rows(s.Rows, o.by)
	} else {
		p.summary()
	}
	return nil
}

// statsPrinter prints counts for a person.
type statsPrinter struct {
	screen
	s *look.Statistics
}

// ownersShown is how many owners the summary lists.
const ownersShown = 10

func (p *statsPrinter) summary() {
	s := p.s
	head := cmp.Or(p.sign(look.Span(s.First, s.Last, "2 Jan 2006")), "no dates")
	p.wrapped(prose.Run{Text: head, Style: prose.Bold}, prose.Run{Text: "   " + plural.Many(s.Chats, "chat") + "  " + plural.Many(s.Messages, "message") + "  "},
		prose.Run{Text: plural.Many(s.Words, "word"), Style: prose.Bold})
	p.hint(fmt.Sprintf("yours %s%stheirs %s%s", plural.Grouped(s.UserWords), p.sign(" · "), plural.Grouped(s.Words-s.UserWords), map[string]string{"all": "; every copy counts"}[s.Counted]))
	p.heat()
	fmt.Fprintln(p.w)
	rows, more := s.Rows, 0
	if len(rows) > ownersShown {
		rows, more = rows[:ownersShown], len(rows)-ownersShown
	}
	p.rows(rows, "owner")
	if more > 0 {
		p.line(dim, plural.Grouped(more)+" more")
	}
	fmt.Fprintln(p.w)
	if s.Sessions.Count > 0 {
		p.wrapped(prose.Run{Text: "sessions", Style: prose.Bold}, prose.Run{Text: fmt.Sprintf("  %s, %s in all, median %s, %s", plural.Grouped(s.Sessions.Count),
			look.TimeText(s.TimeMS), look.TimeText(s.Sessions.MedianMS), plural.Many(s.Sessions.MedianMessages, "message"))})
		p.hourLine()
	}

	p.hint("as a page: -o stats.html   rows: --by day, chat, model")
}

// hint prints what is of less interest.
func (p *statsPrinter) hint(text string) { p.wrapped(prose.Run{Text: text, Mark: true}) }

// hourLine prints a bar for each hour of the day if they fit, and behind them, or else below, which hours
// they are.
func (p *statsPrinter) hourLine() {
	const column = len("hours     ")
	if column+24 > p.width {
		return
	}
	about := p.sign("0h … 23h")
	gap := "  "
	if column+24+len(gap)+visible.Width(about) > p.width {
		gap = "\n" + strings.Repeat(" ", column)
	}
	fmt.Fprintln(p.w, paint(p.color, bold, "hours")+"     "+p.hours()+gap+paint(p.color, dim, about))
}

// hours returns a bar of eight heights for each hour of the day.
func (p *statsPrinter) hours() string {
	most := slices.Max(p.s.Hours)
	var b strings.Builder
	for _, n := range p.s.Hours {
		if p.ascii {
			b.WriteByte(byte('0' + n*9/max(most, 1)))
		} else {
			b.WriteRune([]rune("▁▂▃▄▅▆▇█")[n*7/max(most, 1)])
		}
	}
	return b.String()
}

// heat prints the last weeks that fit: a column a week, a row a weekday.
func (p *statsPrinter) heat() {
	levels, from, weeks := look.Heat(p.s.Daily, min((p.measure-6)/2, 53))
	if weeks < 1 {
		return
	}
	months := bytes.Repeat([]byte(" "), 2*weeks+1)
	for week := range weeks {
		monday := look.DayTime(from + int32(7*week))
		copy(months[2*week:], look.MonthAbove(monday, week == 0))
	}

	fmt.Fprintln(p.w)
	p.line("", strings.TrimRight("      "+string(months), " "))
	signs := strings.Split(p.sign(" ░▒▓█"), "")
	for weekday := range 7 {
		label := visible.Pad([]string{"Mon", "", "Wed", "", "Fri", "", "Sun"}[weekday], 6)
		var cells strings.Builder
		for week := range weeks {
			cells.WriteString(strings.Repeat(signs[levels[from+int32(7*week+weekday)]], 2))
		}
		fmt.Fprintln(p.w, strings.TrimRight(label+paint(p.color, green, strings.TrimRight(cells.String(), " ")), " "))
	}

	legend := "less " + strings.Join(signs[1:], "") + " more, words a day"
	if s := p.s.Streak; s != nil {
		legend += "; longest streak " + plural.Many(s.Days, "day")
	}
	if b := p.s.BestDay; b != nil {
		legend += "; best day " + b.Day + ", " + plural.Many(b.Words, "word")
	}
	for _, at := range visible.Wrap(legend, p.measure-6) {
		p.line(dim, "      "+legend[at[0]:at[1]])
	}
}

// rows prints rows with the share of the words.
func (p *statsPrinter) rows(rows []*look.Tally, by string) {
	code := cyan
	if statsBy(by) == "owner" {
		code = bold + ";" + cyan
	}
	t := &grid.Table{Columns: []grid.Column{
		{Title: by, Name: true, Code: code},
		{Title: "chats", Right: true, Code: green},
		{Title: "messages", Right: true, Code: green},
		{Title: "words", Right: true, Code: green},
		{Title: "share"},
		{Title: "time", Right: true, Code: green, Optional: true},
		{Title: "other swipes", Right: true, Code: green, Optional: true},
		{Title: "first", Optional: true, Code: dim},
		{Title: "last", Optional: true, Code: dim},
	}}

	short := map[string]string{}
	if by == "chat" {
		short = shortKeys(rows)
	}
	for _, r := range rows {
		key := cmp.Or(short[r.Key], visible.Text(r.Key), "(none)")
		t.Rows = append(t.Rows, grid.Row{Cells: []string{
			key, plural.Grouped(r.Chats), plural.Grouped(r.Messages), plural.Grouped(r.Words), p.share(r.Words), look.TimeText(r.TimeMS), plural.Grouped(r.Swipes), day(r.First), day(r.Last),
		}})
	}

	p.table(t)
}

// shortKeys returns by their keys how chats are shown: OWNER/NAME, the name as short as it is among
// those of its owner.
func shortKeys(rows []*look.Tally) map[string]string {
	var chats groups[string, string] // by owner
	for _, r := range rows {
		owner, name, _ := strings.Cut(r.Key, "/")
		chats.add(owner, name)
	}

	short := map[string]string{}
	for owner, all := range chats.of {
		for i, name := range names.Shorts(owner, all, nil) {
			short[owner+"/"+all[i]] = visible.Text(owner + "/" + name)
		}
	}
	return short
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateOnly)
}

// share returns a bar of a part of all words.
func (p *statsPrinter) share(words int) string {
	longest := 20
	if p.width < 80 {
		longest = p.width / 5
	}
	n := words * longest / max(p.s.Words, 1)
	return strings.Repeat(p.sign("█"), n) + fmt.Sprintf(" %.0f %%", float64(words)*100/float64(max(p.s.Words, 1)))
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
	"stchat/internal/show/prose"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
	"stchat/internal/text/words"
)

func newSearch() verb {
	return verb{
		use: "search QUERY... [PATH...]", short: "Find words in chats",
		doc: `Find words in chats; case, accents and the s of Mira's do not matter. Only whole
words are found, but Chinese, Japanese, Korean and Thai text by any part. "salt
harbour" is a phrase (quote it for the shell too), harb* also finds harbours,
-storm leaves messages out, OR takes either word. An argument is a PATH if it
ends in .jsonl, has a / and exists, or comes after --; without one it is the
user folder that you are in. The newest message comes first.
`, more: `  salt harbour      messages with both words
  "salt harbour"    messages with this phrase (quote it for the shell too)
  harb*             harbour, harbours, ...
  -storm            messages without this word
  salt OR sugar     messages with either word
Nothing else has a special meaning. Put a query with quotes or a minus in single
quotes, and a word first: 'harbour -storm'.

An argument is a PATH if it ends in .jsonl, if it has a / and exists, as a path
or as OWNER/NAME, or if it comes after --; and/or is words. PATH is as in
inspect; outside of a user folder STCHAT_DATA names one.

Messages are in the order of send_date. Equal texts are shown once, where they
stand last: a branch repeats its parent's. The texts are searched as they are
stored, and with --swipes the other swipes too, in the chats as they are now and
in the versions that snapshot keeps.

In a pipe there is a row for each text, separated by tabs: path:#index, version,
date, name, places, part of the text. With -C the messages around it have
path-#index, and -- stands between two texts.

  stchat search 灯台 --swipes --limit 0
  stchat search -C 2 lantern "Mira/*"
  stchat search gull OR heron --json -- SillyTavern/data/default-user
`, no: "nothing was found",
		also: "show, replace, lost",
		example: `  stchat search lighthouse
  stchat search '"old harbour" -storm' Mira/Harbour
  stchat search lamp --role character --since 2026-03-01`,
		pages:   everything,
		options: &searchOptions{},
	}
}

type searchOptions struct {
	listFlags
	opt   look.SearchOptions
	query string
	roles []string
}

func (o *searchOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.Var(someOf(&o.roles, "", choose.Roles()...), "role", "any role in `LIST`: "+strings.Join(choose.Roles(), ", "))
	fs.StringArrayVar(&o.opt.Names, "speaker", nil, "said by exactly `NAME`; may be repeated")
	fs.Var(since(&o.opt.Since), "since", "sent at `TIME` or later: a local date such as 2026-03-01 or yesterday, an age such as 3d or \"3 days ago\", or RFC 3339")
	fs.Var(until(&o.opt.Until), "until", "sent at `TIME` or earlier; a date means all of that day")
	fs.BoolVar(&o.opt.Swipes, "swipes", false, "also look at the swipes that are not chosen")
	fs.BoolVar(&o.opt.Gone, "gone", false, "only what no chat has any more: what only versions have that snapshot kept")
	fs.VarP(number(&o.opt.Around, 0, "a number"), "context", "C", "show `N` messages before and after each, too")
	o.opt.Limit = 20
	fs.Var(number(&o.opt.Limit, 0, "a number, 0 for all"), "limit", "show at most `N` texts; 0: all")
}

// options turns the flags and arguments into look.SearchOptions; those after -- are paths.
func (o *searchOptions) options(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) (opt look.SearchOptions, err error) {
	opt = o.opt
	opt.Store = func(root string) string { return keep.StoreOf(root, c.store()) }
	dash := fs.ArgsLenAtDash()
	var query, paths []string
	for i, arg := range args {
		if dash < 0 || i < dash {
			is, missing := isPath(arg)
			if found, err := c.isSubject(arg); err != nil {
				return opt, err
			} else if len(found.Paths) > 0 && strings.ContainsAny(arg, separators) && !userdir.HasExtension(arg) {
				paths = append(paths, found.Paths...)
				continue
			}
			isPattern := strings.Contains(arg, "*") && strings.ContainsAny(arg, separators) && !strings.Contains(arg, `"`)
			if isPattern {
				if files := expand([]string{arg}); files[0] != arg { // which no shell expanded
					paths = append(paths, files...)
					continue
				}
			}
			if missing != nil {
				return opt, missing
			}
			if !is {
				query = append(query, arg)
				continue
			}
		}

		paths = append(paths, arg)
	}

	o.query = strings.Join(query, " ")
	opt.Query, err = words.Parse(o.query)
	switch {
	case errors.Is(err, words.ErrNoWord) && len(query) == 0:
		return opt, usagef("say what to look for, e.g. `stchat search lighthouse`; `stchat show . --since 1w` shows all of a time")
	case err != nil:
		return opt, usagef("%s: %v", visible.Quote(strings.Join(query, " ")), err)
	}

	if len(query) > 1 && len(paths) == 0 {
		o.noteOwner(c, query[len(query)-1])
	}
	if paths, err = c.resolve(reads(), paths); err != nil {
		return opt, err
	}
	if opt.List, err = o.folders(ctx, c, paths, nameFolder("search lighthouse")); err != nil {
		return opt, err
	}
	for _, role := range o.roles {
		opt.Roles = append(opt.Roles, message.Who(role))
	}
	return opt, nil
}

// noteOwner says how to search the chats of an owner, or a chat, whose name was taken for a word. Of a part
// of an owner's name only a whole word counts: too many words begin like one.
func (o *searchOptions) noteOwner(c *console, word string) {
	found, err := c.finder().Find(word)
	if err == nil && found.Owner && (!found.Guess || isWordOf(word, found.Of.Name)) {
		c.note("%s was taken for a word; its chats are %s", word, visible.Quote(word+"/*"))
	}
	none, ok := errors.AsType[*address.NoneError](err)
	if !ok || len(none.Named) != 1 {
		return
	}
	chat := none.Named[0]
	if isWhole := strings.HasSuffix(names.FoldNFC(chat), "/"+names.FoldNFC(word)); isWhole {
		c.note("%s was taken for words; the chat of this name is %s", word, visible.Quote(chat))
	}
}

// isWordOf reports whether a name has a word.
func isWordOf(word, name string) bool {
	folded := strings.Fields(names.FoldNFC(name))
	return slices.Contains(folded, names.FoldNFC(word))
}

// separators are the characters that stand between the parts of a path or an address.
const separators = "/" + string(filepath.Separator)

// isPath reports whether an argument of search is a path: it looks like one, and exists. It is
// an error if it is certainly meant as one, and does not exist: it ends in .jsonl, or its first
// part is a folder.
func isPath(arg string) (bool, error) {
	if arg == chat.Stdin {
		return false, usagef("- is no word to look for, and standard input is not searched")
	}
	isChat := userdir.HasExtension(arg)
	if !isChat && !strings.ContainsAny(arg, separators) {
		return false, nil
	}
	_, err := os.Lstat(arg)
	if err == nil {
		return true, nil
	}
	switch {
	case !isChat && !userdir.IsDir(firstPart(arg)):
		return false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, ops.PathError(err)
	}
	return false, fmt.Errorf("there is no %s; to find its words, put spaces between them", arg)
}

// firstPart returns the first part of a path that has several, "" of any other.
func firstPart(path string) string {
	slash := filepath.ToSlash(path)
	root := len(slash) - len(strings.TrimLeft(slash[len(filepath.VolumeName(path)):], "/"))
	n := strings.IndexByte(slash[root:], '/')
	if n < 0 {
		return ""
	}
	return path[:root+n]
}

func (o *searchOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	opt, err := o.options(ctx, c, fs, args)
	if err != nil {
		return err
	}
	opt.Read = c.shown && !c.json
	end := c.meter("searching", c.json, &opt.Meter)
	p := &hitPrinter{screen: newScreen(c, 0), c: c, chats: map[string]bool{}}
	var hits []*look.SearchHit
	var first *look.SearchHit
	opt.Each = func(hit *look.SearchHit) error {
		end()
		switch {
		case c.json:
			return c.document(hit)
		case !c.shown:
			p.row(hit, opt.Around > 0)
		default:
			const table = 1000 // without a limit there may be very many
			if hits = append(hits, hit); len(hits) == table {
				p.all(hits)
				hits = nil
			}
			first = cmp.Or(first, hit)
		}

		_, err := c.w.Write(nil) // the error of what was written
		return err
	}

	res, err := look.Search(ctx, opt)
	end()
	if errors.Is(err, look.ErrNoHistory) {
		return fmt.Errorf("%w; 'stchat snapshot' begins one", err)
	}
	if err != nil {
		c.work.count(opt.Meter)
		return cmp.Or(c.printed(), err)
	}
	p.all(hits)
	failedAll(c, res.Errs)
	if first != nil {
		p.end(ctx, first)
	}
	if err := c.printed(); err != nil {
		return err
	}
	if res.Found > res.Shown && opt.Limit > 0 {
		c.note("%s of %s; --limit shows more", c.number(res.Shown), c.many(res.Found, "text"))
	}
	isEmpty := res.Found == 0 && len(res.Errs) == 0
	if isEmpty && c.OutTTY && !c.json {
		c.note("nothing found%s", o.longer(ctx, opt))
	}
	if isEmpty {
		for term := range strings.FieldsSeq(o.query) {
			if userdir.IsDir(term) {
				c.note("%s was taken for a word; the folder is ./%[1]s", term)
			}
		}
	}
	return outcome(len(res.Errs) > 0, res.Found == 0)
}

// longer returns the query that finds words which only begin as those that were not found, as
// part of a sentence; "" if that finds nothing either.
func (o *searchOptions) longer(ctx context.Context, opt look.SearchOptions) string {
	terms := strings.Fields(o.query)
	for i, term := range terms {
		if term != "OR" && !strings.HasPrefix(term, "-") && !strings.HasSuffix(term, "*") {
			terms[i] = term + "*"
		}
	}

	text := strings.Join(terms, " ")
	var err error
	if opt.Query, err = words.Parse(text); err != nil || text == o.query || strings.Contains(text, `"`) {
		return ""
	}
	opt.Limit = 1
	opt.Around = 0
	opt.Meter = nil
	opt.Each = func(*look.SearchHit) error { return nil }
	if res, err := look.Search(ctx, opt); err != nil || res.Found == 0 {
		return ""
	}
	return "; " + visible.Quote(text) + " finds beginnings"
}

// hitPrinter prints texts for a person, below their owner and their chat.
type hitPrinter struct {
	screen
	c     *console
	texts int
	chats map[string]bool // that have them
	rows  bool            // there are some for a pipe
	date  int             // cells of a date: all of it, the day alone, or 0 for none
}

// row prints a text for a pipe, between the messages around it, if these are wanted.
func (p *hitPrinter) row(h *look.SearchHit, around bool) {
	path := visible.Text(h.Path)
	neighbours := func(list []look.Neighbour) {
		for _, n := range list {
			p.c.row(fmt.Sprintf("%s-#%d", path, n.Index), digits(h.Rev), textOr(n.Date), textOr(n.Name), "", textOr(n.Text))
		}
	}

	if around && p.rows {
		p.c.row("--")
	}
	p.rows = true
	neighbours(h.Before)
	p.c.row(fmt.Sprintf("%s:#%d", path, h.Index), digits(h.Rev), textOr(h.Date), textOr(h.Name), strconv.Itoa(h.Places), visible.Text(h.Snippet))
	neighbours(h.After)
}

// all prints texts by owner and chat, in the order of their first ones.
func (p *hitPrinter) all(hits []*look.SearchHit) {
	var chats groups[string, string] // by owner
	var byChat groups[string, *look.SearchHit]
	for _, h := range hits {
		owner := cmp.Or(deref(h.Owner), filepath.Base(filepath.Dir(userdir.RealPath(h.Path))))
		if byChat.of[h.Path] == nil {
			chats.add(owner, h.Path)
		}
		byChat.add(h.Path, h)
		for _, chat := range append(h.Chats, h.Path) {
			p.chats[chat] = true
		}
	}

	p.texts += len(hits)
	room, beside, below := p.rooms(hits)
	t := &grid.Table{Columns: []grid.Column{{Right: true}, {Code: dim}, {Name: beside}, {Text: true, Name: true}, {Code: dim}}}
	for _, owner := range chats.keys {
		t.Rows = append(t.Rows, grid.Row{Heading: visible.Text(owner)})
		var all []string
		for _, path := range chats.of[owner] {
			all = append(all, userdir.ChatName(path))
		}
		for i, name := range names.Shorts(owner, all, nil) {
			found := byChat.of[chats.of[owner][i]]
			row := grid.Row{Heading: "  " + p.shortened(name), Code: cyan}
			if also := shared(found); visible.Width(row.Heading+also) <= p.width {
				row.Heading += also
			} else {
				row.About = strings.TrimPrefix(also, ", ")
			}

			t.Rows = append(t.Rows, row)
			for k, h := range found {
				if k > 0 && len(h.Before)+len(h.After) > 0 {
					t.Rows = append(t.Rows, grid.Row{})
				}
				t.Rows = append(t.Rows, p.neighbours(h.Before, beside)...)
				t.Rows = append(t.Rows, p.hit(h, room, beside, below))
				t.Rows = append(t.Rows, p.neighbours(h.After, beside)...)
			}
		}
	}

	p.table(t)
}

// hit returns the row of a text.
func (p *hitPrinter) hit(h *look.SearchHit, room int, beside, below bool) grid.Row {
	runs := p.marked(h, room)
	row := grid.Row{Lead: "    ", Cells: p.cells(h.Index, h.Date, h.Name, prose.Text(runs), beside), Codes: []string{"", "", roleColor(h.Role)}}
	for _, run := range runs {
		row.Parts = append(row.Parts, grid.Part{Code: runColor(run), Text: run.Text})
	}
	text := about(h)
	if !below {
		row.Cells[4] = text
		return row
	}
	if text != "" {
		for _, at := range visible.Wrap(text, p.width-6) {
			row.Below = append(row.Below, "      "+paint(p.color, dim, text[at[0]:at[1]]))
		}
	}
	return row
}

// neighbours returns the rows of messages around a text.
func (p *hitPrinter) neighbours(list []look.Neighbour, beside bool) (rows []grid.Row) {
	for _, n := range list {
		text := prose.Line(deref(n.Text))
		rows = append(rows, grid.Row{Lead: "    ", Cells: p.cells(n.Index, n.Date, n.Name, p.c.excerpt(text), beside), Codes: []string{dim, dim, dim, dim}})
	}
	return rows
}

// cells returns the cells of a message; date and name only if there is room beside the text.
func (p *hitPrinter) cells(index int, date, name *string, text string, beside bool) []string {
	cells := []string{fmt.Sprintf("#%d", index), "", "", text, ""}
	if beside {
		cells[1] = p.dateCell(deref(date))
		cells[2] = textOr(name)
	}
	return cells
}

// dateCell returns a date in as many cells as there are.
func (p *hitPrinter) dateCell(date string) string {
	switch shown := shownDate(p.c, date); p.date {
	case 0:
		return ""
	case dayCells:
		return visible.CutRight(shown, dayCells, "")
	default:
		return visible.CutRight(shown, leastText, p.sign("…")) // what is none may be cut
	}
}

// rooms returns how many cells there are for the texts at least, whether there is room beside them
// for dates and names, and whether what else is told of them goes below. Half of the width is text,
// where that can be.
func (p *hitPrinter) rooms(hits []*look.SearchHit) (room int, beside, below bool) {
	var index, name, rest int
	for _, h := range hits {
		index = max(index, len(strconv.Itoa(h.Index)))
		name = max(name, min(visible.Width(textOr(h.Name)), leastText))
		for _, n := range slices.Concat(h.Before, h.After) {
			index = max(index, len(strconv.Itoa(n.Index)))
			name = max(name, min(visible.Width(textOr(n.Name)), leastText))
		}
		rest = max(rest, visible.Width(about(h))+2)
	}

	room = p.width - index - len("    #  ")
	half := max(p.width/2, leastText)
	for _, p.date = range []int{leastText, dayCells, 0} {
		if room-(p.date+name+4) >= half {
			break
		}
	}

	if n := p.date + name + 4; room-n >= leastText {
		beside, room = true, room-n
	}
	if below = room-rest < half; !below {
		room -= rest
	}
	return room, beside, below
}

// dayCells is how many cells the day of a date takes.
const dayCells = len("2006-01-02")

// leastText is to how many cells a table makes names and texts narrower; a date takes as many.
const leastText = 16

// shared says how many other chats have all of these texts.
func shared(hits []*look.SearchHit) string {
	n := map[string]int{}
	for _, h := range hits {
		for _, chat := range h.Chats {
			n[chat]++
		}
	}

	others := 0
	for chat, texts := range n {
		if chat != hits[0].Path && texts == len(hits) {
			others++
		}
	}

	if others == 0 {
		return ""
	}
	return ", and " + plural.Of(others, "branch that shares it", "branches that share it")
}

// about says what else there is to know of a text.
func about(h *look.SearchHit) string {
	var list []string
	if h.Within != "" {
		list = append(list, h.Within)
	}
	if h.Rev != nil {
		list = append(list, "rev "+digits(h.Rev))
	}
	if h.Gone {
		list = append(list, "only in the history")
	}
	return strings.Join(list, ", ")
}

// end says how much was found, and for the first text how to read on where it stands and how to go
// another way from there.
func (p *hitPrinter) end(ctx context.Context, first *look.SearchHit) {
	p.lines(dim, plural.Many(p.texts, "text")+" in "+plural.Many(len(p.chats), "chat"))
	if p.c.printed() != nil || !p.c.ErrTTY || p.c.quiet || first.Rev != nil {
		return
	}
	last := first.Index
	choice := choose.Choice{Ranges: []choose.Range{{From: last, To: last + 2}}}
	// an error is that there are no more
	_, _ = look.Messages(ctx, look.MessageOptions{Path: first.Path, Choice: choice, SkipDamaged: true}, func(m *look.Message) error {
		last = *m.Index
		return nil
	})
	path := visible.Args(p.c.addressOf(first.Path))
	fmt.Fprintf(p.c.Err, "  %s   stchat show %s -a %d..%d\n", paint(p.c.errColor, dim, "read on"), path, max(first.Index-2, 0), last)
	fmt.Fprintf(p.c.Err, "  %s    stchat branch %s --at %d\n", paint(p.c.errColor, dim, "branch"), path, first.Index)
}

// marked returns a hit's snippet with the found words marked, the first of them within so many cells.
func (p *hitPrinter) marked(h *look.SearchHit, room int) (list []prose.Run) {
	runes := []rune(h.Snippet)
	at := 0
	add := func(to int, style prose.Style) {
		if text := p.c.excerpt(string(runes[at:to])); text != "" {
			list = append(list, prose.Run{Text: text, Style: style})
		}
		at = to
	}

	for _, m := range h.Marks {
		add(m[0], 0)
		add(m[1], prose.Found)
	}

	add(len(runes), 0)
	if len(list) > 1 && list[0].Style == 0 {
		rest := room - visible.Width(list[1].Text)
		before := min(max(rest/2, leastText), rest-visible.Width(p.sign("…")))
		list[0].Text = visible.CutLeft(list[0].Text, max(before, 1), p.sign("…"))
	}
	return list
}

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/jsondoc"
	"stchat/internal/message"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/plural"
	"stchat/internal/prose"
	"stchat/internal/userdir"
	"stchat/internal/visible"
	"stchat/internal/wordindex"
	"stchat/internal/words"
)

const searchDoc = `Find words in chats; case and accents do not matter. Only whole words are found,
except that Chinese, Japanese, Korean and Thai text is found by any part of it.

  salt harbour      messages with both words
  "salt harbour"    messages with this phrase (quote it for the shell too)
  harb*             harbour, harbours, ...
  -storm            messages without this word
  salt OR sugar     messages with either word
Nothing else has a special meaning. A query that begins with a minus or has
quotes goes in single quotes: 'harbour -storm'.

An argument is a PATH if it ends in .jsonl, if it has a / and exists, or if it
comes after --; and/or is words. PATH is as in inspect; without one it is the
user folder around the working folder, or else the one that STCHAT_DATA names.

The newest message comes first, by its send_date; with --rank the best one.
Texts that are equal are shown once, where they stand last: a branch repeats
its parent's. Looked at are the texts as they are shown, with --swipes the
other swipes too; in the chats as they are now, and in the versions that
snapshot keeps. Where there is such a history, the first search makes an index
of its words beside it, search.db, so that the next ones read only chats that
changed since the last snapshot, and lines over 256 KB, which are not indexed.
It can be deleted. With the index, texts with words that more than 50,000 have
come in the order in which they were kept, the last first, and --rank refuses
words that more than 200,000 have.

In a pipe there is a row for each text, separated by tabs: path:#index, version,
date, name, places, part of the text. docs/json.md describes the JSON documents.
`

func newSearch(*app) verb {
	o := &searchOptions{}
	return verb{
		use: "search QUERY... [PATH...]", short: "Find words in chats",
		doc: searchDoc, no: "nothing was found",
		example: `  stchat search lighthouse
  stchat search '"old harbour" -storm' chats/Mira
  stchat search lamp --role character --since 2026-03-01
  stchat search 灯台 --swipes --limit 0
  stchat search gull OR heron --json -- SillyTavern/data/default-user`,
		pages: everything,
		flags: o.addFlags, run: o.run,
	}
}

type searchOptions struct {
	listFlags
	storeFlag
	query        string
	roles        string
	names        []string
	since, until string
	swipes, gone bool
	noIndex      bool
	rank         bool
	limit        int
	json         bool
}

func (o *searchOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	o.storeFlag.addFlags(fs)
	fs.StringVar(&o.roles, "role", "", "any role in `LIST`: user, character, system")
	fs.StringArrayVar(&o.names, "name", nil, "said by exactly `NAME`; may be repeated")
	fs.StringVar(&o.since, "since", "", "sent at `TIME` or later: RFC 3339, a local date such as 2026-03-01, or an age such as 2w")
	fs.StringVar(&o.until, "until", "", "sent at `TIME` or earlier; a date means all of that day")
	fs.BoolVar(&o.swipes, "swipes", false, "also look at the swipes that are not chosen")
	fs.BoolVar(&o.gone, "gone", false, "only what no chat has any more: what only versions have that snapshot kept")
	fs.BoolVar(&o.rank, "rank", false, "show the best first (BM25), not the newest")
	o.limit = 20
	fs.Var(number(&o.limit, 0, "a number, 0 for all"), "limit", "show at most `N` texts; 0: all")
	fs.BoolVar(&o.noIndex, "no-index", false, "read every chat and version, without search.db; the answers are the same")
	fs.BoolVar(&o.json, "json", false, "print JSON documents, one per line")
}

// options turns the flags and arguments into look.SearchOptions; those after -- are paths.
func (o *searchOptions) options(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) (opt look.SearchOptions, err error) {
	opt.Store = func(root string) string { return keep.StoreOf(root, o.of(a)) }
	dash := fs.ArgsLenAtDash()
	var query, paths []string
	for i, arg := range args {
		if dash < 0 || i < dash {
			if found, err := a.isSubject("", arg); err != nil {
				return opt, err
			} else if len(found) > 0 && strings.Contains(arg, "/") {
				paths = append(paths, found...)
				continue
			}
			is, err := isPath(arg)
			if err != nil {
				return opt, err
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
		return opt, usagef("say what to look for, e.g. `stchat search lighthouse`")
	case err != nil:
		return opt, usagef("%s: %v", visible.Quote(strings.Join(query, " ")), err)
	}
	if paths, err = a.resolve(fs, reads(), paths); err != nil {
		return opt, err
	}
	if opt.List, err = o.folders(ctx, a, paths, nameFolder("search lighthouse")); err != nil {
		return opt, err
	}
	if o.roles != "" {
		for role := range strings.SplitSeq(o.roles, ",") {
			who := message.Who(role)
			if !slices.Contains([]message.Who{message.User, message.Character, message.System}, who) {
				return opt, usagef("--role: unknown role %q; choose from user, character, system", role)
			}
			opt.Roles = append(opt.Roles, who)
		}
	}
	if o.since != "" {
		if opt.Since, err = since(o.since, a.Now()); err != nil {
			return opt, err
		}
	}
	if o.until != "" {
		if opt.Until, err = moment("until", o.until, a.Now()); err != nil {
			return opt, err
		}
	}
	opt.NoIndex = o.noIndex
	opt.Names, opt.Swipes, opt.Gone, opt.Rank, opt.Limit = o.names, o.swipes, o.gone, o.rank, o.limit
	return opt, nil
}

// isPath reports whether an argument of search is a path: it looks like one, and exists. It is
// an error if it is certainly meant as one, and does not exist: it ends in .jsonl, or its first
// part is a folder.
func isPath(arg string) (bool, error) {
	isChat := strings.HasSuffix(strings.ToLower(arg), ".jsonl")
	if !isChat && !strings.ContainsAny(arg, "/"+string(filepath.Separator)) {
		return false, nil
	}
	_, err := os.Lstat(arg)
	if err == nil {
		return true, nil
	}
	info, noFolder := os.Stat(firstPart(arg))
	if isChat || noFolder == nil && info.IsDir() {
		return false, fmt.Errorf("%w; words in double quotes are not a path", ops.PathError(err))
	}
	return false, nil
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

func (o *searchOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	opt, err := o.options(ctx, a, fs, args)
	if err != nil {
		return err
	}
	c := a.console()
	var end func()
	opt.Meter, end = c.meter("searching", o.json)
	w := bufio.NewWriter(c.Out)
	shown := false
	p := &hitPrinter{screen: newScreen(c, w, 100), c: c}
	var hits []*look.SearchHit
	opt.Each = func(hit *look.SearchHit) error {
		if !shown {
			shown = true
			end()
		}
		switch {
		case o.json:
			return jsondoc.Write(w, hit, "")
		case !c.shown:
			fmt.Fprintln(w, strings.Join(plainHit(hit), "\t"))
		case o.limit == 0: // there may be very many
			p.print(hit)
		default:
			hits = append(hits, hit)
		}
		_, err := w.Write(nil) // the error of what was written
		return err
	}
	res, err := look.Search(ctx, opt)
	if !shown {
		end()
	}
	if isA[*wordindex.TooManyError](err) {
		return fmt.Errorf("%w; add a word, or leave --rank out", err)
	}
	if errors.Is(err, look.ErrNoHistory) {
		return fmt.Errorf("%w; 'stchat snapshot' begins one", err)
	}
	if err != nil {
		c.work.count(opt.Meter)
		return cmp.Or(w.Flush(), err)
	}
	p.all(hits)
	for _, err := range res.Errs {
		if err := c.failed(w, o.json, "", err); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(hits) > 0 && c.ErrTTY {
		p.hints(hits[0])
	}
	if res.Damaged {
		c.warn("the index of words was damaged: all chats and versions were read instead, and the next search makes it anew")
	}
	if !res.ByDate && !o.rank {
		c.note("more than %d texts have these words: they come in the order in which they were kept, the last first", wordindex.MostExact)
	}
	if res.Found > res.Shown && o.limit > 0 {
		of := plural.S(res.Found, "text")
		if res.Found > max(o.limit, look.MostCounted) {
			of = fmt.Sprintf("more than %s", plural.S(res.Found-1, "text"))
		}
		c.note("%d of %s; --limit shows more", res.Shown, of)
	}
	if res.Found == 0 && len(res.Errs) == 0 && c.OutTTY && !o.json {
		c.note("nothing found%s", o.longer(ctx, opt))
	}
	return outcome(len(res.Errs) > 0, res.Found == 0)
}

// longer returns the query that finds words which only begin as those that were not found, as
// part of a sentence; "" if that finds nothing either.
func (o *searchOptions) longer(ctx context.Context, opt look.SearchOptions) string {
	if strings.Contains(o.query, `"`) {
		return ""
	}
	terms := strings.Fields(o.query)
	for i, term := range terms {
		if term != "OR" && !strings.HasPrefix(term, "-") && !strings.HasSuffix(term, "*") {
			terms[i] = term + "*"
		}
	}
	text := strings.Join(terms, " ")
	var err error
	if opt.Query, err = words.Parse(text); err != nil || text == o.query {
		return ""
	}
	opt.Limit, opt.Rank, opt.Meter, opt.Each = 1, false, nil, func(*look.SearchHit) error { return nil }
	if res, err := look.Search(ctx, opt); err != nil || res.Found == 0 {
		return ""
	}
	return "; " + visible.Quote(text) + " finds longer words"
}

// plainHit returns the cells of a text's row for a pipe.
func plainHit(h *look.SearchHit) []string {
	rev := ""
	if h.Rev != nil {
		rev = strconv.Itoa(*h.Rev)
	}
	return []string{fmt.Sprintf("%s:#%d", visible.Text(h.Path), h.Index), rev, visible.Text(deref(h.Date)), visible.Text(deref(h.Name)), strconv.Itoa(h.Places), visible.Text(h.Snippet)}
}

// hitPrinter prints texts for a person, below their owner and their chat.
type hitPrinter struct {
	screen
	c           *console
	owner, chat string
}

// all prints texts by owner and chat, in the order of their first ones.
func (p *hitPrinter) all(hits []*look.SearchHit) {
	var owners []string
	chats := map[string][]string{}
	of := map[string][]*look.SearchHit{}
	for _, h := range hits {
		owner, path := hitOwner(h), h.Path
		if chats[owner] == nil {
			owners = append(owners, owner)
		}
		if of[path] == nil {
			chats[owner] = append(chats[owner], path)
		}
		of[path] = append(of[path], h)
	}
	for _, owner := range owners {
		for _, path := range chats[owner] {
			for _, h := range of[path] {
				p.print(h)
			}
		}
	}
}

func hitOwner(h *look.SearchHit) string {
	if h.Owner != nil {
		return *h.Owner
	}
	return filepath.Base(filepath.Dir(userdir.RealPath(h.Path)))
}

// print prints a text: who said it where, and below that the part with the words.
func (p *hitPrinter) print(h *look.SearchHit) {
	if owner := hitOwner(h); owner != p.owner || p.chat == "" {
		p.owner, p.chat = owner, ""
		p.line(bold+";"+cyan, p.fit(visible.Text(owner), 0))
	}
	if h.Path != p.chat {
		p.chat = h.Path
		p.line(cyan, "  "+p.fit(p.shortened(names.Short(p.owner, userdir.ChatName(h.Path))), 2))
	}
	head := fmt.Sprintf("#%d", h.Index)
	if h.Rev != nil {
		head += fmt.Sprintf("  version %d", *h.Rev)
	}
	if h.Date != nil {
		head += "  " + visible.Text(shownDate(p.c, *h.Date))
	}
	if h.Name != nil {
		head += "  " + visible.Text(*h.Name)
	}
	about := ""
	if h.Places > 1 && p.measure >= 40 {
		about = "  and " + plural.Of(h.Places-1, "other place", "other places")
	}
	fmt.Fprintln(p.w, "    "+p.fit(head, 4+len(about))+paint(p.color, dim, about))
	for _, line := range prose.Wrap(marked(h), max(p.measure-6, 1)) {
		fmt.Fprintln(p.w, "      "+p.painted(line, false))
	}
}

// hints says how to read on where a text stands, and how to go another way from there.
func (p *hitPrinter) hints(h *look.SearchHit) {
	if h.Rev != nil {
		return
	}
	p.c.note("read on: stchat message get -a %d..%d %s", max(h.Index-2, 0), h.Index, visible.Args(h.Path))
	p.c.note("go another way: stchat branch --at %d %s", h.Index, visible.Args(h.Path))
}

// marked returns a hit's snippet with the found words marked.
func marked(h *look.SearchHit) (list []prose.Run) {
	runes := []rune(h.Snippet)
	at := 0
	add := func(to int, style prose.Style) {
		if text := visible.Text(string(runes[at:to])); text != "" {
			list = append(list, prose.Run{Text: text, Style: style})
		}
		at = to
	}
	for _, m := range h.Marks {
		add(m[0], 0)
		add(m[1], prose.Found)
	}
	add(len(runes), 0)
	return list
}

package main

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"stchat/internal/choose"
	"stchat/internal/ops/keep"
	"stchat/internal/patch"
	"stchat/internal/sendate"
)

// choiceDoc explains the flags of choiceFlags in a command's help.
const choiceDoc = `
CHOOSING MESSAGES
Messages count from 0. RANGES are 7, -1 (the last), 3..9 or 3-9, 40.., ..9,
-5..-1, and lists of these with commas; both ends are included. A message must
meet all the flags given; --first and --last then take some of those messages.
They come in the chat's order, each once.
`

// choiceFlags choose messages of a chat (CONTENT.md 1.1).
type choiceFlags struct {
	chosenBy     choose.Choice // but for what follows
	hidden, seen bool
	since, until string
}

func (f *choiceFlags) addFlags(fs *pflag.FlagSet) {
	addTopic(fs, "Flags that choose messages", func(fs *pflag.FlagSet) {
		fs.VarP(parsed(choose.ParseRanges, func(r []choose.Range) { f.chosenBy.Ranges = append(f.chosenBy.Ranges, r...) }), "at", "a", "these `RANGES`, such as 7, 3..9 or -5..-1")
		fs.Var(number(&f.chosenBy.First, 1, "a number of messages, from 1"), "first", "the first `N` of what is chosen")
		fs.Var(number(&f.chosenBy.Last, 1, "a number of messages, from 1"), "last", "the last `N` of what is chosen")
		f.addFilters(fs)
	})
}

// addFilters adds those that do not count messages.
func (f *choiceFlags) addFilters(fs *pflag.FlagSet) {
	by := &f.chosenBy.Filter
	fs.Var(parsed(roles, func(list []string) { by.Roles = list }), "role", "any role in `LIST`: "+strings.Join(choose.Roles(), ", "))
	fs.StringArrayVar(&by.Names, "name", nil, "said by exactly `NAME`; may be repeated")
	fs.BoolVar(&f.hidden, "hidden", false, "only hidden messages")
	fs.BoolVar(&f.seen, "no-hidden", false, "no hidden messages")
	fs.Var(parsed(patch.ParseKey, func(p patch.Path) { by.Has = append(by.Has, p) }), "has", "has this `KEY`; one that begins with / is a JSON pointer, such as /extra/model")
	fs.Var(parsed(regexp.Compile, func(re *regexp.Regexp) { by.Match = re }), "match", "the text matches the regular expression `RE` (RE2; (?i) for any letter case)")
	fs.Var(filled(&f.since), "since", "sent at `TIME` or later: a local date such as 2026-03-01, an age such as 3d, or RFC 3339")
	fs.Var(filled(&f.until), "until", "sent at `TIME` or earlier; a date means all of that day")
}

// choice returns what the flags choose; now is what ages count back from.
func (f *choiceFlags) choice(now time.Time) (c choose.Choice, err error) {
	c = f.chosenBy
	if f.hidden || f.seen {
		c.Filter.Hidden = &f.hidden
	}
	if c.Filter.Match != nil && c.Filter.Match.String() == "" {
		c.Filter.Match = nil
	}
	if c.Filter.Since, err = since(f.since, now); err == nil {
		c.Filter.Until, err = moment("until", f.until, now)
	}
	return c, err
}

// roles reads a list of roles.
func roles(list string) ([]string, error) {
	if list == "" {
		return nil, refusal("is empty")
	}
	return choose.ParseRoles(list)
}

// chosen is choice for a command that never takes all messages by default.
func (o *choiceFlags) chosen(c *console) (choose.Choice, error) {
	choice, err := o.choice(c.Now())
	if err == nil && choice.All() {
		err = usagef("say which messages: --at 0.. means all of them")
	}
	return choice, err
}

// since reads the time of --since: a date means its beginning, and "" is no time.
func since(text string, now time.Time) (time.Time, error) {
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return day, nil
	}
	return moment("since", text, now)
}

// moment reads a point in time; a date means its end, and "" is no time.
func moment(flag, text string, now time.Time) (time.Time, error) {
	t, ok := sendate.ParseMoment(text, now)
	if !ok && text != "" {
		return t, usagef("--%s takes a time such as 2026-03-01, \"2026-03-01 18:42\", 2026-03-01T18:42:00Z or 3d, not %q", flag, text)
	}
	return t, nil
}

// storeVariable is the environment variable that names the store unless --store does.
const storeVariable = "STCHAT_STORE"

// storeFlag is --store.
type storeFlag struct{ path string }

func (f *storeFlag) addFlags(fs *pflag.FlagSet) {
	fs.Var(filled(&f.path), "store", "keep the history in `FILE`; default: $"+storeVariable+", else .stchat/history.db in the user folder")
}

// of returns the store that --store or STCHAT_STORE names, "" for the user folder's own.
func (f *storeFlag) of(c *console) string { return cmp.Or(f.path, c.Getenv(storeVariable)) }

// where returns which chat is meant, and in which store.
func (f *storeFlag) where(c *console, args []string, data string) (keep.Where, error) {
	switch {
	case len(args) == 0:
		return keep.Where{}, usagef("name a chat, e.g. `stchat %s \"chats/Mira/Harbour.jsonl\"` or Mira/Harbour", strings.TrimPrefix(c.started, "stchat "))
	case args[0] == "":
		return keep.Where{}, usagef("CHAT is empty")
	}
	return keep.Where{Chat: args[0], Store: f.of(c), Data: cmp.Or(data, c.Getenv(dataVariable)), Now: c.Now()}, nil
}

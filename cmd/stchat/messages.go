package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/json/patch"
	"stchat/internal/ops/cut"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/lazyregexp"
)

// MESSAGES are numbers of messages that stand behind the CHATs of a command:
// stchat VERB CHAT… [MESSAGES [WHAT]].

// takesMessages is the annotation of a command that takes MESSAGES.
const takesMessages = "messages"

// messageTaker are the options of a command that takes MESSAGES.
type messageTaker interface {
	takeMessages(fs *pflag.FlagSet, ranges []choose.Range) error
}

// whatTaker are the options of a command that takes something behind MESSAGES.
type whatTaker interface {
	takeWhat(fs *pflag.FlagSet, what string) error
}

var (
	messagesPattern = lazyregexp.New(`^([0-9]|\.\.|-[0-9])[0-9,.-]*$`)
	datePattern     = lazyregexp.New(`^[0-9]{4}-[0-9]{2}(-|$)`)
	negativePattern = lazyregexp.New(`^-[0-9]+$`)
)

// looksLikeMessages reports whether an argument behind a CHAT is read as MESSAGES.
func looksLikeMessages(arg string) bool { return messagesPattern().MatchString(arg) }

// following takes MESSAGES and what follows them from the arguments of a command, gives them to its
// options, and returns the other arguments.
func (s *subjects) following(fs *pflag.FlagSet, o options, args []string) (others []string, err error) {
	if !s.messages {
		return args, nil
	}
	chats := args
	var messages, what []string
	for i, arg := range args {
		switch {
		case i > s.first && looksLikeMessages(arg):
			if len(messages) == 0 {
				chats = args[:i]
			}
			messages = append(messages, arg)
		case len(messages) > 0:
			what = append(what, arg)
		}
	}

	if s.what == swipeNumber && len(messages) > 0 {
		messages, what, err = s.divideSwipe(fs, messages, what)
		if err != nil {
			return nil, err
		}
	}

	if s.what == "" && len(what) > 0 {
		return nil, usagef("%q: nothing may follow MESSAGES", what[0])
	}
	if len(what) > 1 {
		return nil, usagef("%q: only one %s may follow MESSAGES", what[1], s.what)
	}

	if len(messages) > 0 {
		if err := s.giveMessages(fs, o, messages); err != nil {
			return nil, err
		}
	}

	if len(what) == 1 {
		if err := o.(whatTaker).takeWhat(fs, what[0]); err != nil {
			return nil, err
		}
	}
	return chats, nil
}

// swipeNumber is what follows MESSAGE in swipe, as its synopsis calls it.
const swipeNumber = "K"

// What follows MESSAGE in edit, and in checkpoint and branch, as their synopsis calls it.
const (
	newText = "TEXT"
	newName = "NAME"
)

// divideSwipe divides the numbers behind a CHAT of swipe: the first is the message, unless --at says
// it, and the second the swipe.
func (s *subjects) divideSwipe(fs *pflag.FlagSet, numbers, what []string) (messages, swipe []string, err error) {
	if len(what) > 0 {
		return nil, nil, usagef("%q: a swipe is chosen by its number, from 1", what[0])
	}
	if !fs.Changed("at") {
		messages, numbers = numbers[:1], numbers[1:]
	}
	if len(numbers) > 1 {
		return nil, nil, usagef("%q: one message and one swipe, from 1", numbers[1])
	}
	return messages, numbers, nil
}

// giveMessages judges MESSAGES and gives them to the options of a command.
func (s *subjects) giveMessages(fs *pflag.FlagSet, o options, messages []string) error {
	if fs.Changed("at") {
		also := ""
		if flag := flagOf(fs, s.what); flag != "" {
			also = fmt.Sprintf("; with --at, %s goes with %s", s.what, flag)
		}
		return usagef("give the messages as an argument or with --at, not both: %s%s", messages[0], also)
	}
	for _, arg := range messages {
		if _, err := os.Lstat(arg); err == nil {
			return usagef("%s: a file here has this name; write ./%s for the file, --at %s for messages", arg, arg, arg)
		}
		if datePattern().MatchString(arg) {
			return usagef("%s looks like a date; by time: %s", arg, byTime(arg))
		}
		if negativePattern().MatchString(arg) && arg != "-1" {
			back := strings.TrimPrefix(arg, "-")
			return usagef("%s could mean two things; the last %s: --last %s; the %s from the end: --at %s", arg, back, back, ordinal(back), arg)
		}
	}

	list := strings.Join(messages, ",")
	ranges, err := choose.ParseRanges(list)
	if err != nil {
		return usagef("%v", err)
	}
	return o.(messageTaker).takeMessages(fs, ranges)
}

// byTime returns the flags that choose messages by the date, the month or the two dates that an argument has.
func byTime(arg string) string {
	const month = "2006-01"
	if first, err := time.Parse(month, arg); err == nil {
		last := first.AddDate(0, 1, -1)
		return "--since " + first.Format(time.DateOnly) + " --until " + last.Format(time.DateOnly)
	}

	from, to, _ := strings.Cut(arg, "..")
	_, fromErr := time.Parse(time.DateOnly, from)
	_, toErr := time.Parse(time.DateOnly, to)
	switch {
	case fromErr == nil && toErr == nil:
		return "--since " + from + " --until " + to
	case fromErr == nil && to == "":
		return "--since " + from
	}
	return "--since DATE, --until DATE"
}

// ordinal returns a number as one counts: 2nd, 3rd, 11th.
func ordinal(number string) string {
	teen := len(number) > 1 && number[len(number)-2] == '1'
	switch last := number[len(number)-1]; {
	case last == '1' && !teen:
		return number + "st"
	case last == '2' && !teen:
		return number + "nd"
	case last == '3' && !teen:
		return number + "rd"
	}
	return number + "th"
}

// negative marks an argument that begins with a minus sign and is none of the flags; pflag would read
// its digits as short flags.
const negative = "\x00"

// markNegatives marks those arguments of a command that are MESSAGES counted from the end.
func markNegatives(cmd *cobra.Command, args []string) []string {
	marked := make([]string, 0, len(args))
	fs := cmd.Flags()
	valued := false // the argument is the value of the flag before it
	for i, arg := range args {
		switch {
		case valued:
			valued = false
		case arg == "--":
			return append(marked, args[i:]...)
		case strings.HasPrefix(arg, "-") && looksLikeMessages(arg):
			arg = negative + arg
		default:
			valued = wantsValue(fs, cmd.InheritedFlags(), arg)
		}
		marked = append(marked, arg)
	}
	return marked
}

// wantsValue reports whether an argument is a flag whose value is the next argument.
func wantsValue(own, inherited *pflag.FlagSet, arg string) bool {
	var flag *pflag.Flag
	switch {
	case strings.HasPrefix(arg, "--"):
		name := arg[2:]
		if flag = own.Lookup(name); flag == nil {
			flag = inherited.Lookup(name)
		}
	case strings.HasPrefix(arg, "-") && len(arg) > 1:
		last := arg[len(arg)-1:]
		if flag = own.ShorthandLookup(last); flag == nil {
			flag = inherited.ShorthandLookup(last)
		}
		if flag != nil && len(arg) > 2 && !shorthands(own, inherited, arg[1:len(arg)-1]) {
			return false // -nX: what follows the first letter is its value
		}
	}
	return flag != nil && flag.NoOptDefVal == ""
}

// shorthands reports whether letters are all flags without a value.
func shorthands(own, inherited *pflag.FlagSet, letters string) bool {
	for letter := range strings.SplitSeq(letters, "") {
		flag := own.ShorthandLookup(letter)
		if flag == nil {
			flag = inherited.ShorthandLookup(letter)
		}
		if flag == nil || flag.NoOptDefVal == "" {
			return false
		}
	}
	return true
}

// choiceFlags choose messages of a chat.
type choiceFlags struct {
	chosenBy     choose.Choice // but for what follows
	named        string        // the checkpoint or branch at whose message, "" for none
	hidden, seen bool
}

func (f *choiceFlags) addFlags(fs *pflag.FlagSet) {
	addTopic(fs, choosing, func(fs *pflag.FlagSet) {
		fs.VarP(parsed(messagesOrName, f.takeAt), "at", "a", "these `MESSAGES`, such as 7, 3..9 or -5..-1; or the name of a checkpoint or branch, for the message it hangs on")
		fs.Var(number(&f.chosenBy.Last, 1, "a number of messages, from 1"), "last", "the last `N` of what is chosen")
		f.addFilters(fs)
	})
}

// addFilters adds those that do not count messages.
func (f *choiceFlags) addFilters(fs *pflag.FlagSet) {
	by := &f.chosenBy.Filter
	fs.Var(parsed(roles, func(list []string) { by.Roles = append(by.Roles, list...) }), "role", "any role in `LIST`: "+strings.Join(choose.Roles(), ", ")+"; may be repeated")
	fs.StringArrayVar(&by.Names, "speaker", nil, "said by exactly `NAME`; may be repeated")
	fs.BoolVar(&f.hidden, "hidden", false, "only hidden messages")
	fs.BoolVar(&f.seen, "no-hidden", false, "no hidden messages")
	fs.Var(parsed(patch.ParseKey, func(p patch.Path) { by.Has = append(by.Has, p) }), "has", "has this `KEY`; one that begins with / is a JSON pointer, such as /extra/model")
	fs.Var(parsed(regexp.Compile, func(re *regexp.Regexp) { by.Match = append(by.Match, re) }).notEmpty(), "match", "the text matches the regular expression `RE` (RE2; (?i) for any letter case); all that are given must match")
	fs.Var(since(&by.Since).notEmpty(), "since", "sent at `TIME` or later: a local date such as 2026-03-01 or yesterday, an age such as 3d or \"3 days ago\", or RFC 3339")
	fs.Var(until(&by.Until).notEmpty(), "until", "sent at `TIME` or earlier; a date means all of that day")
}

// messagesOrName reads the value of --at: ranges, or if it is none and begins unlike one, a name.
func messagesOrName(text string) (at atValue, err error) {
	if text == "" {
		return at, refusal("is empty")
	}
	if name, isName := messageName(text); isName {
		return atValue{name: name}, nil
	}
	at.ranges, err = choose.ParseRanges(text)
	return at, err
}

// messageName returns the name that an --at has in place of numbers: what begins unlike one, or follows name:.
func messageName(text string) (name string, is bool) {
	if name, is := strings.CutPrefix(text, "name:"); is {
		return name, true
	}
	beginsLikeNumber := text == "" || strings.ContainsAny(text[:1], "0123456789-.+")
	return text, !beginsLikeNumber
}

// atValue is what --at says: numbers of messages, or a name.
type atValue struct {
	ranges []choose.Range
	name   string
}

// takeAt takes the value of an --at.
func (f *choiceFlags) takeAt(at atValue) {
	f.chosenBy.Ranges = append(f.chosenBy.Ranges, at.ranges...)
	f.named = cmp.Or(at.name, f.named)
}

// choosesAll reports whether the flags leave no message out.
func (f *choiceFlags) choosesAll() bool {
	unnamed := f.unnamed()
	return f.named == "" && unnamed.All()
}

// choice returns what the flags choose in chats. The name that --at may give is looked up in the only one
// of them.
func (f *choiceFlags) choice(ctx context.Context, chats []string) (choose.Choice, error) {
	choice := f.unnamed()
	if f.named == "" || len(chats) == 0 {
		return choice, nil
	}
	if len(chats) > 1 {
		return choice, usagef("--at %q: a name is for one CHAT, not %d", f.named, len(chats))
	}
	if userdir.IsDir(chats[0]) {
		return choice, usagef("--at %q: a name is for one CHAT, not a folder", f.named)
	}
	at, err := cut.MessageNamed(ctx, chats[0], f.named)
	if err != nil {
		return choice, withHint(err, nil)
	}
	choice.Ranges = append(slices.Clone(choice.Ranges), choose.Range{From: at, To: at})
	return choice, nil
}

// oneMessage is an --at that takes one message: its number, or the name of a checkpoint or branch.
type oneMessage struct {
	number int
	name   string
}

// addFlag adds the flag.
func (m *oneMessage) addFlag(fs *pflag.FlagSet, usage string) {
	fs.VarP(messageOrName(&m.number, &m.name), "at", "a", usage)
	fs.Lookup("at").DefValue = ""
}

// in returns the number of the message in a chat, nil if the flag was not given.
func (m *oneMessage) in(ctx context.Context, fs *pflag.FlagSet, path string) (*int, error) {
	switch {
	case !fs.Changed("at"):
		return nil, nil
	case m.name == "":
		return &m.number, nil
	}
	at, err := cut.MessageNamed(ctx, path, m.name)
	return &at, withHint(err, nil)
}

// oneNumber returns the only message number in a list; ok is false for anything else.
func oneNumber(ranges []choose.Range) (n int, ok bool) {
	if len(ranges) != 1 || ranges[0].From != ranges[0].To {
		return 0, false
	}
	return ranges[0].From, true
}

// takeMessages implements [messageTaker].
func (f *choiceFlags) takeMessages(_ *pflag.FlagSet, ranges []choose.Range) error { //nolint:unparam // others refuse
	f.chosenBy.Ranges = ranges
	return nil
}

// unnamed returns what the flags choose but for the name that --at may give.
func (f *choiceFlags) unnamed() choose.Choice {
	c := f.chosenBy
	if f.hidden || f.seen {
		c.Filter.Hidden = &f.hidden
	}
	return c
}

// roles reads a list of roles.
func roles(list string) ([]string, error) {
	if list == "" {
		return nil, refusal("is empty")
	}
	return choose.ParseRoles(list)
}

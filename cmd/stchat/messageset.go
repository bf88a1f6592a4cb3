package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/ops/edit"
	"stchat/internal/rawjson"
)

func newMessageSet() verb {
	return verb{
		use: "set CHAT...", short: "Change messages",
		doc: `Change messages: keys of the stored object, or parts of the text.

Changes are made in this order: --replace, --merge, --merge-patch, --patch,
--set, --unset, --sub. --sub RE=TEXT replaces every match of the regular
expression RE (RE2) in the text; TEXT may contain $1 and ${name}; write a = in
RE as \=. If the text changes, so does the chosen swipe; --all-swipes makes the
substitution in all swipes.
` + manyDoc + choiceDoc + asBranchDoc + inPlaceDoc, no: "no message was chosen, or a test or --expect-… fails",
		example: `  stchat message set chat.jsonl -a 0.. --sub "Jon\b=John"
  stchat message set chat.jsonl -a 12 --set /extra/model=other
  stchat message set chat.jsonl -a 12 --sub storm=calm --as-branch -n "calm sea"
  stchat message set chats/Mira/*.jsonl --role user --set name=Ines`,
		means:   edits(),
		options: &messageSetOptions{},
	}
}

type messageSetOptions struct {
	choiceFlags
	valueFlags
	inPlaceFlags
	asBranchFlags
	sub       []string
	allSwipes bool
}

func (o *messageSetOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	o.valueFlags.addFlags(fs)
	fs.StringArrayVar(&o.sub, "sub", nil, "replace every match in the text: `RE=TEXT`")
	fs.BoolVar(&o.allSwipes, "all-swipes", false, "with --sub: in all swipes too")
	o.asBranchFlags.addFlags(fs)
	o.addManyFlags(fs, "")
}

func (o *messageSetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "name a chat, e.g. `stchat message set chat.jsonl -a 12 --set name=Ines`")
	if err != nil {
		return err
	}
	opt := edit.SetOptions{Options: common, Choice: choice, AllSwipes: o.allSwipes}
	if err := o.check(fs); err != nil {
		return err
	}
	if opt.Values, err = o.changes(ctx, c, o.filesFrom == chat.Stdin); err != nil {
		return err
	}
	for _, text := range o.sub {
		s, err := substitution(text)
		if err != nil {
			return err
		}
		opt.Sub = append(opt.Sub, s)
	}
	switch {
	case opt.Values.Empty() && len(opt.Sub) == 0:
		return usagef("say what to change, e.g. --set name=Ines or --sub Jon=John")
	case o.allSwipes && len(opt.Sub) == 0:
		return usagef("--all-swipes goes with --sub")
	}
	if o.as {
		return o.asBranchFlags.run(ctx, c, &o.inPlaceFlags, common.Chats, choice, true, func(_ int, line []byte, _ *rawjson.Object) ([]byte, error) { return opt.Line(line) })
	}
	return o.reportMany(c, edit.Set(ctx, opt), func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Changed) })
}

// substitution parses RE=TEXT, split at the first = that no backslash escapes.
func substitution(text string) (s edit.Substitution, err error) {
	at := -1
	for i := 0; i < len(text) && at < 0; i++ {
		switch text[i] {
		case '\\':
			i++
		case '=':
			at = i
		}
	}
	if at < 1 {
		return s, usagef("--sub takes RE=TEXT, not %q", text)
	}
	if s.Match, err = regexp.Compile(strings.ReplaceAll(text[:at], `\=`, `=`)); err != nil {
		return s, usagef("--sub: %v", err)
	}
	s.With = text[at+1:]
	return s, nil
}

func newMessageSwipe() verb {
	return verb{
		use: "swipe CHAT", short: "Choose, add or delete a swipe",
		doc: `Choose, add or delete a swipe of one message. Swipes count from 1, as the
screen shows them.

--choose K first stores what the message has now in its own swipe, as
SillyTavern does before it swipes. --add TEXT adds a swipe at the end and prints
its number; with --choose and no number it is chosen. --delete K deletes a
swipe; if it was the chosen one, the next is chosen, or the last.
` + asBranchDoc + inPlaceDoc, no: "no message was chosen, or --expect-… fails",
		example: "  stchat message swipe chat.jsonl -a -1 --choose 2\n  stchat message swipe chat.jsonl -a 12 --add \"Not tonight.\"\n  stchat message swipe chat.jsonl -a 12 --choose 1 --as-branch -n \"other answer\"",
		args:    cobra.RangeArgs(1, 2),
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &messageSwipeOptions{},
	}
}

type messageSwipeOptions struct {
	choiceFlags
	inPlaceFlags
	asBranchFlags
	choose string // a number, or newest
	add    string
	remove int
}

func (o *messageSwipeOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	fs.StringVar(&o.choose, "choose", "", "choose swipe `K`; with --add and no number, the new one")
	fs.Lookup("choose").NoOptDefVal = newest
	fs.StringVar(&o.add, "add", "", "add a swipe with this `TEXT`; - reads it from stdin")
	fs.Var(number(&o.remove, 1, "a swipe's number, from 1"), "delete", "delete swipe `K`")
	o.asBranchFlags.addFlags(fs)
	o.inPlaceFlags.addFlags(fs, "with --add: also for messages of the user and of the system")
}

func (o *messageSwipeOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	choice, err := o.choice(c.Now())
	if err != nil {
		return err
	}
	if choice.All() {
		return usagef("say which message, e.g. --at -1")
	}
	opt := edit.SwipeOptions{Choice: choice, SwipeChange: edit.SwipeChange{Delete: o.remove}}
	if args, err = o.chosenSwipe(args, &opt); err != nil {
		return err
	}
	if fs.Changed("add") {
		if opt.Add, err = o.text(ctx, c); err != nil {
			return err
		}
	}
	wanted := 0
	for _, is := range []bool{opt.Choose > 0, opt.Add != nil, opt.Delete > 0} {
		if is {
			wanted++
		}
	}
	switch {
	case wanted != 1:
		return usagef("give one of --choose K, --add TEXT and --delete K")
	case opt.Chosen && opt.Add == nil:
		return usagef("--choose takes a swipe's number, from 1")
	}
	if opt.Options, err = o.options(c, args); err != nil {
		return err
	}
	if err := o.check(fs); err != nil {
		return err
	}
	if o.as {
		return o.asBranchFlags.run(ctx, c, &o.inPlaceFlags, args, choice, opt.Taints(), func(at int, line []byte, metadata *rawjson.Object) ([]byte, error) {
			return opt.Line(at+1, line, metadata)
		})
	}
	return o.report(c, edit.Swipe(ctx, opt), func(r *edit.Result) {
		if r.Swipe != 0 {
			fmt.Fprintln(c.w, r.Swipe)
		}
	})
}

// newest is the value of --choose for the swipe that --add adds.
const newest = "new"

// chosenSwipe reads --choose into opt and returns the other arguments. As --choose may
// stand alone, pflag takes its value only after an equals sign: in "--choose 2" the number
// arrives as an argument.
func (o *messageSwipeOptions) chosenSwipe(args []string, opt *edit.SwipeOptions) ([]string, error) {
	text := o.choose
	if len(args) == 2 {
		if text != newest {
			return nil, usagef("one CHAT, not %q too", args[1])
		}
		text, args = args[1], args[:1]
	}
	switch text {
	case "":
	case newest:
		opt.Chosen = true
	default:
		if err := number(&opt.Choose, 1, "a swipe's number, from 1").Set(text); err != nil {
			return nil, usagef("--choose %v", err)
		}
	}
	return args, nil
}

// text returns the text of --add.
func (o *messageSwipeOptions) text(ctx context.Context, c *console) (*string, error) {
	if o.add != chat.Stdin {
		return &o.add, nil
	}
	data, err := readInput(ctx, c, chat.Stdin)
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	return &text, err
}

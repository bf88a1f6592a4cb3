package main

import (
	"context"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/ops/edit"
	"stchat/internal/rawjson"
)

const messageSetDoc = `Change messages: keys of the stored object, or parts of the text.

Changes are made in this order: --replace, --merge, --merge-patch, --patch,
--set, --unset, --sub. --sub RE=TEXT replaces every match of the regular
expression RE (RE2) in the text; TEXT may contain $1 and ${name}; write a = in
RE as \=. If the text changes, so does the chosen swipe; --all-swipes makes the
substitution in all swipes.
` + manyDoc + choiceDoc + asBranchDoc + inPlaceDoc

const messageSetExample = `  stchat message set chat.jsonl -a 0.. --sub "Jon\b=John"
  stchat message set chat.jsonl -a 12 --set /extra/model=other
  stchat message set chat.jsonl -a 12 --sub storm=calm --as-branch -n "calm sea"
  stchat message set chats/Mira/*.jsonl --role user --set name=Ines`

func newMessageSet(*app) verb {
	o := &messageSetOptions{}
	return verb{
		use: "set CHAT...", short: "Change messages",
		doc: messageSetDoc, no: "no message was chosen, or a test or --expect-… fails",
		example: messageSetExample,
		flags:   o.addFlags, run: o.run,
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

func (o *messageSetOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	choice, common, err := o.chosenIn(ctx, a, &o.choiceFlags, args, "name a chat, e.g. `stchat message set chat.jsonl -a 12 --set name=Ines`")
	if err != nil {
		return err
	}
	opt := edit.SetOptions{Options: common, Choice: choice, AllSwipes: o.allSwipes}
	if err := o.check(fs); err != nil {
		return err
	}
	if opt.Values, err = o.changes(ctx, a, o.filesFrom == chat.Stdin); err != nil {
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
		return o.asBranchFlags.run(ctx, a, &o.inPlaceFlags, common.Chats, choice, true, func(_ int, line []byte, _ *rawjson.Object) ([]byte, error) { return opt.Line(line) })
	}
	c := a.console()
	return o.tellMany(c, edit.Set(ctx, opt), func(r *edit.Result) error { return o.printIndexes(c, r, r.Doc.Changed) })
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

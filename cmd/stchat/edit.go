package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"

	"stchat/internal/chat"
	"stchat/internal/ops/cut"
	"stchat/internal/ops/edit"
	"stchat/internal/patch"

	"github.com/spf13/pflag"
)

func newEdit() verb {
	return verb{
		use: "edit CHAT...", short: "Change messages",
		doc: `Change messages: keys of the stored object, or parts of the text.

Changes are made in this order: --replace, --merge, --merge-patch, --patch,
--set, --unset, --sub. --sub RE=TEXT replaces every match of the regular
expression RE (RE2) in the text. In TEXT, $1 and ${name} stand for groups of RE,
and $$ for a dollar sign; write a = in RE as \=. If the text changes, so does
the chosen swipe; --all-swipes makes the substitution in all swipes.
` + manyDoc + choiceDoc + asBranchDoc + inPlaceDoc, no: "no message was chosen, or a test or --expect-… fails",
		example: `  stchat edit chat.jsonl -a 0.. --sub "Jon\b=John"
  stchat edit chat.jsonl -a 12 --set /extra/model=other
  stchat edit chat.jsonl -a 12 --sub storm=calm --as-branch -n "calm sea"
  stchat edit chats/Mira/*.jsonl --role user --set name=Ines`,
		means:   edits(),
		options: &editOptions{},
	}
}

type editOptions struct {
	choiceFlags
	valueFlags
	inPlaceFlags
	asBranchFlags
	sub       []edit.Substitution
	allSwipes bool
	ops       string
}

func (o *editOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	o.valueFlags.addFlags(fs)
	fs.Var(parsed(substitution, func(s edit.Substitution) { o.sub = append(o.sub, s) }), "sub", "`RE=TEXT`: replace every match of RE in the text with TEXT")
	fs.BoolVar(&o.allSwipes, "all-swipes", false, "with --sub: in all swipes too")
	fs.Var(filled(&o.ops), "ops", "make the edits that `FILE` lists, together; - is stdin")
	o.asBranchFlags.addFlags(fs)
	o.addManyFlags(fs, deletes)
}

func (o *editOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	if o.ops != "" {
		return o.runOps(ctx, c, args)
	}
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "name a chat, e.g. `stchat edit chat.jsonl -a 12 --set name=Ines`")
	if err != nil {
		return err
	}
	opt := edit.SetOptions{Options: common, Choice: choice, Sub: o.sub, AllSwipes: o.allSwipes}
	if err := o.check(fs); err != nil {
		return err
	}
	if opt.Values, err = o.changes(ctx, c, o.filesFrom == chat.Stdin); err != nil {
		return err
	}
	switch {
	case opt.Values.Empty() && len(opt.Sub) == 0:
		return usagef("say what to change, e.g. --set name=Ines or --sub Jon=John")
	case o.allSwipes && len(opt.Sub) == 0:
		return usagef("--all-swipes goes with --sub")
	}
	if o.as {
		return o.asBranchFlags.run(ctx, c, &o.inPlaceFlags, common.Chats, choice, true, func(m *cut.SourceMessage) ([]byte, error) { return opt.Line(m.Line) })
	}
	return o.reportMany(c, edit.Set(ctx, opt), func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Changed) })
}

// runOps makes the edits of --ops.
func (o *editOptions) runOps(ctx context.Context, c *console, args []string) error {
	if choice := o.choice(); !choice.All() {
		return usagef("the edits in --ops say which messages they are about: leave --at and the like out")
	}
	if len(args) != 1 {
		return usagef("--ops takes one CHAT, not %d", len(args))
	}
	data, err := readInput(ctx, c, o.ops)
	if err != nil {
		return err
	}
	common := o.options(c, args)
	label := chat.Label(o.ops)

	var results []*edit.Result
	if isJSONList(data) {
		list, err := patch.ParseOperations(data)
		if err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
		results = edit.ApplyPatch(ctx, edit.PatchOptions{Options: common, Patch: list})
	} else {
		list, err := edit.ReadOperations(ctx, label, data)
		if err != nil {
			return err
		}
		results = edit.Apply(ctx, edit.BatchOptions{Options: common, Operations: list})
	}
	return o.report(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Added) })
}

// isJSONList reports whether data begins like a list: a JSON patch, and no operations one a line.
func isJSONList(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("["))
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
		return s, refusal(fmt.Sprintf("takes RE=TEXT, not %q", text))
	}
	match, err := regexp.Compile(strings.ReplaceAll(text[:at], `\=`, `=`))
	if err != nil {
		return s, err
	}
	s, err = edit.NewSubstitution(match, text[at+1:])
	if err != nil {
		return s, refusal(err.Error())
	}
	return s, nil
}

package main

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/edit"
)

func newReplace() verb {
	return verb{
		writes: true,
		use:    "replace OLD NEW CHAT... [MESSAGES]", short: "Replace a text in messages",
		doc: `OLD is replaced wherever it stands in the text of a message and in its chosen
swipe, letter for letter. NEW may be empty. -E reads OLD as a regular expression
(RE2), and NEW may then contain $1 and ${name}; $$ is a dollar sign.
What pictures and links point to stays as it is, unless OLD has a slash.
`, no: "OLD is not found, or --expect fails",
		also: "edit, search, undo",
		example: `  stchat replace harbor harbour Mira/Harbour
  stchat replace Jon John "Mira/*" -w --dry-run
  stchat replace -E "(\w+)'s lamp" 'the lamp of $1' Mira/@ 40..`,
		means:   &subjects{first: 2, writes: true, messages: true, reorder: chatLast},
		args:    cobra.MinimumNArgs(2),
		empty:   true,
		options: &replaceOptions{},
	}
}

// chatLast returns the line that was meant by CHAT OLD NEW, "" if the first argument is neither a chat
// nor the whole name of an owner.
func chatLast(c *console, args []string) string {
	if len(args) < 3 {
		return ""
	}
	chats := args[0]
	owner, err := c.finder().Find(chats)
	if err == nil && owner.Owner && !owner.Guess {
		chats += "/*"
	} else if found, err := c.isSubject(chats); err != nil || len(found.Paths) == 0 {
		return ""
	}

	line := slices.Clone(c.args) // with the flags and MESSAGES between them
	at := 0
	for i, word := range []string{args[1], args[2], chats} {
		next := slices.Index(line[at:], args[i])
		if next < 0 {
			return ""
		}
		at += next
		line[at] = word
		at++
	}
	return commandLine("stchat", line)
}

type replaceOptions struct {
	choiceFlags
	inPlaceFlags
	regular, folded, words, swipes, names bool
}

func (o *replaceOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVarP(&o.regular, "regexp", "E", false, "take OLD for a regular expression (RE2)")
	fs.BoolVarP(&o.folded, "ignore-case", "i", false, "whatever the letter case of OLD")
	fs.BoolVarP(&o.words, "word", "w", false, "only whole words")
	fs.BoolVar(&o.swipes, "swipes", false, "also in the swipes that are not chosen")
	fs.BoolVar(&o.names, "names", false, "also in all other text of the file: speakers, the header, what extensions keep; never in names of chats, lorebooks and files")
	o.choiceFlags.addFlags(fs)
	o.addManyFlags(fs, "")
}

func (o *replaceOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	substitution, err := o.substitution(args[0], args[1])
	if err != nil {
		return err
	}
	common, err := o.walk(ctx, c, args[2:], "replace Jon John Mira/Harbour")
	if err != nil {
		return err
	}
	choice, err := o.choice(ctx, common.Chats)
	if err != nil {
		return err
	}

	var results []*edit.Result
	subs := []edit.Substitution{substitution}
	if o.names {
		results = edit.Replace(ctx, edit.ReplaceOptions{Options: common, Choice: choice, Sub: subs})
	} else {
		results = edit.Set(ctx, edit.SetOptions{Options: common, Choice: choice, Sub: subs, AllSwipes: o.swipes})
	}

	err = o.reportMany(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Changed) })
	found := slices.ContainsFunc(results, func(r *edit.Result) bool { return r.Err == nil && !r.Doc.Unchanged })
	if err == nil && !found {
		return errNo
	}
	return err
}

// substitution returns what replaces old by text.
func (o *replaceOptions) substitution(old, text string) (edit.Substitution, error) {
	if old == "" {
		return edit.Substitution{}, usagef("OLD is empty")
	}
	pattern := old
	if !o.regular {
		pattern = regexp.QuoteMeta(old)
	}
	if o.folded {
		pattern = `(?i)` + pattern
	}
	match, err := regexp.Compile(pattern)
	if err != nil {
		return edit.Substitution{}, usagef("OLD: %v", err)
	}
	if !o.regular {
		text = strings.ReplaceAll(text, "$", "$$")
	}
	substitution, err := edit.NewSubstitution(match, text)
	if err != nil {
		return substitution, usagef("NEW: %v", err)
	}
	substitution.Words = o.words
	substitution.Everywhere = strings.Contains(old, "/") // an address is meant
	return substitution, nil
}

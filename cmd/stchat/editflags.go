package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/patch"
	"stchat/internal/progress"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/visible"
)

// inPlaceDoc explains what all commands that edit a chat in place have in common.
const inPlaceDoc = `
EDITING IN PLACE
All that a call changes in a chat and in what belongs to it is changed together
or not at all; 'stchat undo' takes it back. A damaged chat is refused: see
'stchat repair'. State that refers to messages by number follows (Auto-Recap,
Auto-Illustrator, timed lorebook effects); --no-follow leaves it as it is, as
SillyTavern does. If the chat is open in SillyTavern, reload it there: its next
save would undo the edit, unless --bump-integrity gives the chat a new slug. In
Luker close the chat first: what an open tab holds wins, whatever the slug.
`

// manyDoc explains what the arguments of a command for many chats may be.
const manyDoc = `
A CHAT may be a folder, which means all chats in it. With several chats each
index is printed after the path, and a tab.
`

// addTerms adds the flags of every command that edits chats or their state in place, but --dry-run,
// which comes first; bumped names what gets a new slug.
func addTerms(fs *pflag.FlagSet, o *edit.Terms, bumped string) {
	o.ExpectMessages = -1
	fs.Var(number(&o.ExpectMessages, 0, "a number of messages"), "expect-messages", "exit 1 unless the chat has `N` messages")
	fs.Var(filled(&o.ExpectIntegrity), "expect-integrity", "exit 1 unless the chat has this integrity `SLUG`")
	fs.BoolVar(&o.BumpIntegrity, "bump-integrity", false, "give "+bumped+" a new slug, so that an open tab is stopped instead of overwriting the edit; Luker's tab is not stopped")
	addNoSync(fs, &o.Changes.NoSync)
}

// inPlaceFlags are the flags of every command that edits chats in place.
type inPlaceFlags struct {
	listFlags
	edit.Options

	walked ops.Walked // what the arguments of a command for many chats lead to
	many   bool       // they are several chats, or a folder
}

// addFlags adds the flags of every edit; force is the usage of --force, "" for a command
// without it.
func (o *inPlaceFlags) addFlags(fs *pflag.FlagSet, force string) {
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
		fs.BoolVar(&o.Changes.DryRun, "dry-run", false, "do everything but write; show what would change")
		fs.BoolVar(&o.NoFollow, "no-follow", false, "leave all state that refers to messages as it is")
		if force != "" {
			fs.BoolVar(&o.Force, "force", false, force)
		}
		addTerms(fs, &o.Terms, "the chat")
		fs.Lookup("expect-messages").DefValue = "" // any number
	})
	fs.Var(filled(&o.Data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	fs.Bool("json", false, "print a JSON document for each chat")
}

// addManyFlags adds the flags of [inPlaceFlags.addFlags] and those of a command that takes
// many chats.
func (o *inPlaceFlags) addManyFlags(fs *pflag.FlagSet, force string) {
	o.addFlags(fs, force)
	o.listFlags.addFlags(fs)
}

// options completes edit.Options.
func (o *inPlaceFlags) options(c *console, chats []string) edit.Options {
	opt := o.Options
	opt.Chats, opt.Data = chats, userFolder(c, opt.Data, chats)
	c.changes(&opt.Changes)
	return opt
}

// walk finds the chats that args name, in folders too; hint is the error where none is named.
func (o *inPlaceFlags) walk(ctx context.Context, c *console, args []string, hint string) (opt edit.Options, err error) {
	list, err := o.list(ctx, c, args, hint)
	if err != nil {
		return opt, err
	}
	if slices.Contains(list.Paths, chat.Stdin) { // which is refused
		return o.options(c, []string{chat.Stdin}), nil
	}
	o.walked = ops.Walk(list)
	var paths []string
	for _, t := range o.walked.Chats {
		paths = append(paths, t.Path)
	}
	unread := len(paths) == 0 && len(o.walked.Errs) > 0
	o.many = len(list.Paths) != 1 || !unread && !slices.Equal(paths, list.Paths)
	return o.options(c, paths), nil
}

// chosenIn reads which messages of which chats a command edits; hint is the error where no
// chat is named.
func (o *inPlaceFlags) chosenIn(ctx context.Context, c *console, f *choiceFlags, args []string, hint string) (choice choose.Choice, opt edit.Options, err error) {
	if choice = f.choice(); choice.All() {
		return choice, opt, usagef("say which messages: --at 0.. means all of them")
	}
	opt, err = o.walk(ctx, c, args, hint)
	return choice, opt, err
}

// editHints returns the hints of a command that takes no damaged chat.
func editHints() []hint { return []hint{{chat.ErrDamaged, "; see 'stchat repair'"}} }

// isNo reports whether an edit was not made because the answer is no: no message was
// chosen, or the chat is not as expected.
func isNo(err error) bool {
	return isAny(err, choose.ErrNone, edit.ErrPassedOver, edit.ErrExpected, patch.ErrTest, patch.ErrMissing)
}

// report prints what became of the chats, and returns the worst outcome. result, if it is not
// nil, prints a chat's result on stdout; --json and --dry-run print their own.
func (o *inPlaceFlags) report(c *console, results []*edit.Result, result func(r *edit.Result)) error {
	how := &saying{dryRun: o.Changes.DryRun, hints: editHints(), bumped: true}
	of := func(r *edit.Result) (string, *ops.Result[edit.Document]) { return r.Doc.Path, &r.Result }
	return sayAll(c, how, results, of, func(r *edit.Result) {
		if r.Doc.DidWrite {
			how.edited, how.bumped = append(how.edited, r.Doc.Path), how.bumped && r.Bumped
		}
		switch {
		case c.json:
		case o.Changes.DryRun:
			o.show(c, r)
		default:
			result(r)
		}
		if r.Doc.Unchanged {
			c.note("%s: unchanged", r.Doc.Path)
		}
	})
}

// editSummary is the last document where several chats or a folder are given.
type editSummary struct {
	Schema    int  `json:"schema"`
	Summary   bool `json:"summary"`
	Chats     int  `json:"chats"`
	Changed   int  `json:"changed"`
	Unchanged int  `json:"unchanged"`
	Failed    int  `json:"failed"`
	DryRun    bool `json:"dry_run"`

	messages int // added, changed or deleted
}

// reportMany is report for a command that takes many chats. Those of which nothing was chosen are
// counted only.
func (o *inPlaceFlags) reportMany(c *console, results []*edit.Result, result func(r *edit.Result)) error {
	sum := o.summary(len(results))
	failedAll(c, o.walked.Errs)
	met := slices.DeleteFunc(results, func(r *edit.Result) bool {
		return o.many && isAny(r.Err, edit.ErrPassedOver, choose.ErrNone)
	})
	for _, r := range met {
		switch {
		case r.Err != nil:
			sum.Failed++
		case r.Doc.Unchanged:
			sum.Unchanged++
		default:
			sum.Changed++
			sum.messages += len(r.Doc.Added) + len(r.Doc.Changed) + len(r.Doc.Deleted)
		}
	}
	err := o.report(c, met, result)
	if !c.work.interrupted {
		o.sum(c, &sum)
	}
	switch {
	case err != nil:
		return err
	case len(o.walked.Errs) > 0:
		return errReported
	case len(met) == 0 && sum.Chats > 0:
		return errNo
	}
	return nil
}

// summary begins the sum of so many results.
func (o *inPlaceFlags) summary(chats int) editSummary {
	return editSummary{Schema: 1, Summary: true, Chats: chats, Failed: len(o.walked.Errs), DryRun: o.Changes.DryRun}
}

// sum prints what many chats add up to.
func (o *inPlaceFlags) sum(c *console, s *editSummary) {
	if o.many && c.json {
		c.document(*s)
	}
	if o.many && c.printed() == nil {
		c.note("%s of %s %s%s%s", c.number(s.Changed), c.many(s.Chats, "chat"), either(s.DryRun, "would change", "changed"),
			when(s.messages > 0, ", "+c.many(s.messages, "message")), when(s.Unchanged > 0, ", "+c.number(s.Unchanged)+" unchanged"))
	}
}

// printIndexes prints the numbers of messages of a chat, one per line, after its path where there
// are many chats.
func (o *inPlaceFlags) printIndexes(c *console, r *edit.Result, list []int) {
	before := either(o.many, c.path(r.Doc.Path)+"\t", "")
	for _, i := range list {
		fmt.Fprintf(c.w, "%s%d\n", before, i)
	}
	c.flush()
}

// show prints what a dry run would change, in the style of a diff.
func (o *inPlaceFlags) show(c *console, r *edit.Result) {
	if len(r.Diffs) == 0 {
		return
	}
	c.diffHead(r.Doc.Path, r.Doc.Path, " (edited)")
	for _, d := range r.Diffs {
		where := either(d.Index < 0, "metadata", fmt.Sprintf("message %d", d.Index))
		fmt.Fprintln(c.w, paint(c.outColor, cyan, "@@ "+where+" @@"))
		c.diffSides("-", "+", d.Before, d.After)
	}
	if n := len(r.Doc.Changed) + len(r.Doc.Added) + len(r.Doc.Deleted) - len(r.Diffs); n > 0 {
		c.row(c.prose(fmt.Sprintf("%s and %s more", c.sign("…"), c.many(n, "change")), ""))
	}
}

// diffHead prints the head of a diff of two files.
func (c *console) diffHead(a, b, about string) {
	fmt.Fprintln(c.w, paint(c.outColor, bold, "--- "+visible.Text(a)))
	fmt.Fprintln(c.w, paint(c.outColor, bold, "+++ "+visible.Text(b)+about))
}

// diffSides prints what differs behind its signs; nil: there is nothing on that side.
func (c *console) diffSides(minus, plus string, before, after *string) {
	if before != nil {
		c.hung(red, minus, c.excerpt(*before))
	}
	if after != nil {
		c.hung(green, plus, c.excerpt(*after))
	}
}

// hung prints a value or a key behind what begins its line, for a person wrapped.
func (c *console) hung(code, begin, text string) {
	if !c.shown {
		c.row(paint(c.outColor, code, begin+text))
		return
	}
	indent := max(len(begin), 2)
	for _, at := range visible.Wrap(text, max(cmp.Or(c.Width, unknownWidth)-indent, 1)) {
		c.row(paint(c.outColor, code, begin+text[at[0]:at[1]]))
		begin = strings.Repeat(" ", indent)
	}
}

// valueFlags change a JSON value (CONTENT.md 1.2).
type valueFlags struct {
	edits                             []patch.Edit
	merge, mergePatch, patch, replace string

	own      func(key string) error // refuses a key that has a flag of its own; nil if none has
	metadata bool                   // they change chat_metadata
	inOrder  bool                   // make --set and --unset in the order given, not --unset last
}

// editing returns a function that collects --set, --set-string and --unset in the order given.
func (v *valueFlags) editing(parse func(string) (patch.Edit, error)) func(string) error {
	return func(text string) error {
		e, err := parse(text)
		if err == nil && v.own != nil {
			err = v.own(e.Path[0])
		}
		if err == nil {
			v.edits = append(v.edits, e)
		}
		return err
	}
}

// parseSet parses KEY=VALUE; value encodes VALUE as JSON.
func parseSet(s string, value func(path patch.Path, text string) []byte) (patch.Edit, error) {
	key, text, ok := strings.Cut(s, "=")
	if !ok {
		return patch.Edit{}, errors.New("KEY=VALUE has no =")
	}
	path, err := patch.ParseKey(key)
	if err != nil {
		return patch.Edit{}, err
	}
	return patch.Edit{Path: path, Value: value(path, text)}, nil
}

// value returns the value that VALUE of --set means.
func (v *valueFlags) value(path patch.Path, text string) []byte {
	if v.metadata {
		return edit.MetaValue(path, text)
	}
	return patch.ParseValue(text)
}

// ownFlag refuses a key of the metadata that has a flag of its own.
func ownFlag(key string) error {
	if key == "main_chat" || key == "integrity" {
		return fmt.Errorf("%s has a flag of its own: --%s", key, strings.ReplaceAll(key, "_", "-"))
	}
	return nil
}

func (v *valueFlags) addFlags(fs *pflag.FlagSet) {
	addTopic(fs, "Flags that change values", v.addValueFlags)
}

func (v *valueFlags) addValueFlags(fs *pflag.FlagSet) {
	fs.Func("set", "set `KEY=VALUE`; VALUE is JSON if it parses as JSON, else a string; a KEY that begins with / is a JSON pointer, such as /extra/model", v.editing(func(s string) (patch.Edit, error) { return parseSet(s, v.value) }))
	fs.Func("set-string", "set `KEY=VALUE`; VALUE is always a string", v.editing(func(s string) (patch.Edit, error) {
		return parseSet(s, func(_ patch.Path, text string) []byte { return rawjson.Quote(text) })
	}))
	fs.Func("unset", "remove `KEY`", v.editing(func(key string) (patch.Edit, error) {
		path, err := patch.ParseKey(key)
		return patch.Edit{Path: path}, err
	}))
	fs.Var(filled(&v.merge), "merge", "merge the JSON object in `FILE`, its top level only; - is stdin")
	fs.Var(filled(&v.mergePatch), "merge-patch", "apply the merge patch (RFC 7386) in `FILE`; - is stdin")
	fs.Var(filled(&v.patch), "patch", "apply the JSON patch (RFC 6902) in `FILE`; - is stdin")
	fs.Var(filled(&v.replace), "replace", "put the JSON object in `FILE` in place of the whole; - is stdin")
}

// changes returns the changes of the flags and the files that they name. read means that
// stdin is already read for something else.
func (v *valueFlags) changes(ctx context.Context, c *console, read bool) (made patch.Changes, err error) {
	made.Edits = slices.Clone(v.edits)
	if !v.inOrder {
		removes := func(e patch.Edit) int { return either(e.Value == nil, 1, 0) }
		slices.SortStableFunc(made.Edits, func(a, b patch.Edit) int { return removes(a) - removes(b) })
	}
	stdin := ""
	for _, f := range []struct {
		name, path string
		into       *[]byte
		object     bool
	}{{"merge", v.merge, &made.Merge, true}, {"merge-patch", v.mergePatch, &made.MergePatch, false}, {"replace", v.replace, &made.Replace, true}, {"patch", v.patch, nil, false}} {
		switch {
		case f.path == "":
			continue
		case f.path == chat.Stdin && read:
			return made, usagef("stdin is read already; --%s needs a file", f.name)
		case f.path == chat.Stdin && stdin != "":
			return made, usagef("--%s and --%s both read stdin; one of them needs a file", stdin, f.name)
		case f.path == chat.Stdin:
			stdin = f.name
		}
		raw, err := readJSON(ctx, c, f.path)
		if err != nil {
			return made, fmt.Errorf("--%s: %w", f.name, err)
		}
		if f.object && rawjson.KindOf(raw) != rawjson.ObjectKind {
			return made, fmt.Errorf("--%s: %s: not a JSON object", f.name, chat.Label(f.path))
		}
		if f.into != nil {
			*f.into = raw
			continue
		}
		if made.Patch, err = patch.ParseOperations(raw); err != nil {
			return made, fmt.Errorf("--%s: %w", f.name, err)
		}
	}
	return made, nil
}

// readJSON reads one JSON value from a file or from stdin.
func readJSON(ctx context.Context, c *console, path string) ([]byte, error) {
	data, err := readInput(ctx, c, path)
	if err != nil {
		return nil, err
	}
	if d := jsonl.Check(data); d != nil {
		return nil, &jsonl.LineError{Path: chat.Label(path), Damage: *d}
	}
	return rawjson.Compact(data), nil
}

// readInput reads a regular file, or standard input for -, which may block and is left when ctx
// ends. It does not open a FIFO, which would wait for its writer.
func readInput(ctx context.Context, c *console, path string) ([]byte, error) {
	if path == chat.Stdin {
		return progress.Until(ctx, func() ([]byte, error) { return io.ReadAll(c.In) })
	}
	data, _, err := safefile.Read(path)
	if errors.Is(err, safefile.ErrNotRegular) {
		err = fmt.Errorf("%w; name a file, or give - to read standard input", err)
	}
	return data, ops.PathError(err)
}

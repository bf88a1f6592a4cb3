package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"stchat/internal/change/safefile"
	"stchat/internal/json/metadiff"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/ops/look"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/plain"
	"stchat/internal/text/plural"
	"stchat/internal/text/progress"
	"stchat/internal/text/visible"
)

// addTerms adds the flags of every command that edits chats or their state in place; force is the
// usage of --force, "" for a command without it.
func addTerms(fs *pflag.FlagSet, o *edit.Terms, force string, to *bool) {
	o.ExpectMessages = -1
	addTopic(fs, editTerms, func(fs *pflag.FlagSet) {
		fs.Var(expected(o), "expect", "exit 1 unless the chat has `N` messages, or this integrity")
	})
	if force != "" {
		fs.BoolVar(to, "force", false, force)
	}
}

// expected returns the value of --expect: a number of messages, or a slug.
func expected(o *edit.Terms) flagValue {
	return parsed(asItIs, func(text string) {
		n, err := strconv.Atoi(text)
		if err == nil && n >= 0 {
			o.ExpectMessages = n
			return
		}
		o.ExpectIntegrity = text
	}).notEmpty()
}

// deletes is the usage of --force for a command that may delete messages.
const deletes = "delete all messages of a chat; go on where pending work of an extension refers to messages that move"

// textOrStdin returns a text that was typed, or for - what stdin holds.
func textOrStdin(ctx context.Context, c *console, text string) (string, error) {
	if text != chat.Stdin {
		return text, nil
	}
	data, err := readInput(ctx, c, chat.Stdin)
	return plain.Text(data), err
}

// inPlaceFlags are the flags of every command that edits chats in place.
type inPlaceFlags struct {
	listFlags
	edit.Options

	walked ops.Walked // what the arguments of a command for many chats lead to
	many   bool       // they are several chats, or a folder

	untold map[*edit.Result]bool // of which of many chats a dry run does not show what would change
}

// addFlags adds the flags of every edit; force is the usage of --force, "" for a command
// without it.
func (o *inPlaceFlags) addFlags(fs *pflag.FlagSet, force string) {
	addTerms(fs, &o.Terms, force, &o.Force)
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
	opt.BumpIntegrity = c.newSlugs()
	opt.Chats, opt.Data = chats, userFolder(c, chats)
	c.changes(&opt.Changes)
	return opt
}

// walk finds the chats that args name, in folders too; example is a right call, for where none is named.
func (o *inPlaceFlags) walk(ctx context.Context, c *console, args []string, example string) (opt edit.Options, err error) {
	list, err := o.list(ctx, c, args, "name a chat, e.g. `stchat "+example+"`")
	if err != nil {
		return opt, err
	}
	if slices.Contains(list.Paths, chat.Stdin) { // which is refused
		return o.options(c, []string{chat.Stdin}), nil
	}
	o.walked = ops.Walk(list)
	for _, err := range o.walked.Errs {
		if isA[*ops.NoChatsError](err) { // what is named means nothing, so nothing is done
			return opt, err
		}
	}
	var paths []string
	for _, t := range o.walked.Chats {
		paths = append(paths, t.Path)
	}
	unread := len(paths) == 0 && len(o.walked.Errs) > 0
	o.many = len(list.Paths) != 1 || !unread && !slices.Equal(paths, list.Paths)
	return o.options(c, paths), nil
}

// chosenIn reads which messages of which chats a command edits, which must be said; example is the
// command with a chat and messages.
func (o *inPlaceFlags) chosenIn(ctx context.Context, c *console, f *choiceFlags, args []string, example string) (choice choose.Choice, opt edit.Options, err error) {
	if f.choosesAll() {
		return choice, opt, usagef("which messages? 0.. means all of them")
	}
	if opt, err = o.walk(ctx, c, args, example); err != nil {
		return choice, opt, err
	}
	choice, err = f.choice(ctx, opt.Chats)
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
	how := &saying{hints: editHints(), bumped: true}
	of := func(r *edit.Result) (string, *ops.Result[edit.Document]) { return r.Doc.Path, &r.Result }
	return sayAll(c, how, results, of, func(r *edit.Result) {
		if r.Doc.DidWrite {
			how.edited, how.bumped = append(how.edited, r.Doc.Path), how.bumped && r.Bumped
		}
		if c.tells() && !o.many {
			c.block(c.editBlock(r))
		}
		c.tellState(r.Doc.Path, r.Doc.State)
		c.tellUnchanged(r.Doc.Path, r.Doc.Unchanged)
		switch {
		case c.json:
		case c.dryRun && (c.tells() || c.verbose):
			if !o.untold[r] {
				o.show(c, r)
			}
		case !c.tells():
			result(r)
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

	passed         int // that do not meet --where
	messages       int // added, changed or deleted
	places, header int // where a text was replaced in messages, and in headers
}

// reportMany is report for a command that takes many chats. Those of which nothing was chosen are
// counted only.
func (o *inPlaceFlags) reportMany(c *console, results []*edit.Result, result func(r *edit.Result)) error {
	sum := o.summary(c, len(results))
	failedAll(c, o.walked.Errs)
	met := slices.DeleteFunc(slices.Clone(results), func(r *edit.Result) bool {
		return o.many && isAny(r.Err, edit.ErrPassedOver, choose.ErrNone)
	})
	for _, r := range results {
		if errors.Is(r.Err, edit.ErrPassedOver) {
			sum.passed++
		}
	}
	for _, r := range met {
		switch {
		case r.Err != nil:
			sum.Failed++
		case r.Doc.Unchanged:
			sum.Unchanged++
		default:
			sum.Changed++
			sum.messages += r.Doc.Edited()
			sum.places += r.Places
			sum.header += r.Header
		}
	}

	if o.many && c.tells() && !c.quiet {
		c.block(block{sentence: c.manyEdited(&sum), facts: factsOfAll(met)})
		if !c.dryRun {
			c.editRows(met)
		}
	}

	rest := 0
	if o.many && c.tells() && c.dryRun {
		rest = o.leaveLeastChanged(c, met)
	}
	err := o.report(c, met, result)
	if rest > 0 {
		c.line("and " + plural.Many(rest, "more chat") + " (-v)")
	}
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

// leaveLeastChanged lets a dry run show only those of many chats that change most, and returns how many
// others change.
func (o *inPlaceFlags) leaveLeastChanged(c *console, results []*edit.Result) int {
	most, rest := c.mostEdited(results)
	o.untold = map[*edit.Result]bool{}
	for _, r := range results {
		o.untold[r] = !slices.Contains(most, r)
	}
	return rest
}

// summary begins the sum of so many results.
func (o *inPlaceFlags) summary(c *console, chats int) editSummary {
	return editSummary{Schema: 1, Summary: true, Chats: chats, Failed: len(o.walked.Errs), DryRun: c.dryRun}
}

// sum prints what many chats add up to.
func (o *inPlaceFlags) sum(c *console, s *editSummary) {
	if o.many && c.json {
		c.document(*s)
	}
	if o.many && c.printed() == nil && c.verbose && !c.tells() {
		c.note("%s", s.text(c))
	}
}

// text says how many chats changed, and how many of their messages.
func (s *editSummary) text(c *console) string {
	text := fmt.Sprintf("%s of %s %s", c.number(s.Changed), c.many(s.Chats, "chat"), c.did("changed", "would change"))
	if s.messages > 0 {
		text += ", " + c.many(s.messages, "message")
	}
	if s.Unchanged > 0 {
		text += ", " + c.number(s.Unchanged) + " unchanged"
	}
	return text
}

// printIndexes prints the numbers of messages of a chat, one per line, after its path where there
// are many chats.
func (o *inPlaceFlags) printIndexes(c *console, r *edit.Result, list []int) {
	before := ""
	if o.many {
		before = c.path(r.Doc.Path) + "\t"
	}
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
	if c.tells() && !c.verbose {
		o.showTexts(c, r)
		return
	}
	c.diffHead(r.Doc.Path, r.Doc.Path, " (edited)")
	for _, d := range r.Diffs {
		where := "metadata"
		if d.Index >= 0 {
			where = fmt.Sprintf("message %d", d.Index)
		}
		fmt.Fprintln(c.w, paint(c.outColor, cyan, "@@ "+where+" @@"))
		c.diffSides("-", "+", d.Before, d.After)
	}

	if n := r.Doc.Edited() - len(r.Diffs); n > 0 {
		c.row(c.prose(fmt.Sprintf("%s and %s more", c.sign("…"), c.many(n, "change")), ""))
	}
}

// showTexts shows a person what a dry run would change, as diff does.
func (o *inPlaceFlags) showTexts(c *console, r *edit.Result) {
	if o.many {
		fmt.Fprintln(c.w)
		row := editRow(r)
		c.title(c.rowName(row) + "   " + row.what)
	}

	p := &differ{screen: newScreen(c, 0), c: c}
	const most = 3 // of many chats
	shown := 0
	inOrder := slices.Clone(r.Diffs)
	slices.SortStableFunc(inOrder, func(a, b edit.Diff) int { return a.Index - b.Index })
	for _, d := range inOrder {
		if o.many && shown >= most {
			break
		}
		shown++
		row := look.Difference{Name: d.Name, From: d.From, To: d.To, A: &d.Index, B: &d.Index}
		isSame := d.From != nil && d.To != nil && *d.From == *d.To
		switch {
		case d.Index < 0:
			if isAll := len(r.Diffs) == 1; isAll { // else facts have told what follows in it
				o.showMetadata(c, d)
			} else {
				c.changedKeys(d.Asked)
			}
		case isSame: // another key changes
			row.Op = "change"
			c.row(strings.Join(p.heading(row, keysText(d.Keys)), "\n"))
		case d.From == nil:
			row.Op, row.A = "add", nil
			c.row(strings.Join(p.block(row, 1), "\n"))
		case d.To == nil:
			row.Op, row.B = "remove", nil
			c.row(strings.Join(p.block(row, 0), "\n"))
		default:
			row.Op = "change"
			p.changed(row)
		}
	}

	if n := r.Doc.Edited() - shown; n > 0 {
		c.line(c.prose(fmt.Sprintf("  %s and %s more", c.sign("…"), c.many(n, "change")), ""))
	}
}

// keysText says what changes in a message whose text stays.
func keysText(keys []metadiff.Change) string {
	var list []string
	for _, key := range keys {
		switch {
		case key.Path == "/is_system" && string(key.To) == "true":
			list = append(list, "hidden")
		case key.Path == "/is_system":
			list = append(list, "shown")
		case key.Path == "/name":
			was, _ := rawjson.Unquote(key.From)
			list = append(list, "was "+visible.Text(was))
		default:
			list = append(list, visible.Text(strings.TrimPrefix(key.Path, "/")))
		}
	}
	return strings.Join(list, ", ")
}

// showMetadata shows a person what a dry run would change in the metadata.
func (o *inPlaceFlags) showMetadata(c *console, d edit.Diff) {
	if len(d.Keys) > 0 {
		c.changedKeys(d.Keys)
		return
	}
	c.diffSides("-", "+", d.Before, d.After)
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

// valueFlags change a JSON value: that of a message, or the metadata of a chat.
type valueFlags struct {
	edits                 []patch.Edit
	merge, patch, replace string

	metadata  bool    // it is metadata: some keys have shorter names, and two are special
	mainChat  *string // what main_chat is set to; "": removed, nil: left
	integrity string  // "new", "none", a slug, or "" to leave it
	inOrder   bool    // make --set and --unset in the order given, not --unset last
}

func (v *valueFlags) addFlags(fs *pflag.FlagSet) {
	addTopic(fs, values, func(fs *pflag.FlagSet) {
		fs.Func("set", "set `KEY=VALUE`; VALUE is JSON if it parses as JSON, else text; a KEY that begins with / is a JSON pointer, such as /extra/model", v.set)
		fs.Func("unset", "remove `KEY`", v.unset)
		fs.Var(notEmptyText(&v.merge), "merge", "merge the JSON object in `FILE`, its top level only; - is stdin")
		fs.Var(notEmptyText(&v.replace), "replace", "put the JSON object in `FILE` in place of the whole; - is stdin")
		fs.Var(notEmptyText(&v.patch), "patch", "apply the JSON patch in `FILE`: a list is RFC 6902, an object RFC 7386; - is stdin")
	})
}

// set takes KEY=VALUE.
func (v *valueFlags) set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("KEY=VALUE has no =")
	}
	path, err := v.path(key)
	if err != nil {
		return err
	}
	if v.metadata && len(path) == 1 {
		switch path[0] {
		case "main_chat":
			if userdir.HasExtension(value) { // its file stands for a chat's name
				value = userdir.ChatName(value)
			}
			v.mainChat = &value
			return nil
		case "integrity":
			return v.setIntegrity(value)
		}
	}

	encode := ops.MessageValue
	if v.metadata {
		encode = ops.MetaValue
	}
	v.edits = append(v.edits, patch.Edit{Path: path, Value: encode(path, value)})
	return nil
}

// unset takes a KEY to remove.
func (v *valueFlags) unset(key string) error {
	path, err := v.path(key)
	if err != nil {
		return err
	}
	if v.metadata && len(path) == 1 {
		switch path[0] {
		case "main_chat":
			v.mainChat = new(string)
			return nil
		case "integrity":
			v.integrity = integrityNone
			return nil
		}
	}

	v.edits = append(v.edits, patch.Edit{Path: path})
	return nil
}

// The values of integrity beside a UUID.
const (
	integrityNew  = "new"
	integrityNone = "none"
)

// setIntegrity takes the value of integrity: new, or a UUID as SillyTavern writes it; uuid.Parse alone
// also takes other notations.
func (v *valueFlags) setIntegrity(value string) error {
	_, err := uuid.Parse(value)
	if value != integrityNew && (err != nil || len(value) != 36) {
		return fmt.Errorf("integrity is new or a UUID, not %q; --unset integrity removes it", value)
	}
	v.integrity = value
	return nil
}

// path reads a KEY, which for metadata may be one of the shorter names.
func (v *valueFlags) path(key string) (patch.Path, error) {
	if v.metadata {
		key = metadataKey(key)
	}
	return patch.ParseKey(key)
}

// metadataKey returns the key of the metadata that a person's word for it stands for.
func metadataKey(word string) string {
	switch word {
	case "note":
		return "note_prompt"
	case "lorebook":
		return "world_info"
	}
	return word
}

// given reports whether anything is to change.
func (v *valueFlags) given() bool {
	return len(v.edits) > 0 || v.merge+v.patch+v.replace+v.integrity != "" || v.mainChat != nil
}

// changes returns the changes of the flags and the files that they name. read means that
// stdin is already read for something else.
func (v *valueFlags) changes(ctx context.Context, c *console, read bool) (made patch.Changes, err error) {
	made.Edits = slices.Clone(v.edits)
	if !v.inOrder {
		slices.SortStableFunc(made.Edits, setFirst)
	}
	if err := v.oneReadsStdin(read); err != nil {
		return made, err
	}

	if v.merge != "" {
		if made.Merge, err = readObject(ctx, c, "merge", v.merge); err != nil {
			return made, err
		}
	}

	if v.replace != "" {
		if made.Replace, err = readObject(ctx, c, "replace", v.replace); err != nil {
			return made, err
		}
	}

	if v.patch == "" {
		return made, nil
	}
	raw, err := readJSON(ctx, c, v.patch)
	if err != nil {
		return made, fmt.Errorf("--patch: %w", err)
	}
	if rawjson.KindOf(raw) == rawjson.Array {
		if made.Patch, err = patch.ParseOperations(raw); err != nil {
			return made, fmt.Errorf("--patch: %w", err)
		}
		return made, nil
	}

	if rawjson.Value(raw, "op") != nil && rawjson.Value(raw, "path") != nil {
		return made, usagef("--patch: %s is one operation of RFC 6902; put it in a list", chat.Label(v.patch))
	}
	made.MergePatch = raw
	return made, nil
}

// setFirst orders edits so that what is removed comes last.
func setFirst(a, b patch.Edit) int {
	removes := func(e patch.Edit) int {
		if e.Value == nil {
			return 1
		}
		return 0
	}
	return removes(a) - removes(b)
}

// oneReadsStdin refuses flags that would both read stdin.
func (v *valueFlags) oneReadsStdin(read bool) error {
	reader := ""
	for _, f := range [][2]string{{"merge", v.merge}, {"replace", v.replace}, {"patch", v.patch}} {
		name, path := f[0], f[1]
		if path != chat.Stdin {
			continue
		}
		if read {
			return usagef("stdin is read already; --%s needs a file", name)
		}
		if reader != "" {
			return usagef("--%s and --%s both read stdin; one of them needs a file", reader, name)
		}
		reader = name
	}
	return nil
}

// readObject reads the JSON object that a flag names.
func readObject(ctx context.Context, c *console, flag, path string) ([]byte, error) {
	raw, err := readJSON(ctx, c, path)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	if rawjson.KindOf(raw) != rawjson.ObjectKind {
		return nil, fmt.Errorf("--%s: %s: not a JSON object", flag, chat.Label(path))
	}
	return raw, nil
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
// ends. It does not open a FIFO, which would wait for its writer. What is in UTF-16, or has a byte order
// mark, is returned in UTF-8 without it.
func readInput(ctx context.Context, c *console, path string) ([]byte, error) {
	if path == chat.Stdin {
		data, err := progress.Until(ctx, func() ([]byte, error) { return io.ReadAll(c.In) })
		return plain.UTF8(data), err
	}
	data, _, err := safefile.Read(path)
	if errors.Is(err, safefile.ErrNotRegular) {
		err = fmt.Errorf("%w; name a file, or give - to read standard input", err)
	}
	return plain.UTF8(data), ops.PathError(err)
}

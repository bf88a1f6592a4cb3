package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/extension/autorecap"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/ops/edit"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newCheckpoint() verb {
	return verb{
		writes: true,
		use:    "checkpoint CHAT... [MESSAGE [NAME]]", short: "Copy a chat up to a message",
		doc: `A new chat beside each CHAT has its messages 0 to MESSAGE, byte for byte, as
SillyTavern's "Create checkpoint" makes it; without MESSAGE all of them. In its
metadata main_chat names the source, and integrity is new. The chat itself stays
as it is, and SillyTavern shows no flag in it, unless --link notes it on the
message. --isolate gives the new chat a lorebook of its own, and what extensions
keep as it was at MESSAGE (docs/isolation.md).
`, no: "a --require does not hold",
		also: "branch, copy, split, tree",
		example: `  stchat checkpoint Mira/Harbour 120 "before the storm"
  stchat checkpoint "Mira/*" -n "before migration"
  stchat checkpoint Mira/@ -1 --isolate`,
		means:   &subjects{writes: true, messages: true, what: newName},
		options: &cutOptions{opt: cut.Options{Kind: names.Checkpoint}},
	}
}

func newBranch() verb {
	return verb{
		writes: true,
		use:    "branch CHAT... [MESSAGE [NAME]]", short: "Branch a chat at a message",
		doc: `A new chat beside each CHAT has its messages 0 to MESSAGE, byte for byte, as
SillyTavern's "Create branch" makes it; without MESSAGE all of them. --swipe
takes the message with another swipe, --text with another text; the chat itself
stays as it is. Everything else is as in 'checkpoint'.
`, no: "a --require does not hold, or nothing would change",
		also: "checkpoint, copy, swipe, tree",
		example: `  stchat branch Mira/Harbour 42
  stchat branch Mira/Harbour 42 "calm sea" --isolate
  stchat branch Mira/@ -1 --swipe 2`,
		means:   &subjects{writes: true, messages: true, what: newName},
		options: &cutOptions{listFlags: listFlags{noFolders: true}, opt: cut.Options{Kind: names.Branch}},
	}
}

// cutOptions are the flags that checkpoint and branch share.
type cutOptions struct {
	listFlags
	valueFlags
	opt     cut.Options
	require []string
	swipe   int
	text    string
}

func (o *cutOptions) addFlags(fs *pflag.FlagSet) {
	o.opt.At = -1
	fs.VarP(messageOrName(&o.opt.At, &o.opt.AtName), "at", "a", "last `MESSAGE` kept, from 0; -1 is the last one; or the name of a checkpoint or branch")
	fs.Var(asOf(&o.opt.AsOf), "as-of", "the last message sent by `TIME` instead")
	fs.VarP(notEmptyText(&o.opt.Name), "name", "n", "`NAME` of the "+o.opt.Kind.String()+"; with -o only the label of a cloned lorebook")
	fs.Var(oneOf(&o.opt.Style, names.Suffix, names.Styles()...), "naming", "how the file is named: `STYLE` is suffix (CHAT__NAME), sillytavern (NAME), classic (NAME - TIME) or version (NAME, or CHAT-v2)")
	fs.VarP(notEmptyText(&o.opt.Output), "output", "o", "write this .jsonl `PATH` instead, or - for stdout; one CHAT only")
	if o.opt.Kind == names.Branch {
		fs.Var(number(&o.swipe, 1, "a swipe's number as the screen shows it, from 1"), "swipe", "take the message with swipe `K` chosen, from 1")
		fs.Var(notEmptyText(&o.text), "text", "give the message this `TEXT`; - reads it from stdin")
	}
	fs.BoolVar(&o.opt.Open, "open", false, "make it the chat that its character or group opens with")
	fs.BoolVar(&o.opt.Link, "link", false, "also note the new chat in the source, on the message")
	fs.BoolVar(&o.opt.Isolate, "isolate", false, "share nothing that changes: a lorebook of its own, and what extensions keep as it was at the message")
	fs.Var(oneOf(&o.opt.Lorebook, cut.LorebookShare, cut.LorebookShare, cut.LorebookClone, cut.LorebookSnapshot), "lorebook", "what becomes of the lorebook: `HOW` is share, clone, or snapshot, a clone as of the nearest scene break")
	fs.Lookup("lorebook").DefValue = "share; with --isolate clone"
	fs.Var(someOf(&o.require, "", autorecap.Requirements()...), "require", "refuse unless `LIST` holds at the message: queue-empty, scene-break, scene-recap, running-recap, or auto-recap for all")
	fs.BoolVar(&o.opt.SkipDamaged, "skip-damaged", false, "leave damaged lines out instead of refusing the chat")
	fs.BoolVar(&o.opt.Force, "force", false, "replace a "+o.opt.Kind.String()+" that was made from this source before; with -o any file")
	fs.BoolVar(&o.opt.IfMissing, "if-missing", false, "with a name: a "+o.opt.Kind.String()+" of that name that was made from this source before counts as done")
	o.metadata, o.inOrder = true, true
	o.valueFlags.addFlags(fs)
	o.listFlags.addFlags(fs)
}

// takeMessages implements [messageTaker].
func (o *cutOptions) takeMessages(fs *pflag.FlagSet, ranges []choose.Range) error {
	if fs.Changed("as-of") {
		return usagef("give MESSAGE or --as-of, not both")
	}
	if len(ranges) > 1 {
		return usagef("a %s ends at one message, such as 42 or -1; a NAME that looks like a number goes with -n", o.opt.Kind)
	}
	message, ok := oneNumber(ranges)
	if !ok {
		return usagef("a %s ends at one message, such as 42 or -1", o.opt.Kind)
	}
	o.opt.At = message
	return nil
}

// takeWhat implements [whatTaker].
func (o *cutOptions) takeWhat(fs *pflag.FlagSet, name string) error {
	if fs.Changed("name") {
		return usagef("give the name as an argument or with -n, not both")
	}
	if userdir.HasExtension(name) {
		return usagef("a NAME has no ending; a new file anywhere: -o %s", visible.Quote(name))
	}
	o.opt.Name = name
	return nil
}

// options completes cut.Options, and refuses flags that do not go together.
func (o *cutOptions) options(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) (cut.Options, error) {
	opt := o.opt
	opt.BumpIntegrity = opt.Link && c.newSlugs()
	opt.Sources = args
	opt.Data = userFolder(c, args)
	opt.Stdin = c.In
	opt.Stdout = c.Out
	err := agree(fs, []string{
		"at excludes as-of = give --at or --as-of, not both",
		"swipe excludes text",
		"if-missing excludes output|force = --if-missing goes with a name, and not with --output or --force",
		"merge excludes replace",
		"open excludes output = --open needs the new chat beside its source, not at --output",
	})
	if err == nil && opt.IfMissing && opt.Name == "" {
		err = usagef("--if-missing goes with a name")
	}
	if err == nil {
		err = o.checkPaths(c, fs, args)
	}
	if err != nil {
		return opt, err
	}
	c.changes(&opt.Changes)
	opt.MainChat, opt.Integrity = o.mainChat, cmp.Or(o.integrity, cut.IntegrityNew)
	if !uniqueSlug(o.integrity) && len(args) > 1 {
		return opt, usagef("--set integrity=UUID is for one CHAT, not %d", len(args))
	}
	if opt.Message, err = o.edited(ctx, c); err != nil {
		return opt, err
	}
	if opt.Isolate && !fs.Changed("lorebook") {
		opt.Lorebook = cut.LorebookClone
	}
	if opt.Require, err = autorecap.ParseRequirements(o.require); err != nil {
		return opt, usagef("--require: %v", err)
	}
	opt.Values, err = o.changes(ctx, c, slices.Contains(args, chat.Stdin) || o.filesFrom == chat.Stdin || o.text == chat.Stdin)
	if err == nil && o.text != "" {
		opt.Values.Edits = append(opt.Values.Edits, patch.Edit{Path: patch.Path{"tainted"}, Value: []byte("true")})
	}
	return opt, err
}

// uniqueSlug reports whether a value of integrity gives each of several chats a slug of its own.
func uniqueSlug(integrity string) bool {
	return integrity == "" || integrity == integrityNew || integrity == integrityNone
}

// edited returns what --swipe or --text does to the last message, nil for nothing.
func (o *cutOptions) edited(ctx context.Context, c *console) (cut.MessageEdit, error) {
	if o.swipe > 0 {
		return func(m *cut.SourceMessage) ([]byte, error) {
			isGreeting := m.Index == 0 && m.IsLast && !edit.IsTainted(m.Metadata)
			return message.ChooseSwipe(m.Line, o.swipe, isGreeting)
		}, nil
	}

	if o.text == "" {
		return nil, nil
	}
	text, err := textOrStdin(ctx, c, o.text)
	if err != nil {
		return nil, err
	}
	set := edit.SetOptions{Values: patch.Changes{Edits: []patch.Edit{{Path: patch.Path{"mes"}, Value: rawjson.Quote(text)}}}}
	return func(m *cut.SourceMessage) ([]byte, error) {
		edited, err := set.Line(m.Line)
		if err == nil && bytes.Equal(edited, m.Line) {
			err = cut.ErrUnedited
		}
		return edited, err
	}, nil
}

// checkPaths refuses sources and outputs that do not go together.
func (o *cutOptions) checkPaths(c *console, fs *pflag.FlagSet, args []string) error {
	if fs.Changed("require") && len(o.require) == 0 {
		return usagef("--require is empty")
	}
	stdin := slices.Contains(args, chat.Stdin)
	if o.opt.Open && len(args) > 1 {
		if _, _, kind := twoOfOneOwner(args); kind != "" {
			return usagef("--open takes one CHAT of a %s: it opens with one", kind)
		}
		if len(ops.Distinct(args)) < len(args) {
			return usagef("--open takes each CHAT once: one is named twice")
		}
	}

	hasOutput := o.opt.Output != ""
	if hasOutput && len(args) > 1 {
		return usagef("--output takes one CHAT, not %d", len(args))
	}
	if stdin && !hasOutput {
		return usagef("a chat from stdin needs --output")
	}
	if hasOutput {
		if err := o.checkOutput(c); err != nil {
			return err
		}
	}

	if stdin && o.opt.Link {
		return usagef("--link needs a source that is a file")
	}
	return c.refuseTerminal(o.opt.Output)
}

// checkOutput refuses an output that cannot be the new chat's.
func (o *cutOptions) checkOutput(c *console) error {
	if o.opt.Output == cut.Stdout {
		switch {
		case c.json:
			return usagef("--json and --output - both write to stdout")
		case o.opt.Link:
			return usagef("--link needs the new chat beside its source, not on stdout")
		}
		return nil
	}

	if filepath.Ext(o.opt.Output) != ".jsonl" {
		return usagef("--output must end in .jsonl: %q", o.opt.Output)
	}
	if filepath.Base(o.opt.Output) == ".jsonl" {
		return usagef("--output has no name before .jsonl: %q", o.opt.Output)
	}
	return nil
}

// run reads the flags and arguments, and makes the checkpoints or branches.
func (o *cutOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	args, err := o.chats(ctx, c, args, fmt.Sprintf("name a chat, e.g. `stchat %s chats/Mira/Harbour.jsonl`", o.opt.Kind))
	if err != nil {
		return err
	}
	opt, err := o.options(ctx, c, fs, args)
	if err != nil {
		return err
	}
	return o.cut(ctx, c, opt)
}

// cut makes the checkpoints or branches and prints the results.
func (o *cutOptions) cut(ctx context.Context, c *console, opt cut.Options) error {
	stop := c.meter(o.opt.Kind.String(), c.json, &opt.Meter)
	results := cut.Run(ctx, opt)
	stop()
	sum := cutSummary{Schema: 1, Summary: true, Chats: len(results), DryRun: c.dryRun}
	inPlace := false
	var linked []string
	how := &saying{
		hints: cutHints(o), no: isRefused,
		end: func() {
			if inPlace && !c.dryRun {
				c.closeTabs(c.newSlugs(), linked...)
			}
			if len(results) > 1 && !c.work.interrupted {
				sum.Refused += sum.unfit
				if c.json {
					c.document(sum)
				}
				c.flush()
				if c.tells() || c.verbose {
					c.note("%s", sum.text(o.opt.Kind))
				}
			}
		},
	}

	of := func(r *cut.Result) (string, *cut.Result) {
		sum.add(r)
		if r.Err == nil {
			remark(c, &r.Doc)
		}
		return r.Doc.Source, r
	}

	err := sayAll(c, how, results, of, func(r *cut.Result) {
		if slices.ContainsFunc(r.Doc.Steps, func(s ops.Step) bool { return s.Do == changeset.Replace && s.Path != r.Doc.Path }) { // SillyTavern may have it open
			inPlace = true
			if o.opt.Link {
				linked = append(linked, r.Doc.Source)
			}
		}

		switch {
		case o.opt.Output == cut.Stdout:
		case c.tells():
			c.block(c.cutBlock(r, o.opt.Name, &opt))
		default:
			c.made(r.Doc.Path)
		}
	})
	return err
}

func newSplit() verb {
	return verb{
		writes: true,
		use:    "split CHAT [N...]", short: "Split a long chat into parts",
		doc: `Parts begin at message 0 and at each N; they are new chats beside CHAT, which
stays as it is. --last N makes a single new chat of the last N messages, to go
on in. Their main_chat is the chat, and a group lists them. State that refers to
messages by number follows. Messages keep their links to checkpoints and
branches, whose parent remains CHAT.
`,
		also:    "join, branch, slim",
		example: "  stchat split Mira/Harbour 400 900\n  stchat split Mira/Harbour --every 500\n  stchat split Mira/Harbour --last 60 -n \"Harbour II\"",
		args:    cobra.ExactArgs(1),
		means:   &subjects{chats: true, writes: true, messages: true, most: 1},
		rules:   []string{"at excludes every|last", "every excludes last"},
		options: &splitOptions{},
	}
}

type splitOptions struct {
	opt   cut.SplitOptions
	named []string // of checkpoints or branches, at whose messages parts begin, too
}

// takeMessages implements [messageTaker].
func (o *splitOptions) takeMessages(fs *pflag.FlagSet, ranges []choose.Range) error {
	if fs.Changed("every") || fs.Changed("last") {
		return usagef("parts begin at N, or are of --every N messages, or the --last N: one of these")
	}
	for _, r := range ranges {
		if r.From != r.To {
			return usagef("parts begin at single messages, such as 400 900")
		}
		o.opt.At = append(o.opt.At, r.From)
	}
	return nil
}

// partStarts are where parts begin, as an --at has it: at messages by their numbers, or at one by the name of
// a checkpoint or branch.
type partStarts struct {
	numbers []int
	name    string
}

// parsePartStarts reads an --at of split.
func parsePartStarts(list string) (at partStarts, err error) {
	if name, isName := messageName(list); isName {
		return partStarts{name: name}, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return at, refusal(fmt.Sprintf("takes numbers of messages such as 400,900, or a name, not %q", list))
		}
		at.numbers = append(at.numbers, n)
	}
	return at, nil
}

// takeAt takes the value of an --at.
func (o *splitOptions) takeAt(at partStarts) {
	o.opt.At = append(o.opt.At, at.numbers...)
	if at.name != "" {
		o.named = append(o.named, at.name)
	}
}

func (o *splitOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(parsed(parsePartStarts, o.takeAt), "at", "a", "parts begin at message 0 and at each of `N,M`; below 0 they count from the end; or where the checkpoint or branch of a name hangs")
	fs.Var(number(&o.opt.Every, 1, "a number of messages, from 1"), "every", "each part has `N` messages")
	fs.Var(number(&o.opt.Last, 1, "a number of messages, from 1"), "last", "one new chat of the last `N` messages")
	fs.VarP(notEmptyText(&o.opt.Name), "name", "n", "`NAME` of the new chat; of several parts, what their numbers follow")
	fs.Var(oneOf(&o.opt.Lorebook, cut.LorebookShare, cut.LorebookShare, cut.LorebookClone), "lorebook", "what becomes of the lorebook: `HOW` is share or clone")
}

func (o *splitOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) (err error) {
	opt := o.opt
	for _, name := range o.named {
		at, err := cut.MessageNamed(ctx, args[0], name)
		if err != nil {
			return withHint(err, nil)
		}
		opt.At = append(opt.At, at)
	}
	if opt.At == nil && opt.Every == 0 && opt.Last == 0 {
		return usagef("where? e.g. `stchat split %s 400 900`, --every N or --last N", visible.Quote(args[0]))
	}
	opt.Chat, opt.Data = args[0], userFolder(c, args)
	c.changes(&opt.Changes)
	end := c.meter("splitting", c.json, &opt.Meter)
	parts, err := cut.Split(ctx, opt)
	end()
	if err != nil {
		return &ops.SourceError{Path: opt.Chat, Err: withHint(err, editHints())}
	}
	how := &saying{no: never}
	of := func(p *cut.Part) (string, *cut.Result) {
		if p.Err == nil {
			remark(c, &p.Doc.Document)
		}
		return opt.Chat, p.Result
	}
	return sayAll(c, how, parts, of, func(p *cut.Part) {
		if c.tells() {
			c.block(c.partBlock(p))
			return
		}
		if p.Recap {
			c.warn("%s: %s", p.Doc.Path, recapStays(p))
		}
		c.made(p.Doc.Path)
	})
}

// recapStays says that what Auto-Recap has written before a part begins is not in it.
func recapStays(p *cut.Part) string {
	return fmt.Sprintf("the recap of messages 0 to %d stays in the old chat", p.Doc.First-1)
}

// partBlock tells a person of one part of a chat.
func (c *console) partBlock(p *cut.Part) block {
	d := &p.Doc
	made := c.did("made", "would make")
	b := block{
		sentence: fmt.Sprintf("%s %q of %s: messages %d to %d", made, nameOf(d.Path), nameOf(d.Source), d.First, d.Last),
		made:     d.Path,
	}
	b.facts = factsOf(p.Facts, "--lorebook clone gives the new ones their own")
	b.addClones(&d.Document)
	b.facts = append(b.facts, c.stateFacts(d.State, d.At)...)
	if p.Recap {
		b.join("Auto-Recap", recapStays(p))
	}
	b.addLuker(&d.Document)
	return b
}

// skippable is the hint for a damaged chat that --skip-damaged reads.
const skippable = "; see 'stchat check', or leave such lines out with --skip-damaged"

// cutHints returns the hints for a chat that cannot be made.
func cutHints(o *cutOptions) []hint {
	without := "; --lorebook share takes the name alone"
	if o.opt.Isolate {
		without = "; --unset world_info leaves the name out"
	}
	again := "; choose another name, --if-missing to let it be, or --force to make it again"
	if o.opt.Output != "" {
		again = "; choose another name, or --force to replace it"
	}
	return []hint{
		{fs.ErrExist, again},
		{names.ErrTaken, again},
		{lorebook.ErrMissing, without},
		{chat.ErrDamaged, skippable},
	}
}

// remark prints the warnings and notes about a chat that was written.
func remark(c *console, d *cut.Document) {
	source := chat.Label(d.Source)
	for _, s := range d.Skipped {
		done := ops.BecameOf(s.BOM, "left out")
		c.warn("%s:%d:%d: %s: %s", source, s.Line, s.Column, done, s.Reason)
	}

	if more := d.SkippedTotal - len(d.Skipped); more > 0 {
		c.warn("%s: %s left out", source, c.many(more, "more damaged line"))
	}
	c.tellState(d.Path, d.State)
}

// cutSummary is the last document where several chats are given.
type cutSummary struct {
	Schema  int  `json:"schema"`
	Summary bool `json:"summary"`
	Chats   int  `json:"chats"`
	Made    int  `json:"made"`
	Existed int  `json:"existed"`
	Refused int  `json:"refused"`
	Failed  int  `json:"failed"`
	DryRun  bool `json:"dry_run"`

	unfit int // of those refused: not by --require
}

func (n *cutSummary) add(r *cut.Result) {
	switch {
	case errors.Is(r.Err, cut.ErrRequirement):
		n.Refused++
	case isRefused(r.Err):
		n.unfit++
	case r.Err != nil:
		n.Failed++
	case r.Doc.Existed:
		n.Existed++
	default:
		n.Made++
	}
}

// isRefused reports whether a source is not as --require or a patch requires, or has no such
// message.
func isRefused(err error) bool {
	unfit := isA[*patch.OperationError](err) && (errors.Is(err, patch.ErrTest) || errors.Is(err, patch.ErrMissing))
	return unfit || isAny(err, cut.ErrRequirement, cut.ErrUnedited, choose.ErrNone)
}

// text returns one line about what was done and what was not.
func (n *cutSummary) text(kind names.Kind) string {
	text := plural.S(n.Made, kind.String())
	if kind == names.Branch {
		text = plural.Of(n.Made, "branch", "branches")
	}
	if n.DryRun {
		text += " would be"
	}
	text += " written"

	add := func(count int, what string) {
		if count > 0 {
			text += fmt.Sprintf(", %d %s", count, what)
		}
	}

	add(n.Existed, "existed already")
	add(n.Failed, "failed")
	add(n.Refused-n.unfit, "refused by --require")
	add(n.unfit, "not as was asked")
	return text
}

package main

import (
	"bytes"
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

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/extension/autorecap"
	"stchat/internal/lorebook"
	"stchat/internal/message"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/ops/edit"
	"stchat/internal/patch"
	"stchat/internal/plural"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

func newCheckpoint() verb {
	return verb{
		use: "checkpoint CHAT...", short: "Copy a chat up to a message",
		doc: `Write a new chat beside each CHAT with its messages 0 to N inclusive, as
SillyTavern's "Create checkpoint" does. The messages are copied byte for byte;
in the header only the metadata changes: main_chat names the source, integrity
is a new slug (the chat's ID), and the flags below can change more.

The source is not touched unless you ask for --link, and the character or group
keeps its current chat unless you ask for --open. The name of a new group chat
is added to its group; otherwise SillyTavern would not show it.

The new file appears whole or not at all, and never replaces another one. With
--force it replaces a checkpoint of the same name that was made from this source
before, unless messages were added to that.

Prints the path of each new chat, one per line.
`, no: "a --require does not hold",
		example: `  stchat checkpoint chats/Mira/Harbour.jsonl --at 120 --name "before the storm"
  stchat checkpoint -n "before migration" chats/*/*.jsonl
  stchat checkpoint chat.jsonl -a -2 --link --naming sillytavern
  stchat checkpoint chat.jsonl --isolate --json
  stchat checkpoint - -o - --main-chat "" < chat.jsonl | stchat inspect -`,
		means:   edits(),
		options: &cutOptions{opt: cut.Options{Kind: names.Checkpoint}},
	}
}

func newBranch() verb {
	return verb{
		use: "branch CHAT...", short: "Branch a chat at a message",
		doc: `Write a new chat beside each CHAT with its messages 0 to N inclusive, as
SillyTavern's "Create branch" does. It differs from a checkpoint in its name,
in the link that --link notes in the source (a message has one checkpoint and
any number of branches), and in --swipe, which selects another swipe of message
N.

Everything else works as in 'stchat checkpoint': messages are copied byte for
byte, the source is not touched, the new file appears whole or not at all, and
its path is printed.
`, no: "a --require does not hold",
		example: `  stchat branch "chats/Mira/Harbour.jsonl" --at 42
  stchat branch chat.jsonl --at 42 --swipe 2 --name "the other answer"
  stchat branch chat.jsonl --at 42 --isolate --require auto-recap
  stchat branch "group chats/Trip.jsonl" -a 10 --link`,
		means:   single(),
		options: &cutOptions{listFlags: listFlags{noFolders: true}, opt: cut.Options{Kind: names.Branch}},
	}
}

// cutOptions are the flags that checkpoint and branch share.
type cutOptions struct {
	listFlags
	valueFlags
	opt      cut.Options
	mainChat string
	internal lorebook.Internal
	require  []string
	swipe    int

	asEdit bool // a command that edits messages makes the branch
}

func (o *cutOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	o.opt.At = -1
	fs.VarP(messageOrName(&o.opt.At, &o.opt.AtName), "at", "a", "last `MESSAGE` kept, from 0; -1 is the last one, -2 the one before; or the name of a checkpoint or branch (name:X is always a name)")
	fs.Var(asOf(&o.opt.AsOf), "as-of", "instead of --at: the last message sent by `TIME`: 2026-03-01, \"2026-03-01 18:42\", RFC 3339, or an age such as 90m, 2h, 3d, 2w")
	fs.VarP(filled(&o.opt.Name), "name", "n", "`NAME` of the "+o.opt.Kind.String()+"; with --output only the label of a cloned lorebook")
	fs.Var(oneOf(&o.opt.Style, names.Suffix, names.Styles()...), "naming", "how the file is named: `STYLE` is suffix (CHAT__NAME), sillytavern (NAME), classic (NAME - TIME) or version (NAME, or CHAT-v2); without --name it is numbered")
	fs.VarP(filled(&o.opt.Output), "output", "o", "write this .jsonl `PATH` instead, or - for stdout; one CHAT only")
	addTopic(fs, "Flags for the metadata", func(fs *pflag.FlagSet) {
		o.own, o.inOrder, o.metadata = ownFlag, true, true
		o.addValueFlags(fs)
		o.opt.Integrity = cut.IntegrityNew
		fs.Var(slug(&o.opt.Integrity, cut.IntegrityNew, cut.IntegrityKeep, cut.IntegrityNone), "integrity", "slug of the new chat: `SLUG` is new, keep (the source's), none or a UUID")
		fs.StringVar(&o.mainChat, "main-chat", "", "`NAME` of the parent instead of the source's; empty removes it")
	})
	if o.opt.Kind == names.Branch {
		fs.Var(number(&o.swipe, 1, "a swipe's number as the screen shows it, from 1"), "swipe", "take message N with swipe `K` chosen, from 1")
	}
	fs.BoolVar(&o.opt.Open, "open", false, "make it the chat that its character or group opens with")
	fs.BoolVar(&o.opt.Link, "link", false, "also note the new chat in the source, on message N")
	fs.BoolVar(&o.opt.BumpIntegrity, "bump-integrity", false, "with --link: give the source a new slug, so that an open tab is stopped instead of overwriting it; Luker's tab is not stopped")
	addTopic(fs, "Flags for the lorebook and extension state", func(fs *pflag.FlagSet) {
		fs.Var(oneOf(&o.opt.Lorebook, cut.LorebookShare, cut.LorebookShare, cut.LorebookClone, cut.LorebookSnapshot), "lorebook", "what becomes of the lorebook: `HOW` is share, clone, or snapshot, a clone as of the nearest scene break")
		fs.Var(oneOf(&o.internal, lorebook.Drop, lorebook.Internals()...), "internal", "extension-internal entries in a cloned lorebook: `HOW` is drop, keep or reset")
		fs.Var(each(&o.opt.Drop, lorebook.CheckGlob), "drop", "leave entries out of a cloned lorebook whose comment matches `GLOB`")
		fs.BoolVar(&o.opt.Isolate, "isolate", false, "share nothing that changes: clone the lorebook unless --lorebook says otherwise, and take extension state as it was at message N")
		fs.Var(someOf(&o.require, "", autorecap.Requirements()...), "require", "refuse unless `LIST` holds at message N: queue-empty, scene-break, scene-recap, running-recap, or auto-recap for all")
	})
	fs.Var(filled(&o.opt.Data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
		fs.BoolVar(&o.opt.Changes.DryRun, "dry-run", false, "do everything but write, and say what would be written")
		fs.BoolVar(&o.opt.NoGroup, "no-group", false, "do not touch the group file")
		fs.BoolVar(&o.opt.SkipDamaged, "skip-damaged", false, "leave damaged lines out instead of refusing the chat")
		fs.BoolVar(&o.opt.Force, "force", false, "replace a "+o.opt.Kind.String()+" that was made from this source before; with --output any file")
		fs.BoolVar(&o.opt.IfMissing, "if-missing", false, "with --name: a "+o.opt.Kind.String()+" of that name that was made from this source before counts as done")
		addNoSync(fs, &o.opt.Changes.NoSync)
	})
	fs.Bool("json", false, "print JSON documents instead of paths, one per line")
}

// options completes cut.Options, and refuses flags that do not go together.
func (o *cutOptions) options(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) (cut.Options, error) {
	opt := o.opt
	opt.Sources, opt.Data, opt.Stdin, opt.Stdout = args, userFolder(c, opt.Data, args), c.In, c.Out
	err := agree(fs, []string{ // in edit and swipe these flags have other names, so it is judged here
		"at excludes as-of",
		"if-missing needs name = --if-missing goes with --name, and not with --output or --force",
		"if-missing excludes output|force = --if-missing goes with --name, and not with --output or --force",
		"bump-integrity needs link: nothing else writes the source",
		"merge excludes replace",
		"open excludes output = --open needs the new chat beside its source, not at --output",
	})
	if err == nil {
		err = o.checkPaths(c, fs, args)
	}
	if err != nil {
		return opt, err
	}
	c.changes(&opt.Changes)
	opt.MainChat = parentGiven(fs, &o.mainChat)
	if o.swipe > 0 {
		opt.Message = func(m *cut.SourceMessage) ([]byte, error) {
			isGreeting := m.Index == 0 && m.IsLast && !edit.IsTainted(m.Metadata)
			return message.ChooseSwipe(m.Line, o.swipe, isGreeting)
		}
	}
	if opt.Isolate && !fs.Changed("lorebook") {
		opt.Lorebook = cut.LorebookClone
	}
	if fs.Changed("internal") { // a clone and a snapshot have defaults of their own
		opt.Internal = o.internal
	}
	if opt.Require, err = autorecap.ParseRequirements(o.require); err != nil {
		return opt, usagef("--require: %v", err)
	}
	if opt.Lorebook == cut.LorebookShare && (fs.Changed("internal") || fs.Changed("drop")) {
		return opt, usagef("--internal and --drop are about a cloned lorebook; they go with --lorebook clone, snapshot or --isolate")
	}
	opt.Values, err = o.changes(ctx, c, slices.Contains(args, chat.Stdin) || o.filesFrom == chat.Stdin)
	return opt, err
}

// checkPaths refuses sources and outputs that do not go together.
func (o *cutOptions) checkPaths(c *console, fs *pflag.FlagSet, args []string) error {
	if fs.Changed("require") && len(o.require) == 0 {
		return usagef("--require is empty")
	}
	stdin := slices.Contains(args, chat.Stdin)
	folders := map[string]bool{}
	for _, arg := range args {
		if kind, _ := userdir.KindOf(arg); o.opt.Open && kind == userdir.Solo {
			folder := userdir.RealPath(filepath.Dir(arg))
			if folders[folder] {
				return usagef("--open takes one CHAT of a character: it opens with one")
			}
			folders[folder] = true
		}
	}
	switch {
	case o.opt.Output != "" && len(args) > 1:
		return usagef("--output takes one CHAT, not %d", len(args))
	case stdin && o.opt.Output == "":
		return usagef("a chat from stdin needs --output")
	case o.opt.Output != "" && o.opt.Output != cut.Stdout && filepath.Ext(o.opt.Output) != ".jsonl":
		return usagef("--output must end in .jsonl: %q", o.opt.Output)
	case filepath.Base(o.opt.Output) == ".jsonl":
		return usagef("--output has no name before .jsonl: %q", o.opt.Output)
	case o.opt.Output == cut.Stdout && c.json:
		return usagef("--json and --output - both write to stdout")
	case o.opt.Output == cut.Stdout && o.opt.Link:
		return usagef("--link needs the new chat beside its source, not on stdout")
	case stdin && o.opt.Link:
		return usagef("--link needs a source that is a file")
	}
	return c.refuseTerminal(o.opt.Output)
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
	sum := cutSummary{Schema: 1, Summary: true, Chats: len(results), DryRun: o.opt.Changes.DryRun}
	met := results
	if o.asEdit && len(results) > 1 { // as in an edit in place, the others are only counted
		met = slices.DeleteFunc(slices.Clone(results), func(r *cut.Result) bool { return errors.Is(r.Err, choose.ErrNone) })
		sum.unfit = len(results) - len(met)
	}
	inPlace := false
	var linked []string
	how := &saying{
		dryRun: o.opt.Changes.DryRun, counted: c.json, hints: cutHints(o), no: isRefused,
		end: func() {
			if inPlace && !o.opt.Changes.DryRun {
				c.closeTabs(o.opt.BumpIntegrity, linked...)
			}
			if len(results) > 1 && !c.work.interrupted {
				sum.Refused += sum.unfit
				if c.json {
					c.document(sum)
				}
				c.flush()
				c.note("%s", sum.text(o.opt.Kind))
			}
		},
	}
	of := func(r *cut.Result) (string, *cut.Result) {
		if sum.add(r); r.Err == nil {
			remark(c, &r.Doc)
		}
		return r.Doc.Source, r
	}
	err := sayAll(c, how, met, of, func(r *cut.Result) {
		if slices.ContainsFunc(r.Doc.Steps, func(s ops.Step) bool { return s.Do == changeset.Replace && s.Path != r.Doc.Path }) { // SillyTavern may have it open
			if inPlace = true; o.opt.Link {
				linked = append(linked, r.Doc.Source)
			}
		}
		if o.opt.Output != cut.Stdout {
			c.made(r.Doc.Path)
		}
	})
	if err == nil && len(met) == 0 && len(results) > 0 {
		return errNo
	}
	return err
}

func newSplit() verb {
	return verb{
		use: "split CHAT", short: "Split a long chat into parts",
		doc: `Split a long chat into parts: new chats beside it, each with the messages from
one of the given places to the next. The chat itself stays as it is. --last N
makes a single new chat of its last N messages, to go on in.

The parts are named "CHAT part 1", "CHAT part 2" and so on, or "CHAT last N".
Their main_chat is the chat, and a group lists them. State that refers to
messages by number follows, as when the others are deleted; --no-follow leaves
it as it is in the chat. Links stay where they are: checkpoints and branches
remain the chat's own.

Prints the path of each part.
`,
		example: "  stchat split \"chats/Mira/Harbour.jsonl\" --at 400,900\n  stchat split \"chats/Mira/Harbour.jsonl\" --last 60 -n \"Harbour II\"",
		args:    cobra.ExactArgs(1),
		means:   single(),
		rules:   []string{"at excludes every|last", "every excludes last"},
		options: &splitOptions{},
	}
}

type splitOptions struct {
	opt cut.SplitOptions
}

// partStarts reads the numbers of messages at which parts begin.
func partStarts(list string) (at []int, err error) {
	if list == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, refusal(fmt.Sprintf("takes numbers of messages such as 400,900, not %q", list))
		}
		at = append(at, n)
	}
	return at, nil
}

func (o *splitOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(parsed(partStarts, func(at []int) { o.opt.At = append(o.opt.At, at...) }), "at", "a", "parts begin at message 0 and at each of `N,M`; below 0 they count from the end")
	fs.Var(number(&o.opt.Every, 1, "a number of messages, from 1"), "every", "each part has `N` messages")
	fs.Var(number(&o.opt.Last, 1, "a number of messages, from 1"), "last", "one new chat of the last `N` messages")
	fs.VarP(filled(&o.opt.Name), "name", "n", "`NAME` of the new chat; of several parts, what their numbers follow")
	fs.Var(oneOf(&o.opt.Lorebook, cut.LorebookShare, cut.LorebookShare, cut.LorebookClone), "lorebook", "what becomes of the lorebook: `HOW` is share or clone")
	fs.BoolVar(&o.opt.NoFollow, "no-follow", false, "leave state that refers to messages by number as it is")
	fs.Var(filled(&o.opt.Data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
		fs.BoolVar(&o.opt.Changes.DryRun, "dry-run", false, "do everything but write, and say what would be written")
		fs.BoolVar(&o.opt.NoGroup, "no-group", false, "do not touch the group file")
		addNoSync(fs, &o.opt.Changes.NoSync)
	})
	fs.Bool("json", false, "print JSON documents instead of paths, one per line")
}

func (o *splitOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) (err error) {
	opt := o.opt
	if opt.At == nil && opt.Every == 0 && opt.Last == 0 {
		return usagef("say where to split: --at N,M, --every N or --last N")
	}
	opt.Chat, opt.Data = args[0], userFolder(c, opt.Data, args)
	c.changes(&opt.Changes)
	end := c.meter("splitting", c.json, &opt.Meter)
	parts, err := cut.Split(ctx, opt)
	end()
	if err != nil {
		return &ops.SourceError{Path: opt.Chat, Err: withHint(err, editHints())}
	}
	how := &saying{dryRun: o.opt.Changes.DryRun, no: never}
	of := func(p *cut.Part) (string, *cut.Result) {
		if p.Err == nil {
			remark(c, &p.Doc.Document)
		}
		return opt.Chat, p.Result
	}
	return sayAll(c, how, parts, of, func(p *cut.Part) {
		if p.Recap {
			c.warn("%s: what Auto-Recap says of the messages before %d stays with the chat; to put it in as a message: `stchat state get %s recap: --jq 'last(.values[\"recap:\"].running.versions[] | select((.new_scene_index // 0) < %d)).content' | stchat add %s --at 0 --role narrator -`",
				p.Doc.Path, p.Doc.First, visible.Quote(opt.Chat), p.Doc.First, visible.Quote(p.Doc.Path))
		}
		c.made(p.Doc.Path)
	})
}

// skippable is the hint for a damaged chat that --skip-damaged reads.
const skippable = "; see 'stchat check', or leave such lines out with --skip-damaged"

// cutHints returns the hints for a chat that cannot be made.
func cutHints(o *cutOptions) []hint {
	without := either(o.opt.Isolate, "; --unset world_info leaves the name out", "; --lorebook share takes the name alone")
	again, damaged := "; choose another name, --if-missing to let it be, or --force to make it again", skippable
	if o.opt.Output != "" {
		again = "; choose another name, or --force to replace it"
	}
	if o.asEdit {
		again, damaged = "; choose another name with -n", "; see 'stchat repair'"
	}
	return []hint{
		{fs.ErrExist, again},
		{names.ErrTaken, again},
		{lorebook.ErrMissing, without},
		{chat.ErrDamaged, damaged},
	}
}

// remark prints the warnings and notes about a chat that was written.
func remark(c *console, d *cut.Document) {
	source := chat.Label(d.Source)
	for _, s := range d.Skipped {
		done := either(s.BOM, "the line is read without it", "left out")
		c.warn("%s:%d:%d: %s: %s", source, s.Line, s.Column, done, s.Reason)
	}
	if more := d.SkippedTotal - len(d.Skipped); more > 0 {
		c.warn("%s: %s left out", source, c.many(more, "more damaged line"))
	}
	for _, s := range d.State {
		c.note("%s: %s: %s", d.Path, s.Extension, s.Change)
	}
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
	s := either(kind == names.Branch, plural.Of(n.Made, "branch", "branches"), plural.S(n.Made, kind.String()))
	s += either(n.DryRun, " would be written", " written")
	number := func(n int, text string) string { return when(n > 0, fmt.Sprintf("%d %s", n, text)) }
	return joined(", ", s, number(n.Existed, "existed already"), number(n.Failed, "failed"), number(n.Refused-n.unfit, "refused by --require"), number(n.unfit, "not as was asked"))
}

// asBranchDoc explains --as-branch in a command's help.
const asBranchDoc = `
AS A BRANCH
With --as-branch the chat stays as it is: a branch at the one chosen message is
written, as 'stchat branch' writes it, with the edit on that message. Prints the
path of the branch. An edit that changes nothing makes no branch (exit code 1).
`

// asBranchFlags write an edit of one message to a new branch (CONTENT.md 2.3).
type asBranchFlags struct {
	as     bool
	branch cutOptions
	flags  *pflag.FlagSet // of branch; the command has some of them
}

// branchFlags returns the flags of branch that go with --as-branch. --name becomes
// --branch-name, because --name already chooses messages.
func branchFlags() []string { return []string{"name", "naming", "link", "isolate", "lorebook", "open"} }

func besideEdit(flag string) string {
	return either(flag == "name", "branch-name", flag)
}

func (o *asBranchFlags) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.as, "as-branch", false, "leave the chat as it is, and write the edit to a branch at the message")
	o.branch.opt.Kind, o.branch.asEdit = names.Branch, true
	o.flags = pflag.NewFlagSet("branch", pflag.ContinueOnError)
	o.branch.addFlags(o.flags)
	addTopic(fs, "Flags that go with --as-branch", func(fs *pflag.FlagSet) {
		for _, name := range branchFlags() {
			f := *o.flags.Lookup(name)
			f.Name, f.Annotations = besideEdit(name), nil
			if name == "name" {
				f.Usage = "`NAME` of the branch"
			}
			fs.AddFlag(&f)
		}
	})
}

// check refuses flags that do not go together.
func (o *asBranchFlags) check(fs *pflag.FlagSet) error {
	for _, name := range branchFlags() {
		switch as := besideEdit(name); {
		case !fs.Changed(as):
			continue
		case !o.as:
			return usagef("--%s goes with --as-branch", as)
		}
		o.flags.Lookup(name).Changed = true
	}
	for _, name := range []string{"no-follow", "expect-messages", "expect-integrity"} {
		if o.as && fs.Changed(name) {
			return usagef("--%s is about an edit in place, not about --as-branch", name)
		}
	}
	return nil
}

// run makes the branches. taints marks an edit after which SillyTavern must not take another
// greeting.
func (o *asBranchFlags) run(ctx context.Context, c *console, in *inPlaceFlags, chats []string, choice choose.Choice, taints bool, change cut.MessageEdit) error {
	b := &o.branch
	b.opt.Data, b.opt.Changes, b.opt.BumpIntegrity = in.Data, in.Changes, in.BumpIntegrity
	o.flags.Lookup("bump-integrity").Changed = in.BumpIntegrity
	opt, err := b.options(ctx, c, o.flags, chats)
	if err != nil {
		return err
	}
	opt.AtOne = choice
	opt.Message = func(m *cut.SourceMessage) ([]byte, error) {
		edited, err := change(m)
		if err == nil && bytes.Equal(edited, m.Line) {
			err = cut.ErrUnedited
		}
		return edited, err
	}
	if taints {
		opt.Values.Edits = append(opt.Values.Edits, patch.Edit{Path: patch.Path{"tainted"}, Value: []byte("true")})
	}
	return b.cut(ctx, c, opt)
}

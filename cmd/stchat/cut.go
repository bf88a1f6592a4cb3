package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/extension/autorecap"
	"stchat/internal/lorebook"
	"stchat/internal/message"
	"stchat/internal/names"
	"stchat/internal/ops/cut"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

func newCheckpoint() verb {
	return verb{
		use: "checkpoint CHAT...", short: "Copy a chat up to a message",
		doc: `Write a new chat beside each CHAT with its messages 0 to N inclusive, as
SillyTavern's "Create checkpoint" does. The messages are copied byte for byte;
in the header only the metadata changes: main_chat names the source, integrity
is a new slug, and the flags below can change more.

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
		options: &cutOptions{opt: cut.Options{Kind: names.Branch}},
	}
}

// cutOptions are the flags that checkpoint and branch share.
type cutOptions struct {
	listFlags
	valueFlags
	opt            cut.Options
	asOf, mainChat string
	internal       lorebook.Internal
	require        []string
	swipe          int

	asEdit bool // a command that edits messages makes the branch
}

func (o *cutOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	o.opt.At = -1
	fs.VarP(place(&o.opt.At, &o.opt.AtName), "at", "a", "last `MESSAGE` kept, from 0; -1 is the last one, -2 the one before; or the name of a checkpoint or branch (name:X is always a name)")
	fs.StringVar(&o.asOf, "as-of", "", "instead of --at: the last message sent by `TIME`: 2026-03-01, \"2026-03-01 18:42\", RFC 3339, or an age such as 90m, 2h, 3d, 2w")
	fs.VarP(filled(&o.opt.Name), "name", "n", "`NAME` of the "+o.opt.Kind.String()+"; with --output only the label of a cloned lorebook")
	fs.Var(oneOf(&o.opt.Style, names.Suffix, names.Styles()...), "naming", "how the file is named: `STYLE` is suffix, sillytavern, classic, version")
	fs.VarP(filled(&o.opt.Output), "output", "o", "write this .jsonl `PATH` instead, or - for stdout; one CHAT only")
	addTopic(fs, "Flags for the metadata", func(fs *pflag.FlagSet) {
		o.own, o.inOrder = ownFlag, true
		o.addValueFlags(fs)
		fs.StringVar(&o.opt.Integrity, "integrity", cut.IntegrityNew, "slug of the new chat: `SLUG` is new, keep, none or a UUID")
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
		fs.StringArrayVar(&o.opt.Drop, "drop", nil, "leave entries out of a cloned lorebook whose comment matches `GLOB`")
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
	opt.Sources, opt.Data, opt.Stdin, opt.Stdout, opt.NewUUID = args, userFolder(c, opt.Data, args), c.In, c.Out, uuid.NewString
	err := agree(fs, cutRules())
	if err == nil {
		err = o.checkPaths(c, fs, args)
	}
	if err == nil {
		err = c.changes(&opt.Changes)
	}
	if err != nil {
		return opt, err
	}
	if fs.Changed("as-of") {
		if opt.AsOf, err = versionTime(o.asOf, opt.Changes.Now); err != nil {
			return opt, err
		}
	}
	if !slices.Contains([]string{cut.IntegrityNew, cut.IntegrityKeep, cut.IntegrityNone}, opt.Integrity) && !isUUID(opt.Integrity) {
		return opt, usagef("--integrity is new, keep, none or a UUID, not %q", opt.Integrity)
	}
	if fs.Changed("main-chat") {
		opt.MainChat = &o.mainChat
	}
	if o.swipe > 0 {
		opt.Message = func(_ int, line []byte, _ *rawjson.Object) ([]byte, error) { return message.ChooseSwipe(line, o.swipe) }
	}
	if err := o.state(fs, &opt); err != nil {
		return opt, err
	}
	opt.Values, err = o.changes(ctx, c, slices.Contains(args, chat.Stdin) || o.filesFrom == chat.Stdin)
	return opt, err
}

// cutRules returns which flags go together.
func cutRules() []string {
	return []string{
		"at excludes as-of",
		"if-missing needs name = --if-missing goes with --name, and not with --output or --force",
		"if-missing excludes output|force = --if-missing goes with --name, and not with --output or --force",
		"bump-integrity needs link: nothing else writes the source",
		"merge excludes replace",
		"open excludes output = --open needs the new chat beside its source, not at --output",
	}
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
	meter, stop := c.meter(o.opt.Kind.String(), c.json)
	opt.Meter = meter
	results := cut.Run(ctx, opt)
	stop()
	return reportCuts(c, o, results)
}

// state turns the flags about lorebook and extension state into options.
func (o *cutOptions) state(fs *pflag.FlagSet, opt *cut.Options) (err error) {
	if opt.Isolate && !fs.Changed("lorebook") {
		opt.Lorebook = cut.LorebookClone
	}
	if fs.Changed("internal") { // a clone and a snapshot have defaults of their own
		opt.Internal = o.internal
	}
	for _, glob := range opt.Drop {
		if err := lorebook.CheckGlob(glob); err != nil {
			return usagef("--drop: %v", err)
		}
	}
	if opt.Require, err = autorecap.ParseRequirements(o.require); err != nil {
		return usagef("--require: %v", err)
	}
	if opt.Lorebook == cut.LorebookShare && (fs.Changed("internal") || fs.Changed("drop")) {
		return usagef("--internal and --drop are about a cloned lorebook; they go with --lorebook clone, snapshot or --isolate")
	}
	return nil
}

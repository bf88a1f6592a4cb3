package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/extension/autorecap"
	"stchat/internal/lorebook"
	"stchat/internal/message"
	"stchat/internal/names"
	"stchat/internal/ops/cut"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
	"stchat/internal/userdir"
)

const checkpointDoc = `Write a new chat beside each CHAT with its messages 0 to N inclusive, as
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
`

const checkpointExample = `  stchat checkpoint chats/Mira/Harbour.jsonl --at 120 --name "before the storm"
  stchat checkpoint -n "before migration" chats/*/*.jsonl
  stchat checkpoint chat.jsonl -a -2 --link --naming sillytavern
  stchat checkpoint chat.jsonl --isolate --json
  stchat checkpoint - -o - --main-chat "" < chat.jsonl | stchat inspect -`

func newCheckpoint(*app) verb {
	o := &cutOptions{kind: names.Checkpoint}
	return verb{
		use: "checkpoint CHAT...", short: "Copy a chat up to a message",
		doc: checkpointDoc, no: "a --require does not hold",
		example: checkpointExample,
		flags:   o.addFlags, run: o.run,
	}
}

const branchDoc = `Write a new chat beside each CHAT with its messages 0 to N inclusive, as
SillyTavern's "Create branch" does. It differs from a checkpoint in its name,
in the link that --link notes in the source (a message has one checkpoint and
any number of branches), and in --swipe, which selects another swipe of message
N.

Everything else works as in 'stchat checkpoint': messages are copied byte for
byte, the source is not touched, the new file appears whole or not at all, and
its path is printed.
`

const branchExample = `  stchat branch "chats/Mira/Harbour.jsonl" --at 42
  stchat branch chat.jsonl --at 42 --swipe 2 --name "the other answer"
  stchat branch chat.jsonl --at 42 --isolate --require auto-recap
  stchat branch "group chats/Trip.jsonl" -a 10 --link`

func newBranch(*app) verb {
	o := &cutOptions{kind: names.Branch}
	return verb{
		use: "branch CHAT...", short: "Branch a chat at a message",
		doc: branchDoc, no: "a --require does not hold",
		example: branchExample,
		flags:   o.addFlags, run: o.run,
	}
}

// cutOptions are the flags that checkpoint and branch share.
type cutOptions struct {
	listFlags
	valueFlags
	kind      names.Kind
	at        int
	atName    string
	asOf      string
	name      string
	naming    string
	output    string
	integrity string
	mainChat  string
	swipe     int
	open      bool
	link      bool
	bump      bool
	lorebook  string
	internal  string
	drop      []string
	isolate   bool
	require   []string
	data      string
	noGroup   bool
	skip      bool
	force     bool
	ifMissing bool
	noSync    bool
	dryRun    bool
	json      bool

	asEdit bool // a command that edits messages makes the branch
}

func (o *cutOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	o.at = -1
	fs.VarP(place(&o.at, &o.atName), "at", "a", "last `MESSAGE` kept, from 0; -1 is the last one, -2 the one before; or the name of a checkpoint or branch (name:X is always a name)")
	fs.StringVar(&o.asOf, "as-of", "", "instead of --at: the last message sent by `TIME`: 2026-03-01, \"2026-03-01 18:42\", RFC 3339, or an age such as 90m, 2h, 3d, 2w")
	fs.VarP(filled(&o.name), "name", "n", "`NAME` of the "+o.kind.String()+"; with --output only the label of a cloned lorebook")
	fs.Var(oneOf(&o.naming, names.Suffix.String(), names.Styles()...), "naming", "how the file is named: `STYLE` is "+strings.Join(names.Styles(), ", "))
	fs.VarP(filled(&o.output), "output", "o", "write this .jsonl `PATH` instead, or - for stdout; one CHAT only")
	addTopic(fs, "Flags for the metadata", func(fs *pflag.FlagSet) {
		o.own, o.inOrder = ownFlag, true
		o.addValueFlags(fs)
		fs.StringVar(&o.integrity, "integrity", cut.IntegrityNew, "slug of the new chat: `SLUG` is new, keep, none or a UUID")
		fs.StringVar(&o.mainChat, "main-chat", "", "`NAME` of the parent instead of the source's; empty removes it")
	})
	if o.kind == names.Branch {
		fs.Var(number(&o.swipe, 1, "a swipe's number as the screen shows it, from 1"), "swipe", "take message N with swipe `K` chosen, from 1")
	}
	fs.BoolVar(&o.open, "open", false, "make it the chat that its character or group opens with")
	fs.BoolVar(&o.link, "link", false, "also note the new chat in the source, on message N")
	fs.BoolVar(&o.bump, "bump-integrity", false, "with --link: give the source a new slug, so that an open tab is stopped instead of overwriting it; Luker's tab is not stopped")
	addTopic(fs, "Flags for the lorebook and extension state", func(fs *pflag.FlagSet) {
		fs.Var(oneOf(&o.lorebook, cut.LorebookShare, cut.LorebookShare, cut.LorebookClone, cut.LorebookSnapshot), "lorebook", "what becomes of the lorebook: `HOW` is share, clone, or snapshot, a clone as of the nearest scene break")
		fs.Var(oneOf(&o.internal, "drop", lorebook.InternalNames()...), "internal", "extension-internal entries in a cloned lorebook: `HOW` is drop, keep or reset")
		fs.StringArrayVar(&o.drop, "drop", nil, "leave entries out of a cloned lorebook whose comment matches `GLOB`")
		fs.BoolVar(&o.isolate, "isolate", false, "share nothing that changes: clone the lorebook unless --lorebook says otherwise, and take extension state as it was at message N")
		fs.Var(someOf(&o.require, "", autorecap.Requirements()...), "require", "refuse unless `LIST` holds at message N: queue-empty, scene-break, scene-recap, running-recap, or auto-recap for all")
	})
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
		fs.BoolVar(&o.dryRun, "dry-run", false, "do everything but write, and say what would be written")
		fs.BoolVar(&o.noGroup, "no-group", false, "do not touch the group file")
		fs.BoolVar(&o.skip, "skip-damaged", false, "leave damaged lines out instead of refusing the chat")
		fs.BoolVar(&o.force, "force", false, "replace a "+o.kind.String()+" that was made from this source before; with --output any file")
		fs.BoolVar(&o.ifMissing, "if-missing", false, "with --name: a "+o.kind.String()+" of that name that was made from this source before counts as done")
		fs.BoolVar(&o.noSync, "no-sync", false, "do not force data to disk: faster on copies, not safe against power loss")
	})
	fs.BoolVar(&o.json, "json", false, "print JSON documents instead of paths, one per line")
}

// options turns the flags into cut.Options, and refuses those that do not go together.
func (o *cutOptions) options(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) (cut.Options, error) {
	opt := cut.Options{
		Kind: o.kind, Sources: args, At: o.at, AtName: o.atName, Open: o.open, Name: o.name, Output: o.output,
		Integrity: o.integrity, Link: o.link, BumpIntegrity: o.bump,
		Data: userFolder(a, o.data, args), NoGroup: o.noGroup, SkipDamaged: o.skip, Force: o.force, IfMissing: o.ifMissing,
		Stdin: a.In, Stdout: a.Out, NewUUID: uuid.NewString,
	}
	if err := o.checkPaths(fs, args); err != nil {
		return opt, err
	}
	var err error
	if opt.Changes, err = a.changes(o.dryRun, o.noSync); err != nil {
		return opt, err
	}
	if opt.Style, err = names.ParseStyle(o.naming); err != nil {
		return opt, usagef("--naming: %v", err)
	}
	if fs.Changed("as-of") {
		var ok bool
		switch opt.AsOf, ok = sendate.ParseMoment(o.asOf, opt.Changes.Now); {
		case fs.Changed("at"):
			return opt, usagef("--at and --as-of exclude each other")
		case !ok:
			return opt, usagef("--as-of takes a date (2026-03-01), a time (\"2026-03-01 18:42\", RFC 3339) or an age (2h, 3d), not %q", o.asOf)
		}
	}
	if !slices.Contains([]string{cut.IntegrityNew, cut.IntegrityKeep, cut.IntegrityNone}, o.integrity) && !isUUID(o.integrity) {
		return opt, usagef("--integrity is new, keep, none or a UUID, not %q", o.integrity)
	}
	if fs.Changed("main-chat") {
		opt.MainChat = &o.mainChat
	}
	if o.swipe > 0 {
		opt.Message = func(_ int, line []byte, _ *rawjson.Object) ([]byte, error) { return message.ChooseSwipe(line, o.swipe) }
	}
	if o.ifMissing && (o.name == "" || o.output != "" || o.force) {
		return opt, usagef("--if-missing goes with --name, and not with --output or --force")
	}
	if o.bump && !o.link {
		return opt, usagef("--bump-integrity goes with --link: nothing else writes the source")
	}
	if err := o.state(fs, &opt); err != nil {
		return opt, err
	}
	opt.Values, err = o.changes(ctx, a, slices.Contains(args, chat.Stdin) || o.filesFrom == chat.Stdin)
	return opt, err
}

// checkPaths refuses sources and outputs that do not go together.
func (o *cutOptions) checkPaths(fs *pflag.FlagSet, args []string) error {
	if fs.Changed("require") && len(o.require) == 0 {
		return usagef("--require is empty")
	}
	stdin := slices.Contains(args, chat.Stdin)
	folders := map[string]bool{}
	for _, arg := range args {
		if kind, _ := userdir.KindOf(arg); o.open && kind == userdir.Solo {
			folder := userdir.RealPath(filepath.Dir(arg))
			if folders[folder] {
				return usagef("--open takes one CHAT of a character: it opens with one")
			}
			folders[folder] = true
		}
	}
	switch {
	case o.merge != "" && o.replace != "":
		return usagef("--merge and --replace exclude each other")
	case o.open && o.output != "":
		return usagef("--open needs the new chat beside its source, not at --output")
	case o.output != "" && len(args) > 1:
		return usagef("--output takes one CHAT, not %d", len(args))
	case stdin && o.output == "":
		return usagef("a chat from stdin needs --output")
	case o.output != "" && o.output != cut.Stdout && filepath.Ext(o.output) != ".jsonl":
		return usagef("--output must end in .jsonl: %q", o.output)
	case filepath.Base(o.output) == ".jsonl":
		return usagef("--output has no name before .jsonl: %q", o.output)
	case o.output == cut.Stdout && o.json:
		return usagef("--json and --output - both write to stdout")
	case o.output == cut.Stdout && o.link:
		return usagef("--link needs the new chat beside its source, not on stdout")
	case stdin && o.link:
		return usagef("--link needs a source that is a file")
	}
	return nil
}

// run reads the flags and arguments, and makes the checkpoints or branches.
func (o *cutOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	args, err := o.sources(ctx, a, args, fmt.Sprintf("name a chat, e.g. `stchat %s chats/Mira/Harbour.jsonl`", o.kind))
	if err != nil {
		return err
	}
	opt, err := o.options(ctx, a, fs, args)
	if err != nil {
		return err
	}
	return o.cut(ctx, a, opt)
}

// cut makes the checkpoints or branches and prints the results.
func (o *cutOptions) cut(ctx context.Context, a *app, opt cut.Options) error {
	c := a.console()
	meter, stop := c.meter(o.kind.String(), o.json)
	opt.Meter = meter
	results := cut.Run(ctx, opt)
	stop()
	return tellCuts(c, o, results)
}

// state turns the flags about lorebook and extension state into options.
func (o *cutOptions) state(fs *pflag.FlagSet, opt *cut.Options) (err error) {
	opt.Lorebook, opt.Drop, opt.Isolate = o.lorebook, o.drop, o.isolate
	if o.isolate && !fs.Changed("lorebook") {
		opt.Lorebook = cut.LorebookClone
	}
	if fs.Changed("internal") { // a clone and a snapshot have defaults of their own
		if opt.Internal, err = lorebook.ParseInternal(o.internal); err != nil || o.internal == "" {
			return usagef("--internal is %s, not %q", strings.Join(lorebook.InternalNames(), ", "), o.internal)
		}
	}
	for _, glob := range o.drop {
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

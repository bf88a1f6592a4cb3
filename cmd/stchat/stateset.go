package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/ops/state"
)

func newStateSet() verb {
	return verb{
		use: "set PATH NS", short: "Change what a namespace holds",
		doc: `Change what a namespace holds. An empty namespace counts as {}; the result must
be an object.

Changes are made in this order: --replace, --merge, --merge-patch, --patch,
--set, --unset. If there is a floor log, the change becomes one commit, of the
last message or that of --at, and of its chosen swipe or that of --swipe; if the
last commit is of a later message, so is this one. --floor starts a floor log
for an empty namespace. --reset FILE replaces the log with a list of commits; []
empties it.

If others write there meanwhile, --set, --unset and the merges are made of what
they wrote; nothing is lost. --expect refuses that: it is for a script that
decides by what it has read.

recap: takes only --version K: version K of the running recap becomes current,
or with --scene N that of the scene that ends with message N, like Auto-Recap's
arrows.
` + stateChangeDoc, no: "a test of --patch does not hold, a path is not there,\n     or the chat is not as it was expected to be",
		example: `  stchat state set chat.jsonl memory_graph --set /nodes/mira={}
  stchat state set chat.jsonl hp --replace hp.json
  stchat state set chat.jsonl hp --floor --set value=10
  stchat state set chat.jsonl hp --set value=9 --expect "$SHA256"
  stchat state set chat.jsonl recap: --version 2
  stchat state set characters/Mira.png mood --merge mood.json`,
		rules: []string{
			"force needs reset",
			"reset excludes set|set-string|unset|merge|merge-patch|patch|replace = --reset stands alone: it puts a whole log in place",
			"reset excludes at|swipe|floor = --reset takes no --at, --swipe or --floor: each commit says where it belongs",
		},
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &stateSetOptions{},
	}
}

type stateSetOptions struct {
	valueFlags
	stateFlags
	reset, expect  string
	floor          bool
	at, swipe      int
	scene, version int
}

func (o *stateSetOptions) addFlags(fs *pflag.FlagSet) {
	o.valueFlags.addFlags(fs)
	fs.StringVar(&o.reset, "reset", "", "put the list of commits in `FILE` in place of the floor log; - is stdin")
	fs.Var(filled(&o.expect), "expect", "change nothing, and exit with 1, unless the SHA-256 of what 'state get' prints,\nwithout its line end, is `SHA256`")
	fs.BoolVar(&o.floor, "floor", false, "begin a floor log, where NS holds nothing yet")
	fs.VarP(messageNumber(&o.at), "at", "a", "the commit is of message `N`; -1 is the last")
	fs.Var(number(&o.swipe, 1, "a swipe's number, from 1"), "swipe", "the commit is of swipe `K` of that message")
	fs.Var(number(&o.scene, 0, "the number of a message"), "scene", "with recap: and --version: of the scene that ends with message `N`")
	fs.Var(number(&o.version, 0, "the number of a version"), "version", "with recap: make version `K` current")
	fs.BoolVar(&o.Force, "force", false, "with --reset: also commits that Luker cannot replay")
	o.stateFlags.addFlags(fs)
}

func (o *stateSetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	path, rest, err := onePath(args, 1, "set chat.jsonl memory_graph --set key=value")
	if err != nil {
		return err
	}
	common, err := o.options(c, path)
	if err != nil {
		return err
	}
	opt := state.SetOptions{Options: common, Namespace: rest[0], Floor: o.floor}
	if opt.Values, err = o.changes(ctx, c, o.reset == chat.Stdin); err != nil {
		return err
	}
	if o.reset != "" {
		if opt.Reset, err = readJSON(ctx, c, o.reset); err != nil {
			return err
		}
	}
	if opt.Expect = strings.ToLower(o.expect); o.expect != "" {
		if sum, err := hex.DecodeString(opt.Expect); err != nil || len(sum) != sha256.Size {
			return usagef("--expect takes a SHA-256, 64 hexadecimal digits, not %q", o.expect)
		}
	}
	if fs.Changed("at") {
		opt.At = &o.at
	}
	if fs.Changed("swipe") {
		swipe := o.swipe - 1
		opt.Swipe = &swipe
	}
	switch {
	case fs.Changed("version") != (rest[0] == state.Recap) || fs.Changed("scene") && !fs.Changed("version"):
		return usagef("--version K, and --scene N with it, go with recap:")
	case fs.Changed("version") && (!opt.Values.Empty() || o.reset != "" || o.floor || opt.At != nil || opt.Swipe != nil || o.expect != ""):
		return usagef("recap: takes --version K alone, or with --scene N")
	case o.reset == "" && opt.Values.Empty() && !fs.Changed("version"):
		return usagef("say what to change, e.g. --set key=value")
	}
	if fs.Changed("version") {
		opt.Version = &o.version
	}
	if fs.Changed("scene") {
		opt.Scene = &o.scene
	}
	return o.report(c, []*state.Result{state.Set(ctx, opt)})
}

func newStateDelete() verb {
	return verb{
		use: "delete PATH NS...", short: "Delete namespaces",
		doc: `Delete namespaces: the sidecar, or the floor log and what an older Luker left
beside it. What is not there is no error.
` + stateChangeDoc, no: "the chat is not as it was expected to be",
		example: "  stchat state delete chat.jsonl memory_graph\n  stchat state delete characters/Mira.png mood",
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &stateDeleteOptions{},
	}
}

type stateDeleteOptions struct{ stateFlags }

func (o *stateDeleteOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	path, namespaces, err := onePath(args, 0, "delete chat.jsonl memory_graph")
	if err != nil {
		return err
	}
	opt, err := o.options(c, path)
	if err != nil {
		return err
	}
	return o.report(c, []*state.Result{state.Delete(ctx, opt, namespaces)})
}

func newStatePrune() verb {
	return verb{
		use: "prune PATH... [NS...]", short: "Drop what is provably dead",
		doc: `Drop what is certainly unused by the extensions' own rules: Auto-Recap's pending
operations older than --older-than, versions of the running recap whose scene
no longer has a recap, Auto-Illustrator's prompts for messages beyond the end,
images without a prompt, and commits in Luker's floor logs that are invalid or
beyond the end.

Arguments that end in .jsonl or .png are PATHs; the others are namespaces, such
as recap: and illustrator:, and limit the command to these. Prints what was
dropped, and how much.
` + stateChangeDoc, no: "the chat is not as it was expected to be",
		example: "  stchat state prune chat.jsonl --dry-run\n  stchat state prune chats/Mira/*.jsonl recap: --older-than 48h",
		options: &statePruneOptions{},
	}
}

type statePruneOptions struct {
	listFlags
	stateFlags
	olderThan time.Duration
}

func (o *statePruneOptions) addFlags(fs *pflag.FlagSet) {
	fs.DurationVar(&o.olderThan, "older-than", 24*time.Hour, "drop pending operations that were noted longer ago than `AGE`, such as 48h")
	o.listFlags.addFlags(fs)
	o.stateFlags.addFlags(fs)
}

func (o *statePruneOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	var named, namespaces []string
	for _, arg := range args {
		if paths, err := c.isSubject(o.Data, arg); err != nil {
			return err
		} else if len(paths) > 0 {
			named = append(named, paths...)
		} else if state.IsCard(arg) {
			named = append(named, arg)
		} else {
			namespaces = append(namespaces, arg)
		}
	}
	paths, err := o.chats(ctx, c, named, "name a chat, e.g. `stchat state prune chat.jsonl`")
	if err != nil {
		return err
	}
	if o.olderThan < 0 {
		return usagef("--older-than is an age such as 48h, not %s", o.olderThan)
	}
	opt := state.PruneOptions{Paths: paths, Namespaces: namespaces, OlderThan: o.olderThan}
	if len(paths) == 0 {
		return nil
	}
	if opt.Options, err = o.options(c, paths[0]); err != nil {
		return err
	}
	results, err := state.Prune(ctx, opt)
	if err != nil {
		return stateUsage(err)
	}
	if !c.json {
		for _, r := range results {
			for _, gone := range r.Doc.Removed {
				if r.Err == nil {
					c.row(c.path(r.Doc.Path), strconv.Itoa(gone.Count), gone.What)
				}
			}
		}
	}
	return o.report(c, results)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
)

// cutOptions are the flags that checkpoint and branch share.
type cutOptions struct {
	kind      names.Kind
	at        int
	name      string
	naming    string
	output    string
	edits     []meta.Edit
	merge     string
	replace   string
	integrity string
	mainChat  string
	swipe     int
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
	noSync    bool
	dryRun    bool
	json      bool
}

func (o *cutOptions) addFlags(fs *pflag.FlagSet) {
	fs.IntVarP(&o.at, "at", "a", -1, "last `MESSAGE` kept, from 0; -1 is the last one, -2 the one before")
	fs.StringVarP(&o.name, "name", "n", "", "`NAME` of the "+o.kind.String()+"; with --output only the label of a cloned lorebook")
	fs.StringVar(&o.naming, "naming", names.Suffix.String(), "how the file is named: `STYLE` is "+strings.Join(names.Styles(), ", "))
	fs.StringVarP(&o.output, "output", "o", "", "write this .jsonl `PATH` instead, or - for stdout; one CHAT only")
	fs.Var(editFlag{&o.edits, parseSet}, "set", "put `KEY=VALUE` into the metadata; VALUE is JSON if it parses as JSON, else a string")
	fs.Var(editFlag{&o.edits, parseSetString}, "set-string", "put `KEY=VALUE` into the metadata; VALUE is always a string")
	fs.Var(editFlag{&o.edits, parseUnset}, "unset", "remove `KEY` from the metadata")
	fs.StringVar(&o.merge, "merge", "", "merge the JSON object in `FILE` into the metadata; - is stdin")
	fs.StringVar(&o.replace, "replace", "", "put the JSON object in `FILE` in place of the metadata; - is stdin")
	fs.StringVar(&o.integrity, "integrity", ops.IntegrityNew, "slug of the new chat: `SLUG` is new, keep, none or a UUID")
	fs.StringVar(&o.mainChat, "main-chat", "", "`NAME` of the parent instead of the source's; empty removes it")
	fs.BoolVar(&o.link, "link", false, "also note the new chat in the source, on message N")
	fs.BoolVar(&o.bump, "bump-integrity", false, "with --link: give the source a new slug, so that an open tab is stopped instead of overwriting it")
	fs.StringVar(&o.lorebook, "lorebook", ops.LorebookShare, "`HOW` the chat's lorebook is taken: share, clone, or snapshot (as of the nearest scene break)")
	fs.StringVar(&o.internal, "internal", "drop", "extension-internal entries in a cloned lorebook: `HOW` is drop, keep or reset")
	fs.StringArrayVar(&o.drop, "drop", nil, "leave entries out of a cloned lorebook whose comment matches `GLOB`")
	fs.BoolVar(&o.isolate, "isolate", false, "share nothing that changes: clone the lorebook, extension state as it was at message N")
	fs.StringSliceVar(&o.require, "require", nil, "refuse unless `LIST` holds at message N: queue-empty, scene-break, scene-recap, running-recap, or auto-recap for all")
	fs.StringVar(&o.data, "data", "", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	fs.BoolVar(&o.noGroup, "no-group", false, "do not touch the group file")
	fs.BoolVar(&o.skip, "skip-damaged", false, "leave damaged lines out instead of refusing the chat")
	fs.BoolVar(&o.force, "force", false, "replace a "+o.kind.String()+" that was made from this source before; with --output any file")
	fs.BoolVar(&o.noSync, "no-sync", false, "do not force data to disk: faster on copies, not safe against power loss")
	fs.BoolVar(&o.dryRun, "dry-run", false, "do everything but write; say what would be written")
	fs.BoolVar(&o.json, "json", false, "one JSON document a chat instead of paths")
}

// editFlag collects --set, --set-string and --unset in the order given.
type editFlag struct {
	edits *[]meta.Edit
	parse func(string) (meta.Edit, error)
}

func (f editFlag) String() string { return "" }
func (f editFlag) Type() string   { return "string" }

// Set implements pflag.Value.
func (f editFlag) Set(s string) error {
	e, err := f.parse(s)
	if err != nil {
		return err
	}
	switch e.Key {
	case "main_chat":
		return errors.New("main_chat has a flag of its own: --main-chat")
	case "integrity":
		return errors.New("integrity has a flag of its own: --integrity")
	}
	*f.edits = append(*f.edits, e)
	return nil
}

func parseSet(s string) (meta.Edit, error)       { return parsePair(s, meta.ParseValue) }
func parseSetString(s string) (meta.Edit, error) { return parsePair(s, rawjson.Quote) }

func parsePair(s string, parse func(string) []byte) (meta.Edit, error) {
	key, value, ok := strings.Cut(s, "=")
	if !ok {
		return meta.Edit{}, errors.New("KEY=VALUE has no =")
	}
	return meta.Edit{Op: meta.Set, Key: key, Value: parse(value)}, nil
}

func parseUnset(s string) (meta.Edit, error) { return meta.Edit{Op: meta.Unset, Key: s}, nil }

// options turns the flags into what ops takes; what does not fit together is
// wrong usage.
func (o *cutOptions) options(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) (ops.CutOptions, error) {
	opt := ops.CutOptions{
		Kind: o.kind, Sources: args, At: o.at, Name: o.name, Output: o.output,
		Edits: o.edits, Integrity: o.integrity, Swipe: o.swipe, Link: o.link, BumpIntegrity: o.bump,
		Data: o.data, NoGroup: o.noGroup, SkipDamaged: o.skip, Force: o.force, NoSync: o.noSync, DryRun: o.dryRun,
		Again: o.again(fs),
		Stdin: a.In, Stdout: a.Out, Now: a.Now(), NewUUID: uuid.NewString,
	}
	if err := o.checkPaths(fs, args); err != nil {
		return opt, err
	}
	var err error
	if opt.Style, err = names.ParseStyle(o.naming); err != nil {
		return opt, usagef("--naming: %v", err)
	}
	switch o.integrity {
	case ops.IntegrityNew, ops.IntegrityKeep, ops.IntegrityNone:
	default:
		if _, err := uuid.Parse(o.integrity); err != nil || len(o.integrity) != 36 {
			return opt, usagef("--integrity is new, keep, none or a UUID, not %q", o.integrity)
		}
	}
	if fs.Changed("main-chat") {
		opt.MainChat = &o.mainChat
	}
	if fs.Changed("swipe") && o.swipe < 0 {
		return opt, usagef("--swipe counts from 0")
	}
	if o.bump && !o.link {
		return opt, usagef("--bump-integrity goes with --link: nothing else writes the source")
	}
	if opt.State, err = o.state(fs); err != nil {
		return opt, err
	}
	opt.With, opt.Replace, err = o.with(ctx, a, args)
	return opt, err
}

// again gives the flags that make the same chat of the same message again, less
// those that ops knows best: place, name, message and slug.
func (o *cutOptions) again(fs *pflag.FlagSet) []string {
	var flags []string
	fs.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "main-chat", "merge", "replace", "swipe", "lorebook", "internal", "data":
			flags = append(flags, "--"+f.Name, f.Value.String())
		case "isolate", "bump-integrity", "no-group", "skip-damaged", "no-sync":
			if f.Value.String() == "true" {
				flags = append(flags, "--"+f.Name)
			}
		}
	})
	for _, glob := range o.drop {
		flags = append(flags, "--drop", glob)
	}
	for _, e := range o.edits {
		if e.Op == meta.Unset {
			flags = append(flags, "--unset", e.Key)
		} else {
			flags = append(flags, "--set", e.Key+"="+string(e.Value))
		}
	}
	return flags
}

// checkPaths refuses sources and outputs that do not go together.
func (o *cutOptions) checkPaths(fs *pflag.FlagSet, args []string) error {
	for _, f := range []struct{ name, value string }{
		{"name", o.name},
		{"output", o.output},
		{"merge", o.merge},
		{"replace", o.replace},
		{"data", o.data},
		{"require", strings.Join(o.require, ",")},
	} {
		// as a script gives it whose variable is not set: not to be passed over
		if fs.Changed(f.name) && f.value == "" {
			return usagef("--%s is empty", f.name)
		}
	}
	stdin := slices.Contains(args, chat.Stdin)
	switch {
	case slices.Contains(args, ""):
		return usagef("CHAT is empty")
	case o.output != "" && len(args) > 1:
		return usagef("--output takes one CHAT, not %d", len(args))
	case stdin && o.output == "":
		return usagef("a chat from stdin needs --output")
	case o.output != "" && o.output != ops.Stdout && filepath.Ext(o.output) != ".jsonl":
		return usagef("--output must end in .jsonl: %q", o.output)
	case filepath.Base(o.output) == ".jsonl":
		return usagef("--output has no name before .jsonl: %q", o.output)
	case o.output == ops.Stdout && o.json:
		return usagef("--json and --output - both write to stdout")
	case o.output == ops.Stdout && o.link:
		return usagef("--link needs the new chat beside its source, not on stdout")
	case stdin && o.link:
		return usagef("--link needs a source that is a file")
	}
	return nil
}

// with reads the object of --merge or --replace.
func (o *cutOptions) with(ctx context.Context, a *app, args []string) (object []byte, replace bool, err error) {
	path, flag := o.merge, "--merge"
	if o.replace != "" {
		path, flag, replace = o.replace, "--replace", true
		if o.merge != "" {
			return nil, false, usagef("--merge and --replace exclude each other")
		}
	}
	if path == "" {
		return nil, false, nil
	}
	var data []byte
	if path == chat.Stdin {
		if slices.Contains(args, chat.Stdin) {
			return nil, false, usagef("stdin is CHAT already; %s needs a file", flag)
		}
		path = "standard input"
		data, err = readAll(ctx, func() ([]byte, error) { return io.ReadAll(a.In) })
	} else {
		data, err = readAll(ctx, func() ([]byte, error) { return os.ReadFile(path) })
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", flag, err)
	}
	if d := jsonl.Check(data); d != nil {
		return nil, false, fmt.Errorf("%s: %w", flag, &jsonl.LineError{Path: path, Damage: *d})
	}
	if rawjson.KindOf(data) != rawjson.ObjectKind {
		return nil, false, fmt.Errorf("%s: %s: not a JSON object", flag, path)
	}
	return data, replace, nil
}

// readAll reads what may be a terminal or a pipe, for which an interruption does
// not wait.
func readAll(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type content struct {
		data []byte
		err  error
	}
	done := make(chan content, 1)
	go func() {
		data, err := read()
		done <- content{data, err}
	}()
	select {
	case c := <-done:
		return c.data, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// runCut makes the checkpoints or branches and tells about them.
func (o *cutOptions) runCut(ctx context.Context, a *app, cmd *cobra.Command, args []string) error {
	opt, err := o.options(ctx, a, cmd.Flags(), args)
	if err != nil {
		return err
	}
	c := a.console()
	meter, stop := c.meter(o.kind.String(), o.json)
	opt.Meter = meter
	results, err := ops.Cut(ctx, opt)
	stop()
	if err != nil {
		return err
	}
	return o.tell(c, results)
}

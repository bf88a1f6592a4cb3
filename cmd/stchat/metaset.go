package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/ops/edit"
)

const metaSetDoc = `Change the metadata of every chat in the PATHs that meets all --where
conditions. Only the header line changes. Prints the paths of the chats that
changed.

Changes are made in this order: --replace, --merge, --merge-patch, --patch,
--set, --unset. Only --main-chat and --integrity change main_chat and integrity:
the other flags skip these two keys, and --replace keeps them.

A --where condition is KEY (the key exists), !KEY (it does not), KEY=VALUE or
KEY!=VALUE (compared as JSON values), or KEY~GLOB (a text that matches).
` + inPlaceDoc

const metaSetExample = `  stchat meta set chat.jsonl --set note_depth=4
  stchat meta set chats --where world_info=Old --set world_info=New
  stchat diff-meta a.jsonl b.jsonl --format patch > p
  stchat meta set a.jsonl --patch p`

func newMetaSet(*app) verb {
	o := &metaSetOptions{}
	return verb{
		use: "set PATH...", short: "Change metadata",
		doc: metaSetDoc, no: "no chat meets --where, or a test or --expect-… fails",
		example: metaSetExample,
		flags:   o.addFlags, run: o.run,
	}
}

type metaSetOptions struct {
	valueFlags
	inPlaceFlags
	mainChat, integrity string
	where               []string
}

func (o *metaSetOptions) addFlags(fs *pflag.FlagSet) {
	o.own = ownFlag
	o.valueFlags.addFlags(fs)
	fs.StringVar(&o.mainChat, "main-chat", "", "`NAME` of the parent; empty removes it")
	fs.Var(filled(&o.integrity), "integrity", "the slug: `SLUG` is new, none or a UUID")
	fs.StringArrayVar(&o.where, "where", nil, "only chats that meet `CONDITION`; may be repeated")
	o.addManyFlags(fs, "")
}

func (o *metaSetOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	opt := edit.MetaOptions{Integrity: o.integrity}
	var err error
	if opt.Values, err = o.changes(ctx, a, o.filesFrom == chat.Stdin); err != nil {
		return err
	}
	for _, text := range o.where {
		c, err := edit.ParseCondition(text)
		if err != nil {
			return usagef("--where %q: %v", text, err)
		}
		opt.Where = append(opt.Where, c)
	}
	if fs.Changed("main-chat") {
		opt.MainChat = &o.mainChat
	}
	switch {
	case opt.Values.Empty() && opt.MainChat == nil && opt.Integrity == "":
		return usagef("say what to change, e.g. --set note_depth=4")
	case opt.Integrity != "" && !slices.Contains([]string{edit.IntegrityNew, edit.IntegrityNone}, opt.Integrity) && !isUUID(opt.Integrity):
		return usagef("--integrity is new, none or a UUID, not %q", opt.Integrity)
	}
	if opt.Integrity != "" && o.bump {
		return usagef("--bump-integrity and --integrity exclude each other")
	}
	if opt.Options, err = o.walk(ctx, a, args, "name a chat, a folder or your user folder, e.g. `stchat meta set chat.jsonl --set note_depth=4`"); err != nil {
		return err
	}
	c := a.console()
	return o.tellMany(c, edit.SetMeta(ctx, opt), func(r *edit.Result) error {
		if r.Doc.Unchanged {
			return nil
		}
		_, err := fmt.Fprintln(c.Out, c.path(r.Doc.Path))
		return err
	})
}

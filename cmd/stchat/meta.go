package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/ops/edit"
	"stchat/internal/ops/look"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
	"stchat/internal/visible"
)

func newMeta() verb {
	return verb{
		use: "meta COMMAND", short: "Read and edit the metadata of chats",
		doc: `Read and edit chat_metadata: what SillyTavern and extensions keep about a chat.

See 'stchat meta COMMAND --help' for each command, and 'stchat diff-meta' for
what differs between two chats.`, no: "there is no such value",
		example: "  stchat meta get chat.jsonl --value world_info",
		below: []named{
			{"get", "", newMetaGet},
			{"set", "", newMetaSet},
		},
	}
}

func newMetaGet() verb {
	return verb{
		use: "get CHAT... [KEY...]", short: "Print metadata, or some values of it",
		doc: `Print the metadata of chats as it is stored, on one line.

Arguments that end in .jsonl, and -, are chats; all others, and everything after
--, are keys. If you name keys, an object with those that exist is printed. A
key that begins with / is a JSON pointer (RFC 6901), any other is one literal
key. --value prints one value by itself, a string without its quotes.

With several chats, and with --json, there is one document per line. The
metadata of a group chat of the old layout comes from its group file.
`, no: "there is no value under the KEY of --value",
		example: `  stchat meta get "chats/Mira/Harbour.jsonl"
  stchat meta get chat.jsonl main_chat world_info
  stchat meta get chat.jsonl --value /timedWorldInfo/sticky
  stchat meta get chats/Mira/*.jsonl integrity`,
		pages:   everything,
		options: &metaGetOptions{},
	}
}

type metaGetOptions struct {
	listFlags
	value string
	data  string
}

func (o *metaGetOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.value, "value", "", "print the value of this `KEY` alone")
	o.listFlags.addFlags(fs)
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	fs.Bool("json", false, "print JSON documents, one per line")
}

func (o *metaGetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	var named, keys []string
	if at := fs.ArgsLenAtDash(); at >= 0 {
		args, keys = args[:at], args[at:]
	}
	for _, arg := range args {
		if paths, err := c.isSubject(o.data, arg); err != nil {
			return err
		} else if len(paths) > 0 {
			named = append(named, paths...)
		} else {
			keys = append(keys, arg)
		}
	}
	paths, err := o.chats(ctx, c, named, "name a chat, e.g. `stchat meta get chat.jsonl`")
	if err != nil {
		return err
	}
	one := fs.Changed("value")
	if one {
		if len(keys) > 0 {
			return usagef("--value takes one key, and %q is another", keys[0])
		}
		keys = []string{o.value}
	}
	for _, key := range keys {
		if _, err := patch.ParseKey(key); err != nil {
			return usagef("%v", err)
		}
	}
	if slices.Contains(keys, "") && !one {
		return usagef("a key is empty; --value takes that one too")
	}
	open := chat.Options{Data: userFolder(c, o.data, paths), Stdin: c.In}
	failed, absent := false, false
	for _, path := range paths {
		m, err := look.MetadataOf(ctx, path, open, keys)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failed = true
			c.failed(path, err)
		case one && m.Value(o.value) == nil:
			absent = true
		case c.json, len(paths) > 1 && !one:
			c.document(m)
		default:
			value := m.Metadata
			if one {
				value = m.Value(o.value)
			} else if len(keys) > 0 {
				value = m.Values
			}
			if text, ok := indented(value, c.outColor); ok && c.shown && len(paths) == 1 {
				fmt.Fprintln(c.w, text)
			} else {
				printValue(c, value)
			}
		}
		if err := c.printed(); err != nil {
			return err
		}
	}
	return outcome(failed, absent)
}

// printValue prints one JSON value on a line, a string without its quotes: in a pipe as it
// is stored, on a terminal with hidden characters as escapes.
func printValue(c *console, raw []byte) {
	text, ok := rawjson.Unquote(raw)
	switch {
	case ok:
	case bytes.ContainsAny(raw, "\r\n"):
		text = string(rawjson.Compact(raw))
	default:
		text = string(raw)
	}
	c.line(text)
}

// indented returns an object or a list as a person reads it, with the keys painted; ok is
// false for any other value.
func indented(raw []byte, color bool) (text string, ok bool) {
	var b bytes.Buffer
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || !bytes.ContainsAny(raw[:1], "{[") || json.Indent(&b, visible.JSON(raw), "", "  ") != nil {
		return "", false
	}
	if !color {
		return b.String(), true
	}
	key := regexp.MustCompile(`(?m)^( *)("(?:[^"\\]|\\.)*")(: )`)
	return key.ReplaceAllString(b.String(), "${1}"+paint(true, cyan, "${2}")+"${3}"), true
}

func newMetaSet() verb {
	return verb{
		use: "set PATH...", short: "Change metadata",
		doc: `Change the metadata of every chat in the PATHs that meets all --where
conditions. Only the header line changes. Prints the paths of the chats that
changed.

Changes are made in this order: --replace, --merge, --merge-patch, --patch,
--set, --unset. Only --main-chat and --integrity change main_chat and integrity:
the other flags skip these two keys, and --replace keeps them.

A --where condition is KEY (the key exists), !KEY (it does not), KEY=VALUE or
KEY!=VALUE (compared as JSON values), or KEY~GLOB (a text that matches).
` + inPlaceDoc, no: "no chat meets --where, or a test or --expect-… fails",
		example: `  stchat meta set chat.jsonl --set note_depth=4
  stchat meta set chats --where world_info=Old --set world_info=New
  stchat diff-meta a.jsonl b.jsonl --format patch > p
  stchat meta set a.jsonl --patch p`,
		means:   edits(),
		rules:   []string{"bump-integrity excludes integrity"},
		options: &metaSetOptions{},
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

func (o *metaSetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	opt := edit.MetaOptions{Integrity: o.integrity}
	var err error
	if opt.Values, err = o.changes(ctx, c, o.filesFrom == chat.Stdin); err != nil {
		return err
	}
	for _, text := range o.where {
		condition, err := edit.ParseCondition(text)
		if err != nil {
			return usagef("--where %q: %v", text, err)
		}
		opt.Where = append(opt.Where, condition)
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
	if opt.Options, err = o.walk(ctx, c, args, "name a chat, a folder or your user folder, e.g. `stchat meta set chat.jsonl --set note_depth=4`"); err != nil {
		return err
	}
	return o.reportMany(c, edit.SetMeta(ctx, opt), func(r *edit.Result) {
		if !r.Doc.Unchanged {
			c.made(r.Doc.Path)
		}
	})
}

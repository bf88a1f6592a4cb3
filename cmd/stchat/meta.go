package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/metadiff"
	"stchat/internal/ops"
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

Arguments that end in .jsonl, paths that exist, OWNER/NAME and - are chats; all
others, and everything after --, are keys. With keys an object of those that
exist is printed. A key that begins with / is a JSON pointer (RFC 6901), any
other is one literal key. --value prints one value, a string without its quotes.

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
	before, behind := args, []string(nil)
	if at := fs.ArgsLenAtDash(); at >= 0 {
		before, behind = args[:at], args[at:]
	}
	named, keys, err := c.amongWords(&o.listFlags, o.data, before, false)
	if err != nil {
		return err
	}
	keys = slices.Concat(behind, keys)
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
	open := chat.Options{Data: userFolder(c, o.data, paths), Stdin: c.In}
	absent := false
	for _, path := range paths {
		m, err := look.MetadataOf(ctx, path, open, keys)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.failed(path, withHint(err, editHints()))
		case one && m.Value(o.value) == nil:
			absent = true
			c.note("%s: there is no value under %q", chat.Label(path), o.value)
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
	return c.outcome(absent)
}

// printValue prints one JSON value on a line, a string without its quotes: in a pipe as it
// is stored, on a terminal with hidden characters as escapes.
func printValue(c *console, raw []byte) {
	text, ok := rawjson.Unquote(raw)
	if !ok && bytes.ContainsAny(raw, "\r\n") {
		raw = rawjson.Compact(raw)
	}
	c.line(either(ok, text, string(raw)))
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
the other flags skip these two keys, and --replace keeps them. What SillyTavern
keeps as text (scenario, note_prompt, world_info and others) --set takes as
text, whatever VALUE looks like.

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
	opt      edit.MetaOptions
	mainChat string
}

// condition parses a condition of --where.
func condition(text string) (edit.Condition, error) {
	c, err := edit.ParseCondition(text)
	if err != nil {
		err = refusal(fmt.Sprintf("%q: %v", text, err))
	}
	return c, err
}

func (o *metaSetOptions) addFlags(fs *pflag.FlagSet) {
	o.own, o.metadata = ownFlag, true
	o.valueFlags.addFlags(fs)
	fs.StringVar(&o.mainChat, "main-chat", "", "`NAME` of the parent; empty removes it")
	fs.Var(slug(&o.opt.Integrity, edit.IntegrityNew, edit.IntegrityNone).notEmpty(), "integrity", "the slug: `SLUG` is new, none or a UUID")
	fs.Var(parsed(condition, func(c edit.Condition) { o.opt.Where = append(o.opt.Where, c) }), "where", "only chats that meet `CONDITION`; may be repeated")
	o.addManyFlags(fs, "")
}

func (o *metaSetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	opt := o.opt
	var err error
	if opt.Values, err = o.changes(ctx, c, o.filesFrom == chat.Stdin); err != nil {
		return err
	}
	opt.MainChat = parentGiven(fs, &o.mainChat)
	if opt.Values.Empty() && opt.MainChat == nil && opt.Integrity == "" {
		return usagef("say what to change, e.g. --set note_depth=4")
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

func newDiffMeta() verb {
	return verb{
		use: "diff-meta A B", short: "Compare the metadata of two chats",
		doc: `Compare the metadata of two chats as SillyTavern would load it: chat_metadata of
their headers, or for a group chat without one what its group file keeps. Only
the headers are read. A or B may be -, standard input.

Values compare exactly: keys in any order, the last of repeated keys, strings
decoded, numbers as decimals (1.0 is 1, 9007199254740993 is not ...992).

--ignore and --only take top-level keys of the metadata. A KEY that A or B has
means that key; any other is a glob with *, ? and [a-z].

Formats: text for people, long values cut around the difference; json, described
in docs/json.md; patch, a JSON Patch (RFC 6902), and merge-patch, a JSON Merge
Patch (RFC 7386), each of which applied to A's metadata gives B's. A merge patch
cannot put an explicit null anywhere: where B needs one, that is an error.
`, no: "the metadata differs",
		example: `  stchat diff-meta Harbour.jsonl "Harbour__before the storm.jsonl"
  stchat diff-meta A.jsonl B.jsonl --ignore integrity --ignore 'auto_*'
  stchat diff-meta A.jsonl B.jsonl --only variables --format patch
  git show HEAD:chat.jsonl | stchat diff-meta - chat.jsonl`,
		args:    cobra.ExactArgs(2),
		rules:   []string{"format excludes json"},
		means:   &subjects{chats: true, all: true},
		pages:   everything,
		options: &diffMetaOptions{},
	}
}

type diffMetaOptions struct {
	format string
	sel    metadiff.Selection
}

func (o *diffMetaOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(oneOf(&o.format, "text", "text", "json", "patch", "merge-patch"), "format", "`FORMAT` of the output: text, json, patch or merge-patch")
	fs.Bool("json", false, "the same as --format json")
	fs.StringArrayVar(&o.sel.Ignore, "ignore", nil, "leave the metadata key `KEY` out, or those that match it as a glob (repeatable)")
	fs.StringArrayVar(&o.sel.Only, "only", nil, "compare only the metadata key `KEY`, or those that match it as a glob (repeatable)")
}

func (o *diffMetaOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	if c.json {
		o.format = "json"
	}
	c.json = o.format == "json"
	d, err := ops.DiffMeta(ctx, ops.DiffMetaOptions{A: args[0], B: args[1], Stdin: c.In, Select: o.sel})
	if err != nil {
		return err
	}
	c.warns(d.Warnings)
	switch o.format {
	case "json":
		c.document(d)
	case "patch":
		c.w.Write(append(visible.JSON(d.Diff.Patch()), '\n'))
	case "merge-patch":
		patch, err := d.Diff.MergePatch()
		if null, ok := errors.AsType[*metadiff.NullError](err); ok {
			return fmt.Errorf("%s: %w; use --format patch", d.LabelB, null)
		} else if err != nil {
			return err
		}
		c.w.Write(append(visible.JSON(patch), '\n'))
	default:
		writeChanges(c, d)
		if d.Equal && c.shown {
			c.note("the metadata is equal")
		}
	}
	return outcome(false, !d.Equal)
}

// longValue is about how many characters of a value are shown, around what differs.
const longValue = 120

// writeChanges writes the changes for a person: each path with its old and new value,
// and at the end what the changes mean.
func writeChanges(c *console, d *ops.MetaDiff) {
	if d.Equal {
		return
	}
	c.diffHead(d.LabelA, d.LabelB, "")
	n := map[metadiff.Op]int{}
	for _, change := range d.Changes {
		n[change.Op]++
		sign := map[metadiff.Op][2]string{metadiff.Add: {"+ ", green}, metadiff.Remove: {"- ", red}, metadiff.Replace: {"~ ", cyan}}[change.Op]
		c.hung(sign[1], sign[0], visible.Text(change.Path))
		from, to := metadiff.Excerpts(string(change.From), string(change.To), longValue)
		c.diffSides("    - ", "    + ", either(change.Op != metadiff.Add, &from, nil), either(change.Op != metadiff.Remove, &to, nil))
	}
	c.row()
	c.row(c.prose(fmt.Sprintf("%d changed, %d added, %d removed", n[metadiff.Replace], n[metadiff.Add], n[metadiff.Remove]), ""))
	for _, meaning := range d.Meanings {
		c.row(c.prose(visible.Text(meaning), "  "))
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/json/metadiff"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/ops/look"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newMeta() verb {
	return verb{
		use: "meta COMMAND", short: "Read and edit the metadata of chats",
		doc: `Read and edit chat_metadata: what SillyTavern and extensions keep about a chat.
See 'stchat meta COMMAND --help' for each command, and 'stchat diff-meta' for
what differs between two chats.`, no: "there is no such value",
		also: "state, diff-meta, edit",
		example: `  stchat meta get Mira/Harbour lorebook
  stchat meta set Mira/Harbour note="Be brief."
  stchat meta set chats lorebook=New --where lorebook=Old`,
		below: []named{
			{"get", "", newMetaGet},
			{"set", "", newMetaSet},
		},
	}
}

func newMetaGet() verb {
	return verb{
		use: "get CHAT... [KEY...]", short: "Print metadata, or some values of it",
		doc: `One KEY of one chat prints its value, text without quotes; several print an
object of those that exist, and none the metadata as it is stored. note and
lorebook stand for note_prompt and world_info; a KEY that begins with / is a
JSON pointer (RFC 6901). What is behind -- is a KEY.
`, no: "the one KEY of the one chat is not there",
		also: "meta set, diff-meta, inspect",
		example: `  stchat meta get Mira/Harbour
  stchat meta get Mira/Harbour lorebook
  stchat meta get "Mira/*" main_chat integrity`,
		pages:   everything,
		options: &metaGetOptions{},
	}
}

type metaGetOptions struct{ listFlags }

func (o *metaGetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	before, behind := args, []string(nil)
	if at := fs.ArgsLenAtDash(); at >= 0 {
		before, behind = args[:at], args[at:]
	}
	c.means = reads()
	named, words, err := c.amongWords(&o.listFlags, before)
	if err != nil {
		return err
	}
	var keys []string
	for _, word := range slices.Concat(behind, words) {
		if _, err := patch.ParseKey(word); err != nil {
			return usagef("%v", err)
		}
		keys = append(keys, metadataKey(word))
	}

	paths, err := o.chats(ctx, c, named, "name a chat, e.g. `stchat meta get Mira/Harbour`")
	if err != nil {
		return err
	}

	open := chat.Options{Data: userFolder(c, paths), Stdin: c.In}
	one := len(keys) == 1 && len(paths) == 1
	absent := false
	found := len(keys) == 0 // one of the keys, in one of the chats
	for _, path := range paths {
		m, err := look.MetadataOf(ctx, path, open, keys)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.failed(path, withHint(err, editHints()))
		case one && m.Value(keys[0]) == nil:
			absent = true
			c.note("%s: no %q in the metadata", chat.Label(path), keys[0])
		case c.json, len(paths) > 1:
			found = found || hasAny(m, keys)
			c.document(m)
		default:
			printMetadata(c, m, keys)
		}
		if err := c.printed(); err != nil {
			return err
		}
	}
	if isNowhere := len(paths) > 1 && !found && !c.erred; isNowhere && c.tells() {
		c.note("no \"%s\" in the metadata of these chats", strings.Join(keys, "\" or \""))
	}
	return c.outcome(absent)
}

// hasAny reports whether the metadata has one of several keys.
func hasAny(m *look.Metadata, keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return m.Value(key) != nil })
}

// printMetadata prints the metadata of the only chat, or the values of keys.
func printMetadata(c *console, m *look.Metadata, keys []string) {
	value := m.Metadata
	if len(keys) > 0 {
		value = m.Values
	}
	if len(keys) == 1 {
		value = m.Value(keys[0])
	}
	if text, ok := indented(value, c.outColor); ok && c.shown {
		fmt.Fprintln(c.w, text)
		return
	}
	printValue(c, value)
}

// printValue prints one JSON value on a line, a string without its quotes: in a pipe as it
// is stored, on a terminal with hidden characters as escapes.
func printValue(c *console, raw []byte) {
	if text, ok := rawjson.Unquote(raw); ok {
		c.line(text)
		return
	}
	if bytes.ContainsAny(raw, "\r\n") {
		raw = rawjson.Compact(raw)
	}
	c.line(string(raw))
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
		writes: true,
		use:    "set PATH... [KEY=VALUE...]", short: "Change metadata",
		doc: `The metadata of every chat in the PATHs that meets all --where conditions
changes; nothing but the header line does. note and lorebook stand for
note_prompt and world_info; /note is the key of that name itself.

A condition of --where is KEY (it exists), !KEY (it does not), KEY=VALUE or
KEY!=VALUE (compared as JSON values), or KEY~GLOB (a text that matches).
`, no: "no chat meets --where, or a test or --expect fails",
		also: "meta get, clone-lorebook, undo",
		example: `  stchat meta set Mira/Harbour note="Be brief."
  stchat meta set chats lorebook=New --where lorebook=Old
  stchat meta set Mira/@ --unset main_chat`,
		options: &metaSetOptions{},
	}
}

type metaSetOptions struct {
	valueFlags
	inPlaceFlags
	opt edit.MetaOptions
}

// condition parses a condition of --where.
func condition(text string) (ops.Condition, error) {
	negated := strings.HasPrefix(text, "!")
	key := strings.TrimPrefix(text, "!")
	if end := strings.IndexAny(key, "!=~"); end >= 0 {
		key = metadataKey(key[:end]) + key[end:]
	} else {
		key = metadataKey(key)
	}

	if negated {
		key = "!" + key
	}
	c, err := ops.ParseCondition(key)
	if err != nil {
		err = refusal(fmt.Sprintf("%q: %v", text, err))
	}
	return c, err
}

func (o *metaSetOptions) addFlags(fs *pflag.FlagSet) {
	o.metadata = true
	o.valueFlags.addFlags(fs)
	fs.Var(parsed(condition, func(c ops.Condition) { o.opt.Where = append(o.opt.Where, c) }).notEmpty(), "where", "only chats that meet `CONDITION`; may be repeated")
	o.addManyFlags(fs, "")
}

func (o *metaSetOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	var named []string
	for _, arg := range args {
		if !isAssignment(arg) {
			named = append(named, arg)
			continue
		}
		if err := o.set(arg); err != nil {
			return usagef("%s: %v", arg, err)
		}
		key, _, _ := strings.Cut(arg, "=")
		c.written[arg] = key + "=…"
	}

	paths, err := c.resolve(edits(), named)
	if err != nil {
		return err
	}
	if !o.given() {
		return usagef("what is to change? e.g. `stchat meta set Mira/Harbour note=\"Be brief.\"`")
	}

	opt := o.opt
	if opt.Values, err = o.changes(ctx, c, o.filesFrom == chat.Stdin); err != nil {
		return err
	}
	opt.MainChat, opt.Integrity = o.mainChat, o.integrity
	if opt.Options, err = o.walk(ctx, c, paths, "meta set Mira/Harbour note=\"Be brief.\""); err != nil {
		return err
	}
	if !uniqueSlug(o.integrity) && len(opt.Chats) > 1 {
		return usagef("integrity=UUID is for one chat, not %d", len(opt.Chats))
	}
	c.words = &editDone{did: "changed", would: "would change", to: "of", metadata: o.keysText()}
	return o.reportMany(c, edit.SetMeta(ctx, opt), func(r *edit.Result) {
		if !r.Doc.Unchanged {
			c.made(r.Doc.Path)
		}
	})
}

// keysText names the key that is set or removed, or counts them; "" where a file may change any.
func (o *metaSetOptions) keysText() string {
	if o.merge+o.patch+o.replace != "" {
		return ""
	}
	var keys []string
	for _, e := range o.edits {
		keys = append(keys, strings.TrimPrefix(e.Path.String(), "/"))
	}
	if o.mainChat != nil {
		keys = append(keys, "main_chat")
	}
	if o.integrity != "" {
		keys = append(keys, "integrity")
	}
	if len(keys) == 1 {
		return keys[0]
	}
	return plural.Many(len(keys), "key")
}

// isAssignment reports whether an argument is KEY=VALUE, and no path.
func isAssignment(arg string) bool {
	key, _, isPair := strings.Cut(arg, "=")
	if !isPair {
		return false
	}
	if _, err := os.Lstat(arg); err == nil {
		return false
	}
	isPointer := strings.HasPrefix(key, "/")
	hasFolder := strings.ContainsAny(key, `/\`)
	return isPointer && !userdir.HasExtension(arg) || !isPointer && !hasFolder
}

func newDiffMeta() verb {
	return verb{
		use: "diff-meta A B", short: "Compare the metadata of two chats",
		doc: `Compare the metadata of two chats as SillyTavern would load it: chat_metadata of
their headers, or for a group chat without one what its group file keeps. A or B
may be -, standard input. Values compare exactly, but for the order of keys. The
formats patch, a JSON Patch (RFC 6902), and merge-patch, a JSON Merge Patch (RFC
7386), make A's metadata B's.
`, more: `Only the headers are read. Of repeated keys the last counts, strings are
decoded, and numbers are decimals (1.0 is 1, 9007199254740993 is not ...992).

--ignore and --only take top-level keys of the metadata. A KEY that A or B has
means that key; any other is a glob with *, ? and [a-z].

Formats: text for people, long values cut around the difference; json, described
in docs/json.md; patch; and merge-patch. A merge patch cannot put an explicit
null anywhere: where B needs one, that is an error.

  git show HEAD:chat.jsonl | stchat diff-meta - chat.jsonl
`, no: "the metadata differs",
		also: "diff, meta get",
		example: `  stchat diff-meta Mira/Harbour "Mira/Harbour - Branch #1"
  stchat diff-meta Mira/Harbour Mira/Lake --ignore integrity --ignore 'auto_*'
  stchat diff-meta Mira/Harbour Mira/Lake --only variables --format patch`,
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
	fs.StringArrayVar(&o.sel.Ignore, "ignore", nil, "leave the metadata key `KEY` out, or those that match it as a glob (repeatable)")
	fs.StringArrayVar(&o.sel.Only, "only", nil, "compare only the metadata key `KEY`, or those that match it as a glob (repeatable)")
}

func (o *diffMetaOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	if c.json {
		o.format = "json"
	}
	c.json = o.format == "json"
	o.sel.Ignore = metadataKeysOf(o.sel.Ignore)
	o.sel.Only = metadataKeysOf(o.sel.Only)
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

// metadataKeysOf is [metadataKey] of several.
func metadataKeysOf(words []string) (keys []string) {
	for _, word := range words {
		key := metadataKey(word)
		keys = append(keys, strings.TrimPrefix(key, "/")) // /note is the key of that name itself
	}
	return keys
}

// longValue is about how many characters of a value are shown, around what differs.
const longValue = 120

// changedKeys writes each key that changed, with its old and new value.
func (c *console) changedKeys(changes []metadiff.Change) {
	for _, change := range changes {
		from, to := metadiff.Excerpts(string(change.From), string(change.To), longValue)
		name := visible.Text(change.Path)
		switch change.Op {
		case metadiff.Add:
			c.hung(green, "+ ", name)
			c.diffSides("    - ", "    + ", nil, &to)
		case metadiff.Remove:
			c.hung(red, "- ", name)
			c.diffSides("    - ", "    + ", &from, nil)
		default:
			c.hung(cyan, "~ ", name)
			c.diffSides("    - ", "    + ", &from, &to)
		}
	}
}

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
	}
	c.changedKeys(d.Changes)
	c.row()
	c.row(c.prose(fmt.Sprintf("%d changed, %d added, %d removed", n[metadiff.Replace], n[metadiff.Add], n[metadiff.Remove]), ""))
	for _, meaning := range d.Meanings {
		c.row(c.prose(visible.Text(meaning), "  "))
	}
}

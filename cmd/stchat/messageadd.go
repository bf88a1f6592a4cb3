package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/ops/edit"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

func newMessageAdd() verb {
	return verb{
		use: "add CHAT [FILE]", short: "Add messages",
		doc: `Add messages to a chat: at the end, or with --at N before message N.

Without --text, FILE or stdin is read: with --role as plain text, else as JSON:
one message, a list of them, or one per line, as 'message get --format raw'
prints them. Objects keep their keys, order and spelling; name, is_user,
is_system and send_date are added where they are missing. One that has the same
extra.gen_id as the chat's last message is not added again.

Prints the indexes of the new messages, one per line.
` + inPlaceDoc, no: "--expect-… fails",
		example: `  stchat message add chat.jsonl --role user --text "Where were we?"
  stchat message get a.jsonl -a 3..9 --format raw | stchat message add b.jsonl
  stchat message add chat.jsonl --at 12 removed.jsonl`,
		args: cobra.RangeArgs(1, 2),
		rules: []string{
			"text needs role = --text goes with --role, and not with a FILE",
			"text excludes ARGS = --text goes with --role, and not with a FILE",
			"name needs role: messages that are read bear their own names",
		},
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &messageAddOptions{},
	}
}

type messageAddOptions struct {
	inPlaceFlags
	at               int
	role, name, text string
}

func addRoles() []string {
	return []string{edit.RoleUser, edit.RoleCharacter, edit.RoleSystem, edit.RoleNarrator, edit.RoleComment}
}

func (o *messageAddOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(number(&o.at, math.MinInt, "a message number such as 23 or -1"), "at", "a", "add before `MESSAGE`; -1 is the last one; default: at the end")
	fs.StringVar(&o.role, "role", "", "make one message with this `ROLE`: "+strings.Join(addRoles(), ", "))
	fs.StringVar(&o.name, "name", "", "`NAME` of who speaks; default: that of the last message of the same role")
	fs.StringVar(&o.text, "text", "", "`TEXT` of the message")
	o.inPlaceFlags.addFlags(fs, "go on where pending work of an extension refers to messages that move")
}

func (o *messageAddOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	common, err := o.options(c, args[:1])
	if err != nil {
		return err
	}
	opt := edit.AddOptions{Options: common, Role: o.role, Name: o.name, Text: o.text}
	if o.role != "" && !slices.Contains(addRoles(), o.role) {
		return usagef("--role is %s, not %q", strings.Join(addRoles(), ", "), o.role)
	}
	if fs.Changed("at") {
		opt.At = &o.at
	}
	if !fs.Changed("text") {
		if err := o.read(ctx, c, args[1:], &opt); err != nil {
			return err
		}
	}
	return o.report(c, edit.Add(ctx, opt), func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Added) })
}

// read reads the messages to add into opt, or with --role the text of one.
func (o *messageAddOptions) read(ctx context.Context, c *console, args []string, opt *edit.AddOptions) error {
	path := chat.Stdin
	if len(args) > 0 {
		path = args[0]
	}
	data, err := readInput(ctx, c, path)
	if err != nil {
		return err
	}
	if o.role != "" {
		opt.Text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
		return nil
	}
	opt.Objects, err = objects(label(path), data)
	return err
}

// objects splits data into JSON objects: one, a list of them, or one per line.
func objects(path string, data []byte) ([][]byte, error) {
	if jsonl.Check(data) == nil {
		if rawjson.KindOf(data) != rawjson.Array {
			return [][]byte{data}, nil
		}
		return slices.Collect(rawjson.Elements(data)), nil
	}
	var list [][]byte
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if d := jsonl.Check(line); d != nil {
			d.Line = number
			return nil, &jsonl.LineError{Path: path, Damage: *d}
		}
		list = append(list, line)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: there is no message in it", path)
	}
	return list, nil
}

func newMessageApply() verb {
	return verb{
		use: "apply CHAT OPS", short: "Make many edits of one chat together",
		doc: `Make many edits of one chat together: all of them or none.

OPS, or - for stdin, holds one JSON object per line. All indexes are those
before the call, whatever the order, so deleting shifts nothing. "at" is a
number, a range such as "3..9", or a list of both.

  {"op":"add","at":12,"message":{…}}          at the end without "at"
  {"op":"set","at":"3..9","set":{"/extra/x":1},"unset":["k"]}
                         also "merge":{…}, "merge_patch":{…}, "patch":[…]
  {"op":"delete","at":[4,"7..9"]}
  {"op":"hide","at":3}   {"op":"unhide","at":3}
  {"op":"swipe","at":5,"choose":1}            or "add":"TEXT", or "delete":2
  {"op":"meta","set":{…},"unset":[…],"merge":{…}}     as set, of the metadata
  {"op":"test","at":5,"sha256":"…"}           of the line; or "value":{…}

With --patch, OPS is one JSON patch (RFC 6902) of the list of messages, whose
operations are applied one after the other: add, remove, replace, test.

Prints the indexes of the messages that were added, one per line.
` + inPlaceDoc, no: "a test or --expect-… fails",
		example: "  stchat message apply chat.jsonl ops.jsonl\n  echo '{\"op\":\"delete\",\"at\":[3,\"7..9\"]}' | stchat message apply chat.jsonl -",
		args:    cobra.ExactArgs(2),
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &messageApplyOptions{},
	}
}

type messageApplyOptions struct {
	inPlaceFlags
	patch bool
}

func (o *messageApplyOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.patch, "patch", false, "OPS is a JSON patch over the list of messages")
	o.inPlaceFlags.addFlags(fs, "go on where pending work of an extension refers to messages that move")
}

func (o *messageApplyOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	common, err := o.options(c, args[:1])
	if err != nil {
		return err
	}
	data, err := readInput(ctx, c, args[1])
	if err != nil {
		return err
	}
	var results []*edit.Result
	if o.patch {
		list, err := patch.ParseOperations(data)
		if err != nil {
			return fmt.Errorf("%s: %w", label(args[1]), err)
		}
		results = edit.ApplyPatch(ctx, edit.PatchOptions{Options: common, Patch: list})
	} else {
		list, err := edit.ReadOperations(ctx, label(args[1]), data)
		if err != nil {
			return err
		}
		results = edit.Apply(ctx, edit.BatchOptions{Options: common, Operations: list})
	}
	return o.report(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Added) })
}

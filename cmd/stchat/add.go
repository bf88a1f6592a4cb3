package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops/edit"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plain"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newAdd() verb {
	return verb{
		writes: true,
		use:    "add CHAT [FILE]", short: "Add messages",
		doc: `Messages are added at the end, or with --at N before message N. Without --text,
FILE or stdin is read: with --role as plain text, else as JSON: one message, a
list of them, or one per line, as 'show --raw' prints them. Objects keep their
keys, order and spelling; name, is_user, is_system and send_date are added where
they are missing. One that has the same extra.gen_id as the chat's last message
is not added again.
`, no: "--expect fails",
		also: "edit, delete, import",
		example: `  stchat add Mira/Harbour --role user --text "Where were we?"
  stchat show Mira/Harbour 3..9 --raw | stchat add Mira/Storm
  stchat add Mira/Harbour --at 12 removed.jsonl`,
		args: cobra.RangeArgs(1, 2),
		rules: []string{
			"text needs role = say who speaks: --role user, or character, system, narrator, comment",
			"text excludes ARGS = --text is the message; leave FILE out",
			"speaker needs role: messages that are read bear their own names",
		},
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &addOptions{},
	}
}

type addOptions struct {
	inPlaceFlags
	at                  oneMessage
	role, speaker, text string
}

func addRoles() []string {
	return []string{edit.RoleUser, edit.RoleCharacter, edit.RoleSystem, edit.RoleNarrator, edit.RoleComment}
}

func (o *addOptions) addFlags(fs *pflag.FlagSet) {
	o.at.addFlag(fs, "add before `MESSAGE`; -1 is the last one; or the name of a checkpoint or branch; default: at the end")
	fs.Var(oneOf(&o.role, "", addRoles()...), "role", "make one message with this `ROLE`: "+strings.Join(addRoles(), ", "))
	fs.Var(notEmptyText(&o.speaker), "speaker", "`NAME` of who speaks; default: that of the last message of the same role")
	fs.StringVar(&o.text, "text", "", "`TEXT` of the message; - is stdin")
	o.inPlaceFlags.addFlags(fs, "go on where pending work of an extension refers to messages that move")
}

func (o *addOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	opt := edit.AddOptions{Options: o.options(c, args[:1]), Role: o.role, Name: o.speaker}
	var err error
	opt.At, err = o.at.in(ctx, fs, args[0])
	if err != nil {
		return err
	}
	if fs.Changed("text") {
		opt.Text, err = textOrStdin(ctx, c, o.text)
	} else {
		err = o.read(ctx, c, args[1:], &opt)
	}
	if err != nil {
		return err
	}
	return o.report(c, edit.Add(ctx, opt), func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Added) })
}

// read reads the messages to add into opt, or with --role the text of one.
func (o *addOptions) read(ctx context.Context, c *console, args []string, opt *edit.AddOptions) error {
	path := slices.Concat(args, []string{chat.Stdin})[0]
	data, err := readInput(ctx, c, path)
	if err != nil {
		return err
	}
	if o.role != "" {
		opt.Text = plain.Text(data)
		return nil
	}
	opt.Objects, err = objects(chat.Label(path), data)
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

package main

import (
	"bufio"
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/ops/look"
	"stchat/internal/patch"
)

const messageGetDoc = `Print messages of a chat; without a choice, all of them.

--format says how:
  text      NAME: TEXT, with a blank line between messages
  markdown  **NAME** · #INDEX · DATE, and the text
  raw       the stored lines, byte for byte: 'message add' takes them
  fields    the values of --fields, separated by tabs, with several chats the
            path first; in strings tab, line feed and backslash are written
            \t, \n and \\

Reading stops after the last message that RANGES can include. With --tail it
starts at the end of the file: what comes before is neither read nor checked,
so indexes are unknown. A damaged line among those read is an error, unless
--skip-damaged leaves it out.
` + choiceDoc

const messageGetExample = `  stchat message get "chats/Mira/Harbour.jsonl" --at 3..9
  stchat message get chat.jsonl --last 2 --tail
  stchat message get chat.jsonl --format markdown --role user > mine.md
  stchat message get chat.jsonl --format fields --fields index,name,/extra/model
  stchat message get chat.jsonl --at 12 --swipes`

func newMessageGet(*app) verb {
	o := &messageGetOptions{}
	return verb{
		use: "get CHAT...", short: "Print messages",
		doc: messageGetDoc, no: "no message was chosen",
		example: messageGetExample,
		flags:   o.addFlags, run: o.run,
	}
}

// messageReadFlags are the flags of the commands that read messages.
type messageReadFlags struct {
	listFlags
	choiceFlags
	data        string
	skipDamaged bool
	json        bool
}

func (o *messageReadFlags) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	o.listFlags.addFlags(fs)
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	fs.BoolVar(&o.skipDamaged, "skip-damaged", false, "leave damaged lines out instead of refusing the chat")
	fs.BoolVar(&o.json, "json", false, "print JSON documents, one per line")
}

// read returns the options for each chat, and the chats.
func (o *messageReadFlags) read(ctx context.Context, a *app, args []string, example string) (look.MessageOptions, []string, error) {
	choice, err := o.choice(a.Now())
	if err != nil {
		return look.MessageOptions{}, nil, err
	}
	paths, err := o.sources(ctx, a, args, "name a chat, e.g. `"+example+"`")
	return look.MessageOptions{
		Choice: choice, SkipDamaged: o.skipDamaged,
		Open: chat.Options{Data: userFolder(a, o.data, paths), Stdin: a.In},
	}, paths, err
}

type messageGetOptions struct {
	messageReadFlags
	format                     string
	fields                     []string
	swipes, reasoning, display bool
	tail                       bool
}

func (o *messageGetOptions) addFlags(fs *pflag.FlagSet) {
	formats := []string{"text", "markdown", "raw", "fields"}
	fs.Var(oneOf(&o.format, "text", formats...), "format", "how messages are printed: `FORMAT` is "+strings.Join(formats, ", "))
	fs.StringSliceVar(&o.fields, "fields", nil, "with --format fields: `LIST` of keys, JSON pointers, path, index, role, words, bytes")
	fs.BoolVar(&o.swipes, "swipes", false, "all swipes: the number of the chosen one, and the others, from 1")
	fs.BoolVar(&o.reasoning, "reasoning", false, "also the reasoning, before the text")
	fs.BoolVar(&o.display, "display", false, "the text as it is displayed, where a translation is stored")
	fs.BoolVar(&o.tail, "tail", false, "read from the end of the file; with --last N or --at -N..-1")
	o.messageReadFlags.addFlags(fs)
}

func (o *messageGetOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	opt, paths, err := o.read(ctx, a, args, "stchat message get chat.jsonl --at 3..9")
	if err != nil {
		return err
	}
	opt.Tail, opt.SwipeTexts = o.tail, o.swipes
	switch {
	case o.tail && !opt.Choice.HasTail():
		return usagef("--tail needs --last N, or --at -N..-1: how much of the end is meant")
	case (o.format == "fields") != (len(o.fields) > 0):
		return usagef("--format fields and --fields LIST go together")
	case o.json && (fs.Changed("format") || o.display):
		return usagef("--json prints whole documents: leave --format and --display out")
	case (o.format == "raw" || o.format == "fields") && (o.swipes || o.reasoning || o.display):
		return usagef("--swipes, --reasoning and --display go with --format text or markdown")
	}
	c := a.console()
	w := bufio.NewWriterSize(c.Out, 64<<10)
	p := &messagePrinter{w: w, o: o, terminal: c.OutTTY, color: c.outColor}
	if len(paths) > 1 && len(o.fields) > 0 && !slices.Contains(o.fields, "path") {
		o.fields = slices.Insert(o.fields, 0, "path")
	}
	if p.fields, err = fieldsOf(o.fields); err != nil {
		return err
	}
	chosen := 0
	failed := false
	for _, path := range paths {
		opt.Path = path
		p.title = ""
		if len(paths) > 1 && !o.json && o.format != "raw" && o.format != "fields" {
			p.title = path
		}
		n, skipped, err := look.Messages(ctx, opt, p.print)
		chosen += n
		c.leftOut(path, skipped, o.skipDamaged)
		if err != nil {
			if ctx.Err() != nil || isClosedPipe(err) {
				return err
			}
			failed = true
			if err := c.failed(w, o.json, path, err); err != nil {
				return err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return outcome(failed, chosen == 0 && len(paths) > 0)
}

// fieldsOf parses the keys of --fields.
func fieldsOf(list []string) ([]field, error) {
	var fields []field
	for _, name := range list {
		path, err := patch.ParseKey(name)
		if err != nil {
			return nil, usagef("--fields: %v", err)
		}
		fields = append(fields, field{name, path})
	}
	return fields, nil
}

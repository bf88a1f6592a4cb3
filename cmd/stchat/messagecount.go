package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"stchat/internal/jsondoc"
	"stchat/internal/ops/look"
)

const messageCountDoc = `Count messages of chats; without a choice, all of them.

Prints a number; for several chats, a line per chat with the number, a tab and
the path.
` + choiceDoc

func newMessageCount(*app) verb {
	o := &messageCountOptions{}
	return verb{
		use: "count CHAT...", short: "Count messages",
		doc: messageCountDoc, no: "messages were asked for that no chat has",
		example: "  stchat message count chat.jsonl\n  stchat message count chats/Mira/*.jsonl --role user --since 2026-03-01",
		flags:   o.addFlags, run: o.run,
	}
}

// messageCount is what message count --json prints.
type messageCount struct {
	Schema   int    `json:"schema"`
	Path     string `json:"path" is:"path"`
	Messages int    `json:"messages"`
}

type messageCountOptions struct{ messageReadFlags }

func (o *messageCountOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	opt, paths, err := o.read(ctx, a, args, "stchat message count chat.jsonl --role user")
	if err != nil {
		return err
	}
	c := a.console()
	failed, chosen := false, 0
	for _, path := range paths {
		opt.Path = path
		n, skipped, err := look.Messages(ctx, opt, nil)
		chosen += n
		c.leftOut(path, skipped, o.skipDamaged)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failed = true
			err = c.failed(c.Out, o.json, path, err)
		case o.json:
			err = jsondoc.Write(c.Out, messageCount{1, path, n}, "")
		case len(paths) > 1:
			_, err = fmt.Fprintf(c.Out, "%d\t%s\n", n, c.path(path))
		default:
			_, err = fmt.Fprintln(c.Out, n)
		}
		if err != nil {
			return err
		}
	}
	return outcome(failed, chosen == 0 && !opt.Choice.All() && len(paths) > 0)
}

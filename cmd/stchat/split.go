package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/cut"
	"stchat/internal/visible"
)

func newSplit() verb {
	return verb{
		use: "split CHAT", short: "Split a long chat into parts",
		doc: `Split a long chat into parts: new chats beside it, each with the messages from
one of the given places to the next. The chat itself stays as it is. --last N
makes a single new chat of its last N messages, to go on in.

The parts are named "CHAT part 1", "CHAT part 2" and so on, or "CHAT last N".
Their main_chat is the chat, and a group lists them. State that refers to
messages by number follows, as when the others are deleted; --no-follow leaves
it as it is in the chat. Links stay where they are: checkpoints and branches
remain the chat's own.

Prints the path of each part.
`,
		example: "  stchat split \"chats/Mira/Harbour.jsonl\" --at 400,900\n  stchat split \"chats/Mira/Harbour.jsonl\" --last 60 -n \"Harbour II\"",
		args:    cobra.ExactArgs(1),
		means:   single(),
		rules:   []string{"at excludes every|last", "every excludes last"},
		options: &splitOptions{},
	}
}

type splitOptions struct {
	opt cut.SplitOptions
	at  string
}

func (o *splitOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&o.at, "at", "a", "", "parts begin at message 0 and at each of `N,M`; below 0 they count from the end")
	fs.Var(number(&o.opt.Every, 1, "a number of messages, from 1"), "every", "each part has `N` messages")
	fs.Var(number(&o.opt.Last, 1, "a number of messages, from 1"), "last", "one new chat of the last `N` messages")
	fs.VarP(filled(&o.opt.Name), "name", "n", "`NAME` of the new chat; of several parts, what their numbers follow")
	fs.Var(oneOf(&o.opt.Lorebook, cut.LorebookShare, cut.LorebookShare, cut.LorebookClone), "lorebook", "what becomes of the lorebook: `HOW` is share or clone")
	fs.BoolVar(&o.opt.NoFollow, "no-follow", false, "leave state that refers to messages by number as it is")
	fs.Var(filled(&o.opt.Data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
		fs.BoolVar(&o.opt.Changes.DryRun, "dry-run", false, "do everything but write, and say what would be written")
		fs.BoolVar(&o.opt.NoGroup, "no-group", false, "do not touch the group file")
		addNoSync(fs, &o.opt.Changes.NoSync)
	})
	fs.Bool("json", false, "print JSON documents instead of paths, one per line")
}

func (o *splitOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) (err error) {
	opt := o.opt
	if o.at != "" {
		for text := range strings.SplitSeq(o.at, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				return usagef("--at takes numbers of messages such as 400,900, not %q", o.at)
			}
			opt.At = append(opt.At, n)
		}
	}
	if opt.At == nil && opt.Every == 0 && opt.Last == 0 {
		return usagef("say where to split: --at N,M, --every N or --last N")
	}
	opt.Chat, opt.Data, opt.NewUUID = args[0], userFolder(c, opt.Data, args), uuid.NewString
	if err = c.changes(&opt.Changes); err != nil {
		return err
	}
	var end func()
	opt.Meter, end = c.meter("splitting", c.json)
	parts, err := cut.Split(ctx, opt)
	end()
	if err != nil {
		return withHint(err, nil)
	}
	how := saying{dryRun: o.opt.Changes.DryRun, no: never}
	of := func(p *cut.Part) (string, *cut.Result) {
		if p.Err == nil {
			remark(c, &p.Doc.Document)
		}
		return opt.Chat, p.Result
	}
	return sayAll(c, how, parts, of, func(p *cut.Part) {
		if p.Recap {
			c.warn("%s: what Auto-Recap says of the messages before %d stays with the chat; to put it in as a message: stchat state get %s recap: --jq '.values[\"recap:\"].running.versions[-1].content' | stchat message add %s --at 0 --role narrator -",
				p.Doc.Path, p.Doc.First, visible.Quote(opt.Chat), visible.Quote(p.Doc.Path))
		}
		c.made(p.Doc.Path)
	})
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/userdir"
)

func newSlim() verb {
	return verb{
		writes: true,
		use:    "slim CHAT... [MESSAGES]", short: "Drop swipes, reasoning and inlined pictures",
		doc: `Chats get smaller by what nobody reads any more. --drop says what goes:

  swipes     swipes that are not chosen, and what the chosen one repeats of its
             message. A swipe with a checkpoint or a branch stays
  reasoning  the reasoning of models
  images     pictures inside messages (PNG, JPEG, GIF, WebP, AVIF) become files
             in user/images, and the messages name them
  /extra/KEY that key of each message

The last messages stay as they are (--keep-last), and so does every message
whose text is not that of its chosen swipe. What extensions keep for each swipe
goes with it. The old chat is kept for undo until 'stchat undo --prune' drops
it; only then is the space free.
`, no: "--expect fails",
		example: "  stchat slim Mira/Harbour\n  stchat slim \"Mira/*\" --drop swipes,reasoning --dry-run\n  stchat slim Mira/@ ..99 --drop images",
		means:   &subjects{writes: true, messages: true},
		options: &slimOptions{},
	}
}

type slimOptions struct {
	choiceFlags
	inPlaceFlags
	drop     []string
	keepLast int
	output   string
}

func (o *slimOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(someOf(&o.drop, "", "swipes", "reasoning", "images"), "drop", "what goes: `LIST` of swipes, reasoning, images; default: swipes")
	o.keepLast = 10
	fs.Var(number(&o.keepLast, 0, "a number of messages"), "keep-last", "leave the last `N` messages as they are")
	fs.VarP(filled(&o.output), "output", "o", "write the slim chat to this new .jsonl `PATH`, and leave the CHAT as it is")
	o.choiceFlags.addFlags(fs)
	o.addManyFlags(fs, "")
}

func (o *slimOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	common, err := o.walk(ctx, c, args, "name a chat, e.g. `stchat slim chats/Mira/Harbour.jsonl`")
	switch {
	case err != nil:
		return err
	case o.output != "" && len(common.Chats) != 1:
		return usagef("--output takes one CHAT, not %d", len(common.Chats))
	case o.output != "" && !userdir.HasExtension(o.output):
		return usagef("--output must end in .jsonl: %q", o.output)
	}
	if len(o.drop) == 0 {
		o.drop = []string{"swipes"}
	}
	end := c.meter("reading", c.json, &common.Meter)
	list := edit.Slim(ctx, edit.SlimOptions{
		Options: common, Choice: o.choice(), KeepLast: o.keepLast, Output: o.output,
		Swipes: slices.Contains(o.drop, "swipes"), Reasoning: slices.Contains(o.drop, "reasoning"), Images: slices.Contains(o.drop, "images"),
	})
	end()
	sum := o.summary(c, len(list))
	failedAll(c, o.walked.Errs)
	var freed int64
	var edited []string
	bumped := true
	how := &saying{hints: editHints(), end: func() {
		sum.Failed += len(list) - sum.Changed - sum.Unchanged
		if o.sum(c, &sum); len(edited) > 0 && c.printed() == nil {
			c.note("%s are free once 'stchat undo --prune' drops what is kept for undo", formatBytes(freed))
			if slices.Contains(o.drop, "swipes") {
				c.note("a copy that still has the swipes brings them back when it is merged")
			}
			c.closeTabs(bumped, edited...)
		}
	}}
	of := func(r *edit.SlimResult) (string, *ops.Result[edit.Document]) { return r.Doc.Path, &r.Result.Result }
	err = sayAll(c, how, list, of, func(r *edit.SlimResult) {
		if r.Doc.Unchanged {
			sum.Unchanged++
			c.note("%s: unchanged", r.Doc.Path)
		} else {
			sum.Changed++
			freed += r.Doc.BytesBefore - r.Doc.Bytes
		}
		if r.Slim.Spared > 0 {
			c.note("%s: %s with something to drop left alone, among the last %d (--keep-last)", r.Doc.Path, c.many(r.Slim.Spared, "message"), o.keepLast)
		}
		if r.Slim.Left > 0 {
			c.note("%s: %s left alone: the text is not that of the chosen swipe; see 'stchat repair'", r.Doc.Path, c.many(r.Slim.Left, "message"))
		}
		if r.Slim.Unfit > 0 {
			c.note("%s: %s left alone: what an extension keeps for each swipe does not fit the swipes", r.Doc.Path, c.many(r.Slim.Unfit, "message"))
		}
		if o.output == "" && r.Doc.DidWrite {
			edited, bumped = append(edited, r.Doc.Path), bumped && r.Bumped
		}
		var parts []string
		for _, p := range r.Slim.Parts {
			if p.Messages > 0 {
				parts = append(parts, fmt.Sprintf("%s of %s, %s", p.Part, c.many(p.Messages, "message"), formatBytes(p.Bytes)))
			}
		}
		if !c.json && !r.Doc.Unchanged {
			c.row(c.path(cmp.Or(o.output, r.Doc.Path)), formatBytes(r.Doc.BytesBefore)+c.sign(" → ")+formatBytes(r.Doc.Bytes), strings.Join(parts, "; "))
		}
	})
	if len(o.walked.Errs) > 0 && (err == nil || errors.Is(err, errNo)) {
		err = errReported
	}
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/json/patch"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/progress"
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
goes with it. The old chat is kept for undo until 'stchat undo --prune ID' drops
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
	extra    []string // keys of extra
	keepLast int
}

func (o *slimOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(o.dropped(), "drop", "what goes: `LIST` of swipes, reasoning, images and /extra/KEY; default: swipes")
	o.keepLast = 10
	fs.Var(number(&o.keepLast, 0, "a number of messages"), "keep-last", "leave the last `N` messages as they are")
	o.choiceFlags.addFlags(fs)
	o.addManyFlags(fs, "")
}

// dropped returns the value of --drop: parts, and pointers to keys of extra.
func (o *slimOptions) dropped() flagValue {
	parts := someOf(&o.drop, "", "swipes", "reasoning", "images", "/extra/KEY") // the last is read here
	takePart := parts.set
	parts.set = func(list string) error {
		for word := range strings.SplitSeq(list, ",") {
			word = strings.TrimSpace(word)
			pointer, err := patch.ParseKey(word)
			isExtra := strings.HasPrefix(word, "/") && err == nil && len(pointer) == 2 && pointer[0] == "extra"
			if isExtra {
				o.extra = append(o.extra, pointer[1])
				continue
			}
			if err := takePart(word); err != nil {
				return err
			}
		}
		return nil
	}
	return parts.notEmpty()
}

func (o *slimOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	common, err := o.walk(ctx, c, args, "name a chat, e.g. `stchat slim chats/Mira/Harbour.jsonl`")
	if err != nil {
		return err
	}
	if len(o.drop)+len(o.extra) == 0 {
		o.drop = []string{"swipes"}
	}
	choice, err := o.choice(ctx, common.Chats)
	if err != nil {
		return err
	}
	end := c.meter("reading", c.json, &common.Meter)
	list := edit.Slim(ctx, edit.SlimOptions{
		Options: common, Choice: choice, KeepLast: o.keepLast, Extra: o.extra,
		Swipes: slices.Contains(o.drop, "swipes"), Reasoning: slices.Contains(o.drop, "reasoning"), Images: slices.Contains(o.drop, "images"),
	})
	end()
	sum := o.summary(c, len(list))
	failedAll(c, o.walked.Errs)
	var freed int64
	var edited []string
	drop := "" // the command that drops what is kept of the old chats
	bumped := true
	how := &saying{hints: editHints(), end: func() {
		sum.Failed += len(list) - sum.Changed - sum.Unchanged
		o.sum(c, &sum)
		more := o.more(ctx, c, common, choice)
		if c.printed() != nil {
			return
		}
		if len(edited) > 0 {
			free := formatBytes(freed)
			if drop != "" {
				free += " once you run '" + drop + "'"
			}
			c.also(fact{"free", free})
		}
		if more != "" {
			c.also(fact{"more", more})
		}
		if len(edited) > 0 {
			c.closeTabs(bumped, edited...)
		}
	}}

	of := func(r *edit.SlimResult) (string, *ops.Result[edit.Document]) { return r.Doc.Path, &r.Result.Result }
	err = sayAll(c, how, list, of, func(r *edit.SlimResult) {
		if r.Doc.Unchanged {
			sum.Unchanged++
		} else {
			sum.Changed++
			freed += r.Doc.BytesBefore - r.Doc.Bytes
		}

		if r.Doc.DidWrite {
			edited, bumped = append(edited, r.Doc.Path), bumped && r.Bumped
			if drop == "" && r.ID != "" {
				drop = c.undoCommand(rootOf(r.Doc.Path), "--prune "+r.ID)
			}
		}
		b := o.block(c, r)
		if c.tells() {
			c.block(b)
			return
		}
		c.tellUnchanged(r.Doc.Path, r.Doc.Unchanged)
		if c.verbose {
			c.noteFacts(r.Doc.Path, b.facts)
		}
		if !c.json && !r.Doc.Unchanged {
			c.row(c.path(r.Doc.Path), formatBytes(r.Doc.BytesBefore)+c.sign(" → ")+formatBytes(r.Doc.Bytes), strings.Join(o.parts(c, r), "; "))
		}
	})
	if len(o.walked.Errs) > 0 && (err == nil || errors.Is(err, errNo)) {
		err = errReported
	}
	return err
}

// more says to a person what other --drop would free of the same messages, "" for nothing.
func (o *slimOptions) more(ctx context.Context, c *console, common edit.Options, choice choose.Choice) string {
	isAll := slices.Contains(o.drop, "swipes") && slices.Contains(o.drop, "reasoning") && slices.Contains(o.drop, "images")
	if isAll || !c.tells() || c.quiet {
		return ""
	}
	common.Changes.DryRun = true
	common.Meter = new(progress.Meter)
	all := edit.SlimOptions{Options: common, Choice: choice, KeepLast: o.keepLast, Swipes: true, Reasoning: true, Images: true}
	frees := map[string]int64{}
	for _, r := range edit.Slim(ctx, all) {
		for _, p := range r.Slim.Parts {
			isDropped := slices.Contains(o.drop, p.Part) // what goes with it is not freed by another
			if !isDropped {
				frees[p.Part] += p.Bytes
			}
		}
	}

	var texts []string
	for _, part := range slices.Sorted(maps.Keys(frees)) {
		if frees[part] > 0 {
			texts = append(texts, fmt.Sprintf("--drop %s would free %s", part, formatBytes(frees[part])))
		}
	}
	return strings.Join(texts, ", ")
}

// parts says what was dropped.
func (o *slimOptions) parts(c *console, r *edit.SlimResult) (parts []string) {
	for _, p := range r.Slim.Parts {
		if p.Messages > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s, %s", p.Part, c.many(p.Messages, "message"), formatBytes(p.Bytes)))
		}
	}
	return parts
}

// block tells a person of one chat that was made slim.
func (o *slimOptions) block(c *console, r *edit.SlimResult) block {
	d := &r.Doc
	name := nameOf(d.Path)
	b := block{sentence: fmt.Sprintf("made %s smaller: %s%s%s", name, formatBytes(d.BytesBefore), c.sign(" → "), formatBytes(d.Bytes))}
	switch {
	case d.Unchanged:
		b.sentence = name + " is unchanged: nothing to drop"
	case c.dryRun:
		b.sentence = fmt.Sprintf("would make %s smaller: %s%s%s", name, formatBytes(d.BytesBefore), c.sign(" → "), formatBytes(d.Bytes))
	}

	for _, part := range o.parts(c, r) {
		b.add("dropped", part)
	}
	if r.Slim.Spared > 0 {
		b.add("spared", fmt.Sprintf("%s among the last %d (--keep-last)", c.many(r.Slim.Spared, "message"), o.keepLast))
	}
	if r.Slim.Left > 0 {
		b.add("left", c.many(r.Slim.Left, "message")+" whose text is not that of the chosen swipe; see 'stchat repair'")
	}
	if r.Slim.Unfit > 0 {
		b.add("left", c.many(r.Slim.Unfit, "message")+" whose swipes do not fit what an extension keeps")
	}
	if len(r.Slim.Files) > 0 {
		b.add("pictures", c.many(len(r.Slim.Files), "file")+" in user/images")
	}
	return b
}

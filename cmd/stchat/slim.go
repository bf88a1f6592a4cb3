package main

import (
	"cmp"
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
	"stchat/internal/text/plural"
	"stchat/internal/text/progress"
)

func newSlim() verb {
	return verb{
		writes: true,
		use:    "slim CHAT... [MESSAGES]", short: "Drop swipes, reasoning and inlined pictures",
		doc: `Chats get smaller by what nobody reads any more. --drop says what goes: swipes
that are not chosen, the reasoning of models, images inside messages, which
become files, or /extra/KEY of each message. The last messages stay as they are
(--keep-last), and so does a message whose text is not that of its chosen swipe.
The old chat is kept for undo until 'stchat undo --prune ID' drops it; only then
is the space free.
`, more: `  swipes     swipes that are not chosen, and what the chosen one repeats of its
             message. A swipe with a checkpoint or a branch stays
  reasoning  the reasoning of models
  images     pictures inside messages (PNG, JPEG, GIF, WebP, AVIF) become files
             in user/images, and the messages name them
  /extra/KEY that key of each message

What extensions keep for each swipe goes with it.
`, no: "--expect fails",
		also:    "split, rm, undo, store",
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
	call := sumSlimmed(list, &sum)
	tellsMany := o.many && c.tells()
	if tellsMany && !c.quiet {
		c.block(block{sentence: call.sentence(c, &sum), facts: o.facts(c, &call.slim, " of each chat", call.told)})
		o.tellFreed(ctx, c, call, common, choice)
		if !c.verbose {
			slimRows(c, list)
		}
	}

	how := &saying{hints: editHints(), end: func() {
		o.sum(c, &sum)
		if !tellsMany {
			o.tellFreed(ctx, c, call, common, choice)
		}
		if c.printed() == nil && len(call.edited) > 0 {
			c.closeTabs(call.bumped, call.edited...)
		}
	}}
	of := func(r *edit.SlimResult) (string, *ops.Result[edit.Document]) { return r.Doc.Path, &r.Result.Result }
	err = sayAll(c, how, list, of, func(r *edit.SlimResult) {
		isLeftToSum := o.many && (r.Doc.Unchanged || !c.verbose)
		switch {
		case c.tells() && isLeftToSum:
			return
		case c.tells():
			c.block(o.block(c, r))
			return
		}
		c.tellUnchanged(r.Doc.Path, r.Doc.Unchanged)
		if c.verbose {
			c.noteFacts(r.Doc.Path, o.facts(c, &r.Slim, "", nil)) // r.Facts are told already
		}
		if !c.json && !r.Doc.Unchanged {
			c.row(c.path(r.Doc.Path), smaller(c, r), strings.Join(o.parts(c, &r.Slim), "; "))
		}
	})
	if len(o.walked.Errs) > 0 && (err == nil || errors.Is(err, errNo)) {
		err = errReported
	}
	return err
}

// slimSum is what the chats of one call add up to.
type slimSum struct {
	slim          edit.Slimmed
	told          []ops.Fact
	before, after int64    // bytes of those that changed
	edited        []string // the chats that were written
	bumped        bool     // all of them have a new slug
	record        string   // of what is kept of the old chats, "" for none
	root          string   // its folder
}

// sumSlimmed adds up what was dropped from chats; sum counts them.
func sumSlimmed(list []*edit.SlimResult, sum *editSummary) *slimSum {
	call := &slimSum{bumped: true}
	for _, r := range list {
		switch {
		case r.Err != nil:
			sum.Failed++
			continue
		case r.Doc.Unchanged:
			sum.Unchanged++
		default:
			sum.Changed++
			call.before += r.Doc.BytesBefore
			call.after += r.Doc.Bytes
		}

		call.add(&r.Slim)
		call.told = append(call.told, r.Facts...)
		if !r.Doc.DidWrite {
			continue
		}
		call.edited = append(call.edited, r.Doc.Path)
		call.bumped = call.bumped && r.Bumped
		if call.record == "" {
			call.record, call.root = r.ID, rootOf(r.Doc.Path)
		}
	}
	return call
}

// add adds what was dropped from one chat.
func (s *slimSum) add(one *edit.Slimmed) {
	for _, part := range one.Parts {
		isSame := func(p edit.SlimPart) bool { return p.Part == part.Part }
		i := slices.IndexFunc(s.slim.Parts, isSame)
		if i < 0 {
			s.slim.Parts = append(s.slim.Parts, part)
			continue
		}
		s.slim.Parts[i].Messages += part.Messages
		s.slim.Parts[i].Bytes += part.Bytes
	}

	s.slim.Spared += one.Spared
	s.slim.Left += one.Left
	s.slim.Unfit += one.Unfit
	for _, file := range one.Files {
		if !slices.Contains(s.slim.Files, file) { // which several chats may show
			s.slim.Files = append(s.slim.Files, file)
		}
	}
}

// sentence tells a person of several chats.
func (s *slimSum) sentence(c *console, sum *editSummary) string {
	if sum.Changed == 0 {
		return "nothing to drop in " + plural.Many(sum.Unchanged, "chat")
	}
	of := plural.Many(sum.Changed, "chat")
	if sum.Changed < sum.Chats {
		of += " (of " + plural.Grouped(sum.Chats) + ")"
	}
	return fmt.Sprintf("%s %s smaller: %s%s%s", c.did("made", "would make"), of, formatBytes(s.before), c.sign(" → "), formatBytes(s.after))
}

// smaller returns how big a chat was, and how big it is.
func smaller(c *console, r *edit.SlimResult) string {
	return formatBytes(r.Doc.BytesBefore) + c.sign(" → ") + formatBytes(r.Doc.Bytes)
}

// slimRows names those of many chats that got smaller by most, and counts the others that did.
func slimRows(c *console, list []*edit.SlimResult) {
	isLeft := func(r *edit.SlimResult) bool { return r.Err != nil || r.Doc.Unchanged }
	most := slices.DeleteFunc(slices.Clone(list), isLeft)
	slices.SortStableFunc(most, func(a, b *edit.SlimResult) int {
		return cmp.Compare(b.Doc.BytesBefore-b.Doc.Bytes, a.Doc.BytesBefore-a.Doc.Bytes)
	})
	rest := max(len(most)-chatsShown, 0)
	most = most[:len(most)-rest]

	var rows []chatRow
	for _, r := range most {
		rows = append(rows, chatRow{r.Doc.Path, smaller(c, r)})
	}
	c.chatRows(rows, rest)
}

// tellFreed says how much is free now, or once what is kept for undo is dropped, and what else could go.
func (o *slimOptions) tellFreed(ctx context.Context, c *console, call *slimSum, common edit.Options, choice choose.Choice) {
	more := o.more(ctx, c, common, choice)
	if c.printed() != nil {
		return
	}
	if len(call.edited) > 0 {
		free := formatBytes(call.before - call.after)
		if call.record != "" {
			free += " once you run '" + c.undoCommand(call.root, "--prune "+call.record) + "'"
		}
		c.also(fact{"free", free})
	}
	if more != "" {
		c.also(fact{"more", more})
	}
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
func (o *slimOptions) parts(c *console, slim *edit.Slimmed) (parts []string) {
	for _, p := range slim.Parts {
		if p.Messages > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s, %s", p.Part, c.many(p.Messages, "message"), formatBytes(p.Bytes)))
		}
	}
	return parts
}

// block tells a person of one chat that was made slim.
func (o *slimOptions) block(c *console, r *edit.SlimResult) block {
	name := nameOf(r.Doc.Path)
	b := block{
		sentence: fmt.Sprintf("%s %s smaller: %s", c.did("made", "would make"), name, smaller(c, r)),
		facts:    o.facts(c, &r.Slim, "", r.Facts),
	}
	if r.Doc.Unchanged {
		b.sentence = name + " is unchanged: nothing to drop"
	}
	return b
}

// facts returns what was dropped, and what was not and why. of says of how many chats the last messages are; "": of
// one.
func (o *slimOptions) facts(c *console, slim *edit.Slimmed, of string, told []ops.Fact) []fact {
	b := block{}
	for _, part := range o.parts(c, slim) {
		b.add("dropped", part)
	}
	if slim.Spared > 0 {
		b.add("spared", fmt.Sprintf("%s among the last %d%s (--keep-last)", c.many(slim.Spared, "message"), o.keepLast, of))
	}
	if slim.Left > 0 {
		b.add("left", c.many(slim.Left, "message")+" whose text is not that of the chosen swipe; see 'stchat repair'")
	}
	if slim.Unfit > 0 {
		b.add("left", c.many(slim.Unfit, "message")+" whose swipes do not fit what an extension keeps")
	}
	if len(slim.Files) > 0 {
		b.add("pictures", c.many(len(slim.Files), "file")+" in user/images")
	}
	return append(b.facts, factsOf(told, "")...)
}

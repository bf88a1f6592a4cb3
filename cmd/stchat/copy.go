package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/copying"
	"stchat/internal/ops/cut"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newCopy() verb {
	return verb{
		writes: true,
		use:    "copy CHAT [OWNER|NAME]", short: "Copy a chat, also to another character or group",
		doc: `The copy is a chat of its own: no parent, no links, a new integrity. OWNER is
the whole name of a character or group; any other word is NAME, the copy's.
Without either the copy is called "CHAT copy". Copied to a group, a character's
messages say whose they are, as SillyTavern converts a chat; copied back to the
character, they no longer do. What others say stays as it is.
`,
		also: "branch, join, move",
		example: `  stchat copy Mira/Harbour
  stchat copy Mira/Harbour "Harbour, otherwise"
  stchat copy Mira/Harbour "The night watch" -n Harbour --open`,
		args:    cobra.RangeArgs(1, 2),
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &copyOptions{},
	}
}

// copyOptions are the flags of copy.
type copyOptions struct {
	opt copying.Options
}

func (o *copyOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(notEmptyText(&o.opt.Name), "name", "n", "`NAME` of the copy")
	fs.BoolVar(&o.opt.Open, "open", false, "make it the chat that its character or group opens with")
}

func (o *copyOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	opt := o.opt
	opt.Chat, opt.Data = args[0], userFolder(c, args[:1])
	if len(args) > 1 {
		opt.To = args[1]
	}
	c.changes(&opt.Changes)
	end := c.meter("copying", c.json, &opt.Meter)
	r := copying.Copy(ctx, opt)
	end()

	return sayMade(c, opt.Chat, r, r, opt.Open, copyHints(opt.Chat))
}

// copyHints returns the hints for a copy that cannot be made.
func copyHints(chat string) []hint {
	return []hint{
		{copying.ErrPath, "; a file elsewhere: cp " + visible.Args(chat) + " FILE"},
		{address.ErrWhole, "; -n takes it as a name"},
		{address.ErrSeveral, "; -n takes it as a name"},
	}
}

// sayMade prints what became of one new chat, and how a lorebook that it shares becomes its own. made
// is the result with its document, r what it has in common with others; opens says that its owner opens with it.
func sayMade[R any](c *console, source string, made R, r *cut.Result, opens bool, hints []hint) error {
	isReplaced := func(s ops.Step) bool { return s.Do == changeset.Replace }
	how := &saying{hints: hints, no: never}
	how.end = func() {
		if slices.ContainsFunc(r.Doc.Steps, isReplaced) && !c.dryRun {
			c.closeTabs(false) // a card or a group was edited
		}
	}

	of := func(R) (string, *cut.Result) { return source, r }
	return sayAll(c, how, []R{made}, of, func(R) {
		if c.tells() {
			b := c.copyBlock(source, r)
			if opens {
				b.addOpen(c, ownerShown(r.Doc.Path))
			}
			c.block(b)
			return
		}
		remark(c, &r.Doc)
		c.made(r.Doc.Path)
	})
}

// ownBook says what gives a new chat a lorebook of its own.
func (c *console) ownBook(path string) string {
	return "`stchat clone-lorebook --rebind " + visible.Quote(c.addressOf(path)) + "` gives the new one its own"
}

// copyBlock tells a person of a chat that was made of one or more.
func (c *console) copyBlock(source string, r *cut.Result) block {
	d := &r.Doc
	made := c.did("made", "would make")
	b := block{sentence: fmt.Sprintf("%s %q of %s: %s", made, nameOf(d.Path), nameOf(source), plural.Many(d.Messages, "message")), made: d.Path}
	for _, book := range d.Lorebooks {
		if book.Path != nil {
			b.add("lorebook", fmt.Sprintf("both chats now write to %q", book.Name))
			b.add("", c.ownBook(d.Path))
		}
	}

	isShared := func(f ops.Fact) bool { return f.Kind == ops.FactSharedBook } // as told above
	b.facts = append(b.facts, factsOf(slices.DeleteFunc(slices.Clone(r.Facts), isShared), "")...)
	b.facts = append(b.facts, c.stateFacts(d.State, d.At)...)
	b.addLuker(d)
	return b
}

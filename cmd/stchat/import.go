package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/bring"
	"stchat/internal/ops/bring/convert"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newImport() verb {
	return verb{
		writes: true,
		use:    "import FILE... OWNER", short: "Import chats from other programs",
		doc: `Import chats that other programs exported: JSON, JSON lines, text, - for stdin,
or a zip, of ChatGPT, Claude, CharacterAI, RisuAI and others. OWNER is the
character or group that they belong to. The format is found out. Every
conversation becomes a chat of its own; what OWNER has already is not imported
again. What a source holds and a chat cannot is left out and counted.
`, more: `OWNER is a name, a folder of chats/, a card or a group's file. Of a zip each
conversations*.json at the root or one folder down is read. Nothing is written
before all of them are found. Prints the path of each new chat. The formats:

` + formatList() + `
A chat of SillyTavern's own, whatever its file is called, is for 'stchat merge'.

Other replies at the same place become swipes; with --branches the other ends of
a tree of messages become branches. Messages without a date are dated by their
neighbours, or by FILE, so that the same FILE makes the same chats. Names are
those of the source, else those of SillyTavern. In a text the user is --user,
else the name in SillyTavern's settings, else the one in all of OWNER's chats.
`, no: "there was no message in any FILE",
		also: "merge, export",
		example: `  stchat import chatgpt-export.zip Mira --branches
  stchat import story.json chats/Mira --open
  stchat import old.txt Mira --user Tom -n "The old chat"`,
		args:    cobra.MinimumNArgs(1),
		options: &importOptions{},
	}
}

// formatList returns the formats that import reads, a line each.
func formatList() string {
	var b strings.Builder
	for name, about := range convert.Described() {
		fmt.Fprintf(&b, "  %-9s %s\n", name, about)
	}
	return b.String()
}

type importOptions struct{ opt bring.Options }

func (o *importOptions) addFlags(fs *pflag.FlagSet) {
	b := &o.opt
	fs.Var(oneOf(&b.As, "", convert.Formats()...), "as", "the `FORMAT` of FILE; default: found out")
	fs.Var(notEmptyText(&b.User), "user", "`NAME` of the user; default: the source's, else SillyTavern's")
	fs.Var(notEmptyText(&b.Character), "character", "`NAME` of the character; default: the source's, else the card's")
	fs.VarP(chatName(&b.Name), "name", "n", "`NAME` of the chat; one conversation only")
	fs.BoolVar(&b.Branches, "branches", false, "the other ends of a tree of messages become branches")
	fs.Var(oneOf(&b.Greeting, "", bring.GreetingCard, bring.GreetingNone), "greeting", "the greeting, where the source does not store it: `WHICH` is card or none; default: card for risu, else none")
	fs.BoolVar(&b.Grown, "grown", false, "import again, as another chat, what has grown since it was imported")
	fs.BoolVar(&b.Open, "open", false, "make it the chat that OWNER opens with; one conversation only")
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
	})
}

func (o *importOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) (err error) {
	files, owner := args[:len(args)-1], args[len(args)-1]
	if len(files) == 0 {
		return usagef("say whose chats they become, e.g. `stchat import %s Mira`", visible.Args(owner))
	}
	opt := o.opt
	opt.Files, opt.Owner = expand(files), owner
	opt.Stdin, opt.Data = c.In, cmp.Or(c.finder().Root(), c.data)
	if len(slices.DeleteFunc(slices.Clone(opt.Files), func(path string) bool { return path != chat.Stdin })) > 1 {
		return usagef("stdin can be read once")
	}
	c.changes(&opt.Changes)
	of := func(r *bring.Result) (string, *ops.Result[bring.Document]) {
		isFile := slices.Contains(opt.Files, r.Doc.Source) // and no part of a zip
		if isFile && errors.Is(r.Err, bring.ErrTavern) {
			r.Err = &hinted{r.Err, "; `stchat merge " + visible.Args(owner, r.Doc.Source) + "`"}
		}
		if errors.Is(r.Err, convert.ErrNoSpeaker) {
			r.Err = &hinted{r.Err, "; --user NAME says who the user is"}
		}
		return r.Doc.Source, &r.Result
	}

	inPlace := false // a card or a group
	done := func(r *bring.Result) {
		inPlace = inPlace || slices.ContainsFunc(r.Doc.Steps, func(s ops.Step) bool { return s.Do == changeset.Replace })
		if c.tells() {
			c.block(c.importBlock(r, opt.Open))
			for _, d := range r.More {
				c.made(d.Path)
			}
			return
		}

		if c.verbose {
			c.noteFacts(r.Doc.Path, c.importFacts(r, opt.Open)) // r.Facts are told already
			if r.Doc.Existed {
				c.note("%s: imported before", r.Doc.Path)
			}
		}

		c.made(r.Doc.Path) // whose document is printed already
		for _, d := range r.More {
			if c.json {
				c.document(d)
			}
			c.made(d.Path)
		}
	}

	told, outcome := false, error(nil)
	end := c.meter("importing", c.json, &opt.Meter)
	ended, notes, err := bring.Run(ctx, opt, func(list []*bring.Result) {
		end() // progress is gone before the first result, also where more are to come
		told, outcome = true, cmp.Or(outcome, sayAll(c, &saying{}, list, of, done))
	})
	end()
	c.ended(ended)
	c.notes(notes)
	switch {
	case errors.Is(err, address.ErrOwner) && isFile(owner):
		return &hinted{err, "; the last argument says whose chats they become, e.g. `stchat import " + visible.Args(ownerLast(args)...) + "`"}
	case err != nil:
		return withHint(err, nil)
	case !told:
		return errNo
	case inPlace && !c.dryRun:
		c.closeTabs(false)
	}
	return outcome
}

// importBlock tells a person of one conversation that was imported; opens says that OWNER opens with it.
func (c *console) importBlock(r *bring.Result, opens bool) block {
	return block{
		sentence: c.importSentence(&r.Doc),
		facts:    append(factsOf(r.Facts, ""), c.importFacts(r, opens)...),
		made:     r.Doc.Path,
	}
}

// importFacts returns what the document of an imported conversation says beside the sentence.
func (c *console) importFacts(r *bring.Result, opens bool) []fact {
	b := block{}
	d := &r.Doc
	isChanged := len(d.Steps) > 0
	if opens && isChanged {
		b.addOpen(c, ownerShown(d.Path))
	}
	if d.Existed {
		return b.facts
	}

	if d.Swipes > 0 {
		b.add("swipes", plural.Grouped(d.Swipes))
	}
	if d.Undated > 0 {
		b.add("undated", plural.Many(d.Undated, "message")+", dated by their neighbours or the file")
	}
	isWarned := func(left convert.Dropped) bool { return left.What == convert.LinesBefore }
	if dropped := slices.DeleteFunc(slices.Clone(d.Dropped), isWarned); len(dropped) > 0 {
		b.add("left out", convert.Counts(dropped))
	}
	if n := len(r.More); n > 0 {
		b.add("branches", plural.Grouped(n)+" beside it")
	}
	if d.Branches > 0 {
		text := plural.Many(d.Branches, "other end") + " of the conversation left out; --branches imports them too"
		if !c.dryRun {
			text += ", after 'stchat undo'"
		}
		b.add("branches", text)
	}
	return b.facts
}

// importSentence says what was imported from where.
func (c *console) importSentence(d *bring.Document) string {
	name := nameOf(d.Path)
	from := filepath.Base(d.Source)
	if d.Source == chat.Stdin {
		from = nameOf(chat.Stdin)
	}
	if d.Existed {
		return fmt.Sprintf("%q is here already, imported before from %s", name, from)
	}
	return fmt.Sprintf("%s %q from %s: %s", c.did("imported", "would import"), name, from, plural.Many(d.Messages, "message"))
}

// ownerLast returns the arguments with the files first, and then whose chats they become.
func ownerLast(args []string) []string {
	var files, others []string
	for _, arg := range args {
		if isFile(arg) {
			files = append(files, arg)
		} else {
			others = append(others, arg)
		}
	}

	if len(others) == 0 {
		others = []string{"Mira"}
	}
	return append(files, others...)
}

// isFile reports whether a path is that of a file.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

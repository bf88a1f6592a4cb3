package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/ops/dataset"
	"stchat/internal/ops/publish"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
	"stchat/internal/text/progress"
	"stchat/internal/text/visible"
)

func newExport() verb {
	return verb{
		writes: true,
		use:    "export PATH... [MESSAGES]", short: "Write chats as pages, Markdown, text or data",
		doc: `Write chats for people to read elsewhere, as html (one file that needs no
other), markdown or txt (as SillyTavern exports it), or as data for other
programs: openai and sharegpt with a chat per line, rows with a message per
line. -o FILE takes several chats for people to read as a chapter each; -o DIR/
a file per chat, with an index.html. Hidden messages are left out (rows has
all), and so are comments and calls of tools.
`, more: `  html      a page that needs nothing else: no network and no other file
  markdown  the text as it was written, with names, days and times
  txt       what SillyTavern itself exports as text, to the byte
  openai    a chat per line: {"messages":[{"role":"user","content":"..."}]}
  sharegpt  a chat per line: {"conversations":[{"from":"human","value":"..."}]}
  rows      a message per line with everything about it, for DuckDB and others

  stchat export chats --format openai --leaves -o ~/mira.jsonl
`, no: "no message was chosen",
		also: "show, import",
		example: `  stchat export Mira/Harbour -o harbour.html
  stchat export "Mira/*" -o mira.md
  stchat export "Mira/*" -o site/`,
		rules:   []string{"force needs output = --force goes with -o", "dry-run needs output = --dry-run goes with -o"},
		means:   &subjects{messages: true, pages: true},
		options: &exportOptions{},
	}
}

type exportOptions struct {
	messageReadFlags
	opt    dataset.Options // of a format for people its Export alone
	format string
}

func (o *exportOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(exportFormat(&o.format), "format", "`FORMAT`: txt, markdown, html, openai, sharegpt or rows; default: by the ending of -o (.html, .md, .txt), else html")
	fs.VarP(output(&o.opt.Output), "output", "o", "write to `FILE`, several chats as a chapter each; if it ends in / or is a folder, a file per chat into that folder")
	fs.BoolVar(&o.opt.Swipes, "swipes", false, "also the other swipes, folded; in rows a line for each")
	fs.BoolVar(&o.opt.Reasoning, "reasoning", false, "also the reasoning: folded, in openai as reasoning_content, in sharegpt in <think>")
	fs.BoolVar(&o.opt.WithHidden, "with-hidden", false, "also hidden messages")
	fs.BoolVar(&o.opt.Force, "force", false, "replace files")
	addTopic(fs, "Flags for openai, sharegpt and rows", func(fs *pflag.FlagSet) {
		fs.StringVar(&o.opt.System, "system", "", "a system message with this `TEXT` goes first, or @FILE with what is in it")
		fs.BoolVar(&o.opt.Macros, "macros", false, "{{user}} and {{char}} in the places of names; that makes nobody anonymous")
		fs.BoolVar(&o.opt.Leaves, "leaves", false, "leave out a chat that is the beginning of another of its owner; rows has what chats share once")
	})

	o.messageReadFlags.addFlags(fs)
}

// exportFormat returns the value of --format. What pandoc makes of Markdown is refused with its line.
func exportFormat(to *string) flagValue {
	v := oneOf(to, "", "txt", "markdown", "html", "openai", "sharegpt", "rows")
	known := v.set
	v.set = func(word string) error {
		switch word {
		case "epub", "docx", "pdf":
			return refusal(fmt.Sprintf("does not know %s, which pandoc makes: `stchat export Mira/Harbour -o chat.md && pandoc chat.md -o chat.%s`", word, word))
		}
		return known(word)
	}
	return v
}

// target returns the format, and whether the output is a folder.
func (o *exportOptions) target(c *console) (publish.Format, bool, error) {
	output := o.opt.Output
	folder := strings.HasSuffix(filepath.ToSlash(output), "/") || userdir.IsDir(output)
	format := publish.Format(o.format)
	if o.format == "" {
		format = publish.HTML
		if output != "" && !folder {
			var err error
			if format, err = formatOf(output, c.args); err != nil {
				return "", false, err
			}
		}
	}

	switch {
	case output == "" && format == publish.HTML && c.OutTTY:
		return "", false, usagef("a page on a terminal is no use: name a file, e.g. -o chat.html, or --format markdown")
	case output == "" && c.json:
		return "", false, usagef("--json goes with -o: without it the chat is printed")
	case format == publish.Text && (o.opt.Swipes || o.opt.Reasoning):
		return "", false, usagef("--swipes and --reasoning do not go with --format txt, which is SillyTavern's own")
	}
	return format, folder, nil
}

// formatOf returns the format that the name of an output says. args is the whole line.
func formatOf(output string, args []string) (publish.Format, error) {
	extension := filepath.Ext(output)
	switch strings.ToLower(extension) {
	case ".html", ".htm":
		return publish.HTML, nil
	case ".md", ".markdown":
		return publish.Markdown, nil
	case ".txt":
		return publish.Text, nil
	case ".jsonl":
		return "", usagef("-o %s: say in which --format; a .jsonl is a chat", output)
	case ".epub", ".docx", ".pdf":
		between := visible.Quote(strings.TrimSuffix(output, extension) + ".md")
		return "", usagef("-o %s: pandoc makes that: `%s -o %s && pandoc %s -o %s`",
			output, commandLine("stchat", withoutOutput(args)), between, between, visible.Quote(output))
	}
	if extension == "" {
		return "", usagef("-o %s: a folder ends in a slash: -o %s; the known endings of files are .html, .md and .txt", output, visible.Quote(output+"/"))
	}
	return "", usagef("-o %s: the known endings are .html, .md and .txt; with --format any name will do", output)
}

// withoutOutput returns a line without -o and its value.
func withoutOutput(line []string) (left []string) {
	isValue := false
	for _, word := range line {
		isFlag := word == "-o" || word == "--output"
		isBoth := strings.HasPrefix(word, "--output=") || strings.HasPrefix(word, "-o") && !isFlag
		if !isValue && !isFlag && !isBoth {
			left = append(left, word)
		}
		isValue = isFlag
	}
	return left
}

func (o *exportOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	format, folder, err := o.target(c)
	if err != nil {
		return err
	}
	example := "chats -o site/"
	data := slices.Contains([]string{"openai", "sharegpt", "rows"}, o.format)
	if data {
		example = "chats --format rows"
		err = o.fits(dataset.Format(o.format))
	} else if o.opt.System != "" || o.opt.Macros || o.opt.Leaves {
		err = usagef("--system, --macros and --leaves go with --format openai, sharegpt or rows")
	}
	if err != nil {
		return err
	}
	list, err := o.list(ctx, c, args, "name a chat, an owner or a folder, e.g. `stchat export "+example+"`")
	if err != nil {
		return err
	}
	e := &exporting{exportOptions: o, console: c}
	e.opt.List = list
	o.chosenBy.Clip = true
	if e.opt.Choice, err = o.choice(ctx, list.Paths); err != nil {
		return err
	}
	e.opt.Folder = folder
	e.opt.SkipDamaged = o.skipDamaged
	e.opt.Open.Data = userFolder(c, list.Paths)
	c.changes(&e.opt.Changes)
	e.opt.Changes.Call = new(changeset.Call) // one record
	end := c.meter("exporting", c.json || e.opt.Output == "", &e.opt.Meter)
	e.opt.Stdout = c.text()
	if data {
		err = e.data(ctx)
	} else {
		err = e.pages(ctx, format)
	}

	end()
	if err != nil {
		return forceHint(err)
	}
	return c.outcome(e.none && !e.some)
}

// exporting is one call of export.
type exporting struct {
	*exportOptions
	*console
	none, some bool // of a chat nothing was written, or something was
}

// sayDone prints all about a chat or the index but its document, and reports whether it failed.
func sayDone[D any](e *exporting, path string, r *ops.Result[D]) (failed bool) {
	r.Err = forceHint(r.Err)
	for _, f := range r.Facts {
		if f.Kind == ops.FactClipped {
			noteClipped(e.console, path)
		}
	}
	say(e.console, &saying{hints: []hint{{chat.ErrDamaged, skippable}}}, path, r)
	return r.Err != nil
}

// written prints where a file was written, or would be.
func (e *exporting) written(path *string) {
	if path != nil && !e.json {
		fmt.Fprintln(e.w, e.path(*path))
	}
}

// exportBlock tells a person of the chats that were written, one by its name and several counted.
func (e *exporting) exportBlock(written []*publish.Document) block {
	wrote := e.did("wrote", "would write")
	chats := plural.Many(len(written), "chat")
	if len(written) == 1 {
		chats = nameOf(written[0].Path)
	}
	messages := 0
	pictures := 0
	leftOut := 0
	var leftPictures []publish.LeftPicture
	for _, d := range written {
		messages += d.Messages
		pictures += d.Pictures
		leftOut += d.LeftOut
		leftPictures = append(leftPictures, d.PicturesLeftOut...)
	}

	b := block{sentence: fmt.Sprintf("%s %s: %s", wrote, chats, plural.Many(messages, "message"))}
	if len(written) > 1 && !e.opt.Folder {
		b.sentence += ", a chapter each"
	}
	if pictures > 0 {
		b.add("pictures", plural.Grouped(pictures)+" in the page")
	}
	if n := len(leftPictures); n > 0 {
		first := leftPictures[0]
		b.add("left out", fmt.Sprintf("%s, the first at message %d: %s", plural.Many(n, "picture"), first.Index, first.Reason))
	}
	if leftOut > 0 {
		b.add("left out", plural.Many(leftOut, "message")+", hidden or not part of this format")
	}
	return b
}

// pages writes chats for people to read.
func (e *exporting) pages(ctx context.Context, format publish.Format) error {
	var file *string // of one chat, or of several
	var written []*publish.Document
	sum, err := publish.Export(ctx, publish.Options{Export: e.opt.Export, Format: format, Reasoning: e.opt.Reasoning}, func(r *publish.Result) error {
		d := &r.Doc
		e.none, e.some = e.none || d.Messages == 0, e.some || d.Messages > 0
		switch {
		case sayDone(e, d.Path, r):
			return nil
		case e.json:
			return e.document(d)
		case d.Messages == 0:
			e.note("%s: no message was chosen, so nothing is written", chat.Label(d.Path))
		}

		if e.verbose && !e.tells() {
			e.noteFacts(chat.Label(d.Path), e.exportBlock([]*publish.Document{d}).facts)
		}
		if d.Output != nil {
			file = d.Output
			written = append(written, d)
		}
		if isPlain := !e.tells() || e.verbose; e.opt.Folder && isPlain {
			e.written(d.Output)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if e.tells() && len(written) > 0 {
		e.block(e.exportBlock(written))
	}
	if !e.opt.Folder {
		e.written(file)
	}
	if sum.Doc.Index != nil {
		sayDone(e, e.opt.Output, sum)
	}
	e.written(sum.Doc.Index)
	if e.json && e.opt.Folder {
		return e.document(sum.Doc)
	}
	return nil
}

// fits refuses flags that do not fit a format of data.
func (o *exportOptions) fits(format dataset.Format) error {
	switch {
	case format == dataset.Rows && (o.opt.System != "" || o.opt.Reasoning || o.opt.WithHidden):
		return usagef("--format rows has every message as it is, with its reasoning: leave --system, --reasoning and --with-hidden out")
	case format != dataset.Rows && o.opt.Swipes:
		return usagef("--swipes goes with --format rows")
	}
	return nil
}

// dataBlock tells a person of the chats that were written as data, one by its name and several counted.
func (e *exporting) dataBlock(written []*dataset.Document) block {
	chats := plural.Many(len(written), "chat")
	if len(written) == 1 {
		chats = nameOf(written[0].Path)
	}
	lines := 0
	leftOut := 0
	for _, d := range written {
		lines += d.Lines
		leftOut += d.LeftOut
	}

	b := block{
		sentence: fmt.Sprintf("%s %s: %s", e.did("wrote", "would write"), chats, plural.Many(lines, "line")),
		made:     e.opt.Output,
	}
	if leftOut > 0 {
		b.add("left out", plural.Many(leftOut, "message")+", hidden or not part of this format")
	}
	return b
}

// data writes chats as data.
func (e *exporting) data(ctx context.Context) error {
	opt := e.opt
	opt.Format = dataset.Format(e.format)
	if path, ok := strings.CutPrefix(opt.System, "@"); ok {
		text, err := progress.Until(ctx, func() ([]byte, error) { return os.ReadFile(path) })
		if err != nil {
			return fmt.Errorf("--system: %w", ops.PathError(err))
		}
		opt.System = strings.TrimRight(string(text), "\r\n")
	}

	bad := 0
	var written []*dataset.Document
	err := dataset.Export(ctx, opt, func(r *dataset.Result) error {
		d := &r.Doc
		if sayDone(e, d.Path, r) {
			return nil
		}
		e.none = e.none || d.Lines == 0
		e.some = e.some || d.Lines > 0
		bad += d.Bad
		switch {
		case d.Begins != "":
			e.note("%s: left out, the beginning of %q", chat.Label(d.Path), d.Begins)
		case d.Lines == 0:
			e.note("%s: no line: nothing is left for this format", chat.Label(d.Path))
		case d.Repeated > 0:
			e.note("%s: it repeats the beginning of another chat, %s", chat.Label(d.Path), e.many(d.Repeated, "message"))
		}

		if d.Lines > 0 {
			written = append(written, d)
		}
		if isPlain := !e.tells() || e.verbose; opt.Folder && isPlain {
			e.written(d.Output)
		}
		if e.json {
			return e.document(d)
		}
		return nil
	})
	if errors.Is(err, dataset.ErrNone) {
		return nil
	} else if err != nil {
		return err
	}

	switch {
	case opt.Output == "":
	case e.tells() && len(written) > 0:
		e.block(e.dataBlock(written))
	case !opt.Folder:
		e.written(&opt.Output)
	}
	if bad > 0 {
		e.note("what is not UTF-8 in %s is U+FFFD now", e.many(bad, "text"))
	}
	if opt.Macros {
		e.note("macros stand for names; what else tells who somebody is stays")
	}
	return nil
}

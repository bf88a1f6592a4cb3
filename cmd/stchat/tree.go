package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/family"
	"stchat/internal/jsondoc"
	"stchat/internal/ops"
	"stchat/internal/ops/look"
	"stchat/internal/safefile"
	"stchat/internal/treeview"
)

func newTree() verb {
	return verb{
		use: "tree [PATH...]", short: "Show which chats grew from which",
		doc: `Show which chats grew from which: checkpoints and branches below the chat they
were made from, each with the message at which it parts from it.

PATH is a chat (its whole family is shown), a folder, or a SillyTavern user
folder. A family belongs to one character or group. Nothing is written except
the file that -o names.

A chat's parent is found by the chat's main_chat, or else by a link on a message
of another chat, the uuid of the ChatBranches extension, the chat's name (before
SillyTavern 1.12), or the messages. With --by content only the messages count.
Messages are compared by name, text, sender and date, so an edited message
before the fork does not move the fork.

  ◆  a checkpoint
  ?  computed: no link says so
  !  names a parent that is missing
  ∞  was its own ancestor
  ●  open in its card or group

The fork is the last message that the chat shares with its parent, by its index
there, as branch --at takes it; own are the messages that the parent lacks. In a
pipe there is a row for each chat, separated by tabs: depth, mark, fork, name,
messages, own, first date, last date, parent, via, bytes; --format text draws
the tree there too. docs/json.md describes the JSON documents.

The html page needs no network and no server: open it from disk. It holds the
texts of all messages while they are up to 8 MB together, else their beginnings,
searches them, and has an address for each chat: family.html#Mira/Harbour.
`,
		example: `  stchat tree "chats/Mira/Harbour.jsonl"
  stchat tree SillyTavern/data/default-user
  stchat tree chats/Mira -o family.html
  stchat tree chats/Mira --flat --limit 10
  stchat tree chats/Mira --format dot | dot -Tsvg -o family.svg`,
		rules:   []string{"format excludes json", "up excludes down|flat", "down excludes flat", "force needs output = --force goes with -o"},
		means:   reads(),
		pages:   everything,
		options: &treeOptions{},
	}
}

// wholeTexts is how many bytes of texts a page holds whole.
const wholeTexts = 8_000_000

type treeOptions struct {
	listFlags
	opt                look.TreeOptions
	format, output, by string
	force              bool
	up, down           bool
	formatSet          bool
}

func (o *treeOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.Var(oneOf(&o.format, "text", "text", "json", "dot", "mermaid", "svg", "html"), "format", "`FORMAT` of the output: text, json, dot, mermaid, svg or html; default: by the extension of -o, else text")
	fs.VarP(output(&o.output), "output", "o", "write to `FILE` (.txt, .json, .dot, .mmd, .svg, .html) instead of stdout")
	fs.BoolVar(&o.force, "force", false, "replace the file that -o names")
	fs.Var(oneOf(&o.by, "links", "links", "content"), "by", "find parents by `WHAT`: links, or content alone")
	fs.BoolVar(&o.up, "up", false, "only the chat's ancestors")
	fs.BoolVar(&o.down, "down", false, "only the chat's descendants")
	fs.BoolVar(&o.opt.All, "all", false, "also chats without relatives")
	fs.BoolVar(&o.opt.Flat, "flat", false, "a row for each chat instead of a tree")
	fs.Var(oneOf(&o.opt.Sort, look.SortLast, look.Sorts()...), "sort", "order families, or with --flat chats, by `KEY`: name, first, last, size or messages; last is the newest first")
	fs.Var(number(&o.opt.Limit, 1, "a number of at least 1"), "limit", "show at most `N` families, or with --flat chats")
	fs.Var(number(&o.opt.Preview, 0, "a number of characters, 0 for none"), "preview", "show `N` characters of a message's text; default: 60, in svg 200, in html whole texts while all are up to 8 MB, else 200")
}

// resolve derives the format from the output's name, and refuses flags that do not go together.
func (o *treeOptions) resolve(c *console, fs *pflag.FlagSet) error {
	o.formatSet = fs.Changed("format")
	formats := map[string]string{".txt": "text", ".json": "json", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".svg": "svg", ".html": "html", ".htm": "html"}
	switch {
	case c.json:
		o.format = "json"
	case !o.formatSet && o.output != "":
		format, ok := formats[strings.ToLower(filepath.Ext(o.output))]
		if !ok {
			return usagef("-o %s: no format has this extension (.txt, .json, .dot, .mmd, .svg and .html have one); name it with --format", o.output)
		}
		o.format = format
	}
	c.json = o.format == "json"
	if o.output == "" && c.OutTTY && (o.format == "svg" || o.format == "html") {
		return usagef("--format %s is for a file: name one with -o", o.format)
	}
	if !fs.Changed("preview") {
		o.opt.Preview = either(o.format == "svg" || o.format == "html", 200, 60)
		o.opt.Whole = either(o.format == "html", wholeTexts, 0)
	}
	return nil
}

func (o *treeOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	if err := o.resolve(c, fs); err != nil {
		return err
	}
	list, err := o.folders(ctx, c, args, nameFolder("tree"))
	if err != nil {
		return err
	}
	opt := o.opt
	opt.List, opt.Page = list, o.format == "svg" || o.format == "html"
	opt.Read = o.format == "text" && !o.rows(c)
	if o.by == "content" {
		opt.By = family.ByContentOnly
	}
	switch {
	case o.up:
		opt.Part = look.Ancestors
	case o.down:
		opt.Part = look.Descendants
	}
	end := c.meter("reading", false, &opt.Meter)
	res, err := look.Tree(ctx, opt)
	end()
	if errors.Is(err, look.ErrOneChat) {
		return usagef("--up and --down take one chat")
	}
	if err != nil {
		c.work.count(opt.Meter)
		return err
	}
	c.warns(res.Warnings)
	if o.format == "json" || len(res.Errs) == 0 || res.Tree.Summary.Chats > 0 {
		if err := o.write(ctx, c, res); err != nil {
			return err
		}
	}
	if c.flush(); o.format != "json" {
		for _, err := range res.Errs {
			c.fail(err)
		}
	}
	return outcome(len(res.Errs) > 0, false)
}

// write writes the tree to the file of -o, else to stdout.
func (o *treeOptions) write(ctx context.Context, c *console, res *look.TreeResult) error {
	if o.format == "mermaid" {
		if n := res.Tree.Edges(); n > treeview.MermaidEdges {
			c.warn("%d edges: mermaid draws %d at most unless it is set otherwise; svg and html have no limit", n, treeview.MermaidEdges)
		}
	}
	if o.output == "" {
		return o.draw(c, c.w, res)
	}
	isOwn := func(head []byte) bool { // a file that begins so is a tree, or may be one as text
		return treeview.IsTree(head) || o.format == "text" && strings.EqualFold(filepath.Ext(o.output), ".txt")
	}
	return c.writeOutput(ctx, ops.Output{Path: o.output, Force: o.force, Own: isOwn}, func(w io.Writer) error { return o.draw(c, w, res) })
}

// writeOutput writes the file of -o, and says where it is.
func (c *console) writeOutput(ctx context.Context, out ops.Output, write func(io.Writer) error) error {
	c.changes(&out.Changes)
	written := ops.WriteOutput(ctx, out, write)
	c.ended(written.Ended)
	if written.Err != nil {
		return forceHint(written.Err)
	}
	fmt.Fprintln(c.w, c.path(out.Path))
	return nil
}

// forceHint adds what helps where a file is in the way.
func forceHint(err error) error {
	taken, is := errors.AsType[*safefile.ExistsError](err)
	if !is {
		return err
	}
	if _, gone := os.Stat(taken.Path); errors.Is(gone, fs.ErrNotExist) {
		return fmt.Errorf("%w, a link that leads nowhere; remove it", err)
	}
	return fmt.Errorf("%w; --force replaces it", err)
}

// rows reports whether text is rows for a program.
func (o *treeOptions) rows(c *console) bool { return o.output == "" && !c.shown && !o.formatSet }

// draw writes the tree in its format.
func (o *treeOptions) draw(c *console, w io.Writer, res *look.TreeResult) error {
	t := res.Tree
	switch o.format {
	case "json":
		if o.output == "" {
			return writeTreeJSON(c, c.document, res)
		}
		return writeTreeJSON(c, func(doc any) error { return jsondoc.Write(w, doc, "") }, res)
	case "dot":
		return treeview.DOT(w, t)
	case "mermaid":
		var text bytes.Buffer
		_ = treeview.Mermaid(&text, t) // a buffer takes all
		if n := text.Len(); n > treeview.MermaidText {
			c.warn("%d characters: mermaid draws %d at most unless it is set otherwise; svg and html have no limit", n, treeview.MermaidText)
		}
		_, err := text.WriteTo(w)
		return err
	case "svg":
		return treeview.SVG(w, t)
	case "html":
		return treeview.HTML(w, t)
	}
	terminal := o.output == "" && c.shown
	if o.rows(c) {
		return treeview.Rows(w, t)
	}
	opt := treeview.TextOptions{Hint: " (--all)", ASCII: terminal && !isUTF8(c.env)}
	if o.opt.All || o.opt.Flat {
		opt.Hint = ""
	}
	if terminal {
		if t.Summary.Chats == 0 {
			_, err := fmt.Fprintln(w, "no chat here")
			return err
		}
		opt.Width = cmp.Or(c.Width, unknownWidth)
		opt.Paint = func(code, text string) string { return paint(c.outColor, gridColor(code), text) }
	}
	return treeview.Text(w, t, opt)
}

// writeTreeJSON writes a document for each chat, those of errors, and the summary.
func writeTreeJSON(c *console, write func(doc any) error, res *look.TreeResult) error {
	var docs []any
	for _, o := range res.Tree.Owners {
		for _, chat := range o.Chats {
			docs = append(docs, chat)
		}
	}
	for _, err := range res.Errs {
		c.counted(err)
		docs = append(docs, c.documentOf("", err))
	}
	for _, doc := range append(docs, res.Tree.Summary) {
		if err := write(doc); err != nil {
			return err
		}
	}
	return nil
}

// isUTF8 reports whether the terminal shows more than ASCII, according to the locale.
func isUTF8(e env) bool {
	if runtime.GOOS == "windows" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(e.Getenv(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return true
}

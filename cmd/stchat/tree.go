package main

import (
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

	"stchat/internal/change/safefile"
	"stchat/internal/folder/family"
	"stchat/internal/json/jsondoc"
	"stchat/internal/ops"
	"stchat/internal/ops/look"
	"stchat/internal/show/treeview"
)

func newTree() verb {
	return verb{
		use: "tree [PATH...]", short: "Show which chats grew from which",
		doc: `Show which chats grew from which: checkpoints and branches below the chat they
were made from, each with the message at which it parts from it. A chat stands
for its whole family. --by content finds parents by the messages alone, which
also finds copies. The html page needs no network: open it from disk.
`,
		also: "list, branch, stats",
		example: `  stchat tree Mira/Harbour
  stchat tree chats/Mira -o family.html
  stchat tree --all --by content`,
		rules:   []string{"format excludes json", "force needs output = --force goes with -o"},
		means:   &subjects{pages: true},
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
	up                 bool
	formatSet          bool
}

func (o *treeOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.Var(oneOf(&o.format, "text", "text", "json", "html"), "format", "`FORMAT` of the output: text, json or html; default: by the extension of -o, else text")
	fs.VarP(output(&o.output), "output", "o", "write to `FILE` (.txt, .json, .html) instead of stdout")
	fs.BoolVar(&o.force, "force", false, "replace the file that -o names")
	fs.Var(oneOf(&o.by, "links", "links", "content"), "by", "find parents by `WHAT`: links, or content alone")
	fs.BoolVar(&o.up, "up", false, "only the chat's ancestors")
	fs.BoolVar(&o.opt.All, "all", false, "also chats without relatives")
}

// resolve derives the format from the output's name, and refuses flags that do not go together.
func (o *treeOptions) resolve(c *console, fs *pflag.FlagSet) error {
	o.formatSet = fs.Changed("format")
	formats := map[string]string{".txt": "text", ".json": "json", ".html": "html", ".htm": "html"}
	switch {
	case c.json:
		o.format = "json"
	case !o.formatSet && o.output != "":
		format, ok := formats[strings.ToLower(filepath.Ext(o.output))]
		if !ok {
			return usagef("-o %s: no format has this extension (.txt, .json and .html have one); name it with --format", o.output)
		}
		o.format = format
	}

	c.json = o.format == "json"
	if o.output == "" && c.OutTTY && o.format == "html" {
		return usagef("--format html is for a file: name one with -o")
	}
	o.opt.Preview = 60
	if o.format == "html" {
		o.opt.Preview = 200
		o.opt.Whole = wholeTexts
		o.opt.Page = true
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
	opt.List, opt.Up = list, o.up
	opt.Read = o.format == "text" && !o.rows(c)
	if o.by == "content" {
		opt.By = family.ByContentOnly
	}
	end := c.meter("reading", false, &opt.Meter)
	res, err := look.Tree(ctx, opt)
	end()
	if errors.Is(err, look.ErrOneChat) {
		return usagef("--up takes one chat")
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

	c.flush()
	if o.format != "json" {
		for _, err := range res.Errs {
			c.fail(err)
		}
	}
	return outcome(len(res.Errs) > 0, false)
}

// write writes the tree to the file of -o, else to stdout.
func (o *treeOptions) write(ctx context.Context, c *console, res *look.TreeResult) error {
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
	case "html":
		return treeview.HTML(w, t)
	}

	terminal := o.output == "" && c.shown
	if o.rows(c) {
		return treeview.Rows(w, t)
	}
	opt := treeview.TextOptions{Hint: " (--all)", ASCII: terminal && !isUTF8(c.env)}
	if o.opt.All {
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

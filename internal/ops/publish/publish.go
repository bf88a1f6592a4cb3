// Package publish writes chats for people to read elsewhere: as pages, as Markdown, and as
// SillyTavern's own text.
package publish

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/look"
	"stchat/internal/place/names"
	"stchat/internal/place/sendate"
	"stchat/internal/show/webpage"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// Format is how a chat is written.
type Format string

// The formats.
const (
	Text     Format = "txt"      // what SillyTavern exports as text
	Markdown Format = "markdown" // as show prints it, with days
	HTML     Format = "html"     // a page that needs nothing else
)

// Extension returns how the names of a format's files end.
func (f Format) Extension() string {
	if f == Markdown {
		return ".md"
	}
	return "." + string(f)
}

// Options says what is written, and where.
type Options struct {
	ops.Export
	Format    Format
	Reasoning bool
}

// Document says what became of one chat: the document of export.
type Document struct {
	Schema          int           `json:"schema"`
	Path            string        `json:"path" is:"path"`
	Format          Format        `json:"format"`
	Output          *string       `json:"output" is:"path"` // null: standard output, or no message was chosen
	Messages        int           `json:"messages"`
	Bytes           int64         `json:"bytes"`
	Pictures        int           `json:"pictures"` // that are in the page
	LeftOut         int           `json:"left_out"` // messages that were chosen, and are not for this format
	PicturesLeftOut []LeftPicture `json:"pictures_left_out"`
	ops.Warned
	ops.Written
}

// LeftPicture is a picture that is not in a page.
type LeftPicture struct {
	Index  int    `json:"index"` // of its message
	URL    string `json:"url"`
	Reason string `json:"reason"`
}

// Summary is the last document of an export into a folder.
type Summary struct {
	Schema  int     `json:"schema"`
	Summary bool    `json:"summary"` // true
	Index   *string `json:"index" is:"path"`
	Chats   int     `json:"chats"` // that were written
	ops.Written
}

// Result is what became of one chat.
type Result = ops.Result[Document]

// ErrNoText means that a message has no text that SillyTavern could export.
var ErrNoText = error(&ops.Kind{Code: "refused", Text: "its text is not a string, and would end SillyTavern's own export"})

// published is one chat on its way.
type published struct {
	Result
	path, owner, name string
	output            string // "": standard output

	messages    int // from here on what a first reading found
	first, last time.Time

	chapter int // of several in one file, from 1; 0: the chat is alone
}

// title returns the name of the chat as it is shown.
func (p *published) title() string { return names.Short(p.owner, p.name) }

// Export writes chats, and calls each for every one; into one file as a chapter each. Nothing is
// written if a name is taken. The error is the first that stands in the way of all: a
// [*safefile.ExistsError], a PATH without chats, or that ctx ended.
func Export(ctx context.Context, opt Options, each func(*Result) error) (sum *ops.Result[Summary], err error) {
	sum = &ops.Result[Summary]{Doc: Summary{Schema: 1, Summary: true}}
	walked := ops.Walk(opt.List)
	for _, err := range walked.Errs {
		if err := each(&Result{Outcome: changeset.Outcome{Err: err}}); err != nil {
			return sum, err
		}
	}

	opt.Expect(walked.Chats)
	opt.TellApart(walked.Chats)
	e := &exporter{opt: &opt, lib: new(library.Library)}
	e.opt.Open.Groups = e.lib
	for _, t := range walked.Chats {
		e.chats = append(e.chats, e.survey(ctx, t.Path))
		if ctx.Err() != nil {
			return sum, ctx.Err()
		}
	}

	index := filepath.Join(opt.Output, ops.Index)
	if err := e.nameFiles(index); err != nil {
		return sum, err
	}
	if opt.Format == HTML {
		if err := e.relate(ctx); err != nil {
			return sum, err
		}
	}

	if len(walked.Chats) > 1 && !opt.Folder {
		if err := e.bind(ctx); err != nil {
			return sum, err
		}
	} else {
		e.write(ctx)
	}

	for _, p := range e.chats {
		if p.Err == nil && p.messages > 0 {
			sum.Doc.Chats++
		}
		for _, s := range p.Steps {
			p.Doc.Bytes = s.Bytes
		}
		if err := each(&p.Result); err != nil {
			return sum, err
		}
	}

	if opt.Format == HTML && opt.Folder && sum.Doc.Chats > 0 {
		sum.Complete(ops.WriteOutput(ctx, e.output(index), e.index), opt.Changes.DryRun)
		sum.Doc.Index = &index
	}
	return sum, sum.Err
}

// write writes each chat by itself: to its file, or to standard output.
func (e *exporter) write(ctx context.Context) {
	opt := e.opt
	files := slices.DeleteFunc(slices.Clone(e.chats), func(p *published) bool { return p.output == "" })
	ops.Each(ctx, opt.Changes, files, func(p *published) (*Result, changeset.Unit) {
		p.Doc.Output = &p.output
		return &p.Result, e.output(p.output).Unit(func(w io.Writer) error {
			defer opt.Meter.Done()
			return e.draw(ctx, w, []*published{p})
		})
	})

	for _, p := range e.chats {
		if p.output != "" {
			continue
		}
		o := changeset.Outcome{Err: p.Err}
		if p.Err == nil && p.messages > 0 {
			o.Err = e.draw(ctx, opt.Stdout, []*published{p})
		}
		p.Complete(o, opt.Changes.DryRun)
		opt.Meter.Done()
	}
}

// bind writes all chats as chapters of one file, or to standard output; one that could not be read
// before is left out. The error is why there is no file.
func (e *exporter) bind(ctx context.Context) error {
	var chapters []*published
	for _, p := range e.chats {
		if p.Err != nil || p.messages == 0 {
			p.Complete(changeset.Outcome{Err: p.Err}, e.opt.Changes.DryRun)
			continue
		}
		chapters = append(chapters, p)
		p.chapter = len(chapters)
	}

	if len(chapters) == 0 {
		return nil
	}

	outcome := changeset.Outcome{}
	if e.opt.Output == "" {
		outcome.Err = e.draw(ctx, e.opt.Stdout, chapters)
	} else {
		outcome = ops.WriteOutput(ctx, e.output(e.opt.Output), func(w io.Writer) error { return e.draw(ctx, w, chapters) })
	}

	if outcome.Err != nil {
		return outcome.Err
	}
	for _, p := range chapters {
		if p.output != "" {
			p.Doc.Output = &p.output
		}
		p.Complete(outcome, e.opt.Changes.DryRun)
		e.opt.Meter.Done()
	}
	return nil
}

// exporter writes the chats of one call.
type exporter struct {
	opt   *Options
	lib   *library.Library
	chats []*published
	kin   map[string]*relative // by real path
	owner []*ownerOf           // for the index
}

// survey reads a chat once, to know what there is to write.
func (e *exporter) survey(ctx context.Context, path string) *published {
	p := &published{path: path}
	p.Doc = Document{Schema: 1, Path: path, Format: e.opt.Format}
	c, err := ops.Open(ctx, e.lib, path, ops.Anything, e.opt.Open)
	if err != nil {
		p.Err = err
		return p
	}
	defer c.Close()
	p.owner, p.name = c.Owner, c.Name
	var found []int64 // of each message: when it was sent, or what follows
	const notTaken, undated = math.MinInt64, math.MinInt64 + 1
	scanned, err := choose.ScanBeside(ctx, &e.opt.Choice, choose.Source{Source: c.Source, Body: c.Body, Line: c.BodyLine, Progress: e.opt.Meter.Follow()}, func(at choose.Place) error {
		sent := found[at.Index]
		if sent == notTaken {
			p.Doc.LeftOut++
			return nil
		}
		if p.messages++; sent != undated {
			if p.last = time.UnixMilli(sent); p.first.IsZero() {
				p.first = p.last
			}
		}
		return nil
	}, choose.Beside[[]int64]{
		Keys: []string{"is_system", "mes", "extra", "send_date"},
		Read: func(l *jsonl.Line, keys []int, list *[]int64) {
			value := func(k int) []byte { raw, _ := l.Value(keys[k]); return raw }
			sent := int64(notTaken)
			if e.includes(value(0), value(1), value(2)) {
				sent = undated
				if at, ok := sendate.ParseRaw(value(3)); ok {
					sent = at.UnixMilli()
				}
			}
			*list = append(*list, sent)
		},
		Fold:  func(list *[]int64) { found = append(found, *list...) },
		Reset: func(list *[]int64) { *list = (*list)[:0] },
	})

	if scanned.Clipped {
		p.Tell(ops.Fact{Kind: ops.FactClipped, Path: path, Count: scanned.Messages - 1})
	}
	skipped := c.Damage
	skipped.Append(scanned.Damage)
	switch {
	case err != nil:
		p.Err = c.Errorf("%w", err)
	case skipped.Total > 0 && !e.opt.SkipDamaged:
		p.Err = c.DamageError(skipped.First[0])
	default:
		p.Err, p.Warnings = c.Unchanged(), ops.Damaged(path, skipped)
	}
	return p
}

// includes reports whether a chosen message belongs into the format: hidden ones on demand; never
// what is no story; as text only what SillyTavern exports (src/endpoints/chats.js, /export).
func (e *exporter) includes(system, mes, extra []byte) bool {
	hidden := message.Hidden(system, extra)
	switch {
	case hidden && !e.opt.WithHidden, !hidden && rawjson.Truthy(system) && e.opt.Format == Text:
		return false
	case e.opt.Format == Text:
		return rawjson.Truthy(mes)
	}
	return !look.IsAside(extra)
}

// nameFiles gives every chat its file, and sees to it that none is taken.
func (e *exporter) nameFiles(index string) (err error) {
	for _, p := range e.chats {
		if p.Err != nil || p.messages == 0 || e.opt.Output == "" {
			continue
		}
		if e.opt.Folder {
			p.output, err = e.opt.FileOf(p.path, p.owner, p.name, e.opt.Format.Extension())
		} else {
			p.output = e.opt.Output
			err = e.opt.Free(p.output)
		}
		if err != nil {
			return err
		}
	}

	if e.opt.Folder && e.opt.Format == HTML {
		return e.opt.Free(index)
	}
	return nil
}

// output returns a file that is written, whole or not at all.
func (e *exporter) output(path string) ops.Output {
	return ops.Output{Path: path, Folder: true, Force: e.opt.Force, Own: e.opt.Format.isOwn, Changes: e.opt.Changes}
}

// isOwn reports whether a file that begins with head may be one of this format. SillyTavern's text
// begins with any name, so any file may be.
func (f Format) isOwn(head []byte) bool {
	switch f {
	case Text:
		return true
	case Markdown:
		return strings.HasPrefix(string(head), markdownStart)
	}
	return IsPage(head)
}

// IsPage reports whether a file that begins with head is a page of this package.
func IsPage(head []byte) bool { return strings.HasPrefix(string(head), webpage.Start) }

// draw writes chats in their format: one, or each as a chapter.
func (e *exporter) draw(ctx context.Context, w io.Writer, chapters []*published) error {
	var to interface {
		begin(*published) error
		message(*look.Message) error
		end() error
	}

	switch e.opt.Format {
	case Text:
		to = &texter{w: w}
	case Markdown:
		to = &marker{w: w, opt: e.opt}
	default:
		to = newPager(e, w, chapters)
	}

	for _, p := range chapters {
		p.Doc.Messages = p.messages
		if err := to.begin(p); err != nil {
			return err
		}
		if _, err := look.Messages(ctx, look.Exported(&e.opt.Export, p.path), func(m *look.Message) error {
			if !e.includes(m.Raw.System, m.Raw.Text, m.Raw.Extra) {
				return nil
			}
			return to.message(m)
		}); err != nil {
			return err
		}
	}
	return to.end()
}

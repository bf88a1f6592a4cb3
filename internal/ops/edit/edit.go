package edit

import (
	"context"
	"fmt"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/extension"
	"stchat/internal/extension/follow"
	"stchat/internal/folder/library"
	"stchat/internal/json/metadiff"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/text/plural"
	"stchat/internal/text/progress"
)

// Terms are the conditions and settings shared by all edits of chats and their state.
type Terms struct {
	Data            string // the user folder
	Force           bool   // go on where the edit would be refused
	ExpectMessages  int    // negative: any number
	ExpectIntegrity string // "": any slug
	BumpIntegrity   bool   // give each edited chat a new slug
	Changes         changeset.Options
}

// Options are shared by all verbs that edit chats in place.
type Options struct {
	Terms
	Chats []string
	Meter *progress.Meter

	again func(err error) bool // whether the edit is made anew after an error, of what is there then; nil: never
}

// Document is the JSON document about one chat.
type Document struct {
	Schema      int                `json:"schema"`
	Path        string             `json:"path" is:"path"`
	Added       []int              `json:"added"`   // new indexes
	Changed     []int              `json:"changed"` // old indexes
	Deleted     []int              `json:"deleted"` // old indexes
	Messages    *int               `json:"messages"`
	BytesBefore int64              `json:"bytes_before"`
	Bytes       int64              `json:"bytes"`
	Integrity   *string            `json:"integrity"`
	State       []extension.Change `json:"state"`
	Sidecars    []ops.Sidecar      `json:"sidecars"`
	LostLinks   []follow.Link      `json:"lost_links"`
	Unchanged   bool               `json:"unchanged"`
	DidWrite    bool               `json:"written"`
	ops.Warned
	ops.Written
}

// Edited returns how many messages were added, changed and deleted.
func (d *Document) Edited() int { return len(d.Added) + len(d.Changed) + len(d.Deleted) }

// Result is the result for one chat.
type Result struct {
	ops.Result[Document]
	Swipe  int    // the number of an added swipe
	Bumped bool   // the chat has a new slug
	Places int    // in how many places of messages a text was replaced
	Header int    // and of the header
	Diffs  []Diff // the first changes of a dry run, for a person
}

// Diff is the difference between one line before and after, cut to what surrounds it. Before is
// nil if the line is added, After if it is deleted.
type Diff struct {
	Index         int // -1: the header
	Before, After *string

	Name     string  // of the speaker
	From, To *string // the texts, nil where there is no line; whole

	Keys  []metadiff.Change // of a message, or of the metadata if the header is another one
	Asked []metadiff.Change // those of the metadata that were asked for, and do not follow from messages
}

// ErrExpected means that a chat is not as it was expected to be.
var ErrExpected = error(&ops.Kind{Code: "refused", Text: "not as expected"})

// run edits every chat as plan asks. A chat that is named twice, by whatever paths, is edited
// once.
func run(ctx context.Context, opt Options, plan func(ctx context.Context, o *open) (*Plan, error)) []*Result {
	lib := new(library.Library)
	var roots changeset.Roots
	return ops.Each(ctx, opt.Changes, ops.Distinct(opt.Chats), func(path string) (*Result, changeset.Unit) {
		r := new(Result)
		r.Doc = Document{Schema: 1, Path: path}
		empty := *r
		known := lib
		draft := func(ctx context.Context, s *changeset.Set) error {
			defer opt.Meter.Done()
			*r = empty
			o, err := openChat(ctx, known, opt, r)
			known = new(library.Library) // if it is drafted again
			if err != nil {
				return err
			}
			defer o.chat.Close()
			p, err := plan(ctx, o)
			if err != nil {
				return err
			}
			return (&drafting{open: o, plan: p, set: s}).draft(ctx)
		}
		return r, changeset.Unit{Root: roots.Of(path), Shares: []string{path}, Draft: draft, Again: opt.again}
	})
}

// Complete implements [ops.Completer].
func (r *Result) Complete(o changeset.Outcome, dryRun bool) {
	r.Result.Complete(o, dryRun)
	d := &r.Doc
	d.Unchanged = len(o.Steps) == 0
	d.DidWrite = !d.Unchanged && !dryRun
	if d.Unchanged {
		d.Bytes = d.BytesBefore
	}
	for _, s := range o.Steps {
		if s.Path == d.Path {
			d.Bytes = s.Bytes
		}
	}
}

// diff keeps the difference of a line, or of the metadata, for display, cut to what surrounds it. before
// is nil if the line is added, after if it is deleted.
func (r *Result) diff(index int, before, after []byte) {
	const limit = 160 // characters
	d := Diff{Index: index}
	a, b := metadiff.Excerpts(string(before), string(after), limit)
	if before != nil {
		d.Before = &a
		d.Name, d.From = speakerAndText(before)
	}
	if after != nil {
		d.After = &b
		d.Name, d.To = speakerAndText(after)
	}
	if before != nil && after != nil {
		d.Keys = changedKeys(before, after)
	}
	r.Diffs = append(r.Diffs, d)
}

// changedKeys returns what differs in the metadata or in a message; nothing if it is damaged, or so large that
// all its keys would take more memory than the edit itself.
func changedKeys(before, after []byte) []metadiff.Change {
	const largest = 1 << 20
	if len(before)+len(after) > largest {
		return nil
	}
	diff, err := metadiff.Compare(before, after, metadiff.Selection{})
	if err != nil {
		return nil
	}
	return diff.Changes
}

// speakerAndText returns the speaker and the text of a message.
func speakerAndText(line []byte) (name string, text *string) {
	name, _ = rawjson.Unquote(rawjson.Value(line, "name"))
	mes, _ := rawjson.Unquote(rawjson.Value(line, "mes"))
	return name, &mes
}

// showsMore reports whether one more difference is kept for display.
func (d *drafting) showsMore() bool {
	const most = 40
	return d.opt.Changes.DryRun && len(d.result.Diffs) < most
}

// about describes the change to the chat in words.
func about(r *Result) string {
	var did []string
	for _, part := range []struct {
		n    int
		verb string
	}{{len(r.Doc.Added), "added"}, {len(r.Doc.Changed), "changed"}, {len(r.Doc.Deleted), "deleted"}} {
		if part.n > 0 {
			did = append(did, fmt.Sprintf("%s %s", plural.S(part.n, "message"), part.verb))
		}
	}

	if len(did) == 0 {
		return "its metadata"
	}
	return strings.Join(did, ", ")
}

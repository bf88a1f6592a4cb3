package cut

import (
	"context"
	"fmt"
	"io"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/follow"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/progress"
)

// SplitOptions says into which parts a chat is split. One of At, Every and Last is given.
type SplitOptions struct {
	Chat     string
	At       []int  // where parts begin, besides 0; below 0: counted from the end
	Every    int    // how many messages a part has
	Last     int    // only one part: so many messages at the end
	Name     string // of the parts, which get numbers; of the last messages as it is; "": after the chat
	Lorebook string // LorebookShare or LorebookClone
	Data     string
	Changes  changeset.Options
	Meter    *progress.Meter
}

// Part is the result for one part.
type Part struct {
	*Result
	Doc   PartDocument
	Recap bool // Auto-Recap keeps a recap of what comes before the part
}

// Document returns the document of a part.
func (p *Part) Document() any { return p.Doc }

// PartDocument is the JSON document about one part.
type PartDocument struct {
	Document
	Part  int `json:"part"` // from 1
	Of    int `json:"of"`
	First int `json:"first"` // the messages of the chat that it has
	Last  int `json:"last"`
}

// ErrOnePart means that a chat would be split into a single part: all of it.
var ErrOnePart = error(&ops.Kind{Code: "usage", Text: "that splits nothing: the part would be the whole chat"})

// stretch is the part of a chat that a new chat gets.
type stretch struct {
	from, to int             // message to is the first behind it
	offs     []int64         // where the lines of all messages begin
	facts    *follow.Facts   // what is known of all messages
	states   []*follow.State // what follows when what is behind goes, and then what is before
}

func span(from, to int) []int {
	list := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// Split writes the parts of a chat as new chats beside it. It returns a result for each part; all
// are made or none.
func Split(ctx context.Context, opt SplitOptions) ([]*Part, error) {
	lib := new(library.Library)
	src, err := ops.Open(ctx, lib, opt.Chat, ops.Whole, chat.Options{Data: opt.Data})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	sidecars, err := src.Sidecars()
	if err != nil {
		return nil, err
	}
	hasLog := slices.ContainsFunc(sidecars, func(s luker.Sidecar) bool { return s.Kind == luker.FloorLog })
	offs, facts, err := count(ctx, src.Chat, hasLog)
	if err != nil {
		return nil, err
	}
	bounds, err := opt.bounds(len(offs))
	if err != nil {
		return nil, src.Errorf("%w", err)
	}

	given := newNamesGiven()
	makings := make([]making, len(bounds)-1)
	for k := range makings {
		o := opt.ofPart(src.Name, k, bounds[k+1]-1)
		m := making{&call{opt: o, library: lib, names: given}, newJob(o, opt.Chat)}
		m.job.opened = src.Stamp
		m.job.last.index = o.At
		m.job.part = &stretch{from: bounds[k], to: bounds[k+1], offs: offs, facts: facts}
		if err := nameChat(ctx, m.call, m.job); err != nil {
			return nil, about(opt.Chat, err)
		}
		makings[k] = m
	}

	ops.One(ctx, opt.Changes, &joint{makings}, draftAll(makings))
	return partsOf(src.Chat, makings), nil
}

// making is one part: its own options, and the way to it.
type making struct {
	call *call
	job  *job
}

// ofPart returns the options with which part k, which ends with message last, is made.
func (opt *SplitOptions) ofPart(chat string, k, last int) *Options {
	return &Options{
		Kind: names.Branch, Sources: []string{opt.Chat}, Style: names.SillyTavern, At: last, Name: opt.name(chat, k),
		Integrity: IntegrityNew, Lorebook: opt.Lorebook, Data: opt.Data, Changes: opt.Changes, Meter: opt.Meter,
	}
}

// draftAll returns the unit in which all parts are made.
func draftAll(makings []making) changeset.Unit {
	draft := func(ctx context.Context, set *changeset.Set) error {
		for _, m := range makings {
			if err := m.call.work(ctx, set, m.job); err != nil {
				return err
			}
			m.job.part.states = nil // they grow with the chat
		}
		return nil
	}
	return changeset.Unit{Root: makings[0].call.root(makings[0].job), Draft: draft}
}

// partsOf returns the parts that were made, or only the first that was not. What is said of the
// chat itself is said with the first part alone.
func partsOf(src *chat.Chat, makings []making) []*Part {
	recap, _ := autorecap.RunningIn(src.Metadata())
	versions := slices.Collect(recap.Versions())
	parts := make([]*Part, len(makings))
	for k, m := range makings {
		from, to := m.job.part.from, m.job.part.to
		isBefore := func(v autorecap.Version) bool {
			at, ok := rawjson.Float(v.Scene())
			return ok && at < float64(from)
		}
		p := &Part{Result: m.job.res, Recap: slices.ContainsFunc(versions, isBefore)}
		parts[k] = p
		p.Err = about(m.job.source, p.Err)
		p.Result.Doc.Warnings = append(p.Result.Doc.Warnings, p.Warnings...)
		p.Doc = PartDocument{p.Result.Doc, k + 1, len(parts), from, to - 1}
		if k > 0 {
			p.Warnings = without(p.Warnings, parts[0].Warnings)
			p.Facts = without(p.Facts, parts[0].Facts)
		}
		if p.Err != nil {
			return parts[k : k+1]
		}
	}
	return parts
}

// without returns what of a list is not in said.
func without[T comparable](list, said []T) []T {
	return slices.DeleteFunc(list, func(one T) bool { return slices.Contains(said, one) })
}

// joint is the parts of one set.
type joint struct{ makings []making }

// Complete gives each part the record, and its own steps.
func (j *joint) Complete(o changeset.Outcome, dryRun bool) {
	for k, m := range j.makings {
		own := o
		if k > 0 {
			own = changeset.Outcome{ID: o.ID, Err: o.Err}
		}
		m.job.res.Complete(own, dryRun)
	}
}

// bounds returns where the parts begin, and the end of the last.
func (opt *SplitOptions) bounds(messages int) (list []int, err error) {
	switch {
	case opt.Last > 0:
		list = []int{messages - opt.Last}
	case opt.Every > 0:
		for at := 0; at < messages; at += opt.Every {
			list = append(list, at)
		}
	default:
		list = []int{0}
		for _, at := range opt.At {
			found, err := choose.Range{From: at, To: at}.Indexes(messages)
			if err != nil {
				return nil, err
			}
			list = append(list, found[0])
		}
		slices.Sort(list)
		list = slices.Compact(list)
	}

	if len(list) == 0 || opt.Last >= messages || opt.Last == 0 && len(list) == 1 {
		return nil, ErrOnePart
	}
	return append(list, messages), nil
}

// name returns the name of part k, from 0.
func (opt *SplitOptions) name(chat string, k int) string {
	switch {
	case opt.Last > 0 && opt.Name != "":
		return opt.Name
	case opt.Last > 0:
		return names.Derive(chat, "", fmt.Sprintf(" last %d", opt.Last), names.MaxBytes)
	case opt.Name != "":
		chat = opt.Name
	}
	return names.Derive(chat, "", fmt.Sprintf(" part %d", k+1), names.MaxBytes)
}

// count finds where the messages of a chat begin, and what in them state refers to.
func count(ctx context.Context, src *chat.Chat, swipes bool) (offs []int64, facts *follow.Facts, err error) {
	facts = follow.NewFacts()
	found, err := choose.ScanBeside(ctx, &choose.Choice{Whole: true}, choose.SourceOf(src), func(p choose.Place) error {
		offs = append(offs, p.Off)
		return nil
	}, facts.Beside(follow.NewReader(src.Metadata(), swipes)))
	switch {
	case err != nil:
		return nil, nil, src.Errorf("%w", err)
	case found.Damage.Total > 0:
		return nil, nil, src.DamageError(found.Damage.First[0])
	}
	return offs, facts, src.Unchanged()
}

// follow brings the metadata in step with the messages that the part lacks: as if those behind it
// were deleted, and then those before it.
func (s *stretch) follow(ctx context.Context, src *chat.Chat, r *Result) error {
	if src.Header == nil {
		return nil
	}
	n := len(s.offs)
	lines := choose.SourceOf(src)
	facts := s.facts
	for _, c := range []*follow.Change{{Messages: n, Gone: span(s.to, n)}, {Messages: s.to, Gone: span(0, s.from)}} {
		md := src.Header.Metadata()
		if len(c.Gone) > 0 && follow.Matters(c, md) {
			state, err := follow.Look(ctx, lines, c, md, facts)
			if err != nil {
				return src.Errorf("%w", err)
			}
			r.Doc.changed(state.Metadata(md))
			s.states = append(s.states, state)
		}
		if s.to < n {
			lines.Size = s.offs[s.to]
			facts = facts.First(s.to)
		}
	}
	return nil
}

// line returns a message in step with the others that go.
func (s *stretch) line(i int, line []byte) []byte {
	for _, state := range s.states {
		line = state.Line(i, line)
	}
	return line
}

// edited returns the messages of the part that may change, in order.
func (s *stretch) edited() (list []choose.Place) {
	for _, state := range s.states {
		list = append(list, state.Lines()...)
	}
	list = slices.DeleteFunc(list, func(p choose.Place) bool { return p.Index < s.from || p.Index >= s.to })
	slices.SortFunc(list, func(a, b choose.Place) int { return a.Index - b.Index })
	return slices.CompactFunc(list, func(a, b choose.Place) bool { return a.Index == b.Index })
}

// write writes the header and the part's messages.
func (s *stretch) write(ctx context.Context, out *changeset.Draft, src *chat.Chat, header []byte, r *Result) error {
	if _, err := out.Write(header); err != nil {
		return ops.PathError(err)
	}
	off, index := s.offs[s.from], s.from
	copyTo := func(to int) error {
		if to == index {
			return nil
		}
		_, err := jsonl.Copy(ctx, out, src.Source, jsonl.CopyOptions{From: off, Limit: to - index})
		return readError(src, err)
	}

	for _, place := range s.edited() {
		line, err := src.Source.Section(place.Off, place.Len)
		if err == nil {
			err = copyTo(place.Index)
		}
		if err == nil {
			_, err = out.Write(append([]byte{'\n'}, s.line(place.Index, line)...))
		}
		if err != nil {
			return src.Errorf("%w", err)
		}
		off, index = place.Off+place.Len, place.Index+1
	}
	if err := copyTo(s.to); err != nil {
		return err
	}
	r.Doc.At = s.to - 1
	r.Doc.Messages = s.to - s.from
	r.Doc.Bytes = out.Size()
	return src.Unchanged()
}

// cutLog writes the floor log of the part.
func (s *stretch) cutLog(w io.Writer, log io.Reader) (kept, dropped int, err error) {
	n, before := len(s.offs), s.facts.Swipes()
	change := &follow.Change{Messages: n, Gone: slices.Concat(span(0, s.from), span(s.to, n))}
	where := &follow.Floors{Change: change, Before: before, After: change.Swipes(before, nil, nil)}
	did, err := luker.Rewrite(w, log, where.Where)
	return did.Kept, did.Dropped, err
}

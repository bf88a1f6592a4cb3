package mend

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"stchat/internal/extension/illustrator"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// pass is one read of a chat that finds what to change in its lines. Changes are reported, and
// what is taken out is kept, in the order of the lines.
type pass struct {
	plan *plan // only read
	told *told
	lost *quarantine
	left []string // what was asked for but could not be mended

	renamed illustrator.Renames // prompts whose markers get a new id

	src     jsonl.Source // the view of the file
	first   []byte       // the header in front, and its place
	firstAt int64
	noted   []int // messages still to come on which to note branches
	crlf    int   // number of mended line ends, and the line of the first
	crlfAt  int
}

// errStop ends a read whose edits are no longer wanted.
var errStop = errors.New("stop")

// edits yields the changes in the order of their places.
func (p *pass) edits(ctx context.Context) iter.Seq2[jsonl.Edit, error] {
	return func(yield func(jsonl.Edit, error) bool) {
		give := func(e jsonl.Edit) error {
			if !yield(e, nil) {
				return errStop
			}
			return nil
		}
		p.noted = slices.Sorted(maps.Keys(p.plan.notes))
		find := &finder{plan: p.plan, mender: messageMender{want: p.plan.want, links: &p.plan.links, renamed: p.renamed}}
		// one goroutine, so that the memory for a batch of damaged lines is needed only once
		opt := jsonl.MapOptions{Limit: -1, Keys: jsonl.NewKeys(), Workers: 1}
		err := jsonl.Map(ctx, p.src, opt, find.line, func(b *found, base jsonl.Base, _ jsonl.Damages) error {
			return p.fold(b, base, give)
		}, (*found).reset)
		if err == nil {
			err = ops.PathError(p.plan.links.failed)
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(jsonl.Edit{}, err)
			return
		}
		if p.crlf > 0 {
			p.told.add(step{rules.CRLF, p.crlfAt, -1}, func() string { return fmt.Sprintf("made the line ends LF: %d", p.crlf) }, nil, nil)
		}
	}
}

// fold passes on a batch's edits in the order of their places.
func (p *pass) fold(b *found, base jsonl.Base, give func(jsonl.Edit) error) error {
	shift := base.Index
	if p.plan.chat.HasHeader {
		shift--
	}
	if base.Index == 0 && len(b.spans) > 0 && p.plan.chat.HasHeader {
		if err := p.header(b, b.spans[0]); err != nil {
			return err
		}
	}
	if err := p.secondHeaders(b); err != nil {
		return err
	}
	if err := p.branches(b, shift); err != nil {
		return err
	}
	slices.SortStableFunc(b.lines, func(x, y changed) int { return cmp.Compare(x.off, y.off) })
	m := &merging{pass: p, base: base, shift: shift, give: give}
	if base.Line == 0 {
		if err := m.byteOrderMark(b); err != nil {
			return err
		}
	}
	return m.all(b)
}

// header edits the header, which is the first surviving line.
func (p *pass) header(b *found, at place) error {
	line, err := p.src.Section(at.off, int64(at.len))
	if err != nil {
		return err
	}
	if p.plan.want.Has(rules.CRLF) {
		line = bytes.TrimRight(line, "\r")
	}
	p.first, p.firstAt = line, at.off
	h, err := meta.Parse(line)
	var changes []change
	switch {
	case err != nil && !p.plan.want.Has(rules.NotAnObject):
		return nil // a new slug in it would mend nothing
	case err != nil:
		h = meta.ParseLenient(line)
		changes = append(changes, change{rule: rules.NotAnObject, text: "put {} in place of chat_metadata; the line as it was is in the quarantine file", lost: line, what: err.Error()})
	}
	for _, edit := range p.plan.header {
		edit.do(h)
		changes = append(changes, change{rule: edit.rule, text: edit.change})
	}
	if p.plan.state != nil {
		more, _ := p.plan.state.mend(h.Metadata())
		changes = append(changes, more...)
	}
	if p.plan.slug != "" {
		h.Metadata().Set("integrity", rawjson.Quote(p.plan.slug))
	} else if len(changes) == 0 {
		return nil
	}
	at.len = len(line)
	b.lines = append(b.lines, changed{place: at, index: -1, raw: line, data: h.Bytes(), changes: changes})
	return nil
}

// secondHeaders takes out lines that repeat the header byte for byte.
func (p *pass) secondHeaders(b *found) error {
	if p.first == nil || !p.plan.want.Has(rules.MisplacedHeader) {
		return nil
	}
	for _, at := range b.headers {
		if at.len < len(p.first) {
			continue
		}
		line, err := p.src.Section(at.off, int64(at.len))
		if err != nil {
			return err
		}
		if !bytes.Equal(bytes.TrimRight(line, "\r"), bytes.TrimRight(p.first, "\r")) || at.off == p.firstAt {
			continue
		}
		b.lines = append(b.lines, changed{place: at, index: -1, gone: true, raw: line, changes: []change{{
			rule: rules.MisplacedHeader, text: "moved the line to the quarantine file: the header once more, byte for byte", lost: line, what: "the header once more",
		}}})
	}
	return nil
}

// branches notes branches on their messages.
func (p *pass) branches(b *found, shift int) error {
	for len(p.noted) > 0 && p.noted[0] < shift+len(b.spans) {
		index := p.noted[0]
		p.noted = p.noted[1:]
		at := b.spans[index-shift]
		i := slices.IndexFunc(b.lines, func(l changed) bool { return l.off == at.off })
		if i < 0 {
			line, err := p.src.Section(at.off, int64(at.len))
			if err != nil {
				return err
			}
			b.lines = append(b.lines, changed{place: at, index: index - shift, raw: line, data: line})
			i = len(b.lines) - 1
		}
		l, names := &b.lines[i], p.plan.notes[index]
		splice, err := message.BranchSplice(l.data, names...)
		switch {
		case err != nil:
			p.left = append(p.left, fmt.Sprintf("unlisted-branch: message %d: %v", index, err))
			continue
		case splice != nil:
			l.data = splice.Apply(l.data)
		}
		l.changes = append(l.changes, change{rule: rules.UnlistedBranch, text: notedText(names)})
	}
	return nil
}

func notedText(names []string) string {
	if len(names) == 1 {
		return "noted the branch " + quoteAll(names)
	}
	return "noted the branches " + quoteAll(names)
}

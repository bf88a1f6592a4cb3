package ops

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// edit is a stretch of the chat's file and what takes its place.
type edit struct {
	off, len int64
	data     []byte
	drop     bool   // the line goes, with one of the line ends around it
	number   int    // of the line in its batch, later the physical line
	index    int    // of the message in its batch, later in the chat; below 0: none
	raw      []byte // the line as it was; nil for what is no line
	actions  []lineAction
	damage   rules.ID // of a damaged line; what it is called depends on where it stands
	damaged  bool
}

// edits is what a batch of lines gave.
type edits struct {
	list  []edit
	spans []lineSpan // of the surviving lines
	crlf  int
	first int // line of the first CR LF
}

type lineSpan struct {
	off    int64
	len    int
	number int
}

func (b *edits) reset() { *b = edits{list: b.list[:0], spans: b.spans[:0]} }

// rewriter makes the new file of one chat: the source with edits in it, every
// other byte as it was.
type rewriter struct {
	*mendPlan
	repair *repair
	res    *RepairResult
	file   *os.File
	src    jsonl.Source
	mender messageMender

	in     *bufio.Reader
	out    io.Writer
	at     int64 // how much of the source is written or left out
	lost   *quarantine
	slug   string // the header's new one, where every edit needs one
	moved  bool   // the header came from inside the chat
	crlf   int    // line ends that were mended, and the line of the first
	crlfAt int
}

// run writes the new file to out.
func (w *rewriter) run(ctx context.Context) error {
	w.in = bufio.NewReaderSize(io.NewSectionReader(w.file, 0, w.src.Size), int(min(1<<20, w.src.Size+16)))
	w.mender = messageMender{want: w.want, target: func(name string) (string, bool) {
		return w.checker.LinkTarget(w.chat.Folder, name)
	}}
	if err := w.start(); err != nil {
		return err
	}
	err := jsonl.Map(ctx, w.src, jsonl.MapOptions{Limit: -1, Keys: jsonl.NewKeys()}, w.line, w.fold, (*edits).reset)
	if err != nil {
		return err
	}
	if w.crlf > 0 {
		w.res.act(rules.CRLF, w.crlfAt, -1, fmt.Sprintf("made the line ends LF: %d", w.crlf), nil, nil)
	}
	return w.copy(w.src.Size)
}

// start writes what comes before the first line.
func (w *rewriter) start() error {
	const bom = "\xef\xbb\xbf"
	head, _ := w.in.Peek(len(bom))
	hasBOM := string(head) == bom
	switch {
	case hasBOM && w.want.Has(rules.BOM):
		if err := w.skip(int64(len(bom))); err != nil {
			return err
		}
		w.res.act(rules.BOM, 1, -1, "took the byte order mark off", nil, nil)
	case hasBOM && len(w.missing) > 0:
		if err := w.copy(int64(len(bom))); err != nil {
			return err
		}
	}
	if len(w.missing) == 0 {
		return nil
	}
	header, change, err := w.newHeader()
	if err != nil {
		return err
	}
	for _, id := range w.missing {
		w.res.act(id, 1, -1, change, nil, header)
	}
	return w.write(append(header, '\n'))
}

// newHeader gives the header of a chat that has none at its front: a whole one
// with what a group file holds, else the one that stands further down, else an
// empty one.
func (w *rewriter) newHeader() (line []byte, change string, err error) {
	if w.chat.Inside == 1 && w.old == nil {
		at := w.chat.InsideAt
		line, err = w.src.Section(at.Off, at.Len)
		w.moved = true
		if err != nil || w.slug == "" {
			return line, "moved the header to the front", err
		}
		h, err := meta.Parse(line)
		if err != nil {
			return line, "moved the header to the front", nil // its metadata is another finding
		}
		h.Metadata().Set("integrity", rawjson.Quote(w.slug))
		return h.Bytes(), "moved the header to the front", nil
	}
	h := meta.New()
	change = "put a header in front"
	if w.old != nil {
		if err := meta.Merge(h.Metadata(), w.old); err != nil {
			return nil, "", err
		}
		change = "moved the chat's metadata from the group file into a header"
	}
	if w.slug != "" {
		h.Metadata().Set("integrity", rawjson.Quote(w.slug))
	}
	return h.Bytes(), change, nil
}

// line mends one line, as far as it can be told by itself.
func (w *rewriter) line(l *jsonl.Line, b *edits) {
	cr := 0 // the CRs behind it
	if l.CRLF {
		cr++
		if w.want.Has(rules.CRLF) {
			// there may be more of them
			raw := bytes.TrimRight(l.Raw, "\r")
			cr += len(l.Raw) - len(raw)
			l.Raw = raw
		}
	}
	if l.Damage != nil {
		w.damagedLine(l, cr, b)
	} else {
		b.spans = append(b.spans, lineSpan{l.Off, len(l.Raw), l.Number})
		w.wholeLine(l, cr, b)
	}
	if l.CRLF && w.want.Has(rules.CRLF) {
		if b.crlf++; b.crlf == 1 {
			b.first = l.Number
		}
		if n := len(b.list); n == 0 || !b.list[n-1].drop || b.list[n-1].off != l.Off {
			b.list = append(b.list, edit{off: l.Off + int64(len(l.Raw)), len: int64(cr), index: -1})
		}
	}
}

// damagedLine moves a damaged line out.
func (w *rewriter) damagedLine(l *jsonl.Line, cr int, b *edits) {
	id := rules.DamageRule(l.Damage)
	wanted := w.want.Has(id) || id == rules.InvalidJSON && w.want.Has(rules.TornTail)
	if !wanted {
		return
	}
	e := edit{off: l.Off, len: int64(len(l.Raw)), number: l.Number, index: -1, raw: slices.Clone(l.Raw), damage: id, damaged: true}
	if rest, ok := withoutNUL(l.Raw); id == rules.NUL && ok {
		e.data = slices.Clone(rest)
		e.actions = []lineAction{{rule: id, change: fmt.Sprintf("took %d NUL bytes off the line", len(l.Raw)-len(rest))}}
		b.list = append(b.list, e)
		return
	}
	e.drop = true
	e.len += int64(cr)
	a := lineAction{rule: id, change: "moved the line to the quarantine file: " + l.Damage.Reason, lost: e.raw, what: l.Damage.Reason}
	if len(bytes.Trim(l.Raw, "\x00")) == 0 {
		a.change, a.lost = fmt.Sprintf("removed a line of %d NUL bytes", len(l.Raw)), nil
		e.raw = []byte{}
	}
	e.actions = []lineAction{a}
	b.list = append(b.list, e)
}

// wholeLine mends a message. Headers are fold's: it knows which line is the first.
func (w *rewriter) wholeLine(l *jsonl.Line, cr int, b *edits) {
	if w.moved && l.Off == w.chat.InsideAt.Off {
		b.list = append(b.list, edit{off: l.Off, len: int64(len(l.Raw) + cr), drop: true, number: l.Number, index: -1})
		return
	}
	if meta.IsHeader(l.Raw) {
		return
	}
	out, actions := w.mender.mend(l.Raw)
	if len(actions) == 0 {
		return
	}
	for i := range actions {
		actions[i].lost = slices.Clone(actions[i].lost)
	}
	b.list = append(b.list, edit{off: l.Off, len: int64(len(l.Raw)), data: slices.Clone(out), number: l.Number, index: l.Index, raw: slices.Clone(l.Raw), actions: actions})
}

// fold puts a batch's edits into the file.
func (w *rewriter) fold(b *edits, base jsonl.Base, _ []jsonl.Damage) error {
	shift := base.Index
	if w.chat.HasHeader {
		shift--
	}
	if base.Index == 0 && len(b.spans) > 0 && w.chat.HasHeader {
		if err := w.headerEdit(b, b.spans[0]); err != nil {
			return err
		}
	}
	if err := w.branches(b, shift); err != nil {
		return err
	}
	if b.crlf > 0 {
		if w.crlf == 0 {
			w.crlfAt = base.Line + b.first + 1
		}
		w.crlf += b.crlf
	}
	slices.SortStableFunc(b.list, func(x, y edit) int { return cmp.Compare(x.off, y.off) })
	for i := range b.list {
		e := &b.list[i]
		e.number += base.Line + 1
		if e.index >= 0 {
			e.index += shift
		}
		if err := w.apply(e); err != nil {
			return err
		}
	}
	return nil
}

// headerEdit edits the header, whose line is the first to survive.
func (w *rewriter) headerEdit(b *edits, at lineSpan) error {
	if len(w.header) == 0 && w.slug == "" && !w.want.Has(rules.NotAnObject) {
		return nil
	}
	line, err := w.src.Section(at.off, int64(at.len))
	if err != nil {
		return err
	}
	e := edit{off: at.off, len: int64(at.len), number: at.number, index: -1, raw: line}
	h, err := meta.Parse(line)
	if err != nil {
		if !w.want.Has(rules.NotAnObject) {
			return nil // a slug in it would be no mending
		}
		h = meta.ParseLenient(line)
		e.actions = append(e.actions, lineAction{rule: rules.NotAnObject, change: "put {} in place of chat_metadata; the line as it was is in the quarantine file", lost: line, what: err.Error()})
	}
	for _, edit := range w.header {
		edit.do(h)
		e.actions = append(e.actions, lineAction{rule: edit.rule, change: edit.change})
	}
	if w.slug != "" {
		h.Metadata().Set("integrity", rawjson.Quote(w.slug))
	}
	e.data = h.Bytes()
	if w.slug == "" && len(e.actions) == 0 {
		return nil
	}
	b.list = append(b.list, e)
	return nil
}

// branches notes branches on their messages.
func (w *rewriter) branches(b *edits, shift int) error {
	for _, index := range slices.Sorted(maps.Keys(w.notes)) {
		at := index - shift
		if at < 0 || at >= len(b.spans) || shift+at < 0 {
			continue
		}
		span := b.spans[at]
		i := slices.IndexFunc(b.list, func(e edit) bool { return e.off == span.off && e.raw != nil })
		if i < 0 {
			line, err := w.src.Section(span.off, int64(span.len))
			if err != nil {
				return err
			}
			b.list = append(b.list, edit{off: span.off, len: int64(span.len), data: line, number: span.number, index: at, raw: line})
			i = len(b.list) - 1
		}
		e := &b.list[i]
		for name := range strings.SplitSeq(w.notes[index], "\x00") {
			line, err := message.AddBranch(e.data, name)
			if err != nil {
				w.res.Left = append(w.res.Left, fmt.Sprintf("unlisted-branch: message %d: %v", index, err))
				continue
			}
			e.data = line
			e.actions = append(e.actions, lineAction{rule: rules.UnlistedBranch, change: fmt.Sprintf("noted the branch %q", clipName(name))})
		}
	}
	return nil
}

// apply puts one edit into the file.
func (w *rewriter) apply(e *edit) error {
	if e.damaged && e.damage == rules.InvalidJSON {
		id := rules.InvalidJSON
		if e.number == w.chat.TornLine {
			id = rules.TornTail
		}
		if !w.want.Has(id) {
			return nil
		}
		e.actions[0].rule = id
	}
	for i := range e.actions {
		a := &e.actions[i]
		var before, after []byte
		if i == len(e.actions)-1 { // shown once
			before, after = e.raw, e.data
		}
		w.res.act(a.rule, e.number, e.index, a.change, before, after)
		if a.lost != nil {
			if err := w.lost.add(e.number, e.index, a); err != nil {
				return err
			}
		}
	}
	off, length := e.off, e.len
	if e.drop {
		switch {
		case off > w.at:
			off, length = off-1, length+1 // the LF in front
		case off+length < w.src.Size:
			length++ // the LF behind: what is in front ended with its own, or is nothing
		}
	}
	if err := w.copy(off); err != nil {
		return err
	}
	if err := w.skip(length); err != nil {
		return err
	}
	return w.write(e.data)
}

// copy writes the source as it is up to an offset.
func (w *rewriter) copy(to int64) error {
	n, err := io.CopyN(w.out, w.in, to-w.at)
	w.at += n
	if errors.Is(err, io.EOF) {
		err = jsonl.ErrChanged
	}
	return err
}

// skip leaves bytes of the source out.
func (w *rewriter) skip(n int64) error {
	for n > 0 {
		did, err := w.in.Discard(int(min(n, 1<<20)))
		w.at += int64(did)
		n -= int64(did)
		if err == io.EOF {
			return jsonl.ErrChanged
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *rewriter) write(data []byte) error {
	_, err := w.out.Write(data)
	return err
}

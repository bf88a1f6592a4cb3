package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"stchat/internal/extension"
	"stchat/internal/folder/rules"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/message"
	"stchat/internal/sillytavern/reline"
)

// pass is one read of a chat that finds what to change in its lines. Changes are reported, and
// what is taken out is kept, in the order of the lines.
type pass struct {
	plan *plan // takes what is done, and what was asked for but could not be
	lost *quarantine

	src      jsonl.Source // the view of the file
	repairer messageRepairer
	give     func(jsonl.Edit) error
	started  bool   // the first line was read
	messages int    // that the repaired chat has so far
	readable int    // messages among them, by their shape; known where damage is taken out
	header   []byte // the one in front, without CRs; nil: there is none
	crlf     int    // number of repaired line ends, and the line of the first
	crlfAt   int
}

// line is a line while it is repaired.
type line struct {
	full      []byte // without the last CR and LF
	raw, data []byte // before and after, without any CR to take
	off       int64
	step      step // its line, and the message's index
	changes   []rules.Change
	gone      bool
}

// errStop ends a read whose edits are no longer wanted.
var errStop = errors.New("stop")

// edits yields the changes in the order of their places.
func (p *pass) edits(ctx context.Context) iter.Seq2[jsonl.Edit, error] {
	return func(yield func(jsonl.Edit, error) bool) {
		p.give = func(e jsonl.Edit) error {
			if !yield(e, nil) {
				return errStop
			}
			return nil
		}

		p.repairer = messageRepairer{want: p.plan.want, links: &p.plan.links, files: p.plan.files}
		err := jsonl.Each(ctx, p.src, jsonl.MapOptions{Keys: jsonl.NewKeys()}, func(l *jsonl.Line, base jsonl.Base) error {
			return p.line(ctx, l, base)
		})
		if err == nil && !p.started {
			err = p.byteOrderMark()
		}
		if err == nil {
			err = ops.PathError(p.plan.failed)
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(jsonl.Edit{}, err)
			return
		}
		if p.crlf > 0 {
			p.plan.done.add(step{rules.CRLF, p.crlfAt, -1}, fmt.Sprintf("made the line ends LF: %d", p.crlf), nil, nil)
		}
	}
}

// line repairs one line.
func (p *pass) line(ctx context.Context, l *jsonl.Line, base jsonl.Base) error {
	number := base.Line + l.Number + 1
	one := &line{full: l.Raw, raw: l.Raw, off: l.Off, step: step{line: p.plan.line(number), index: noMessage}}
	if l.CRLF && p.plan.want.Has(rules.CRLF) {
		one.raw = bytes.TrimRight(l.Raw, "\r") // there may be several CRs
	}
	one.data = one.raw
	damage := p.damageRule(l, number)
	rest, whole := []byte(nil), false
	if l.Damage != nil && p.plan.want.Has(damage) {
		rest, whole = rules.WithoutJunk(one.raw)
		one.gone = !whole
	}
	if !p.started {
		p.started = true
		if !one.gone || l.Off != int64(len(bom)) { // else it goes with the line
			if err := p.byteOrderMark(); err != nil {
				return err
			}
		}
	}

	switch {
	case one.gone:
		return p.takeOut(l, one, number, damage)
	case whole:
		p.strip(one, rest, damage)
	case l.Damage == nil:
		if err := p.survivor(one, base.Index+l.Index); err != nil {
			return err
		}
	}
	if err := p.edit(one); err != nil || one.gone {
		return err
	}
	if err := p.count(ctx, l, one, whole); err != nil {
		return err
	}
	return p.lineEnd(l, one)
}

// count counts the messages of a line that stays, which may be damaged all the same.
func (p *pass) count(ctx context.Context, l *jsonl.Line, one *line, whole bool) error {
	switch {
	case !p.plan.takesOut():
	case l.Damage != nil && !whole:
		n, err := reline.Messages(ctx, jsonl.Bytes(one.data))
		p.readable += n
		return err
	case reline.IsMessage(one.data):
		p.readable++
	}
	return nil
}

// damageRule returns the rule that a damaged line breaks at its place: at the end of the chat,
// invalid-json becomes torn-tail, also for lines before it that become the last ones when it
// goes.
func (p *pass) damageRule(l *jsonl.Line, number int) rules.ID {
	if l.Damage == nil {
		return 0
	}
	id, c := rules.DamageRule(l.Damage), p.plan.chat
	inTornTail := c.TornLine > 0 && number >= c.TornFrom
	mendsLines := p.plan.want.Has(rules.InvalidJSON)
	if id == rules.InvalidJSON && inTornTail && (number == c.TornLine || !mendsLines) {
		return rules.TornTail
	}
	return id
}

// strip takes the junk off a damaged line that is whole without it, and repairs the rest.
func (p *pass) strip(one *line, rest []byte, damage rules.ID) {
	one.data, one.changes = rest, []rules.Change{{Rule: damage, Text: junkChange(one.raw, rest)}}
	if !meta.IsHeader(rest) {
		repaired, more := p.unjudged(p.plan.wanted).repair(rest, p.messages == 0)
		one.data, one.changes = repaired, append(one.changes, more...)
		p.messages++
	}
}

// unjudged returns what repairs a message by more rules than its chat has findings of: the message
// was not judged yet, or not as what it becomes.
func (p *pass) unjudged(more rules.Set) *messageRepairer {
	all := p.repairer
	all.want = all.want.With(more)
	return &all
}

// survivor repairs a line that is whole; index counts those before it.
func (p *pass) survivor(one *line, index int) error {
	if p.plan.chat.HasHeader {
		if index == 0 {
			p.header = bytes.TrimRight(bytes.Clone(one.raw), "\r")
			return p.repairHeader(one)
		}
		index--
	}

	if !meta.IsHeader(one.raw) {
		one.step.index = index
		repairer := &p.repairer
		if index == 0 && p.messages > 0 {
			repairer = p.unjudged(p.plan.wanted.And(rules.OnSwipes())) // it was judged as the greeting
		}
		one.data, one.changes = repairer.repair(one.raw, p.messages == 0)
	} else if p.header != nil && p.plan.want.Has(rules.MisplacedHeader) && bytes.Equal(bytes.TrimRight(one.raw, "\r"), p.header) {
		one.gone, one.raw = true, one.full
		one.changes = []rules.Change{{
			Rule: rules.MisplacedHeader, Text: "moved the line to the .damaged file: the header once more, byte for byte", Lost: one.raw, What: "the header once more",
		}}
	}

	if !one.gone {
		p.messages++
	}
	p.note(one, index)
	return nil
}

// repairHeader repairs the header in front.
func (p *pass) repairHeader(one *line) error {
	h, err := meta.Parse(one.raw)
	switch {
	case err != nil && !p.plan.want.Has(rules.NotAnObject):
		return nil // a new slug in it would repair nothing
	case err != nil:
		h = meta.ParseLenient(one.raw)
		one.changes = append(one.changes, rules.Change{Rule: rules.NotAnObject, Text: "put {} in place of chat_metadata; the line as it was is in the .damaged file", Lost: one.raw, What: err.Error()})
	}
	if err := p.keepOld(one, h); err != nil {
		return err
	}
	for _, edit := range p.plan.header {
		edit.do(h)
		one.changes = append(one.changes, rules.Change{Rule: edit.rule, Text: edit.change})
	}

	if p.plan.want.Has(rules.MissingAttachment) {
		one.changes = append(one.changes, p.plan.files.DataBank(h.Metadata())...)
	}
	if !p.plan.state.IsEmpty() {
		var more []rules.Change
		more, p.repairer.follow = p.plan.repairState(h.Metadata(), p.lost.now)
		one.changes = append(one.changes, more...)
	}

	if p.plan.slug != "" {
		h.Metadata().Set("integrity", rawjson.Quote(p.plan.slug))
	}
	if p.plan.slug != "" || len(one.changes) > 0 {
		one.data = h.Bytes()
	}
	return nil
}

// keepOld keeps the metadata that go from group files and that the header has not, or has otherwise.
func (p *pass) keepOld(one *line, h *meta.Header) error {
	for _, old := range p.plan.old {
		if old.isIn(h.Metadata()) {
			continue
		}
		at := one.step
		at.rule = rules.GroupOldLayout
		what := fmt.Sprintf("the metadata in the file of the group %q, which differs from the header's", clip(old.group))
		p.plan.done.add(at, "moved to the .damaged file: "+what, nil, nil)
		p.plan.keptOld++
		if err := p.lost.add(at, what, old.raw); err != nil {
			return err
		}
	}
	return nil
}

// note notes the branches that leave a message.
func (p *pass) note(one *line, index int) {
	names := p.plan.notes[index]
	if len(names) == 0 || one.gone {
		return
	}
	one.step.index = index
	splice, err := message.BranchSplice(one.data, names...)
	if err != nil {
		p.plan.left = append(p.plan.left, fmt.Sprintf("unlisted-branch: message %d: %v", index, err))
		return
	}
	one.data = splice.Apply(one.data)
	what := "branch"
	if len(names) > 1 {
		what = "branches"
	}
	one.changes = append(one.changes, rules.Change{Rule: rules.UnlistedBranch, Text: "noted the " + what + " " + quoteAll(names)})
}

// edit reports the changes of a line, and passes on its edit.
func (p *pass) edit(one *line) error {
	if !one.gone && len(one.changes) == 0 && bytes.Equal(one.data, one.raw) {
		return nil
	}
	for i := range one.changes {
		c := &one.changes[i]
		one.step.rule = c.Rule
		var before, after []byte
		if i == len(one.changes)-1 { // shown once
			before = one.raw
			if !one.gone {
				after = one.data
			}
		}

		p.plan.done.add(one.step, c.Text, before, after)
		if c.Lost != nil {
			if err := p.lost.add(one.step, c.What, c.Lost); err != nil {
				return err
			}
		}
	}
	return p.give(jsonl.Edit{Splice: rawjson.Splice{At: one.off, Len: int64(len(one.raw)), Data: one.data}, Gone: one.gone})
}

// lineEnd takes the CRs from the end of a line that stays.
func (p *pass) lineEnd(l *jsonl.Line, one *line) error {
	if !l.CRLF || !p.plan.want.Has(rules.CRLF) {
		return nil
	}
	if p.crlf++; p.crlf == 1 {
		p.crlfAt = one.step.line
	}
	n := len(one.raw)
	return p.give(jsonl.Edit{Splice: rawjson.Splice{At: l.Off + int64(n), Len: int64(1 + len(l.Raw) - n)}})
}

// takeOut takes a damaged line out.
func (p *pass) takeOut(l *jsonl.Line, one *line, number int, damage rules.ID) error {
	edit := jsonl.Edit{Splice: rawjson.Splice{At: l.Off, Len: int64(len(l.Raw))}, Gone: true}
	raw := one.raw
	if l.Off == int64(len(bom)) && number == 1 {
		// the byte order mark before it must not end up on the next line
		has, err := hasBOM(p.src)
		if err != nil {
			return err
		}
		if has {
			edit.At, edit.Len = 0, edit.At+edit.Len
			raw = append([]byte(bom), raw...)
		}
	}

	if p.plan.want.Has(rules.CRLF) {
		raw = bytes.TrimRight(raw, "\r")
	}
	one.step.rule = damage
	if len(bytes.Trim(raw, "\x00")) == 0 {
		p.plan.done.add(one.step, fmt.Sprintf("removed a line of %d NUL bytes", len(l.Raw)), []byte{}, nil)
		return p.give(edit)
	}
	p.plan.done.add(one.step, "moved the line to the .damaged file: "+l.Damage.Reason, raw, nil)
	if err := p.lost.add(one.step, l.Damage.Reason, raw); err != nil {
		return err
	}
	return p.give(edit)
}

// byteOrderMark removes the file's byte order mark.
func (p *pass) byteOrderMark() error {
	has, err := hasBOM(p.src)
	if err != nil || !has || !p.plan.want.Has(rules.BOM) {
		return err
	}
	p.plan.done.add(step{rules.BOM, 1, -1}, "took the byte order mark off", nil, nil)
	return p.give(jsonl.Edit{Splice: rawjson.Splice{Len: int64(len(bom))}})
}

// messageRepairer repairs messages by the wanted rules.
type messageRepairer struct {
	want   rules.Set
	links  *rules.LinkRepair
	files  *rules.AttachmentRepair
	follow func(line []byte) ([]byte, extension.Repaired) // what follows from the repaired metadata; nil: nothing
}

// repair returns the message with everything repaired, or line itself if there is nothing to repair.
// first reports whether it is the chat's first message.
func (m *messageRepairer) repair(line []byte, first bool) (out []byte, changes []rules.Change) {
	out, changes = rules.RepairMessage(m.want, m.links, m.files, line, first)
	if m.follow != nil {
		if edited, did := m.follow(out); !bytes.Equal(edited, out) {
			out = edited
			changes = append(changes, changeOf(did))
		}
	}
	return out, changes
}

// onLines returns the rules that are repaired line by line.
func onLines() rules.Set {
	return rules.SetOf(rules.BOM, rules.CRLF, rules.NUL, rules.InvalidJSON, rules.TornTail, rules.NotAnObject, rules.TooDeep, rules.MisplacedHeader).
		With(rules.OnMessages())
}

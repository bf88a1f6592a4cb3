package mend

import (
	"bytes"
	"fmt"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// merging passes on the edits of one batch in the order of their places.
type merging struct {
	pass  *pass
	base  jsonl.Base
	shift int // added to an index in the batch, it is that of a message
	give  func(jsonl.Edit) error
}

// line returns the line number in the file of a line number in the batch.
func (m *merging) line(number int) int { return m.pass.plan.view.line(m.base.Line + number + 1) }

// all passes on the edits of all three kinds.
func (m *merging) all(b *found) error {
	lines, out, ends, raw := b.lines, b.out, b.crs, b.outRaw
	for len(lines)+len(out)+len(ends) > 0 {
		var err error
		switch {
		case len(lines) > 0 && (len(out) == 0 || lines[0].off < out[0].off) && (len(ends) == 0 || lines[0].off <= ends[0].off):
			if lines[0].gone {
				ends = without(ends, &lines[0].place)
			}
			err = m.change(&lines[0])
			lines = lines[1:]
		case len(out) > 0 && (len(ends) == 0 || out[0].off <= ends[0].off):
			if id := m.damageRule(&out[0]); m.pass.plan.want.Has(id) {
				ends = without(ends, &out[0].place)
				err = m.takeOut(&out[0], id, raw[:out[0].len])
			}
			raw, out = raw[out[0].len:], out[1:]
		default:
			if m.pass.crlf++; m.pass.crlf == 1 {
				m.pass.crlfAt = m.line(ends[0].number)
			}
			err = m.give(jsonl.Edit{Splice: rawjson.Splice{At: ends[0].off, Len: int64(ends[0].n)}})
			ends = ends[1:]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// without drops the CRs of a line that is taken out, as they go with it.
func without(ends []crs, at *place) []crs {
	if len(ends) > 0 && ends[0].off <= at.off+int64(at.len) {
		return ends[1:]
	}
	return ends
}

// damageRule returns the rule that a damaged line breaks at its place: at the end of the chat,
// invalid-json becomes torn-tail, also for lines before it that become the last ones when it
// goes.
func (m *merging) damageRule(g *goes) rules.ID {
	line, p := m.base.Line+g.number+1, m.pass
	if g.rule != rules.InvalidJSON || p.plan.chat.TornLine == 0 || line < p.plan.chat.TornFrom {
		return g.rule
	}
	if line == p.plan.chat.TornLine || !p.plan.want.Has(rules.InvalidJSON) {
		return rules.TornTail
	}
	return g.rule
}

// takeOut takes a damaged line out.
func (m *merging) takeOut(g *goes, id rules.ID, raw []byte) error {
	p := m.pass
	edit := jsonl.Edit{Splice: rawjson.Splice{At: g.off, Len: int64(g.len)}, Gone: true}
	if g.off == int64(len(bom)) && m.base.Line+g.number == 0 {
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
	at := step{id, m.line(g.number), -1}
	if len(bytes.Trim(raw, "\x00")) == 0 {
		p.told.add(at, func() string { return fmt.Sprintf("removed a line of %d NUL bytes", g.len) }, []byte{}, nil)
		return m.give(edit)
	}
	p.told.add(at, func() string { return "moved the line to the quarantine file: " + g.reason }, raw, nil)
	if err := p.lost.add(at, g.reason, raw); err != nil {
		return err
	}
	return m.give(edit)
}

// change passes on the edit of a line that is replaced or taken out.
func (m *merging) change(l *changed) error {
	p := m.pass
	at := step{line: m.line(l.number), index: -1}
	if l.index >= 0 {
		at.index = m.shift + l.index
	}
	if l.damaged {
		if at.rule = m.damageRule(&goes{place: l.place, rule: l.changes[0].rule}); !p.plan.want.Has(at.rule) {
			return nil
		}
		l.changes[0].rule = at.rule
	}
	for i := range l.changes {
		c := &l.changes[i]
		at.rule = c.rule
		var before, after []byte
		if i == len(l.changes)-1 { // shown once
			before, after = l.raw, l.data
		}
		p.told.add(at, text(c.text), before, after)
		if c.lost != nil {
			if err := p.lost.add(at, c.what, c.lost); err != nil {
				return err
			}
		}
	}
	return m.give(jsonl.Edit{Splice: rawjson.Splice{At: l.off, Len: int64(l.len), Data: l.data}, Gone: l.gone})
}

// byteOrderMark removes the file's byte order mark, unless that goes with the first line.
func (m *merging) byteOrderMark(b *found) error {
	p := m.pass
	has, err := hasBOM(p.src)
	if err != nil || !has || !p.plan.want.Has(rules.BOM) {
		return err
	}
	if len(b.out) > 0 && b.out[0].off == int64(len(bom)) && p.plan.want.Has(m.damageRule(&b.out[0])) {
		return nil
	}
	p.told.add(step{rules.BOM, 1, -1}, text("took the byte order mark off"), nil, nil)
	return m.give(jsonl.Edit{Splice: rawjson.Splice{Len: int64(len(bom))}})
}

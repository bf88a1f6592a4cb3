package mend

import (
	"bytes"

	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/rules"
)

// finder finds what to change in a line, as far as that depends on the line alone.
type finder struct {
	plan   *plan // only read
	mender messageMender
}

// line notes the changes in one line.
func (f *finder) line(l *jsonl.Line, b *found) {
	raw, at := l.Raw, place{l.Off, len(l.Raw), l.Number}
	if l.CRLF && f.plan.want.Has(rules.CRLF) {
		raw = bytes.TrimRight(raw, "\r") // there may be several CRs
		b.crs = append(b.crs, crs{l.Off + int64(len(raw)), 1 + len(l.Raw) - len(raw), l.Number})
	}
	switch {
	case l.Damage != nil:
		f.damaged(l, raw, at, b)
		return
	case meta.IsHeader(raw):
		b.headers = append(b.headers, at)
	default:
		if data, changes := f.mender.mend(raw); len(changes) > 0 {
			b.change(at, l.Index, raw, data, changes)
		}
	}
	if l.Index == 0 || len(f.plan.notes) > 0 {
		b.spans = append(b.spans, at)
	}
}

// damaged strips the junk around a whole message off a damaged line, and takes any other
// damaged line out.
func (f *finder) damaged(l *jsonl.Line, raw []byte, at place, b *found) {
	id := rules.DamageRule(l.Damage)
	if !mends(f.plan.want, id) {
		return
	}
	rest, whole := withoutJunk(raw)
	if !whole {
		b.out = append(b.out, goes{at, id, l.Damage.Reason})
		b.outRaw = append(b.outRaw, l.Raw...)
		return
	}
	changes := []change{{rule: id, text: junkChange(raw, rest)}}
	if meta.IsHeader(rest) {
		b.headers = append(b.headers, at)
	} else {
		all := f.mender
		all.want = f.plan.wanted // it was not judged yet
		mended, more := all.mend(rest)
		rest, changes = mended, append(changes, more...)
	}
	b.change(at, -1, raw, rest, changes)
	b.lines[len(b.lines)-1].damaged = true
}

// mends reports whether a damaged line may be mended. Which invalid-json line is the torn tail
// is not known yet while lines are read.
func mends(want rules.Set, damage rules.ID) bool {
	return want.Has(damage) || damage == rules.InvalidJSON && want.Has(rules.TornTail)
}

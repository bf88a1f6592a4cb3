package extension

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/plural"
)

// numbering says what becomes of the numbers of messages. Each function returns false for what there
// is no number any more.
type numbering interface {
	Staying(i int) (int, bool)
	Up(i int) (int, bool)   // of the nearest message at or after i
	Down(i int) (int, bool) // of the nearest message at or before i
	Before(n int) int       // how many of the first n messages are left
}

// cut is a chat of so many messages: what is beyond is not there.
type cut int

// Staying implements numbering.
func (c cut) Staying(i int) (int, bool) { return i, i < int(c) }

// Up implements numbering.
func (c cut) Up(i int) (int, bool) { return c.Staying(i) }

// Down implements numbering.
func (c cut) Down(i int) (int, bool) { return min(i, int(c)-1), c > 0 }

// Before implements numbering.
func (c cut) Before(n int) int { return min(n, int(c)) }

// shifted is a shift in which there is no message beyond the end.
type shifted struct{ *Shift }

// Staying implements numbering.
func (s shifted) Staying(i int) (int, bool) {
	if i >= s.Messages {
		return 0, false
	}
	return s.Shift.Staying(i)
}

// Before implements numbering.
func (s shifted) Before(n int) int {
	last, ok := s.Down(n - 1)
	if !ok {
		return 0
	}
	return last + 1
}

// isNumber reports whether a row holds numbers of messages in the metadata that follow.
func (r Row) isNumber() bool {
	return r.File == Metadata && r.Holds >= Index && r.Holds <= Count
}

// isMany reports whether a row is of many values, of which each goes by itself.
func (r Row) isMany() bool { return strings.ContainsAny(r.Path, Each+Numbered) }

// key returns what a single value is called.
func (r Row) key() string { return r.Path[strings.LastIndexByte(r.Path, '/')+1:] }

// now returns what becomes of a number that a row holds.
func (r Row) now(number int, to numbering) (now int, ok bool) {
	switch r.Holds {
	case First:
		return to.Up(number)
	case Last:
		return to.Down(number)
	case Count:
		return to.Before(number), true
	case Place:
		now, ok = to.Staying(number)
		return now, ok && now == number
	default:
		return to.Staying(number)
	}
}

// renumbered is what became of what a row holds.
type renumbered struct {
	row                Row
	total, gone, moved int
	last               int      // the last number that was there; -1: none
	was, now           []byte   // of a single number; now is nil if it is removed
	lost               [][]byte // what went
}

// changed reports whether anything did.
func (d *renumbered) changed() bool { return d.gone+d.moved > 0 }

// renumber brings what a row holds in an object in step.
func (r Row) renumber(root *rawjson.Object, to numbering) *renumbered {
	d := &renumbered{row: r, last: -1}
	if !r.mayBeIn(root) {
		return d
	}
	w := newWalk(r)
	w.gone = func(raw []byte) { d.lost = append(d.lost, bytes.Clone(raw)) }
	w.edit = func(raw []byte) ([]byte, bool) { return d.edit(raw, to) }
	w.object(root, 0)
	return d
}

// beyond returns what would become of what a row holds in an object in a chat of so many messages.
func (r Row) beyond(root *rawjson.Object, messages int) *renumbered {
	d := &renumbered{row: r, last: -1}
	if !r.mayBeIn(root) {
		return d
	}
	w := newWalk(r)
	w.edit = func(raw []byte) ([]byte, bool) {
		d.edit(raw, cut(messages))
		return raw, true
	}
	w.object(root, 0)
	return d
}

// edit returns a number as it is to be.
func (d *renumbered) edit(raw []byte, to numbering) (edited []byte, stays bool) {
	d.total++
	number, ok := messageNumber(raw)
	if !ok {
		return raw, true
	}
	d.last = number
	now, ok := d.row.now(number, to)
	if ok && now == number {
		return raw, true
	}
	if !d.row.isMany() {
		d.was = bytes.Clone(raw)
	}
	if ok {
		d.moved++
		d.now = strconv.AppendInt(nil, int64(now), 10)
		return d.now, true
	}

	d.gone++
	if d.row.None == "" {
		return nil, false
	}
	d.now = []byte(d.row.None)
	return d.now, true
}

// messageNumber returns a number of a message or of messages, however large. Anything else, such as
// -1, is none.
func messageNumber(raw []byte) (n int, ok bool) {
	if n, ok := rawjson.Int(raw); ok {
		return n, n >= 0
	}
	large, ok := rawjson.Float(raw)
	return math.MaxInt, ok && large > math.MaxInt32
}

// Isolate sets numbers in the metadata of a branch of an extension back.
func (t Table) Isolate(e Extension, b *Branch) {
	var left []string
	for _, r := range t {
		if !r.isNumber() {
			continue
		}
		if r.Stays != "" {
			if r.beyond(b.Metadata, b.Messages()).changed() {
				b.Leave(e, "%s left: %s", r.key(), r.Stays)
			}
			continue
		}

		d := r.renumber(b.Metadata, cut(b.Messages()))
		d.report(e, &b.Report, fmt.Sprintf("beyond message %d", b.At))
		if d.changed() && r.Leaves != "" && !slices.Contains(left, r.Leaves) {
			left = append(left, r.Leaves)
			b.Leave(e, "%s stay as they are at the end of the source", r.Leaves)
		}
	}
}

// Follow moves numbers in the metadata with their messages.
func (t Table) Follow(e Extension, f *Following) {
	if !f.Moves() {
		return
	}
	for _, r := range t {
		if r.isNumber() && r.Stays == "" {
			r.renumber(f.Metadata, shifted{f.Shift}).report(e, &f.Report, "no message is left there")
		}
	}
}

// report says what became of what a row holds.
func (d *renumbered) report(e Extension, to *Report, why string) {
	switch {
	case !d.changed():
	case !d.row.isMany() && d.now == nil:
		to.AddInternal(e, "%s %s removed: %s", d.row.key(), rawjson.Compact(d.was), why)
	case !d.row.isMany():
		to.AddInternal(e, "%s %s → %s", d.row.key(), rawjson.Compact(d.was), d.now)
	default:
		to.Kept(e, d.total-d.gone, d.total, d.row.What, "")
		if d.moved > 0 {
			to.Count(e, Moved, d.row.What, d.moved, d.moved, "%s moved with the messages", plural.S(d.moved, d.row.What))
		}
	}
}

// Judge reports numbers of messages that a chat does not have.
func (t Table) Judge(e Extension, j *Judging) {
	name := e.About().Name
	for _, r := range t {
		if !r.isJudged() {
			continue
		}
		d := r.beyond(j.Metadata, j.Messages)
		switch {
		case !d.changed():
		case r.isMany():
			j.Report(r.rule(), fmt.Sprintf("%s of %s for messages beyond the last one", plural.S(d.gone, r.What), name))
		default:
			j.Report(r.rule(), fmt.Sprintf("%s %s of %s is beyond the last message", r.key(), rawjson.Compact(d.was), name))
		}
	}
}

// isJudged reports whether a number beyond the end is a finding.
func (r Row) isJudged() bool { return r.isNumber() && r.Stays == "" && !r.Heals }

// rule returns the rule that a number beyond the end breaks.
func (r Row) rule() string { return cmp.Or(r.Rule, "beyond-end") }

// Repair lowers such numbers, or removes what they are about.
func (t Table) Repair(e Extension, m *Repairing) {
	name := e.About().Name
	for _, r := range t {
		if !r.isJudged() || !m.Wants(r.rule()) {
			continue
		}
		d := r.renumber(m.Metadata, cut(m.Messages))
		switch {
		case !d.changed():
		case r.isMany():
			for _, raw := range d.lost {
				m.Removed(r.rule(), "a "+r.What+" of "+name, raw)
			}
		case d.now == nil:
			m.Removed(r.rule(), r.key()+" of "+name, d.was)
		default:
			m.Note(Repaired{Rule: r.rule(), Text: fmt.Sprintf("%s %s → %s", r.key(), d.was, d.now), What: r.key(), Lost: d.was})
		}
	}
}

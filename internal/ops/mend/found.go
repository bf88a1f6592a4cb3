package mend

import (
	"bytes"

	"stchat/internal/rules"
)

// found is what was found in a batch of lines: the changes, by place, and the places of the
// lines that stay.
type found struct {
	lines   []changed
	out     []goes
	outRaw  []byte // the lines taken out, one after the other
	crs     []crs
	headers []place // other than the one in front
	spans   []place
}

type place struct {
	off    int64
	len    int
	number int
}

// changed is a line that is replaced or taken out.
type changed struct {
	place
	index   int // of the message; negative: none
	raw     []byte
	data    []byte
	gone    bool
	damaged bool // the line is whole but for junk around it, which the first change strips
	changes []change
}

// change is one thing that changes in a line.
type change struct {
	rule rules.ID
	text string
	lost []byte // goes to the quarantine file; nil: nothing
	what string // what lost is
}

// goes is a damaged line to take out. A file may have millions of them.
type goes struct {
	place
	rule   rules.ID
	reason string
}

// crs are the CRs before a line's LF.
type crs struct {
	off       int64
	n, number int
}

func (b *found) reset() {
	*b = found{lines: b.lines[:0], out: b.out[:0], outRaw: b.outRaw[:0], crs: b.crs[:0], headers: b.headers[:0], spans: b.spans[:0]}
}

// change notes a line that is replaced. The bytes are copied, as they are only valid during the
// call.
func (b *found) change(at place, index int, raw, data []byte, changes []change) {
	for i := range changes {
		changes[i].lost = bytes.Clone(changes[i].lost)
	}
	at.len = len(raw)
	b.lines = append(b.lines, changed{place: at, index: index, raw: bytes.Clone(raw), data: bytes.Clone(data), changes: changes})
}

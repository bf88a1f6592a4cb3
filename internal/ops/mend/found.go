package mend

import (
	"bytes"

	"stchat/internal/rules"
)

// found is what a batch of lines gave: what changes, by place, and where its
// surviving lines are.
type found struct {
	lines   []changed
	out     []goes
	outRaw  []byte // the lines that go, one behind the other
	crs     []crs
	headers []place // other than in front
	spans   []place
}

type place struct {
	off    int64
	len    int
	number int
}

// changed is a line that becomes another.
type changed struct {
	place
	index   int // of the message; below 0: none
	raw     []byte
	data    []byte
	gone    bool
	damaged bool // the first change is of a line that is whole but for what is around it
	changes []change
}

// change is one thing that changes in a line.
type change struct {
	rule rules.ID
	text string
	lost []byte // what goes to the quarantine file; nil: nothing
	what string // what lost is
}

// goes is a damaged line. A file may have millions of them.
type goes struct {
	place
	rule   rules.ID
	reason string
}

// crs are the CRs in front of a line's LF.
type crs struct {
	off       int64
	n, number int
}

func (b *found) reset() {
	*b = found{lines: b.lines[:0], out: b.out[:0], outRaw: b.outRaw[:0], crs: b.crs[:0], headers: b.headers[:0], spans: b.spans[:0]}
}

// change notes a line that becomes another. The bytes are copied: they are only
// lent.
func (b *found) change(at place, index int, raw, data []byte, changes []change) {
	for i := range changes {
		changes[i].lost = bytes.Clone(changes[i].lost)
	}
	at.len = len(raw)
	b.lines = append(b.lines, changed{place: at, index: index, raw: bytes.Clone(raw), data: bytes.Clone(data), changes: changes})
}

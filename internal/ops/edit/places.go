package edit

import (
	"encoding/binary"
	"iter"

	"stchat/internal/choose"
)

// places are places of messages in the chat's order, a few bytes each: there may be one for
// each message of the chat.
type places struct {
	n      int
	packed []byte       // of each: how far its index and its place are from those before, its length
	last   choose.Place // of those added
}

// add adds a place that comes after all others. Its Line is not kept.
func (p *places) add(at choose.Place) {
	p.packed = binary.AppendUvarint(p.packed, uint64(at.Index-p.last.Index))
	p.packed = binary.AppendUvarint(p.packed, uint64(at.Off-p.last.Off-p.last.Len))
	p.packed = binary.AppendUvarint(p.packed, uint64(at.Len))
	p.n, p.last = p.n+1, at
}

// all yields the places.
func (p *places) all() iter.Seq[choose.Place] {
	return func(yield func(choose.Place) bool) {
		var at choose.Place
		rest := p.packed
		next := func() int64 {
			n, size := binary.Uvarint(rest)
			rest = rest[size:]
			return int64(n)
		}
		for len(rest) > 0 {
			at.Index += int(next())
			at.Off += at.Len + next()
			at.Len = next()
			if !yield(at) {
				return
			}
		}
	}
}

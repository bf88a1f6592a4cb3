package message

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"unicode/utf8"

	"stchat/internal/rawjson"
)

// ID identifies a message by its content: two messages with one ID have the same name,
// is_user, mes and send_date, however these are spelled. Only IDs of one [Seed] can be
// compared; they mean nothing outside the process.
type ID [16]byte

// Seed makes IDs unpredictable, so that no file can be crafted to hold different messages
// with one ID. Use [NewSeed].
type Seed struct{ high, low maphash.Seed }

// NewSeed returns a new seed.
func NewSeed() Seed { return Seed{maphash.MakeSeed(), maphash.MakeSeed()} }

// Identity returns the ID of a message from the raw values of its name, is_user,
// mes and send_date, nil where it lacks one. Each counts as JavaScript reads it:
// is_user by its truth, a string decoded, a number as a double.
func (s Seed) Identity(name, isUser, mes, date []byte) ID {
	return NewIdentifier(s).Identity(name, isUser, mes, date, false)
}

// Identifier computes the IDs of many messages and reuses its memory. It is for one
// goroutine.
type Identifier struct {
	seed Seed
	buf  []byte
}

// NewIdentifier returns an Identifier that computes the IDs of a seed.
func NewIdentifier(s Seed) *Identifier { return &Identifier{seed: s} }

// Identity is [Seed.Identity]. plain says that strings in the values are known to be
// UTF-8 and spelled as JSON.stringify spells them, so that this need not be checked
// again.
func (f *Identifier) Identity(name, isUser, mes, date []byte, plain bool) ID {
	user := byte(0)
	if rawjson.Truthy(isUser) {
		user = 1
	}
	f.buf = append(f.buf[:0], user)
	for _, value := range [...][]byte{name, mes, date} {
		f.add(value, plain)
	}
	var id ID
	binary.BigEndian.PutUint64(id[:8], maphash.Bytes(f.seed.high, f.buf))
	binary.BigEndian.PutUint64(id[8:], maphash.Bytes(f.seed.low, f.buf))
	return id
}

// add adds a value to what is hashed: its kind, its length and what it reads as.
func (f *Identifier) add(raw []byte, plain bool) {
	kind := rawjson.KindOf(raw)
	f.buf = append(f.buf, byte(kind), 0, 0, 0, 0, 0, 0, 0, 0)
	from := len(f.buf)
	switch kind {
	case rawjson.String:
		if raw = bytes.TrimSpace(raw); !plain && (!utf8.Valid(raw) || !isStringified(raw)) {
			text, _ := rawjson.Unquote(raw)
			raw = rawjson.Quote(text)
		}
		f.buf = append(f.buf, raw...)
	case rawjson.Number:
		n, _ := rawjson.Float(raw)
		f.buf = binary.BigEndian.AppendUint64(f.buf, math.Float64bits(n+0)) // -0 is 0
	case rawjson.Array, rawjson.ObjectKind:
		f.buf = append(f.buf, rawjson.Compact(raw)...)
	default:
		f.buf = append(f.buf, raw...)
	}
	binary.BigEndian.PutUint64(f.buf[from-8:], uint64(len(f.buf)-from))
}

// isStringified reports whether a string, which is UTF-8, is spelled as JSON.stringify
// spells it, so that it need not be decoded for comparison. It may return false for one
// that is.
func isStringified(raw []byte) bool {
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 || at+1 == len(raw) {
			return at < 0
		}
		switch raw[at+1] {
		case '"', '\\', 'b', 'f', 'n', 'r', 't':
		default:
			return false
		}
		raw = raw[at+2:]
	}
}

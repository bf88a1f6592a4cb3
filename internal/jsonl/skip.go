package jsonl

import (
	"encoding/binary"
	"math/bits"
)

const (
	low  = 0x0101010101010101
	high = 0x8080808080808080
)

// skipPlainPortable returns the number of bytes before the first one that ends
// or interrupts a string (a quote, a backslash, a control character), and
// whether one of them is outside ASCII. It checks eight bytes at a time.
func skipPlainPortable(p []byte) (n int, nonASCII bool) {
	var seen uint64
	i := 0
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		q, b := w^(low*'"'), w^(low*'\\')
		// a byte that is zero in x has its high bit set in (x-low)&^x; bytes
		// above a hit may be wrong, so only the lowest hit counts
		hit := ((q-low)&^q | (b-low)&^b | (w-low*' ')&^w) & high
		if hit != 0 {
			mask := hit&-hit - 1 // all bits below the hit's
			n := i + bits.TrailingZeros64(hit)>>3
			return n, (seen|w&mask)&high != 0
		}
		seen |= w
	}
	for ; i < len(p); i++ {
		c := p[i]
		if c == '"' || c == '\\' || c < ' ' {
			break
		}
		seen |= uint64(c)
	}
	return i, seen&high != 0
}

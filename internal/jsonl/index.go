package jsonl

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	// stretch is how many bytes are indexed at once: few enough that they are still in the
	// second-level cache when walked, and that the index is small.
	stretch = 64 << 10
	// indexPays is the length from which on indexing a stretch pays.
	indexPays = 2 << 10
	// piece is how many bytes room is made for at once: each may be a quote.
	piece = 4 << 10
	// spare is how many places after the last quote indexWide may write to.
	spare = 8
)

// index holds the places of the strings in a stretch of whole lines. It is built without
// branches that depend on their content, whose mispredictions slow the scanner down: as in
// Langdale and Lemire, "Parsing gigabytes of JSON per second" (2019), with every string checked
// as well.
type index struct {
	base, end int      // the stretch, in the block's data
	next      int      // index in quotes of the first not walked over
	quotes    []uint32 // places in the data of the quotes around strings
	slashes   []uint64 // a bit for each byte from base on: backslashes
	rare      bool     // there is an escape that JSON.stringify seldom writes: \u or \/
}

// indexState is what indexing carries on from one piece to the next.
type indexState struct {
	escaped  uint64   // 1: the next byte follows a backslash
	inString uint64   // all ones: in a string
	hex      uint64   // a bit for each of the next bytes: hexadecimal digits
	wrong    uint64   // not 0: a string is damaged or not UTF-8
	_        [32]byte // the last bytes, 0 where they are ASCII
	_        [32]byte // not 0 where they end within a character
	rare     uint64   // not 0: there is an escape with u or a slash
}

// fill indexes the next stretch of data from base on. It returns false if indexing it does not
// pay, or if a string in it is damaged or not UTF-8: the scanner finds out what is wrong.
func (x *index) fill(data []byte, base int) bool {
	x.base = base
	x.end = min(len(data), base+stretch)
	x.end = base + lastLF(data[base:x.end]) + 1
	if x.end-x.base < indexPays || x.end > math.MaxInt32 {
		x.end = max(x.end, base+1) // at least this line is left to the scanner
		return false
	}
	p := data[x.base:x.end]
	words := (len(p) + 63) / 64
	if cap(x.slashes) < words {
		x.slashes = make([]uint64, words)
	}
	x.slashes = x.slashes[:words]
	x.quotes = x.quotes[:0]
	x.next = 0
	var st indexState
	whole := len(p) &^ 63
	for at := 0; at < whole; at += piece {
		x.add(p[at:min(at+piece, whole)], at, &st)
	}
	if rest := p[whole:]; len(rest) > 0 {
		var last [64]byte
		copy(last[:], rest)
		x.add(last[:], whole, &st)
	}

	x.rare = st.rare != 0
	return st.wrong|st.inString|st.escaped|st.hex == 0
}

// add indexes a piece, which begins at offset at in the stretch.
func (x *index) add(p []byte, at int, st *indexState) {
	n := len(x.quotes)
	if cap(x.quotes) < n+len(p)+spare { // at first one quote for eight bytes: few chats have more
		x.quotes = append(make([]uint32, 0, max(2*cap(x.quotes), (x.end-x.base)/8)+len(p)+spare), x.quotes...)
	}
	room := x.quotes[:n+1]
	x.quotes = room[:n+indexWide(p, uint32(x.base+at), &room[n], &x.slashes[at/64], st)]
}

// mayHaveSlash returns false if there clearly is no backslash in data[i:j]. It can be inlined.
func (x *index) mayHaveSlash(i, j int) bool {
	a, b := (i-x.base)>>6, (j-x.base)>>6
	return b > a+1 || x.slashes[a]|x.slashes[b] != 0
}

// hasSlash reports whether there is a backslash in data[i:j].
func (x *index) hasSlash(i, j int) bool {
	i, j = i-x.base, j-x.base-1
	if i>>6 == j>>6 {
		return x.slashes[i>>6]>>(i&63)<<(63-(j-i)) != 0
	}
	return x.hasSlashes(i, j)
}

// hasSlashes is hasSlash for a range in more than one word of slashes; i and j are offsets in
// the stretch, j inclusive.
func (x *index) hasSlashes(i, j int) bool {
	first := i >> 6
	last := j >> 6

	fromStart := x.slashes[first] >> (i & 63)
	if fromStart != 0 {
		return true
	}

	for whole := first + 1; whole < last; whole++ {
		if x.slashes[whole] != 0 {
			return true
		}
	}

	upToEnd := x.slashes[last] << (63 - j&63)
	return upToEnd != 0
}

// skip advances to the first quote from at on: the scanner has read what is before it.
func (x *index) skip(at int) {
	for x.next < len(x.quotes) && int(x.quotes[x.next]) < at {
		x.next++
	}
}

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

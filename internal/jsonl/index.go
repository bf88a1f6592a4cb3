package jsonl

import (
	"math"
)

const (
	// stretch is how much is indexed at once: little enough that it is in the second cache
	// still when it is walked, and that the index is small.
	stretch = 64 << 10
	// indexPays is the length from which on a stretch is worth it.
	indexPays = 2 << 10
	// piece is how much room is made for at once: each byte may be a quote.
	piece = 4 << 10
	// spare are the places behind the last quote that indexWide may write to.
	spare = 64
)

// index is where the strings of a stretch of whole lines are. It is found without a turn that
// depends on what is in them, which is what makes the scanner wait: as in Langdale and Lemire,
// "Parsing gigabytes of JSON per second" (2019), with every string checked as well.
type index struct {
	base, end int      // the stretch, in the block's data
	next      int      // the first of quotes that was not walked over
	quotes    []uint32 // places in the data of the quotes that begin and end strings
	slashes   []uint64 // a bit a byte from base on: backslashes
	rare      bool     // there is an escape that JSON.stringify seldom writes: \u or \/
}

// indexState is what indexing carries on from one piece to the next.
type indexState struct {
	escaped  uint64   // 1: the next byte is behind a backslash
	inString uint64   // all ones: in a string
	hex      uint64   // a bit each of the next bytes: hexadecimal digits
	wrong    uint64   // not 0: a string is damaged or not UTF-8
	last     [32]byte // the last bytes, 0 where they are ASCII
	cut      [32]byte // not 0 where these end within a character
	rare     uint64   // not 0: there is an escape with u or a slash
}

// of indexes the next stretch of data from base on. It is false where there is none that pays,
// or where a string in it is damaged: what is wrong is the scanner's to say.
func (x *index) of(data []byte, base int) bool {
	x.base, x.end = base, min(len(data), base+stretch)
	x.end = base + lastLF(data[base:x.end]) + 1
	if x.end-x.base < indexPays || x.end > math.MaxInt32 {
		x.end = max(x.end, base+1) // this line at least is the scanner's
		return false
	}
	p := data[x.base:x.end]
	words := (len(p) + 63) / 64
	if cap(x.slashes) < words {
		x.slashes = make([]uint64, words)
	}
	x.slashes, x.quotes, x.next = x.slashes[:words], x.quotes[:0], 0
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

// add indexes a piece at a place in the stretch.
func (x *index) add(p []byte, at int, st *indexState) {
	n := len(x.quotes)
	if cap(x.quotes) < n+len(p)+spare { // at first for a quote in eight bytes, of which few chats have more
		x.quotes = append(make([]uint32, 0, max(2*cap(x.quotes), (x.end-x.base)/8)+len(p)+spare), x.quotes...)
	}
	room := x.quotes[:n+1]
	x.quotes = room[:n+indexWide(p, uint32(x.base+at), &room[n], &x.slashes[at/64], st)]
}

// hasSlash reports whether there is a backslash from i to before j, both places in the data.
func (x *index) hasSlash(i, j int) bool {
	i, j = i-x.base, j-x.base-1
	if i>>6 == j>>6 {
		return x.slashes[i>>6]>>(i&63)<<(63-(j-i)) != 0
	}
	return x.hasSlashes(i, j)
}

// hasSlashes is hasSlash for places in the stretch, the last one counted in, that no 64 bytes hold.
func (x *index) hasSlashes(i, j int) bool {
	a, b := i>>6, j>>6
	if x.slashes[a]>>(i&63) != 0 {
		return true
	}
	for a++; a < b; a++ {
		if x.slashes[a] != 0 {
			return true
		}
	}
	return x.slashes[b]<<(63-j&63) != 0
}

// skip goes on at a place: the scanner has read what is before it.
func (x *index) skip(at int) {
	for x.next < len(x.quotes) && int(x.quotes[x.next]) < at {
		x.next++
	}
}

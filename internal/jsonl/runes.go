package jsonl

import "unicode/utf8"

// runes checks that strings are UTF-8. The end of a buffer may cut a character.
type runes struct {
	bad     bool              // something is not UTF-8
	tail    [utf8.UTFMax]byte // start of a character cut by the buffer's end
	tailLen int
}

// resume completes the character that the last buffer cut, and returns where in
// p the check continues.
func (r *runes) resume(p []byte) int {
	have := r.tailLen
	took := copy(r.tail[have:], p)
	b := r.tail[:have+took]
	if !utf8.FullRune(b) {
		r.tailLen += took
		return len(p)
	}
	r.tailLen = 0
	first, size := utf8.DecodeRune(b)
	if first == utf8.RuneError && size <= 1 {
		r.bad = true
		return 0
	}
	return size - have
}

// check checks a part of a string. With cut it ends at the buffer's end, which
// may cut a character; the cut part is kept.
func (r *runes) check(p []byte, cut bool) {
	if cut {
		for k := 1; k < utf8.UTFMax && k <= len(p); k++ {
			if last := p[len(p)-k:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					r.tailLen = copy(r.tail[:], last)
					p = p[:len(p)-k]
				}
				break
			}
		}
	}
	if !utf8.Valid(p) {
		r.bad = true
	}
}

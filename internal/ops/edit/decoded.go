package edit

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// decoded is the front of a raw text, without quotes, as far as it can be decoded.
type decoded struct {
	body []byte // raw
	text []byte
	size int // of body: how much was decoded

	// the last place that raw was called for, in body and in text
	at, textAt int
}

// decode decodes the front of a raw text.
func decode(body []byte) *decoded {
	d := &decoded{body: body}
	if bytes.IndexByte(body, '\\') < 0 && utf8.Valid(body) {
		d.text, d.size = body, len(body)
		return d
	}
	d.text = make([]byte, 0, len(body))
	for d.size < len(body) {
		rest := body[d.size:]
		n := bytes.IndexByte(rest, '\\')
		if n < 0 {
			n = len(rest)
		}
		if n = valid(rest[:n]); n > 0 {
			d.text, d.size = append(d.text, rest[:n]...), d.size+n
			continue
		}
		size, ok := unit(rest)
		if !ok {
			break
		}
		d.text = appendEscape(d.text, rest[:size])
		d.size += size
	}
	return d
}

// raw returns the offset in the raw text of an offset in the decoded one. Calls must be in
// ascending order.
func (d *decoded) raw(text int) int {
	for d.textAt < text {
		rest := d.body[d.at:d.size]
		n := bytes.IndexByte(rest[:min(len(rest), text-d.textAt)], '\\')
		if n < 0 {
			n = text - d.textAt
		}
		if d.at, d.textAt = d.at+n, d.textAt+n; d.textAt < text {
			var one [utf8.UTFMax]byte
			size, _ := unit(d.body[d.at:])
			d.textAt += len(appendEscape(one[:0], d.body[d.at:d.at+size]))
			d.at += size
		}
	}
	return d.at
}

// appendEscape appends what an escape stands for.
func appendEscape(text, escape []byte) []byte {
	switch c := escape[1]; c {
	case 'b':
		return append(text, '\b')
	case 'f':
		return append(text, '\f')
	case 'n':
		return append(text, '\n')
	case 'r':
		return append(text, '\r')
	case 't':
		return append(text, '\t')
	case 'u':
		r := escaped(escape)
		if len(escape) > 6 {
			r = utf16.DecodeRune(r, escaped(escape[6:]))
		}
		return utf8.AppendRune(text, r)
	default:
		return append(text, c)
	}
}

// valid returns how many bytes at the front are valid UTF-8.
func valid(b []byte) int {
	if utf8.Valid(b) {
		return len(b)
	}
	n := 0
	for {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size < 2 {
			return n
		}
		n += size
	}
}

// unit returns the size in bytes of the first character of a raw text. ok is false for a byte
// that is not UTF-8 and for half a surrogate pair.
func unit(raw []byte) (size int, ok bool) {
	switch {
	case raw[0] != '\\':
		r, n := utf8.DecodeRune(raw)
		return n, r != utf8.RuneError || n > 1
	case raw[1] != 'u':
		return 2, true
	}
	r := escaped(raw)
	if !utf16.IsSurrogate(r) {
		return 6, true
	}
	if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' && utf16.DecodeRune(r, escaped(raw[6:])) != utf8.RuneError {
		return 12, true
	}
	return 6, false
}

// escaped returns the code unit of the \uXXXX at the start of raw.
func escaped(raw []byte) (r rune) {
	for _, c := range raw[2:6] {
		switch {
		case c <= '9':
			r = r<<4 | rune(c-'0')
		default:
			r = r<<4 | rune(c|0x20-'a'+10)
		}
	}
	return r
}

package edit

import (
	"unicode/utf8"

	"stchat/internal/rawjson"
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
	if rawjson.Plain(body) == len(body) {
		d.text, d.size = body, len(body)
		return d
	}
	d.text = make([]byte, 0, len(body))
	for d.size < len(body) {
		text, size := appendNext(d.text, body[d.size:])
		if size == 0 {
			break
		}
		d.text, d.size = text, d.size+size
	}
	return d
}

// appendNext appends what stands at the front of a raw text: characters that stand for
// themselves, or one that is escaped. size is how many raw bytes that were: 0 at a byte that is
// not UTF-8 and at half a surrogate pair.
func appendNext(text, raw []byte) (_ []byte, size int) {
	if size = rawjson.Plain(raw); size > 0 {
		return append(text, raw[:size]...), size
	}
	if raw[0] != '\\' {
		return text, 0
	}
	longer, size := rawjson.AppendEscape(text, raw)
	if !utf8.Valid(longer[len(text):]) {
		return text, 0
	}
	return longer, size
}

// raw returns the offset in the raw text of an offset in the decoded one. Calls must be in
// ascending order.
func (d *decoded) raw(text int) int {
	for d.textAt < text {
		size := rawjson.Plain(d.body[d.at:min(d.size, d.at+text-d.textAt)])
		chars := size
		if size == 0 {
			var one [utf8.UTFMax]byte
			var escaped []byte
			escaped, size = rawjson.AppendEscape(one[:0], d.body[d.at:])
			chars = len(escaped)
		}
		d.at, d.textAt = d.at+size, d.textAt+chars
	}
	return d.at
}

// undecodable returns the size of what stands at the front of a raw text and matches nothing: a
// byte that is not UTF-8, or half a surrogate pair; 0 if it is neither.
func undecodable(raw []byte) int {
	_, size := appendNext(nil, raw)
	switch {
	case size > 0:
		return 0
	case raw[0] == '\\':
		return len(`\uXXXX`)
	}
	return 1
}

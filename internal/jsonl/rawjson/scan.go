package rawjson

import (
	"bytes"
	"iter"
)

// skipSpace returns the first index from i on that is not JSON white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// skipString returns the index after the string whose opening quote is at i, or
// -1 when it does not end.
func skipString(b []byte, i int) int {
	from := i + 1
	for at := from; ; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		// A quote is escaped if an odd number of backslashes precedes it.
		// Looking back ends at the previous quote, so the whole scan is linear.
		k := at
		for k > from && b[k-1] == '\\' {
			k--
		}
		if (at-k)&1 == 0 {
			return at + 1
		}
		at++
		from = at
	}
}

// skipValue returns the index after the value that begins at i, or -1 when
// there is none or it does not end.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipContainer(b, i)
	}

	start := i
	for i < len(b) {
		switch b[i] {
		case ',', ':', '}', ']', '{', '[', '"', ' ', '\t', '\n', '\r':
			if i == start {
				return -1
			}
			return i
		}
		i++
	}
	return i
}

// skipContainer returns the index after the object or list that opens at i, or
// -1 when it does not close. It counts brackets and does not recurse.
func skipContainer(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}

		i++
	}
	return -1
}

// span is a half-open range of offsets.
type span struct{ at, end int }

// walk calls f with the places of each key and value of the object in b, or of each element
// of the list, until f returns false; open is the bracket that it must begin with. It returns the
// offsets of the brackets; ok is false if b is not one whole object or list with only white space
// around it, or if f stopped.
func walk(b []byte, open byte, f func(key, val span) bool) (brackets span, ok bool) {
	begin := skipSpace(b, 0)
	if begin >= len(b) || b[begin] != open {
		return span{}, false
	}
	shut := open + 2 // in ASCII
	i := skipSpace(b, begin+1)
	if i < len(b) && b[i] == shut {
		return span{begin, i}, skipSpace(b, i+1) == len(b)
	}
	for i < len(b) {
		var key span
		if open == '{' {
			if b[i] != '"' {
				break
			}
			if key = (span{i, skipString(b, i)}); key.end < 0 {
				break
			}
			if i = skipSpace(b, key.end); i >= len(b) || b[i] != ':' {
				break
			}
			i = skipSpace(b, i+1)
		}

		val := span{i, skipValue(b, i)}
		if val.end < 0 || !f(key, val) {
			break
		}
		if i = skipSpace(b, val.end); i >= len(b) {
			break
		}
		if b[i] == shut {
			return span{begin, i}, skipSpace(b, i+1) == len(b)
		}
		if b[i] != ',' {
			break
		}
		i = skipSpace(b, i+1)
	}
	return span{}, false
}

// Members yields the raw key (with its quotes) and the raw value of each member
// of an object, in the order written and with repeated keys. It allocates
// nothing and stops at the first place that is not JSON; for anything but an
// object it yields nothing. The slices alias raw.
func Members(raw []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		walk(raw, '{', func(key, val span) bool {
			return yield(raw[key.at:key.end:key.end], raw[val.at:val.end:val.end])
		})
	}
}

// Elements yields the raw elements of a list, in order. For anything but a list
// it yields nothing. The slices alias raw.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		walk(raw, '[', func(_, val span) bool {
			return yield(raw[val.at:val.end:val.end])
		})
	}
}

// Texts yields the strings in a list, in order, and passes over its other elements.
func Texts(raw []byte) iter.Seq[string] {
	return func(yield func(s string) bool) {
		for value := range Elements(raw) {
			if s, ok := Unquote(value); ok && !yield(s) {
				return
			}
		}
	}
}

// Len returns the length of a list, 0 for anything else.
func Len(list []byte) (n int) {
	for range Elements(list) {
		n++
	}
	return n
}

// Compact removes the white space outside strings; numbers and escapes keep
// their spelling. It returns raw itself where there is nothing to remove, so
// the result may alias raw.
func Compact(raw []byte) []byte {
	var out []byte
	kept := 0 // raw[:kept] is in out, or need not be
	for i := 0; i < len(raw); {
		switch raw[i] {
		case '"':
			end := skipString(raw, i)
			if end < 0 {
				end = len(raw)
			}
			i = end
		case ' ', '\t', '\n', '\r':
			if out == nil {
				out = make([]byte, 0, len(raw)-1)
			}
			out = append(out, raw[kept:i]...)
			i = skipSpace(raw, i)
			kept = i
		default:
			i++
		}
	}

	if out == nil {
		return raw
	}
	return append(out, raw[kept:]...)
}

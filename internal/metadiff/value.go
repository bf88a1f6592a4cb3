package metadiff

import (
	"errors"
	"unicode/utf8"

	"stchat/internal/rawjson"
)

// value is one JSON value: where it is written, and what it holds.
type value struct {
	kind    rawjson.Kind
	raw     []byte // as it is written, without white space around it
	members []member
	elems   []*value

	places map[string]int // of members; made on demand
}

// member is a key, decoded, with the last value it was given; it stands where
// the key stood first, as JavaScript orders keys.
type member struct {
	key string
	val *value
}

// few is the number of members up to which they are searched one by one.
const few = 8

// find returns the place of the key among the members, or -1.
func (v *value) find(key string) int {
	if len(v.members) > few && v.places == nil {
		v.index()
	}
	if v.places != nil {
		if i, ok := v.places[key]; ok {
			return i
		}
		return -1
	}
	for i := range v.members {
		if v.members[i].key == key {
			return i
		}
	}
	return -1
}

// at returns the value of the key, nil where there is none.
func (v *value) at(key string) *value {
	if i := v.find(key); i >= 0 {
		return v.members[i].val
	}
	return nil
}

func (v *value) index() {
	v.places = make(map[string]int, len(v.members))
	for i := range v.members {
		v.places[v.members[i].key] = i
	}
}

// put adds a member, or replaces the value of a key that is there.
func (v *value) put(key string, val *value) {
	if i := v.find(key); i >= 0 {
		v.members[i].val = val
		return
	}
	v.members = append(v.members, member{key, val})
	if v.places != nil {
		v.places[key] = len(v.members) - 1
	}
}

// putRaw is put for raw JSON; nil adds nothing.
func (v *value) putRaw(key string, raw []byte) {
	if val, err := parse(raw); err == nil {
		v.put(key, val)
	}
}

// text returns a string's value, decoded.
func (v *value) text() string {
	s, _ := rawjson.Unquote(v.raw)
	return s
}

// json returns what appendTo writes, or the bytes that were read where they will do.
func (v *value) json() []byte {
	switch {
	case v.kind == rawjson.ObjectKind, v.kind == rawjson.Array, v.kind == rawjson.String && !utf8.Valid(v.raw):
		return v.appendTo(nil)
	}
	return v.raw
}

// appendTo appends the value as JSON without white space: every key once,
// numbers and strings as they are written. A string that is not UTF-8 is
// written as SillyTavern would save it, with U+FFFD.
func (v *value) appendTo(out []byte) []byte {
	switch v.kind {
	case rawjson.ObjectKind:
		out = append(out, '{')
		for i, m := range v.members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, rawjson.Quote(m.key)...)
			out = append(out, ':')
			out = m.val.appendTo(out)
		}
		return append(out, '}')
	case rawjson.Array:
		out = append(out, '[')
		for i, e := range v.elems {
			if i > 0 {
				out = append(out, ',')
			}
			out = e.appendTo(out)
		}
		return append(out, ']')
	case rawjson.String:
		if !utf8.Valid(v.raw) {
			return append(out, rawjson.Quote(v.text())...)
		}
	}
	return append(out, v.raw...)
}

// errSyntax means that the bytes are not one JSON value. Headers and group
// files are validated when they are read, so a user never sees it.
var errSyntax = errors.New("not valid JSON")

// maxDepth is the deepest nesting that is read, as in the jsonl package.
const maxDepth = 10000

// parse reads one JSON value in a single pass. It recurses, at most maxDepth
// levels.
func parse(raw []byte) (*value, error) {
	p := parser{in: raw}
	p.space()
	v, ok := p.value(0)
	if p.space(); !ok || p.at != len(raw) {
		return nil, errSyntax
	}
	return v, nil
}

type parser struct {
	in []byte
	at int
}

func (p *parser) space() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// take skips white space and the byte c, and reports whether c was there.
func (p *parser) take(c byte) bool {
	p.space()
	if p.at < len(p.in) && p.in[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) value(depth int) (*value, bool) {
	if p.at >= len(p.in) || depth > maxDepth {
		return nil, false
	}
	v := &value{kind: rawjson.KindOf(p.in[p.at : p.at+1])}
	start, ok := p.at, false
	switch v.kind {
	case rawjson.ObjectKind:
		ok = p.object(v, depth)
	case rawjson.Array:
		ok = p.array(v, depth)
	case rawjson.String:
		ok = p.skipString()
	case rawjson.Invalid:
	default:
		p.skipScalar()
		ok = true
	}
	v.raw = p.in[start:p.at:p.at]
	return v, ok
}

func (p *parser) object(v *value, depth int) bool {
	p.at++
	if p.take('}') {
		return true
	}
	for {
		if p.space(); p.at >= len(p.in) || p.in[p.at] != '"' {
			return false
		}
		start := p.at
		if !p.skipString() {
			return false
		}
		key, ok := rawjson.Unquote(p.in[start:p.at])
		if !ok || !p.take(':') {
			return false
		}
		p.space()
		val, ok := p.value(depth + 1)
		if !ok {
			return false
		}
		v.put(key, val)
		if !p.take(',') {
			return p.take('}')
		}
	}
}

func (p *parser) array(v *value, depth int) bool {
	p.at++
	if p.take(']') {
		return true
	}
	for {
		p.space()
		e, ok := p.value(depth + 1)
		if !ok {
			return false
		}
		v.elems = append(v.elems, e)
		if !p.take(',') {
			return p.take(']')
		}
	}
}

func (p *parser) skipString() bool {
	for p.at++; p.at < len(p.in); p.at++ {
		switch p.in[p.at] {
		case '"':
			p.at++
			return true
		case '\\':
			p.at++
		}
	}
	p.at = len(p.in)
	return false
}

func (p *parser) skipScalar() {
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
			p.at++
		default:
			return
		}
	}
}

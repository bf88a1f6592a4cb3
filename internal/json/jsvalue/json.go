package jsvalue

import (
	"strconv"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
)

// Parse is JSON.parse, with nesting limited to [jsonl.MaxDepth]. ok is false for
// what is not JSON.
func Parse(raw []byte) (v Value, ok bool) { return parse(parser{b: raw}) }

// ParseExact is [Parse], but numbers are [Number].
func ParseExact(raw []byte) (v Value, ok bool) { return parse(parser{b: raw, exact: true}) }

func parse(p parser) (Value, bool) {
	if !jsonl.Valid(p.b) {
		return nil, false
	}
	return p.value(), true
}

// parser reads valid JSON in one pass; its recursion is bounded by the depth that
// was validated.
type parser struct {
	b     []byte
	i     int
	exact bool // numbers are not rounded
}

// space skips white space and returns the character behind it, 0 at the end.
func (p *parser) space() byte {
	for ; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (p *parser) value() Value {
	switch p.space() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		return p.str()
	case 't':
		p.i += len("true")
		return true
	case 'f':
		p.i += len("false")
		return false
	case 'n':
		p.i += len("null")
		return nil
	}
	return p.number()
}

func (p *parser) object() *Object {
	o := NewObject()
	p.i++ // the brace
	for p.space() == '"' {
		key := p.str()
		p.space()
		p.i++ // the colon
		o.Set(key, p.value())
		if p.space() == ',' {
			p.i++
		}
	}

	p.i++ // the other brace
	return o
}

func (p *parser) array() *Array {
	a := &Array{}
	p.i++ // the bracket
	for p.space() != ']' {
		a.Items = append(a.Items, p.value())
		if p.space() == ',' {
			p.i++
		}
	}
	p.i++ // the other bracket
	return a
}

func (p *parser) number() Value {
	start := p.i
	for p.i < len(p.b) && strings.IndexByte(numeric, p.b[p.i]) >= 0 {
		p.i++
	}
	if p.exact {
		return Number(p.b[start:p.i])
	}
	f, _ := strconv.ParseFloat(string(p.b[start:p.i]), 64) // out of range gives an infinity, as in JavaScript
	return f
}

func (p *parser) str() string {
	start := p.i
	for p.i++; p.b[p.i] != '"'; p.i++ {
		if p.b[p.i] == '\\' {
			p.i++
		}
	}
	p.i++
	s, _ := rawjson.Unquote(p.b[start:p.i])
	return s
}

// Stringify is JSON.stringify: compact, numbers that are not finite as null.
func Stringify(v Value) []byte { return Append(nil, v) }

// Append appends what [Stringify] returns.
func Append(b []byte, v Value) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case float64:
		if v-v != 0 { // not finite
			return append(b, "null"...)
		}
		return append(b, FormatNumber(v)...)
	case Number:
		return append(b, v...)
	case string:
		return append(b, rawjson.Quote(v)...)
	case *Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = Append(b, item)
		}
		return append(b, ']')
	case *Object:
		b = append(b, '{')
		for i, key := range v.Keys() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, rawjson.Quote(key)...)
			b = append(b, ':')
			item, _ := v.Get(key)
			b = Append(b, item)
		}
		return append(b, '}')
	default:
		return append(b, "null"...)
	}
}

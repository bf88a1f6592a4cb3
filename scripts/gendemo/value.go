package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// An object is a JSON object that keeps the order of its members, as
// JavaScript does and Go's maps do not.
type object []member

type member struct {
	key   string
	value any
}

// list is a JSON array.
type list []any

// compact returns v as JSON.stringify would.
func compact(v any) string {
	return string(appendValue(nil, v))
}

// pretty returns v as JSON.stringify(v, null, indent) would.
func pretty(v any, indent string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, appendValue(nil, v), "", indent); err != nil {
		panic(err) // appendValue writes valid JSON
	}
	return out.String()
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case string:
		return appendString(b, v)
	case list:
		b = append(b, '[')
		for i, element := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, element)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, m.key)
			b = append(b, ':')
			b = appendValue(b, m.value)
		}
		return append(b, '}')
	default:
		panic(fmt.Sprintf("no JSON for a %T", v))
	}
}

// appendString quotes s. JSON.stringify escapes less than Go does: no HTML.
func appendString(b []byte, s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// strs makes a list of strings.
func strs(s ...string) list {
	l := list{}
	for _, one := range s {
		l = append(l, one)
	}
	return l
}

// Package jsvalue holds JSON values the way JavaScript does once it has parsed
// them, and writes them the way JSON.stringify does.
//
// stchat keeps other people's bytes as they are, for which package rawjson is
// enough. Two results can only be had by doing what SillyTavern and Luker do to a
// value in memory: the hash of a lorebook entry, which covers JSON.stringify of the
// parsed entry, and Luker's variables, whose operations parse,
// change and print values.
//
// So numbers are float64 and lose their spelling, a repeated key keeps its first
// place and its last value, and keys that look like list indexes come first and
// in order. Strings are as in package rawjson: UTF-8, a lone surrogate as its
// three WTF-8 bytes.
package jsvalue

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Value is nil (null), bool, float64 (or [Number], from [ParseExact]), string, [*Array] or
// [*Object]. An absent value, JavaScript's undefined, is reported by a second result.
type Value any

// Array is a list; it has no holes: what JavaScript would leave undefined is nil,
// which is what JSON.stringify makes of it.
type Array struct{ Items []Value }

// Object is an object that remembers the order of its keys.
type Object struct {
	members []member
	at      map[string]int
}

type member struct {
	key   string
	value Value
	gone  bool
}

// NewObject returns {}.
func NewObject() *Object { return &Object{at: map[string]int{}} }

// Get returns the value of an own property.
func (o *Object) Get(key string) (Value, bool) {
	i, ok := o.at[key]
	if !ok {
		return nil, false
	}
	return o.members[i].value, true
}

// Set sets the value of a key; a key that exists keeps its place.
func (o *Object) Set(key string, v Value) {
	if i, ok := o.at[key]; ok {
		o.members[i].value = v
		return
	}
	o.at[key] = len(o.members)
	o.members = append(o.members, member{key: key, value: v})
}

// Delete removes the key and reports whether it was there.
func (o *Object) Delete(key string) bool {
	i, ok := o.at[key]
	if !ok {
		return false
	}
	o.members[i] = member{gone: true}
	delete(o.at, key)
	return true
}

// Len returns the number of keys.
func (o *Object) Len() int { return len(o.at) }

// Keys returns the keys in the order of Object.keys: those that are list indexes
// first, by number, then the others as they were put in.
func (o *Object) Keys() []string {
	keys := make([]string, 0, len(o.at))
	indexes := 0
	for i := range o.members {
		if m := &o.members[i]; !m.gone {
			keys = append(keys, m.key)
			if _, ok := Index(m.key); ok {
				indexes++
			}
		}
	}

	if indexes == 0 {
		return keys
	}

	slices.SortStableFunc(keys, func(a, b string) int {
		i, aIs := Index(a)
		j, bIs := Index(b)
		switch {
		case aIs && bIs:
			return cmp.Compare(i, j)
		case aIs:
			return -1
		case bIs:
			return 1
		}
		return 0
	})
	return keys
}

// Index reads a property name that is a list index: canonical decimal digits
// below 2^32 - 1 (ECMAScript, array index).
func Index(key string) (uint32, bool) {
	if key == "" || len(key) > len("4294967294") {
		return 0, false
	}
	isDigit := '0' <= key[0] && key[0] <= '9'
	leadingZero := key[0] == '0' && len(key) > 1
	if !isDigit || leadingZero {
		return 0, false
	}

	n, err := strconv.ParseUint(key, 10, 64)
	return uint32(n), err == nil && n < 1<<32-1
}

// String is JavaScript's String(v).
func String(v Value) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return FormatNumber(v)
	case string:
		return v
	case *Array:
		var b strings.Builder
		for i, item := range v.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			if item != nil {
				b.WriteString(String(item))
			}
		}
		return b.String()
	default:
		return "[object Object]"
	}
}

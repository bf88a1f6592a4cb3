package convert

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/sendate"
)

// object is the members of a JSON object: it is gone through once for all of them. gjson finds values by
// itself, but takes the first of repeated keys, where JSON.parse takes the last.
type object []member

type member struct {
	key   string
	value gjson.Result
}

// each calls do with each member of an object, or each element of a list; gjson's own ForEach would take
// any other value for the one element of a list.
func each(v gjson.Result, do func(key, value gjson.Result)) {
	if !v.IsObject() && !v.IsArray() {
		return
	}
	v.ForEach(func(key, value gjson.Result) bool {
		do(key, value)
		return true
	})
}

// objectOf returns the members of an object, none for anything else.
func objectOf(v gjson.Result) (o object) {
	if v.IsObject() {
		each(v, func(key, value gjson.Result) { o = append(o, member{key.Str, value}) })
	}
	return o
}

// get returns the value of a key, the last one. A value that is not there does not exist, as gjson says it.
func (o object) get(key string) gjson.Result {
	for _, m := range slices.Backward(o) {
		if m.key == key {
			return m.value
		}
	}
	return gjson.Result{}
}

// at returns the value in a place: keys with dots between them.
func (o object) at(place string) gjson.Result {
	if place == "" {
		return gjson.Result{}
	}
	key, rest, deeper := strings.Cut(place, ".")
	v := o.get(key)
	for deeper {
		key, rest, deeper = strings.Cut(rest, ".")
		v = valueOf(v, key)
	}
	return v
}

// valueOf returns the value of a key of an object, of which no other is wanted.
func valueOf(v gjson.Result, key string) (value gjson.Result) {
	if v.IsObject() {
		each(v, func(k, next gjson.Result) {
			if k.Str == key {
				value = next
			}
		})
	}
	return value
}

// text returns the text in the first of some places, with | between them, that has one.
func (o object) text(places string) string {
	for place := range strings.SplitSeq(places, "|") {
		if s := text(o.at(place)); s != "" {
			return s
		}
	}
	return ""
}

// isTrue reports whether one of some places has what is true to JavaScript.
func (o object) isTrue(places string) bool {
	for place := range strings.SplitSeq(places, "|") {
		if isTruthy(o.at(place)) {
			return true
		}
	}
	return false
}

// text returns a string, "" for any other value. Unlike gjson's own it keeps lone surrogates, as
// [rawjson.Unquote] does, and it is a copy: a title does not keep its whole conversation in memory.
func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	isPlain := !strings.Contains(v.Raw, `\u`) && utf8.ValidString(v.Str)
	switch {
	case !isPlain:
		s, _ := rawjson.Unquote([]byte(v.Raw))
		return s
	case len(v.Str) < len(v.Raw)-len(`""`): // decoded, so it is a copy already
		return v.Str
	}
	return strings.Clone(v.Str)
}

func isObjectOrNull(v gjson.Result) bool { return v.IsObject() || v.Type == gjson.Null }

func isTruthy(v gjson.Result) bool { return rawjson.Truthy([]byte(v.Raw)) }

// firstOf returns the first element of a list.
func firstOf(list gjson.Result) (first gjson.Result) {
	if list.IsArray() {
		list.ForEach(func(_, v gjson.Result) bool {
			first = v
			return false
		})
	}
	return first
}

// amount returns how many things a value holds: the elements of a list, one for an object or a text
// that is not empty.
func amount(v gjson.Result) int {
	switch {
	case v.IsArray():
		n := 0
		each(v, func(_, _ gjson.Result) { n++ })
		return n
	case v.IsObject():
		return min(1, len(objectOf(v)))
	case strings.TrimSpace(text(v)) != "":
		return 1
	}
	return 0
}

// dateOf reads a date: a text in any of the shapes of send_date or as an exporter writes it, or a number
// of milliseconds since 1970, below 1e11 of seconds. It is zero if it cannot be read. zone is that of
// texts that name none.
func dateOf(v gjson.Result, zone *time.Location) time.Time {
	number := v.Raw
	if v.Type == gjson.String {
		number = text(v)
		if t, ok := sendate.Parse(number); ok {
			return t
		}
		// text-generation-webui, then the exporter extensions.
		for _, layout := range []string{"Jan 2, 2006 15:04", "2006-01-02 15:04:05", "1/2/2006 15:04:05"} {
			if t, err := time.ParseInLocation(layout, number, zone); err == nil {
				return t
			}
		}
	}
	f, ok := rawjson.Float([]byte(number))
	if f < 1e11 {
		f *= 1000
	}
	const year9999 = 253402300799999.0
	inRange := f > 0 && f <= year9999 // false for NaN, too
	if !ok || !inRange {
		return time.Time{}
	}
	return time.UnixMilli(int64(f)).UTC()
}

// indexOf returns a number that is an index, -1 for anything else.
func indexOf(v gjson.Result) int {
	n, err := strconv.Atoi(v.Raw)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// thinking cuts what a model thought, in <think>, off the front of its text.
func thinking(s string) (reasoning, rest string) {
	inner, ok := strings.CutPrefix(strings.TrimLeft(s, " \r\n\t"), "<think>")
	if !ok {
		return "", s
	}
	reasoning, rest, ok = strings.Cut(inner, "</think>")
	if !ok {
		return "", s
	}
	return strings.TrimSpace(reasoning), strings.TrimLeft(rest, "\r\n")
}

package convert

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/sendate"
)

// get returns the value at a path in an object. In anything else there is none: gjson would go on to look
// for it within the text of a string.
func get(v gjson.Result, path string) gjson.Result {
	if path == "" || !v.IsObject() {
		return gjson.Result{}
	}
	return v.Get(path)
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

// alternatives separates the paths from which a thing is read: the first of them that says something counts.
const alternatives = " or "

// firstText returns the text at the first of some paths that has one.
func firstText(v gjson.Result, paths string) string {
	for path := range strings.SplitSeq(paths, alternatives) {
		if s := text(get(v, path)); s != "" {
			return s
		}
	}
	return ""
}

// isTrue reports whether what is at one of some paths is true to JavaScript.
func isTrue(v gjson.Result, paths string) bool {
	for path := range strings.SplitSeq(paths, alternatives) {
		if rawjson.Truthy([]byte(get(v, path).Raw)) {
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
	if !isPlain {
		s, _ := rawjson.Unquote([]byte(v.Raw))
		return s
	}
	isCopy := len(v.Str) < len(v.Raw)-len(`""`) // it had escapes
	if isCopy {
		return v.Str
	}
	return strings.Clone(v.Str)
}

// amount returns how many things a value holds: the elements of a list, one for an object or a text
// that is not empty.
func amount(v gjson.Result) int {
	n := 0
	each(v, func(_, _ gjson.Result) { n++ })
	if v.IsArray() {
		return n
	}
	isText := strings.TrimSpace(text(v)) != ""
	if isText || n > 0 {
		return 1
	}
	return 0
}

// dateOf reads a date: a text in any of the shapes of send_date or as an exporter writes it, or a number
// of milliseconds since 1970, below 1e11 of seconds. It is zero if it cannot be read. zone is that of
// texts that name none.
func dateOf(v gjson.Result, zone *time.Location) time.Time {
	if v.Type != gjson.String {
		return dateOfNumber(v.Raw)
	}
	s := text(v)
	if t, ok := sendate.Parse(s); ok {
		return t
	}
	// text-generation-webui, then the exporter extensions.
	for _, layout := range []string{"Jan 2, 2006 15:04", "2006-01-02 15:04:05", "1/2/2006 15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t
		}
	}
	return dateOfNumber(s)
}

// dateOfNumber reads a number of milliseconds or seconds since 1970.
func dateOfNumber(number string) time.Time {
	const (
		leastMillis = 1e11
		year9999    = 253402300799999.0
	)
	f, ok := rawjson.Float([]byte(number))
	if f < leastMillis {
		f *= 1000
	}
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

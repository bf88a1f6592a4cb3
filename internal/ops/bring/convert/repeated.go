package convert

import (
	"strings"

	"github.com/tidwall/gjson"
)

// lastOfRepeated returns a JSON value in which no object has a key twice: blanks stand in the place of a
// member whose key comes again. gjson's paths find the first of repeated keys, and JSON.parse the last; after
// this they agree. Nothing moves, and a value without repeated keys, as nearly all are, is not copied.
func lastOfRepeated(raw string) string {
	r := repeats{raw: raw}
	for i := 0; i < len(raw); {
		if raw[i] == '"' {
			end := endOfString(raw, i)
			if r.expectsKey {
				r.key(i, end)
			}
			i = end
			continue
		}
		r.punctuation(raw[i])
		i++
	}

	if r.blanked == nil {
		return raw
	}
	return string(r.blanked)
}

// repeats looks for repeated keys in a JSON value.
type repeats struct {
	raw        string
	blanked    []byte   // a copy in which repeated members are blanks; nil as long as there are none
	open       []level  // the objects and lists around what is next, the innermost last
	members    []member // of the open objects
	expectsKey bool     // the next string is a key
}

// level is an open object or list.
type level struct {
	isObject bool
	first    int            // where its members begin in those of all open objects
	last     map[string]int // the last member with a key, of an object with many
}

// member is a member of an object.
type member struct {
	key string
	at  int // where it begins
}

// punctuation reads a byte outside of strings.
func (r *repeats) punctuation(c byte) {
	switch c {
	case '{', '[':
		r.open = append(r.open, level{isObject: c == '{', first: len(r.members)})
		r.expectsKey = c == '{'
	case ',':
		r.expectsKey = len(r.open) > 0 && r.open[len(r.open)-1].isObject
	case '}', ']':
		if len(r.open) > 0 {
			innermost := len(r.open) - 1
			r.members = r.members[:r.open[innermost].first]
			r.open = r.open[:innermost]
		}
		r.expectsKey = false
	}
}

// key reads a key of the innermost object.
func (r *repeats) key(at, end int) {
	r.expectsKey = false
	key := strings.Trim(r.raw[at:end], `"`)
	if strings.Contains(key, `\`) {
		key = gjson.Parse(r.raw[at:end]).Str
	}
	object := &r.open[len(r.open)-1]
	if earlier := r.find(object, key); earlier >= 0 {
		r.blank(earlier, at)
	}
	r.members = append(r.members, member{key, at})
	if object.last != nil {
		object.last[key] = len(r.members) - 1
	}
}

// find returns the last member of the innermost object that has a key, -1 if none has.
func (r *repeats) find(object *level, key string) int {
	const many = 32
	if object.last == nil && len(r.members)-object.first >= many {
		object.last = map[string]int{}
		for i := object.first; i < len(r.members); i++ {
			object.last[r.members[i].key] = i
		}
	}

	if object.last != nil {
		if i, ok := object.last[key]; ok {
			return i
		}
		return -1
	}

	for i := len(r.members) - 1; i >= object.first; i-- {
		if r.members[i].key == key {
			return i
		}
	}
	return -1
}

// blank puts blanks in the place of a member, with the comma behind it. next is where the member that is
// being read begins.
func (r *repeats) blank(i, next int) {
	if r.blanked == nil {
		r.blanked = []byte(r.raw)
	}
	end := next
	if i+1 < len(r.members) {
		end = r.members[i+1].at
	}
	for at := r.members[i].at; at < end; at++ {
		r.blanked[at] = ' '
	}
}

// endOfString returns where the string ends that begins at a place.
func endOfString(raw string, from int) int {
	at := from + 1
	for {
		length := strings.IndexByte(raw[at:], '"')
		if length < 0 {
			return len(raw)
		}
		at += length + 1
		text := raw[from : at-1]
		slashes := len(text) - len(strings.TrimRight(text, `\`))
		if slashes%2 == 0 {
			return at
		}
	}
}

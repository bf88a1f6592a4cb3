package lorebook

import (
	"strings"
	"unicode/utf16"

	"stchat/internal/jsvalue"
)

// StringHash is SillyTavern's getStringHash with seed 0: cyrb53 over the UTF-16
// units of s (public/scripts/utils.js).
func StringHash(s string) int64 {
	h1, h2 := uint32(0xdeadbeef), uint32(0x41c6ce57)
	mix := func(unit uint32) {
		h1 = (h1 ^ unit) * 2654435761
		h2 = (h2 ^ unit) * 1597334677
	}
	for _, r := range s {
		if r <= 0xFFFF {
			mix(uint32(r))
			continue
		}
		high, low := utf16.EncodeRune(r)
		mix(uint32(high))
		mix(uint32(low))
	}
	h1 = (h1^h1>>16)*2246822507 ^ (h2^h2>>13)*3266489909
	h2 = (h2^h2>>16)*2246822507 ^ (h1^h1>>13)*3266489909
	return int64(h2&2097151)<<32 + int64(h1)
}

// EntryHash returns the hash by which core recognizes the entry of a timed effect
// (getSortedEntries and getChatLore in public/scripts/world-info.js):
// that of JSON.stringify({uid, world, ...the entry, decorators}), where world is
// the book's name unless the entry has a world of its own, and content is without its
// decorator lines. ok is false if core could not hash the entry.
func EntryHash(entry []byte, book string) (hash int64, ok bool) {
	v, _ := jsvalue.Parse(entry)
	o, ok := v.(*jsvalue.Object)
	if !ok {
		return 0, false
	}
	hashed := jsvalue.NewObject()
	if uid, ok := o.Get("uid"); ok {
		hashed.Set("uid", uid)
	}
	hashed.Set("world", book)
	for _, key := range o.Keys() {
		if key != "uid" {
			value, _ := o.Get(key)
			hashed.Set(key, value)
		}
	}
	decorators, content := &jsvalue.Array{}, ""
	switch raw, _ := o.Get("content"); raw := raw.(type) {
	case string:
		decorators.Items, content = parseDecorators(raw)
	case nil: // content || ''
	case bool:
		if raw {
			return 0, false
		}
	case float64:
		if raw != 0 {
			return 0, false
		}
	default:
		return 0, false // core's parseDecorators throws on it
	}
	hashed.Set("decorators", decorators)
	hashed.Set("content", content)
	return StringHash(string(jsvalue.Stringify(hashed))), true
}

// parseDecorators is the function of that name in world-info.js. Lines that begin with
// @@ at the head of an entry's content are instructions, of which core knows two; @@@
// marks a fallback, which counts only after a line that core does not know.
func parseDecorators(content string) (decorators []jsvalue.Value, rest string) {
	if !strings.HasPrefix(content, "@@") {
		return nil, content
	}
	unknown := false
	for at := 0; at <= len(content); {
		line, _, more := strings.Cut(content[at:], "\n")
		switch fallback := strings.HasPrefix(line, "@@@"); {
		case !strings.HasPrefix(line, "@@"):
			return decorators, content[at:]
		case fallback && !unknown:
		default:
			if fallback {
				line = line[1:]
			}
			unknown = !strings.HasPrefix(line, "@@activate") && !strings.HasPrefix(line, "@@dont_activate")
			if !unknown {
				decorators = append(decorators, line)
			}
		}
		if !more {
			break
		}
		at += strings.IndexByte(content[at:], '\n') + 1
	}
	return decorators, content // nothing but decorators: core leaves the text
}

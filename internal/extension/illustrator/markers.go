package illustrator

import (
	"bytes"
	"iter"

	"stchat/internal/rawjson"
)

// A marker is <!-- auto-illustrator:promptId=ID,imageUrl=URL --> (parseMarker).
const (
	markerStart = "<!-- auto-illustrator:promptId="
	markerURL   = ",imageUrl="
	longestID   = 200 // bytes; the extension's have at most 13
)

// HasMarker reports whether a raw text, or a whole line, may have a marker.
func HasMarker(raw []byte) bool { return startOfMarker(raw) >= 0 }

// startOfMarker is bytes.Index for markerStart. It searches for the exclamation mark, which
// is rarer than < in HTML and infrequent in other texts.
func startOfMarker(raw []byte) int {
	const before = 1
	for at := 0; ; at++ {
		i := bytes.IndexByte(raw[at:], markerStart[before])
		if i < 0 {
			return -1
		}
		if at += i; at >= before && bytes.HasPrefix(raw[at-before:], []byte(markerStart)) {
			return at - before
		}
	}
}

// nextMarker finds the first marker at or after from, and returns where the id in it begins
// and ends.
func nextMarker(raw []byte, from int) (at, end int, ok bool) {
	for {
		i := startOfMarker(raw[from:])
		if i < 0 {
			return 0, 0, false
		}
		from += i + len(markerStart)
		n := bytes.IndexByte(raw[from:min(len(raw), from+longestID)], ',')
		if n > 0 && bytes.HasPrefix(raw[from+n:], []byte(markerURL)) {
			return from, from + n, true
		}
	}
}

// Markers iterates over the ids in the markers of a raw text, or of a raw list of texts.
func Markers(raw []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for from := 0; ; {
			at, end, ok := nextMarker(raw, from)
			if !ok || !yield(markedID(raw[at:end])) {
				return
			}
			from = end
		}
	}
}

func markedID(raw []byte) string {
	if bytes.IndexByte(raw, '\\') >= 0 {
		if id, ok := rawjson.Unquote([]byte(`"` + string(raw) + `"`)); ok {
			return id
		}
	}
	return string(raw)
}

// Renames maps ids of prompts to their new ids.
type Renames map[string]string

// ID returns the id that the prompt called id has afterwards.
func (n Renames) ID(id string) string {
	if to, ok := n[id]; ok {
		return to
	}
	return id
}

// Line returns a message with the new ids in the markers of its text and swipes, or line
// itself if nothing changes.
func (n Renames) Line(line []byte) []byte {
	if len(n) == 0 || !HasMarker(line) {
		return line
	}
	return rawjson.Edit(line, func(m *rawjson.Object) {
		for _, key := range [...]string{"mes", "swipes"} {
			raw := m.Value(key)
			if edited := n.marked(raw); !bytes.Equal(edited, raw) {
				m.Set(key, edited)
			}
		}
	})
}

// marked renames the ids in the markers of a raw text, or of a raw list of texts.
func (n Renames) marked(raw []byte) []byte {
	var out []byte
	done := 0
	for from := 0; ; {
		at, end, ok := nextMarker(raw, from)
		if !ok {
			break
		}
		from = end
		id := markedID(raw[at:end])
		if to := n.ID(id); to != id {
			quoted := rawjson.Quote(to)
			out = append(append(out, raw[done:at]...), quoted[1:len(quoted)-1]...)
			done = end
		}
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}

// Several is the place of a prompt whose markers lie in several messages.
const Several = -1

// Places maps a prompt's id to the message in which its markers lie, or to [Several].
type Places map[string]int

// Add notes a marker of a prompt in a message.
func (p Places) Add(id string, message int) {
	if was, ok := p[id]; ok && was != message {
		message = Several
	}
	p[id] = message
}

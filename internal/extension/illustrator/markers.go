package illustrator

import (
	"bytes"
	"fmt"
	"iter"

	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
)

// A marker is <!-- auto-illustrator:promptId=ID,imageUrl=URL --> (parseMarker).
const (
	markerStart = "<!-- auto-illustrator:promptId="
	markerURL   = ",imageUrl="
	longestID   = 200 // bytes; the extension's have at most 13
)

// HasMarker reports whether a raw text, or a whole line, may have a marker.
func HasMarker(raw []byte) bool { return bytes.Contains(raw, []byte(markerStart)) }

// nextMarker finds the first marker at or after from, and returns where the id in it begins
// and ends.
func nextMarker(raw []byte, from int) (at, end int, ok bool) {
	for {
		i := bytes.Index(raw[from:], []byte(markerStart))
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

// WithoutIDs returns a raw text, or a whole line, without the ids in its markers, or raw itself if it has
// none. They follow from a message's place, so they change with it, and nobody sees them.
func WithoutIDs(raw []byte) []byte {
	return editIDs(raw, func([]byte) []byte { return nil })
}

// editIDs puts other bytes in the places of the ids in the markers of a raw text; raw itself is returned if
// nothing changes.
func editIDs(raw []byte, edit func(id []byte) []byte) []byte {
	var out []byte
	done := 0
	for from := 0; ; {
		at, end, ok := nextMarker(raw, from)
		if !ok {
			break
		}
		from = end
		id := raw[at:end]
		if edited := edit(id); !bytes.Equal(edited, id) {
			out = append(append(out, raw[done:at]...), edited...)
			done = end
		}
	}

	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
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
	return editIDs(raw, func(spelled []byte) []byte {
		id := markedID(spelled)
		to := n.ID(id)
		if to == id {
			return spelled
		}
		quoted := rawjson.Quote(to)
		return quoted[1 : len(quoted)-1]
	})
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

// Drift is a prompt that no longer belongs where it says.
type Drift struct {
	ID      string
	Fault   string
	Message int    // the message in which its markers lie; below 0: unknown
	Why     string // why it cannot be repaired; empty: it can
	to      string // its new id
}

// Drifts returns the prompts whose id is not the hash of their own text, message and place,
// and those with a marker in another message than theirs, which happens when messages before
// them are deleted. A prompt and those that refine it share one message (refinePrompt), so
// their markers show which, if all lie in one.
func (r *Registry) Drifts(places Places) (list []Drift) {
	trees := r.trees()
	markers := make(map[int32]int, len(places)) // by tree
	for i := range r.prompts {
		at, ok := places[r.prompts[i].ID]
		if !ok {
			continue
		}
		if was, ok := markers[trees[i]]; ok && was != at {
			at = Several
		}
		markers[trees[i]] = at
	}

	stays := make([]string, 0, len(r.prompts)) // ids that stay taken
	wants := map[string]*Drift{}               // by new id
	for i := range r.prompts {
		d := r.drift(i, places, markers, trees[i])
		if d.Fault != "" {
			list = append(list, d)
		}
		if d.Fault == "" || d.Why != "" {
			stays = append(stays, r.prompts[i].ID)
		}
	}

	keep := func(d *Drift) {
		d.Why = fmt.Sprintf("another prompt has the id %s, which it would get", d.to)
		stays = append(stays, d.ID)
	}
	for i := range list {
		switch d := &list[i]; {
		case d.Why != "":
		case wants[d.to] != nil:
			keep(d)
		default:
			wants[d.to] = d
		}
	}

	for len(stays) > 0 {
		id := stays[0]
		stays = stays[1:]
		if d := wants[id]; d != nil && d.ID != id {
			delete(wants, id)
			keep(d)
		}
	}
	return list
}

// drift judges one prompt.
func (r *Registry) drift(i int, places Places, markers map[int32]int, tree int32) (d Drift) {
	p := &r.prompts[i]
	at, isIndex := rawjson.Int(p.message)
	prompt, isPlace := rawjson.Int(p.index)
	text, isText := rawjson.Unquote(p.text)
	if !isIndex || at < 0 || !isPlace || !isText {
		return d // its hash cannot be computed
	}
	d = Drift{ID: p.ID, Message: -1}
	own, marked := places[p.ID]
	of, known := markers[tree]
	known = known && of != Several
	hashed := PromptID(text, at, prompt) == p.ID
	switch {
	case known && of != at:
		d.Fault = fmt.Sprintf("the prompt %s is of message %d, and its marker lies in message %d", short(p.ID), at, of)
	case marked && own == Several:
		d.Fault = fmt.Sprintf("the prompt %s is of message %d, and markers of it lie in several messages", short(p.ID), at)
	case marked && own != at:
		d.Fault = fmt.Sprintf("the prompt %s is of message %d, and its marker lies in message %d", short(p.ID), at, own)
	case !hashed:
		d.Fault = fmt.Sprintf("the id of the prompt %s is not the hash of its text, message and place", short(p.ID))
	default:
		return Drift{}
	}

	if !known {
		d.Why = "no marker tells its message"
		if marked {
			d.Why = "markers of it, or of those that it refines, lie in several messages"
		}
		return d
	}

	d.Message, d.to = of, PromptID(text, of, prompt)
	return d
}

// FixDrift repairs drifted prompts as far as markers show where they belong: it sets their message
// to the one in which their markers lie, and their id to the new hash. The caller must rename
// the markers by renamed.
func FixDrift(metadata *rawjson.Object, places Places) (changes []extension.Repaired, renamed Renames) {
	r := Read(metadata)
	if r == nil {
		return nil, nil
	}
	renamed = Renames{}
	moves := map[string]int{}
	for _, d := range r.Drifts(places) {
		if d.Why != "" {
			continue
		}
		moves[d.ID] = d.Message
		change := extension.Repaired{Text: fmt.Sprintf("the prompt %s is of message %d, as its marker tells", short(d.ID), d.Message)}
		if d.to != d.ID {
			renamed[d.ID] = d.to
			change.Text += ", and called " + d.to
		}
		changes = append(changes, change)
	}

	if len(moves) == 0 {
		return nil, nil
	}
	e := &Edit{Renamed: renamed, Move: func(id string, message int) int {
		if to, ok := moves[id]; ok {
			return to
		}
		return message
	}}

	e.Apply(metadata)
	return changes, renamed
}

// Prune removes the prompts that name a message with an index of messages or more, with all
// that refers to them, and such messages from the gallery. It calls lost, which may be nil, with
// what goes.
func Prune(metadata *rawjson.Object, messages int, lost func(what string, raw []byte)) Edited {
	r := Read(metadata)
	if r == nil {
		return Edited{}
	}
	gone := map[string]bool{}
	for i := range r.prompts {
		if isBeyond(r.prompts[i].message, messages) {
			gone[r.prompts[i].ID] = true
		}
	}

	same := func(message int) (int, bool) { return message, true }
	return (&Edit{Gone: gone, Images: true, Open: same, Messages: messages, Lost: lost}).Apply(metadata)
}

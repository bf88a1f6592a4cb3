package illustrator

import (
	"fmt"

	"stchat/internal/rawjson"
)

// Drift is a prompt that no longer belongs where it says.
type Drift struct {
	ID      string
	Fault   string
	Message int    // the message in which its markers lie; below 0: unknown
	Why     string // why it cannot be mended; empty: it can
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
func FixDrift(metadata *rawjson.Object, places Places) (changes []Change, renamed Renames) {
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
		change := Change{Text: fmt.Sprintf("the prompt %s is of message %d, as its marker tells", short(d.ID), d.Message)}
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
// that refers to them, and calls lost, which may be nil, with what goes.
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
	return (&Edit{Gone: gone, Images: true, Lost: lost}).Apply(metadata)
}

package rules

import (
	"strings"

	"stchat/internal/autorecap"
	"stchat/internal/illustrator"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// watch is what the metadata says of messages, beside what the messages themselves say: it
// is as large as the metadata, however long the chat is.
type watch struct {
	scenes   map[int]bool // that versions of the running recap are made at: whether the message has a recap
	registry *illustrator.Registry
	places   illustrator.Places
}

// newWatch reads what is to be watched for.
func newWatch(metadata *rawjson.Object) watch {
	w := watch{scenes: map[int]bool{}, registry: illustrator.Read(metadata), places: illustrator.Places{}}
	running, _ := autorecap.RunningIn(metadata)
	for version := range running.Versions() {
		if scene, ok := version.Scene(); ok {
			w.scenes[scene] = false
		}
	}
	return w
}

// mark is a marker of a prompt in a message; line and index are those in the batch.
type mark struct {
	id                    string
	number, column, index int
}

// readMarks collects the markers in the message's text and swipes, each prompt once; of
// very many some may be there again. An only swipe is the text, or gives way to it.
func (b *batch) readMarks(l *jsonl.Line) {
	const looked = 32
	from := len(b.marks)
	for _, key := range [...]int{keyMes, keySwipes} {
		raw, _ := l.Value(key)
		if key == keySwipes && l.Count(keySwipes) < 2 {
			break
		}
	markers:
		for id := range illustrator.Markers(raw) {
			for _, m := range b.marks[from:min(len(b.marks), from+looked)] {
				if m.id == id {
					continue markers
				}
			}
			b.marks = append(b.marks, mark{strings.Clone(id), l.Number, column(l, raw), l.Index})
		}
	}
}

// watched holds what the batch's messages say against what the metadata says of them.
func (s *scan) watched(b *batch, base jsonl.Base, shift int) {
	c := s.chat
	if !c.checked {
		return
	}
	for _, i := range b.recaps {
		if _, ok := s.watch.scenes[shift+i]; ok {
			s.watch.scenes[shift+i] = true
		}
	}
	for _, m := range b.marks {
		if s.watch.registry.Has(m.id) {
			s.watch.places.Add(m.id, shift+m.index)
			continue
		}
		c.add(Finding{Rule: PromptMarker, Line: base.Line + m.number + 1, Column: m.column, Index: shift + m.index, Message: "a marker names the prompt " + clip(m.id) + ", which is not there"})
	}
}

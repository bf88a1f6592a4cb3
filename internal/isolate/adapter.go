package isolate

import (
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// Adapter knows the state of one extension. An Adapter serves one scan and is made
// by [Adapters]. Of its methods only Look may run in several goroutines at once, so
// Look must not touch what the others keep.
type Adapter interface {
	// Name is what reports call the extension.
	Name() string
	// Owns lists the keys of chat_metadata that the adapter deals with, so that
	// they are not reported as unknown.
	Owns() []string
	// Needs lists the top-level keys of a message that Look reads.
	Needs() []string
	// Look returns what the adapter must know of one message, small and without
	// aliasing the message's bytes; nil for nothing.
	Look(m *Message) any
	// Keep takes a fact of message i of the branch, in order. For N, the last one,
	// it is always called, with nil where Look gave nothing.
	Keep(i int, fact any)
	// Later takes a fact of a message that the branch does not have, or has with
	// another swipe; it may come before the last call of Keep.
	Later(fact any)
	// Apply edits the branch's metadata and tells what it changed, and what of its
	// own it left because there is no rule.
	Apply(metadata *rawjson.Object, at Moment) []Change
}

// Adapters makes an adapter for each extension that is understood. To add one,
// write its file and put it here.
func Adapters() []Adapter {
	return []Adapter{&core{}, &autoRecap{}, &autoIllustrator{}, &memoryBook{}, &lukerVariables{}}
}

// Moment is the point at which a chat is branched.
type Moment struct {
	At      int    // N, the last message of the branch
	Visible int    // messages 0 to N that core counts in a prompt
	Chat    string // the branch's name, without ".jsonl"; "" where it has none
}

// Messages is how many messages the branch has.
func (m Moment) Messages() int { return m.At + 1 }

// Change is one thing that was changed, or left because no rule covers it.
type Change struct {
	Extension string
	Change    string // for people: "3 of 10 versions kept, current 10 → 3"
	Left      bool   // it could not be told what it was, so it is what it was later
}

// Message is one message as an adapter sees it.
type Message struct {
	raw  []byte
	line *jsonl.Line // nil where the line stands alone
	keys []string    // the keys that line.Value knows, by number

	extra  *rawjson.Object // once somebody asked; nil where it is none
	parsed bool
}

// Extra returns the raw value of a key of the message's extra, nil where there is
// none. It is valid during Look only. extra can be large, so it is walked once for
// all adapters.
func (m *Message) Extra(key string) []byte {
	if !m.parsed {
		m.parsed = true
		m.extra, _ = rawjson.ParseObject(m.Get(keyExtra))
	}
	if m.extra == nil {
		return nil
	}
	raw, _ := m.extra.Get(key)
	return raw
}

// Get returns the raw value of a top-level key that some adapter needs, nil where
// the message has none. It is valid during Look only.
func (m *Message) Get(key string) []byte {
	if m.line == nil {
		raw, _ := rawjson.Lookup(m.raw, key)
		return raw
	}
	for k, name := range m.keys {
		if name == key {
			raw, _ := m.line.Value(k)
			return raw
		}
	}
	return nil
}

// place is where the message's line is in the source; ok is false where it stands
// alone.
func (m *Message) place() (off int64, length int, ok bool) {
	if m.line == nil {
		return 0, 0, false
	}
	return m.line.Off, len(m.raw), true
}

// inMetadata is for adapters of extensions whose state stands in the metadata alone: no
// message has anything to note.
type inMetadata struct{}

func (inMetadata) Needs() []string   { return nil }
func (inMetadata) Look(*Message) any { return nil }
func (inMetadata) Keep(int, any)     {}
func (inMetadata) Later(any)         {}

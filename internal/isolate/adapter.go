package isolate

import (
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// Adapter knows the state of one extension. An Adapter serves one scan and is made
// by [Adapters]. Only Look may run in several goroutines at once, so it must not touch
// what the other methods keep.
type Adapter interface {
	// Name returns the extension's name in reports.
	Name() string
	// Owns returns the keys of chat_metadata that the adapter deals with, so that
	// they are not reported as unknown.
	Owns() []string
	// Needs returns the top-level keys of a message that Look reads.
	Needs() []string
	// Look returns what the adapter must know about one message, nil for nothing. The
	// fact must be small and must not alias the message's bytes.
	Look(m *Message) any
	// Keep takes the fact about message i of the branch, in order. For N, the last
	// message, it is always called, with nil if Look returned nothing.
	Keep(i int, fact any)
	// Later takes the fact about a message that the branch does not have, or has with
	// another swipe; it may be called before the last call of Keep.
	Later(fact any)
	// Apply edits the branch's metadata. It returns what it changed, and what of its
	// own it left because no rule covers it.
	Apply(metadata *rawjson.Object, at Moment) []Change
}

// Adapters returns a new adapter for each extension that is understood. To add one,
// write its file and list it here.
func Adapters() []Adapter {
	return []Adapter{&core{}, &autoRecap{}, &autoIllustrator{}, &memoryBook{}, &lukerVariables{}}
}

// Moment is the point at which a chat is branched.
type Moment struct {
	At      int    // N, the last message of the branch
	Visible int    // how many of messages 0 to N core counts in a prompt
	Chat    string // the branch's name, without ".jsonl"; "" if it has none
}

// Messages returns how many messages the branch has.
func (m Moment) Messages() int { return m.At + 1 }

// Change is one thing that was changed, or left because no rule covers it.
type Change struct {
	Extension string `json:"extension"`
	Change    string `json:"change"` // for people: "3 of 10 versions kept, current 10 → 3"
	Left      bool   `json:"-"`      // its value at N could not be found out, so the later one stays
}

// Message is one message as an adapter sees it.
type Message struct {
	raw  []byte
	line *jsonl.Line // nil if there is only raw
	keys []string    // the keys that line.Value knows, by number

	extra  *rawjson.Object // parsed when first needed; nil if it is not an object
	parsed bool
}

// Extra returns the raw value of a key of the message's extra, nil if there is none.
// The value is valid during Look only. extra can be large, so it is parsed once for all
// adapters.
func (m *Message) Extra(key string) []byte {
	if !m.parsed {
		m.parsed = true
		m.extra, _ = rawjson.ParseObject(m.Get(keyExtra))
	}
	if m.extra == nil {
		return nil
	}
	return m.extra.Value(key)
}

// Get returns the raw value of a top-level key that some adapter needs, nil if the
// message lacks it. The value is valid during Look only.
func (m *Message) Get(key string) []byte {
	if m.line == nil {
		return rawjson.Value(m.raw, key)
	}
	for k, name := range m.keys {
		if name == key {
			raw, _ := m.line.Value(k)
			return raw
		}
	}
	return nil
}

// place returns the offset and length of the message's line in the source; ok is false
// if it does not come from there.
func (m *Message) place() (off int64, length int, ok bool) {
	if m.line == nil {
		return 0, 0, false
	}
	return m.line.Off, len(m.raw), true
}

// inMetadata is for adapters of extensions that keep state only in the metadata, so that
// messages have nothing to note.
type inMetadata struct{}

func (inMetadata) Needs() []string   { return nil }
func (inMetadata) Look(*Message) any { return nil }
func (inMetadata) Keep(int, any)     {}
func (inMetadata) Later(any)         {}

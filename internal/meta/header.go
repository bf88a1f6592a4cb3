// Package meta reads and edits the first line of a chat, the header, which holds
// the chat's metadata:
//
//	{"chat_metadata":{…},"user_name":"unused","character_name":"unused"}
//
// SillyTavern itself and every extension keep their state in chat_metadata, most
// of it unknown here. So a [Header] is a view over the bytes of the line: only
// what an edit names changes, whatever else stands in the line keeps its order,
// its spelling and its repeated keys. What a header is, and how a broken one
// reads, is SPEC.md 1.1; how values are put in is SPEC.md 1.2 and 1.3.
//
// The package edits one line in memory. Where that line stands in a file, and
// what the values in the metadata mean, is for others to know.
package meta

import (
	"bytes"
	"fmt"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// Keys of the header line (SillyTavern, saveChat in public/script.js).
const (
	keyMetadata  = "chat_metadata"
	keyUser      = "user_name"
	keyCharacter = "character_name"
	keyText      = "mes"
)

// BadMetadataError says that a header's chat_metadata is neither an object nor
// null, so that SillyTavern cannot read it as metadata.
type BadMetadataError struct {
	Offset int          // of the value, in bytes from the start of the line
	Kind   rawjson.Kind // what stands there
}

// Error names what was found.
func (e *BadMetadataError) Error() string {
	return fmt.Sprintf("chat_metadata is %s, not an object", e.Kind)
}

// Header is one header line, open to edits of its metadata.
type Header struct {
	fields   *rawjson.Object
	metadata *rawjson.Object
	swapped  bool // metadata is not the one that was read
}

// IsHeader reports whether the first surviving line of a chat is a header: it
// has chat_metadata, or it has user_name or character_name and no mes.
func IsHeader(line []byte) bool {
	named, text := false, false
	for key := range rawjson.Members(line) {
		switch {
		case rawjson.KeyIs(key, keyMetadata):
			return true
		case rawjson.KeyIs(key, keyUser), rawjson.KeyIs(key, keyCharacter):
			named = true
		case rawjson.KeyIs(key, keyText):
			text = true
		}
	}
	return named && !text
}

// Parse reads a header line, which must be a valid JSON object without its line
// end and must not change while the Header is in use. Missing or null metadata
// reads as {}. The error is a [*BadMetadataError] when chat_metadata is anything
// else that is not an object, and wraps [rawjson.ErrNotObject] when the line is
// not an object.
func Parse(line []byte) (*Header, error) {
	fields, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	h := &Header{fields: fields, metadata: rawjson.NewObject()}
	raw, ok := fields.Get(keyMetadata)
	if !ok || rawjson.KindOf(raw) == rawjson.Null {
		return h, nil
	}
	if h.metadata, err = rawjson.ParseObject(raw); err != nil {
		at, _, _ := rawjson.Place(line, keyMetadata)
		return nil, &BadMetadataError{Offset: at, Kind: rawjson.KindOf(raw)}
	}
	return h, nil
}

// ParseLenient is [Parse] for who passes over damage: metadata that is not an object
// counts as {} and is written so, where it stands; a line that is not an object
// counts as [New].
func ParseLenient(line []byte) *Header {
	fields, err := rawjson.ParseObject(line)
	if err != nil {
		return New()
	}
	if h, err := Parse(line); err == nil {
		return h
	}
	return &Header{fields: fields, metadata: rawjson.NewObject(), swapped: true}
}

// New returns a whole header with empty metadata, as SillyTavern writes it.
func New() *Header {
	fields := rawjson.NewObject()
	fields.Set(keyMetadata, []byte("{}"))
	fields.Set(keyUser, []byte(`"unused"`))
	fields.Set(keyCharacter, []byte(`"unused"`))
	return &Header{fields: fields, metadata: rawjson.NewObject()}
}

// Metadata returns the chat's metadata; an edit to it is an edit to the header.
func (h *Header) Metadata() *rawjson.Object { return h.metadata }

// Fields returns the header's own keys. chat_metadata is among them as it was
// read; it is edited through [Header.Metadata].
func (h *Header) Fields() *rawjson.Object { return h.fields }

// Change makes an edit to the metadata as bytes, which must give a valid JSON object on
// one line; everything it leaves alone keeps its spelling. [Header.Metadata] is another
// object from then on, unless the edit changed nothing.
func (h *Header) Change(edit func(metadata []byte) ([]byte, error)) error {
	before := h.metadata.Bytes()
	after, err := edit(before)
	switch {
	case err != nil:
		return err
	case bytes.Equal(before, after):
		return nil
	}
	if d := jsonl.Check(after); d != nil {
		return fmt.Errorf("the metadata would be damaged: %s", d.Reason)
	}
	metadata, err := rawjson.ParseObject(after)
	if err != nil {
		return fmt.Errorf("the metadata would be %s, not an object", rawjson.KindOf(after))
	}
	h.metadata, h.swapped = metadata, true
	return nil
}

// Complete sees to it that the line has metadata that is an object, as every
// header that is written must: {} where it is missing or null.
func (h *Header) Complete() {
	if raw, ok := h.fields.Get(keyMetadata); !ok || rawjson.KindOf(raw) == rawjson.Null {
		h.swapped = true
	}
}

// Bytes returns the header line, without a line end, with the edits to its
// metadata spliced in and every other byte as it was read. Metadata that is
// missing is put first once there is something to write, null gives way to the
// object then; without edits the line is the one that was read.
func (h *Header) Bytes() []byte {
	if h.swapped || h.metadata.Edited() {
		h.fields.SetFirst(keyMetadata, h.metadata.Bytes())
	}
	return h.fields.Bytes()
}

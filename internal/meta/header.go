// Package meta reads and edits the first line of a chat, the header, which holds
// the chat's metadata:
//
//	{"chat_metadata":{…},"user_name":"unused","character_name":"unused"}
//
// SillyTavern itself and every extension keep their state in chat_metadata, most of it
// unknown here. So a [Header] is a view of the bytes of the line: only what an edit
// names changes, everything else in the line keeps its order, its spelling and its
// repeated keys.
//
// The package edits one line in memory. Where that line is in a file, and what the
// values in the metadata mean, are other packages' business.
package meta

import (
	"bytes"
	"fmt"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
)

// Keys of the header line (SillyTavern, saveChat in public/script.js).
const (
	keyMetadata  = "chat_metadata"
	keyUser      = "user_name"
	keyCharacter = "character_name"
	keyText      = "mes"
)

// KeyImport is the key of the metadata in which import notes the conversation that a chat was made of.
const KeyImport = "stchat_import"

// BadMetadataError means that a header's chat_metadata is neither an object nor null,
// so that SillyTavern cannot read it as metadata.
type BadMetadataError struct {
	Offset int          // of the value, in bytes from the start of the line
	Kind   rawjson.Kind // what the value is
}

// Error describes what was found.
func (e *BadMetadataError) Error() string {
	return fmt.Sprintf("chat_metadata is %s, not an object", e.Kind)
}

// Header is one header line whose metadata can be edited.
type Header struct {
	fields   *rawjson.Object
	metadata *rawjson.Object
	swapped  bool // metadata must be written, even without edits of its own
}

// Identity returns what tells chats apart in the bytes of a header, with "" for what it lacks: the
// integrity slug, and main_chat, the name of the chat that this one was made from.
func Identity(line []byte) (slug, main string) {
	slug, _ = rawjson.Unquote(rawjson.Value(line, keyMetadata, "integrity"))
	main, _ = rawjson.Unquote(rawjson.Value(line, keyMetadata, "main_chat"))
	return slug, main
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

// Parse reads a header line, which must be a valid JSON object without its line end and
// must not change while the Header is in use. Missing or null metadata reads as {}. The
// error is a [*BadMetadataError] if chat_metadata is anything else that is not an
// object, and wraps [rawjson.ErrNotObject] if the line is not an object.
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

// Edit returns a header line with its metadata edited. The errors are those of [Parse], or
// the edit's.
func Edit(line []byte, edit func(metadata *rawjson.Object) error) ([]byte, error) {
	h, err := Parse(line)
	if err == nil {
		err = edit(h.Metadata())
	}
	if err != nil {
		return nil, err
	}
	return h.Bytes(), nil
}

// ParseLenient is [Parse], but tolerates damage: metadata that is not an object reads
// as {} and is replaced by that in its place; for a line that is not an object it
// returns [New].
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

// New returns a complete header with empty metadata, as SillyTavern writes it.
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

// Change replaces the metadata by what edit returns for its bytes, which must be a
// valid JSON object on one line. After that [Header.Metadata] returns another object,
// unless the edit changed nothing. The error is that of edit, or says what is wrong
// with the result.
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

// Complete makes sure that the line is written with metadata, as every header must be:
// {} if it is missing or null.
func (h *Header) Complete() {
	if raw, ok := h.fields.Get(keyMetadata); !ok || rawjson.KindOf(raw) == rawjson.Null {
		h.swapped = true
	}
}

// Bytes returns the header line, without a line end, with the edits to its metadata
// spliced in and every other byte as it was read. If there is something to write,
// missing metadata is put first, and null is replaced. Without edits the line is the
// one that was read.
func (h *Header) Bytes() []byte {
	if h.swapped || h.metadata.Edited() {
		h.fields.SetFirst(keyMetadata, h.metadata.Bytes())
	}
	return h.fields.Bytes()
}

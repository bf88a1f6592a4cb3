package group

import (
	"fmt"

	"stchat/internal/rawjson"
)

// HasOldLayout reports whether the file holds metadata of chats, as SillyTavern wrote
// it up to 1.14.
func (f *File) HasOldLayout() bool { return f.oldLayout }

// OldMetadata returns the metadata that the file holds for a chat without a header, as
// SillyTavern's migration takes it (src/endpoints/groups.js,
// migrateGroupChatsMetadataFormat): {...past_metadata, [chat_id]: chat_metadata}[chat].
// chat is the file's name; it is looked up under the name that the group lists it by.
// ok is false where there is none or where it is no object; then it counts as {}.
func (f *File) OldMetadata(chat string) (raw []byte, ok bool) {
	for _, key := range f.keysOf(chat) {
		if key == f.ChatID {
			// Also where it is missing: the spread is overwritten by undefined.
			raw, ok = f.current, f.current != nil
		} else {
			raw, ok = f.past[key]
		}
		if ok && rawjson.KindOf(raw) == rawjson.ObjectKind {
			return raw, true
		}
	}
	return nil, false
}

// keptFor returns the names of the chats of which the file holds metadata.
func (f *File) keptFor() map[string]bool {
	kept := map[string]bool{}
	add := func(chat string) {
		if _, ok := f.OldMetadata(chat); ok {
			kept[chat] = true
		}
	}
	if !f.oldLayout {
		return kept
	}
	add(f.ChatID)
	for name := range f.past {
		add(name)
	}
	for safe := range f.typed {
		add(safe)
	}
	return kept
}

// WithoutOldMetadata returns the file's bytes without the metadata it holds for the chats,
// for when that has moved into their headers. past_metadata goes with its last entry.
// Without any the bytes are as they were read. It is not an error if a chat is not the
// group's.
func (f *File) WithoutOldMetadata(chats ...string) (data []byte, err error) {
	o, err := rawjson.ParseObject(f.raw)
	if err != nil {
		return nil, fmt.Errorf("%s: not a group file: %w", f.Path, err)
	}
	past, ok := o.Get(keyPastMetadata)
	var pastObject *rawjson.Object
	if ok {
		// A past_metadata that is no object holds nothing, and stays.
		pastObject, _ = rawjson.ParseObject(past)
	}
	for _, chat := range chats {
		for _, key := range f.keysOf(chat) {
			if key == f.ChatID {
				o.Unset(keyMetadata)
			}
			if pastObject != nil {
				pastObject.Unset(key)
			}
		}
	}
	switch {
	case pastObject == nil || !pastObject.Edited():
	case pastObject.Len() == 0:
		o.Unset(keyPastMetadata)
	default:
		o.Set(keyPastMetadata, pastObject.Bytes())
	}
	return o.Bytes(), nil
}

// keysOf returns the names that the metadata of chat may stand under: its own first, then
// those that the group lists and the server makes into it.
func (f *File) keysOf(chat string) []string {
	return append([]string{chat}, f.typed[chat]...)
}

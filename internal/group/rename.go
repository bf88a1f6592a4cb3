package group

import (
	"fmt"

	"stchat/internal/rawjson"
)

// WithNames returns the file's bytes with the names of chats as edit returns them: in the
// list, where they keep their place, in chat_id, and as keys of past_metadata. A name that
// edit does not keep leaves the list, its old metadata too. open, unless empty, is the
// chat that is open then, whatever chat_id was. Every other byte stays.
func (f *File) WithNames(edit func(name string) (to string, keep bool), open string) ([]byte, error) {
	o, err := rawjson.ParseObject(f.raw)
	if err != nil {
		return nil, fmt.Errorf("%s: not a group file: %w", f.Path, err)
	}
	o.EditList(keyChats, func(_ int, value []byte) ([]byte, bool) {
		name, ok := rawjson.Unquote(value)
		if !ok {
			return value, true
		}
		to, keep := edit(name)
		if to == name {
			return value, keep
		}
		return rawjson.Quote(to), keep
	})
	current, ok := rawjson.Unquote(o.Value(keyChatID))
	if open == "" && ok {
		if to, keep := edit(current); keep {
			open = to
		}
	}
	if open != "" && open != current {
		o.Set(keyChatID, rawjson.Quote(open))
	}
	if past, ok := o.Get(keyPastMetadata); ok {
		edited := past
		for key := range f.past {
			switch to, keep := edit(key); {
			case !keep:
				edited = rawjson.DeletePath(edited, key)
			case to != key:
				edited = rawjson.RenameKey(edited, key, to)
			}
		}
		if string(edited) != string(past) {
			o.Set(keyPastMetadata, edited)
		}
	}
	return o.Bytes(), nil
}

// WithOpen returns the file's bytes with another chat as the one that is open.
func (f *File) WithOpen(chat string) ([]byte, error) {
	return f.WithNames(func(name string) (string, bool) { return name, true }, chat)
}

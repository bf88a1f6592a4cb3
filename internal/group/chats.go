package group

import (
	"bytes"
	"fmt"

	"stchat/internal/rawjson"
)

// WithChats returns the file's bytes with chats appended to its list, each once and only
// those that the group does not list yet; without any, the bytes as they were read.
// chat_id stays, as do all other bytes. New entries are laid out as the list's own are, and
// in an empty list as JSON.stringify would put them at the file's own indentation, which
// is four spaces in SillyTavern's files.
//
// Where chats is missing or null, it is written with what [Load] takes it to list, and
// a missing chat_id with it, since SillyTavern's client discards the list of a group
// that has none. It is an error if chats is anything else but a list.
func (f *File) WithChats(chats ...string) (data []byte, err error) {
	o, err := rawjson.ParseObject(f.raw)
	if err != nil {
		return nil, fmt.Errorf("%s: not a group file: %w", f.Path, err)
	}
	list := o.Value(keyChats)
	mend := isMissing(o, keyChats)
	if kind := rawjson.KindOf(list); !mend && kind != rawjson.Array {
		return nil, fmt.Errorf("%s: %q is %v, not a list; fix the group file first", f.Path, keyChats, kind)
	}

	var fresh [][]byte
	added := make(map[string]bool, len(chats))
	for _, chat := range chats {
		if !f.Lists(chat) && !added[chat] {
			added[chat] = true
			fresh = append(fresh, rawjson.Quote(chat))
		}
	}
	if len(fresh) == 0 {
		return f.raw, nil
	}
	if mend {
		var all [][]byte
		for _, chat := range f.Chats {
			all = append(all, rawjson.Quote(chat))
		}
		list, fresh = []byte("[]"), append(all, fresh...)
		if isMissing(o, keyChatID) && f.ChatID != "" {
			o.Set(keyChatID, rawjson.Quote(f.ChatID))
		}
	}
	o.Set(keyChats, appendAll(list, fresh, indentOf(f.raw)))
	return o.Bytes(), nil
}

// appendAll returns the list with more elements at its end. indent is what stands before
// a member of the object around it.
func appendAll(list []byte, elements [][]byte, indent indentation) []byte {
	inside := list[1 : len(list)-1]
	if rest := bytes.TrimLeft(inside, whiteSpace); len(rest) > 0 {
		// What stands before the first element stands before a new one, if that is a
		// line of its own.
		lead := inside[:len(inside)-len(rest)]
		if !bytes.ContainsRune(lead, '\n') {
			lead = nil
		}
		return rawjson.Append(list, bytes.Join(elements, append([]byte{','}, lead...)))
	}
	out := append([]byte{'['}, indent.at(2)...)
	out = append(out, bytes.Join(elements, append([]byte{','}, indent.at(2)...))...)
	out = append(out, indent.at(1)...)
	return append(out, ']')
}

const whiteSpace = " \t\r\n"

// indentation is how a file is laid out; the zero one is compact.
type indentation struct{ newline, unit []byte }

// indentOf reads the layout off what stands before the object's first member.
func indentOf(object []byte) indentation {
	inside := bytes.TrimLeft(object, whiteSpace)
	inside = inside[1:] // the brace
	lead := inside[:len(inside)-len(bytes.TrimLeft(inside, whiteSpace))]
	last := bytes.LastIndexByte(lead, '\n')
	if last < 0 {
		return indentation{}
	}
	in := indentation{newline: []byte("\n"), unit: lead[last+1:]}
	if last > 0 && lead[last-1] == '\r' {
		in.newline = []byte("\r\n")
	}
	return in
}

// at returns the line break and the indentation before what lies that deep.
func (in indentation) at(depth int) []byte {
	if in.newline == nil {
		return nil
	}
	return append(bytes.Clone(in.newline), bytes.Repeat(in.unit, depth)...)
}

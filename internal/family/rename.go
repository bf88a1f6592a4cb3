package family

import (
	"maps"
	"slices"

	"stchat/internal/card"
	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/extension/autorecap"
	"stchat/internal/group"
	"stchat/internal/message"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
)

// Edits is what becomes of the names in the files of a folder, by path.
type Edits map[string]*FileEdit

// FileEdit is what becomes of the names in one file: a chat, a card or a group file.
type FileEdit struct {
	Chat  *Chat // nil: a group file or a card
	Count int   // of names
	Loses bool  // a message loses a link

	names    map[string]string // except main_chat: the new name by the one that is written; "" removes it
	branches map[int][]string  // by messages that have such names: branches to list there, too
	parent   *mainChat
	metadata []func(md *rawjson.Object)
}

// mainChat is what becomes of main_chat if it is what it was.
type mainChat struct{ from, to string }

// Rename returns the edits of all files that name the chats for which moves is true. to returns
// what the name in a place becomes: "" removes it, and false leaves it as it is.
func (g *Graph) Rename(moves func(*Chat) bool, to func(ref Reference, named *Chat) (name string, ok bool)) Edits {
	edits, found := Edits{}, g.ReferencesTo(moves)
	for _, c := range g.Chats {
		for _, ref := range found[c] {
			if name, ok := to(ref, c); ok {
				edits.Name(ref, name)
				edits[ref.Path].Count++
			}
		}
	}
	return edits
}

// In returns the edit of a file, which may be new. from is nil for a group file or a card.
func (e Edits) In(path string, from *Chat) *FileEdit {
	if e[path] == nil {
		e[path] = &FileEdit{Chat: from, names: map[string]string{}, branches: map[int][]string{}}
	}
	return e[path]
}

// Name changes the name in a place; "" removes it.
func (e Edits) Name(ref Reference, to string) {
	f := e.In(ref.Path, ref.From)
	switch ref.Kind {
	case Recap:
		f.Metadata(func(md *rawjson.Object) { autorecap.SetChat(md, to) })
	case Parent:
		f.parent = &mainChat{ref.Name, to}
	default:
		f.names[ref.Name] = to
		if _, known := f.branches[ref.Index]; !known {
			f.branches[ref.Index] = nil
		}
		f.Loses = f.Loses || to == "" && ref.Index >= 0
	}
}

// Metadata adds another edit of a chat's metadata.
func (f *FileEdit) Metadata(edit func(md *rawjson.Object)) { f.metadata = append(f.metadata, edit) }

// Branch lists a chat among the branches on a message.
func (f *FileEdit) Branch(index int, name string) {
	f.branches[index] = append(f.branches[index], name)
	f.Count++
}

// now returns what becomes of a name.
func (f *FileEdit) now(name string) (to string, keep bool) {
	if to, ok := f.names[name]; ok {
		return to, to != ""
	}
	return name, true
}

// Lines returns the edits of a chat's header and messages; f may be nil.
func (f *FileEdit) Lines() (lines chat.Lines) {
	if f == nil {
		return nil
	}
	if f.parent != nil || len(f.metadata) > 0 {
		lines = append(lines, HeaderEdit(f.header))
	}
	for _, index := range slices.Sorted(maps.Keys(f.branches)) {
		lines = append(lines, chat.LineEdit{Index: index, Do: func(line []byte) ([]byte, error) {
			line = message.EditLinks(line, func(_ bool, name string) (string, bool) { return f.now(name) })
			splice, err := message.BranchSplice(line, f.branches[index]...)
			if err != nil || splice == nil {
				return line, err
			}
			return splice.Apply(line), nil
		}})
	}
	return lines
}

func (f *FileEdit) header(md *rawjson.Object) {
	written, _ := rawjson.Unquote(md.Value("main_chat"))
	switch {
	case f.parent == nil || written != f.parent.from:
	case f.parent.to != "":
		md.Set("main_chat", rawjson.Quote(f.parent.to))
	default:
		md.Unset("main_chat")
		// Auto-Recap erases another chat's recap if there is no parent
		autorecap.SetRunningChat(md, f.Chat.Name)
	}
	for _, edit := range f.metadata {
		edit(md)
	}
}

// HeaderEdit returns an edit of the metadata in a chat's header. An old group chat has none.
func HeaderEdit(edit func(md *rawjson.Object)) chat.LineEdit {
	return chat.LineEdit{Index: chat.HeaderIndex, Do: func(line []byte) ([]byte, error) {
		if line == nil {
			return nil, nil
		}
		return meta.Edit(line, func(md *rawjson.Object) error {
			edit(md)
			return nil
		})
	}}
}

// Bytes returns the edit of a card or a group file. If the chat that it opens with goes, open is
// opened instead; "" stands for none, with which a card stays as it is.
func (f *FileEdit) Bytes(path string, isCard bool, open string) changeset.Edit {
	if !isCard {
		return &group.Edit{Path: path, Names: f.now, Instead: open}
	}
	return card.Edit(path, func(c *card.Card) ([]byte, error) {
		to, keep := f.now(c.Chat)
		if !keep {
			to = open
		}
		if to == "" || to == c.Chat {
			return nil, nil
		}
		return c.WithChat(to)
	})
}

package family

import (
	"maps"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/autorecap"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
	"stchat/internal/sillytavern/message"
)

// Reference is one place in a file that names a chat.
type Reference struct {
	Path  string
	From  *Chat // nil: a group file or a card
	Index int   // of the message; Header; NoLine
	Kind  Kind
	Name  string // as it is written there
}

// Places that are no message.
const (
	Header = -1
	NoLine = -2 // of a group file or a card
)

// Kind says what a reference is.
type Kind uint8

// The kinds of references.
const (
	Parent      Kind = iota // chat_metadata.main_chat
	Checkpoint              // extra.bookmark_link, also of a swipe that is not chosen
	Branch                  // an element of extra.branches, the same
	Recap                   // the chat's own name in what Auto-Recap and other extensions keep
	Listed                  // the chats of a group
	Open                    // the chat that is open in a group, or in a character's card
	OldMetadata             // metadata that a group keeps in the layout up to 1.14
)

// Key returns the name of what a reference of this kind stands in.
func (k Kind) Key() string {
	return [...]string{"main_chat", "bookmark_link", "branches", "chat_id of Auto-Recap", "chats", "chat", "past_metadata"}[k]
}

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
	edits := Edits{}
	found := g.ReferencesTo(moves)
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

// File returns the edit of a file, which may be new. from is nil for a group file or a card.
func (e Edits) File(path string, from *Chat) *FileEdit {
	if e[path] == nil {
		e[path] = &FileEdit{Chat: from, names: map[string]string{}, branches: map[int][]string{}}
	}
	return e[path]
}

// Name changes the name in a place; "" removes it.
func (e Edits) Name(ref Reference, to string) {
	f := e.File(ref.Path, ref.From)
	switch ref.Kind {
	case Recap:
		f.Metadata(func(md *rawjson.Object) {
			autorecap.SetChat(md, to) // also where it is missing or was another: Auto-Recap erases what is not the chat's own
			all.Table().Replace(md, extension.Metadata, extension.OwnChat, ref.Name, to)
		})
	case Parent:
		f.parent = &mainChat{ref.Name, to}
	default:
		f.names[ref.Name] = to
		if _, known := f.branches[ref.Index]; !known {
			f.branches[ref.Index] = nil
		}
		if to == "" && ref.Index >= 0 {
			f.Loses = true
		}
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
		lines = append(lines, f.message(index))
	}
	return lines
}

// message returns the edit of the message at an index.
func (f *FileEdit) message(index int) chat.LineEdit {
	return chat.LineEdit{Index: index, Do: func(line []byte) ([]byte, error) {
		line = message.EditLinks(line, func(_ bool, name string) (string, bool) { return f.now(name) })
		splice, err := message.BranchSplice(line, f.branches[index]...)
		return splice.Apply(line), err
	}}
}

func (f *FileEdit) header(md *rawjson.Object) {
	written, _ := rawjson.Unquote(md.Value("main_chat"))
	if f.parent != nil && written == f.parent.from {
		SetParent(md, f.parent.to, f.Chat.Name)
	}
	for _, edit := range f.metadata {
		edit(md)
	}
}

// SetParent makes the metadata of a chat called name say who its parent is, "" for none.
func SetParent(md *rawjson.Object, parent, name string) {
	if parent != "" {
		md.Set("main_chat", rawjson.Quote(parent))
		return
	}
	md.Unset("main_chat")
	autorecap.SetRunningChat(md, name) // Auto-Recap erases another chat's recap if there is no parent
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
		return c.With(card.Chat(to))
	})
}

// missing looks for the chats that a name which leads nowhere may stand for.
type missing struct {
	g    *Graph
	safe string // the name, made safe
}

// is reports whether a name in a file is the one that is missing.
func (m missing) is(written string) bool { return written != "" && names.OnDisk(written) == m.safe }

// links reports whether a chat has a link by the missing name: then it is another chat.
func (m missing) links(c *Chat) bool {
	return slices.ContainsFunc(c.Links, func(l Link) bool { return m.is(l.Name) })
}

func (m missing) candidates() []*Chat {
	var linking, trunks, children []*Chat
	isLinked := false
	add := func(list *[]*Chat, c *Chat) {
		if !slices.Contains(*list, c) {
			*list = append(*list, c)
		}
	}

	var kin map[*Chat]parting
	for _, c := range m.g.Chats {
		if m.is(c.MainChat) {
			for _, p := range m.linkers(c) {
				if !m.is(p.MainChat) && !m.links(p) {
					add(&linking, p)
				}
			}
			if kin == nil {
				kin = m.kinWithout()
			}
			if trunk := m.trunkFor(c, kin); trunk != nil {
				add(&trunks, trunk)
			}
		}

		for _, l := range c.Links {
			if m.is(l.Name) {
				isLinked = true
				for _, child := range m.namelessAt(c, l.Index) {
					add(&children, child)
				}
			}
		}
	}

	switch {
	case len(linking) > 0:
		// the children of the one that is meant carry its links
		return slices.DeleteFunc(linking, func(c *Chat) bool {
			return c.Via != ByContent && slices.Contains(linking, c.Parent)
		})
	case isLinked: // it parts from another chat at a known place, and so do these
		return children
	default:
		return trunks
	}
}

// linkers returns the chats that link a chat at their last shared message.
func (m missing) linkers(c *Chat) []*Chat {
	var list []*Chat
	for _, p := range m.g.Chats {
		if p == c || !sameOwner(p, c) {
			continue
		}
		isAtPoint := func(l Link) bool {
			if m.g.Find(l.Name) != c {
				return false
			}
			point := PointOf(c.Messages, p.Messages)
			return point.At >= 0 && point.AtParent == l.Index
		}
		if slices.ContainsFunc(p.Links, isAtPoint) {
			list = append(list, p)
		}
	}
	return list
}

// kinWithout finds the trunks by content; chats that name the missing one are none
// where others are, nor are chats where their messages are their parents'.
func (m missing) kinWithout() map[*Chat]parting {
	return partings(m.g.Chats, func(c *Chat, depth int) bool { return m.is(c.MainChat) || c.inherited(depth) })
}

// trunkFor returns the nearest trunk that can be a chat's missing parent.
func (m missing) trunkFor(c *Chat, kin map[*Chat]parting) *Chat {
	for p, ok := kin[c]; ok; p, ok = kin[p.trunk] {
		trunk := p.trunk
		for trunk.inherited(p.depth) {
			trunk = trunk.Parent
		}
		if trunk != c && !m.is(trunk.MainChat) && !m.above(c, trunk) {
			return trunk
		}
	}
	return nil
}

// above reports whether a chat is among the declared ancestors of another.
func (m missing) above(c, other *Chat) bool {
	for p := other; p != nil && p.Via != ByContent; p = p.Parent {
		if p.Parent == c {
			return true
		}
	}
	return false
}

// namelessAt returns the chats that name a chat as their parent, part from it at a
// message, and have no link there by their own name.
func (m missing) namelessAt(p *Chat, index int) []*Chat {
	var list []*Chat
	for _, c := range m.g.Chats {
		partsThere := c.Named == p && c.At >= 0 && c.AtParent == index
		if partsThere && c.AtLink < 0 && !m.links(c) {
			list = append(list, c)
		}
	}
	return list
}

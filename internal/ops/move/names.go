package move

import (
	"slices"

	"stchat/internal/family"
	"stchat/internal/group"
)

// naming is what becomes of the names of chats: of those that are named otherwise or go,
// and of all places that name them.
type naming struct {
	folder *folder
	r      *Result

	to        map[*family.Chat]string // the new name; "" where the chat goes
	path      map[*family.Chat]string // where its file goes; "" where it goes for good
	elsewhere *owner                  // where the chats go that are named; nil: they stay where they are
	open      map[string]string       // by the path of a card or group file: what it has open instead of one that goes
	keep      bool                    // links to what goes stay as they are
	parent    map[*family.Chat]string // of children of what goes, their new parent; "" none

	book *bookNames // the lorebook that is renamed along; nil: none is

	files map[string]*fileEdit
	order []string
}

// fileEdit is what becomes of one file that names chats.
type fileEdit struct {
	chat  *family.Chat              // nil: a group file or a card
	names map[int]map[string]string // by message, as written: the new name; "" where the link goes
	heirs map[int][]string          // by message: branches to note there
	own   string                    // the name that its Auto-Recap data gets
	book  bool                      // its metadata names the lorebook that is renamed along
	count int
}

func newNaming(f *folder, r *Result) *naming {
	return &naming{
		folder: f, r: r, to: map[*family.Chat]string{}, path: map[*family.Chat]string{}, open: map[string]string{}, parent: map[*family.Chat]string{}, files: map[string]*fileEdit{},
	}
}

// collect finds all places that name the chats.
func (n *naming) collect() {
	references, at := n.references()
	for _, c := range n.folder.graph.Chats {
		to, ok := n.to[c]
		if !ok {
			continue
		}
		for _, ref := range references[c] {
			from := at[ref.Path]
			if from != nil && n.gone(from) {
				continue // its own names go with it
			}
			n.take(ref, c, from, to)
		}
	}
}

// references returns the places that name the chats, and the chats by their paths.
func (n *naming) references() (to map[*family.Chat][]family.Reference, at map[string]*family.Chat) {
	at = map[string]*family.Chat{}
	for _, c := range n.folder.graph.Chats {
		at[c.Path] = c
	}
	return n.folder.graph.ReferencesTo(func(c *family.Chat) bool { return !n.stays(c) }), at
}

// stays reports whether a chat keeps its name and its place.
func (n *naming) stays(c *family.Chat) bool {
	_, named := n.to[c]
	return !named
}

func (n *naming) gone(c *family.Chat) bool {
	to, ok := n.to[c]
	return ok && to == ""
}

// take notes one place.
func (n *naming) take(ref family.Reference, named, at *family.Chat, to string) {
	if to == "" && n.keep {
		n.r.Doc.Dangling = append(n.r.Doc.Dangling, dangler(ref))
		return
	}
	if n.elsewhere != nil && ref.Kind != family.Recap {
		if n.stays(at) {
			to = ""
			n.tellCut(ref)
		}
	}
	if to == ref.Name || to == "" && n.keepsOpen(ref.Path) {
		return
	}
	e := n.file(ref.Path, at)
	e.count++
	switch {
	case ref.Kind == family.Recap:
		e.own = to
	case to == "" && ref.Kind == family.Parent:
		if n.elsewhere == nil {
			n.parent[at] = named.MainChat
		}
		e.name(family.Header, ref.Name, "")
	default:
		e.name(ref.Index, ref.Name, to)
	}
}

// keepsOpen reports whether a file is a card in which nothing can be open instead of a chat
// that goes: it keeps the name, and SillyTavern starts that chat afresh.
func (n *naming) keepsOpen(path string) bool {
	c := n.folder.graph.Card
	return c != nil && c.Path == path && n.open[path] == ""
}

// tellCut tells of a name in a chat that stays that it goes.
func (n *naming) tellCut(ref family.Reference) {
	switch ref.Kind {
	case family.Parent:
		n.r.Warn("%s: main_chat %q is removed: that chat moves away", ref.Path, ref.Name)
	case family.Checkpoint, family.Branch:
		n.r.Warn("%s: the link to %q on message %d is removed: that chat moves away", ref.Path, ref.Name, ref.Index)
	}
}

func dangler(ref family.Reference) Dangler {
	d := Dangler{Path: ref.Path, Key: keyOf(ref.Kind), Name: ref.Name}
	if ref.Index >= 0 {
		d.Index = &ref.Index
	}
	return d
}

func keyOf(kind family.Kind) string {
	switch kind {
	case family.Parent:
		return "main_chat"
	case family.Checkpoint:
		return "bookmark_link"
	case family.Branch:
		return "branches"
	case family.Recap:
		return "chat_id of Auto-Recap"
	case family.Listed:
		return "chats"
	case family.OldMetadata:
		return "past_metadata"
	}
	return "chat"
}

func (n *naming) file(path string, at *family.Chat) *fileEdit {
	e := n.files[path]
	if e == nil {
		e = &fileEdit{chat: at, names: map[int]map[string]string{}, heirs: map[int][]string{}}
		n.files[path] = e
		n.order = append(n.order, path)
	}
	return e
}

func (e *fileEdit) name(index int, written, to string) {
	if e.names[index] == nil {
		e.names[index] = map[string]string{}
	}
	e.names[index][written] = to
}

// loses reports whether a message of the file loses a link.
func (e *fileEdit) loses() bool {
	for index, names := range e.names {
		for _, to := range names {
			if index >= 0 && to == "" {
				return true
			}
		}
	}
	return false
}

// renamed lists the chats that get another name, in their order.
func (n *naming) renamed() (list []*family.Chat) {
	for _, c := range n.folder.graph.Chats {
		if n.to[c] != "" {
			list = append(list, c)
		}
	}
	return list
}

// heir returns the nearest ancestor of a chat that stays, else the chat that was last
// changed of those that stay, in a group of those it lists; "" where none does.
func (n *naming) heir(c *family.Chat, in *group.File) string {
	stays := func(c *family.Chat) bool {
		return n.stays(c) && (in == nil || slices.Contains(c.Groups, in.Path))
	}
	for p := c.Parent; p != nil; p = p.Parent {
		if stays(p) {
			return p.Name
		}
	}
	var last *family.Chat
	for _, other := range n.folder.graph.Chats {
		if stays(other) && other.Err == nil && (last == nil || other.Stamp.Info().ModTime().After(last.Stamp.Info().ModTime())) {
			last = other
		}
	}
	if last == nil {
		return ""
	}
	return last.Name
}

// lastListed returns the last name in a group's list that is none of those that go, ""
// where there is none.
func (n *naming) lastListed(f *group.File) string {
	for _, name := range slices.Backward(f.Chats) {
		if c := n.folder.graph.Find(name); name != "" && (c == nil || n.stays(c)) {
			return name
		}
	}
	return ""
}

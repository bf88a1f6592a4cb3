package move

import (
	"slices"

	"stchat/internal/family"
	"stchat/internal/group"
)

// naming collects the changes of names: of the chats that are renamed, moved or deleted, and
// in all places that name them.
type naming struct {
	folder *folder
	r      *Result

	to        map[*family.Chat]string // the new name; "" if the chat is deleted
	path      map[*family.Chat]string // the new path; "" if the chat is deleted
	elsewhere *owner                  // the owner that the chats move to; nil: they stay with theirs
	noFolder  bool                    // elsewhere has no folder of chats yet
	open      map[string]string       // by the path of a card or group file: what it opens with instead of a chat that goes
	keep      bool                    // leave links to what goes as they are
	parent    map[*family.Chat]string // the new parent of children of what goes; "" for none

	book *bookNames // the lorebook that is renamed with the chat; nil: none

	files map[string]*fileEdit
	order []string
}

// fileEdit collects the changes in one file that names chats.
type fileEdit struct {
	chat  *family.Chat              // nil: a group file or a card
	names map[int]map[string]string // by message and name as written: the new name; "" removes the link
	heirs map[int][]string          // by message: branches to list there
	own   string                    // the new name in its Auto-Recap data
	book  bool                      // its metadata names the lorebook that is renamed with the chat
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
				continue // its names go with it
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

// take notes the change in one place that names a chat.
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

// keepsOpen reports whether a file is the card and has no other chat to open with: it keeps
// the name of the one that goes, and SillyTavern starts that chat afresh.
func (n *naming) keepsOpen(path string) bool {
	c := n.folder.graph.Card
	return c != nil && c.Path == path && n.open[path] == ""
}

// tellCut warns that a name in a chat that stays is removed.
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

// renamed lists the chats that have a new name, in the order of the folder.
func (n *naming) renamed() (list []*family.Chat) {
	for _, c := range n.folder.graph.Chats {
		if n.to[c] != "" {
			list = append(list, c)
		}
	}
	return list
}

// heir returns the name of the nearest ancestor of a chat that stays, else of the chat last
// changed of those that stay; for a group only among those it lists. It is "" if none stays.
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

// lastListed returns the last name in a group's list that is not of a chat that goes, "" if
// there is none.
func (n *naming) lastListed(f *group.File) string {
	for _, name := range slices.Backward(f.Chats) {
		if c := n.folder.graph.Find(name); name != "" && (c == nil || n.stays(c)) {
			return name
		}
	}
	return ""
}

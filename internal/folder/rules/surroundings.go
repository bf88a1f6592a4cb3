package rules

import (
	"path/filepath"

	"stchat/internal/change/changeset"
	"stchat/internal/folder/library"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/group"
)

// Lookup looks up the files around chats, each once. It is safe for concurrent
// use.
type Lookup struct {
	library.Library
	begun library.Once[map[listed]bool]   // by user folder
	moved library.Once[map[string]string] // likewise, where files went
	likes library.Once[string]            // by the path of a lorebook that is missing: [Lookup.bookLike]

	shelved library.Once[map[string]bool] // by worlds folder, the lorebooks that it lists
}

// groups returns the groups that a group chat may be of; an empty set for any other chat, and
// with an error.
func (s *Lookup) groups(c *Chat) (*group.Set, error) {
	if c.Kind != userdir.Group || !c.HasDir {
		return &group.Set{}, nil
	}
	set, err := s.Groups(c.Dir)
	if err != nil {
		set = &group.Set{}
	}
	return set, err
}

// listing returns the groups that list a group chat, none if they cannot be read.
func (s *Lookup) listing(c *Chat) []*group.File {
	set, _ := s.groups(c)
	return set.Listing(c.Name)
}

// OldGroups returns the groups that list the chat and hold metadata of it in the layout
// up to SillyTavern 1.14, and the metadata that the first of them holds.
func (s *Lookup) OldGroups(c *Chat) (files []*group.File, metadata []byte) {
	for _, g := range s.listing(c) {
		if raw, ok := g.OldMetadata(c.Name); ok {
			if files == nil {
				metadata = raw
			}
			files = append(files, g)
		}
	}
	return files, metadata
}

// OldGroup is [Lookup.OldGroups] for the group that should list the chat.
func (s *Lookup) OldGroup(c *Chat) (files []*group.File, metadata []byte) {
	if c.Group == nil {
		return nil, nil
	}
	metadata, ok := c.Group.OldMetadata(c.Name)
	if !ok {
		return nil, nil
	}
	return []*group.File{c.Group}, metadata
}

// isBegun reports whether the undo records show that a chat without a file was only put
// into its group's list: SillyTavern makes the file, with the greetings, when the chat is
// first opened.
func (s *Lookup) isBegun(dir userdir.Dir, g *group.File, chat string) bool {
	begun := s.begun.Get(dir.Root, func() map[listed]bool {
		records, _, _ := changeset.Records(dir.Root) // without them there is one more finding
		begun := map[listed]bool{}
		for _, r := range records {
			for _, step := range r.Steps() {
				if name, ok := group.BegunIn(step.About); ok {
					begun[listed{filepath.Join(dir.Root, filepath.FromSlash(step.Path)), name}] = true
				}
			}
		}
		return begun
	})
	return begun[listed{filepath.Clean(g.Path), chat}]
}

// movedTo returns where the undo records say that the file at a path in the user folder went last, "" if
// they say nothing of it.
func (s *Lookup) movedTo(dir userdir.Dir, path string) string {
	moved := s.moved.Get(dir.Root, func() map[string]string {
		records, _, _ := changeset.Records(dir.Root) // without them less is said
		moved := map[string]string{}
		for _, r := range records { // the newest first
			if r.Undone || r.Undoes != "" {
				continue
			}
			for _, step := range r.Steps() {
				from := filepath.Join(dir.Root, filepath.FromSlash(step.Path))
				if step.To != "" && moved[from] == "" {
					moved[from] = filepath.Join(dir.Root, filepath.FromSlash(step.To))
				}
			}
		}
		return moved
	})
	return moved[filepath.Clean(path)]
}

// listed is a name in a group's list.
type listed struct{ file, chat string }

// Scope selects the files beside the chats that are judged.
type Scope struct {
	// Groups are the user folders whose group files are all judged; elsewhere only
	// those that list a checked chat are.
	Groups []userdir.Dir
	// Worlds are the user folders whose lorebooks are all judged, and whose chats
	// folders are searched for strays; elsewhere only the lorebooks that a checked
	// chat names are judged.
	Worlds []userdir.Dir
}

package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/group"
	"stchat/internal/luker"
	"stchat/internal/memo"
	"stchat/internal/names"
	"stchat/internal/userdir"
)

// surroundings looks up what lies around chats, each thing once. It is safe for
// use by several goroutines at once.
type surroundings struct {
	folders memo.Memo[*folder]
	sets    memo.Memo[*groups]
	books   memo.Memo[*book]
}

func newSurroundings() *surroundings { return &surroundings{} }

// folder is a folder with chats.
type folder struct {
	path     string
	kind     userdir.Kind
	dir      userdir.Dir
	hasDir   bool
	names    []string // of the chats, sorted
	chats    map[string]bool
	sidecars []string // file names of Luker's sidecars, sorted
}

// folder reads a folder once. One that cannot be read is empty: whoever reads
// the chats in it says so.
func (s *surroundings) folder(path string) *folder {
	return s.folders.Get(path, func() *folder {
		f := &folder{path: path, chats: map[string]bool{}}
		any := filepath.Join(path, "x"+names.Extension)
		f.kind, _ = userdir.KindOf(any)
		f.dir, f.hasDir = userdir.Find(any)
		f.names, _ = userdir.ListChats(path)
		for _, name := range f.names {
			f.chats[name] = true
		}
		entries, _ := os.ReadDir(path)
		for _, e := range entries {
			if luker.IsSidecar(e.Name()) {
				f.sidecars = append(f.sidecars, e.Name())
			}
		}
		slices.Sort(f.sidecars)
		return f
	})
}

// has reports whether a chat of that name is in the folder. The disk is asked
// about one that is not listed: it may ignore letter case.
func (f *folder) has(name string) bool {
	if f.chats[name] {
		return true
	}
	path, err := userdir.Within(f.path, name, names.Extension)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// LinkTarget gives the name of the chat in the folder to which a link by name
// leads: that of the file which SillyTavern's server makes of it. ok is false
// where there is none.
func (s *surroundings) LinkTarget(folder, name string) (target string, ok bool) {
	f := s.folder(folder)
	if f.chats[name] {
		return name, true
	}
	safe, ok := safeName(name)
	return safe, ok && f.has(safe)
}

// Sidecars gives the paths of the sidecars that Luker keeps beside the chat.
func (s *surroundings) Sidecars(c *Chat) []luker.Sidecar {
	return luker.Among(s.folder(c.Folder).sidecarsOf(c.Name), c.Folder, c.Name)
}

// sidecarsOf gives the file names of a chat's sidecars.
func (f *folder) sidecarsOf(chat string) []string {
	prefix := strings.TrimSuffix(luker.SidecarName(chat, ""), ".json")
	from, _ := slices.BinarySearch(f.sidecars, prefix)
	to := from
	for to < len(f.sidecars) && strings.HasPrefix(f.sidecars[to], prefix) {
		to++
	}
	return f.sidecars[from:to]
}

// groups are the group files of a user folder.
type groups struct {
	set *group.Set
	err error
}

func (s *surroundings) groups(dir userdir.Dir) *groups {
	return s.sets.Get(dir.Root, func() *groups {
		set, err := group.LoadAll(dir.Groups())
		return &groups{set, err}
	})
}

// listing gives the groups that list a group chat.
func (s *surroundings) listing(c *Chat) []*group.File {
	if c.Kind != userdir.Group || !c.HasDir {
		return nil
	}
	g := s.groups(c.Dir)
	if g.err != nil {
		return nil
	}
	return g.set.Listing(c.Name)
}

// oldMetadata gives the first group file that holds metadata of the chat in the
// layout up to 1.14, nil where none does.
func (s *surroundings) oldMetadata(c *Chat) *group.File {
	for _, g := range s.listing(c) {
		if _, ok := g.OldMetadata(c.Name); ok {
			return g
		}
	}
	return nil
}

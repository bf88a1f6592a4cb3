package cut

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
)

// namesGiven holds the names that are in folders and groups, including those that this call
// adds.
type namesGiven struct {
	folders map[string]*folder
	inGroup map[*group.File]map[string]bool // folded names of its chats
	ids     []sourceID
}

func newNamesGiven() *namesGiven {
	return &namesGiven{folders: map[string]*folder{}, inGroup: map[*group.File]map[string]bool{}}
}

// folder is what is known of the names in a folder.
type folder struct {
	taken map[string]bool // folded names of its chats, including those to be made
	given map[string]bool // those to be made
	chats int
}

// sourceID tells whether another path is the same source.
type sourceID struct {
	folded string // its real path
	info   fs.FileInfo
}

// give notes that a new chat gets a name.
func (f *folder) give(name string) {
	folded := names.Fold(name)
	f.taken[folded] = true
	f.given[folded] = true
	f.chats++
}

// folder returns the names in a folder, which are read once per call by whatever path it is reached.
func (n *namesGiven) folder(dir string) (*folder, error) {
	if f := n.folders[dir]; f != nil {
		return f, nil
	}
	real := userdir.RealPath(dir)
	if n.folders[real] == nil {
		f, err := readFolder(dir)
		if err != nil {
			return nil, err
		}
		n.folders[real] = f
	}

	n.folders[dir] = n.folders[real]
	return n.folders[dir], nil
}

// readFolder reads the names in a folder.
func readFolder(dir string) (*folder, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{taken: map[string]bool{}, given: map[string]bool{}}
	for _, e := range entries {
		// on a disk that ignores letter case, X.JSONL takes the name of X.jsonl
		stem := len(e.Name()) - len(names.Extension)
		if stem >= 0 && strings.EqualFold(e.Name()[stem:], names.Extension) {
			f.taken[names.Fold(e.Name()[:stem])] = true
			f.chats++
		}
	}
	return f, nil
}

// listed returns the folded names of a group's chats.
func (n *namesGiven) listed(g *group.File) map[string]bool {
	all := n.inGroup[g]
	if all == nil {
		all = make(map[string]bool, len(g.Chats))
		for _, name := range g.Chats {
			all[names.Fold(name)] = true
		}
		n.inGroup[g] = all
	}
	return all
}

// isSource reports which of the sources a path leads to, by whatever path, link or letter case;
// "" for none.
func (n *namesGiven) isSource(sources []string, path string) string {
	if n.ids == nil {
		n.ids = make([]sourceID, len(sources))
		for i, source := range sources {
			if source != chat.Stdin {
				n.ids[i] = idOf(source)
			}
		}
	}

	id := idOf(path)
	for i, source := range n.ids {
		if source.same(id) {
			return sources[i]
		}
	}
	return ""
}

func idOf(path string) sourceID {
	info, _ := os.Stat(path) // nil for what does not exist
	return sourceID{names.Fold(userdir.RealPath(path)), info}
}

func (s sourceID) same(other sourceID) bool {
	if s.folded == other.folded {
		return true
	}
	return s.info != nil && other.info != nil && os.SameFile(s.info, other.info)
}

// refuseSource refuses a path for a new chat that leads to one of the sources.
func refuseSource(c *call, path string) error {
	source := c.names.isSource(c.opt.Sources, path)
	if source == "" {
		return nil
	}
	return fmt.Errorf("%s: the output is the source %s itself; choose another name", path, source)
}

// isThere reports whether a chat of exactly this name exists or is listed by a group. One that
// differs in letter case is another chat, and a disk that ignores case could not hold both.
func isThere(name, path string, groups []*group.File) bool {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return true // other errors count too: taking the name will hit and report them
	}
	return slices.ContainsFunc(groups, func(g *group.File) bool { return slices.Contains(g.Chats, name) })
}

// sameFolder reports whether two paths lead to one folder. A missing folder is not an error
// here: creating a file in it will report that.
func sameFolder(a, b string) (bool, error) {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	if err := errors.Join(aerr, berr); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	return os.SameFile(ai, bi), nil
}

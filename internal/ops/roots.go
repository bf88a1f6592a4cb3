package ops

import (
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/userdir"
)

// Root is a folder whose chats are looked at together, though not all of them may be meant:
// a user folder, or a folder of loose chats.
type Root struct {
	Path  string
	User  bool
	Whole bool // all of it is meant, within the shard

	below []string // otherwise the real paths of the chats and, with a trailing separator, the folders that are meant
	shard Shard
}

// Roots returns the folders that hold the chats found: the user folders that are meant whole,
// then those of the other chats, in their order.
func Roots(walked Walked, shard Shard) (roots []*Root) {
	byPath := map[string]*Root{}
	at := func(path string, user bool) *Root {
		real := userdir.RealPath(path)
		r := byPath[real]
		if r == nil {
			r = &Root{Path: path, User: user, shard: shard}
			byPath[real] = r
			roots = append(roots, r)
		}
		return r
	}
	for _, dir := range walked.Users {
		at(dir.Root, true).Whole = true
	}
	type place struct{ folder, from string }
	known := map[place]bool{} // of chats found in folders
	for _, t := range walked.Chats {
		p := place{filepath.Dir(t.Path), t.From}
		if t.From != "" && known[p] {
			continue
		}
		dir, ok := userdir.Find(t.Path)
		if !ok {
			dir.Root = p.folder
		}
		r := at(dir.Root, ok)
		switch {
		case r.Whole:
		case t.From != "":
			r.below = append(r.below, userdir.RealPath(t.From)+string(filepath.Separator))
		default:
			r.below = append(r.below, userdir.RealPath(t.Path))
		}
		known[p] = true
	}
	for _, r := range roots {
		slices.Sort(r.below)
		r.below = slices.Compact(r.below)
	}
	return roots
}

// Means reports whether the chat at path, which need not exist, is meant.
func (r *Root) Means(path string) bool {
	if r.Whole {
		return r.shard.Has(path)
	}
	real := userdir.RealPath(path)
	return slices.ContainsFunc(r.below, func(below string) bool {
		return real == below || strings.HasSuffix(below, string(filepath.Separator)) && strings.HasPrefix(real, below) && r.shard.Has(path)
	})
}

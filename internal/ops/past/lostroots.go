package past

import (
	"path/filepath"
	"strings"

	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// lostRoot is a folder whose chats are compared together: a user folder, whole, since a
// text counts as lost only where none of its chats has it; or a folder of loose chats.
type lostRoot struct {
	path  string
	user  bool
	asked []ops.Target // what was named of it; its folders, where From is set
	whole bool         // all of it was named
	shard ops.Shard
}

// lostRoots returns the roots in which the chats of a list lie, in their order.
func lostRoots(list ops.List) ([]*lostRoot, []*ops.SourceError) {
	ask := list
	ask.AllowEmpty = true // a user whose chats are all gone
	walked := ops.Walk(ask)
	if len(walked.Chats)+len(walked.Users)+len(walked.Errs) == 0 && !list.AllowEmpty {
		return nil, ops.Walk(list).Errs
	}
	var roots []*lostRoot
	byPath := map[string]*lostRoot{}
	at := func(path string, user bool) *lostRoot {
		real := userdir.RealPath(path)
		r := byPath[real]
		if r == nil {
			r = &lostRoot{path: path, user: user, shard: list.Shard}
			byPath[real] = r
			roots = append(roots, r)
		}
		return r
	}
	for _, dir := range walked.Users {
		at(dir.Root, true).whole = true
	}
	for _, t := range walked.Chats {
		var r *lostRoot
		if dir, ok := userdir.Find(t.Path); ok {
			r = at(dir.Root, true)
		} else {
			r = at(filepath.Dir(t.Path), false)
		}
		r.asked = append(r.asked, t)
	}
	return roots, walked.Errs
}

// means reports whether what is found about the chat at path was asked for.
func (r *lostRoot) means(path string) bool {
	if r.whole {
		return r.shard.Has(path)
	}
	real := userdir.RealPath(path)
	for _, t := range r.asked {
		if t.From == "" && userdir.RealPath(t.Path) == real {
			return true
		}
		if t.From != "" && strings.HasPrefix(real, userdir.RealPath(t.From)+string(filepath.Separator)) {
			return r.shard.Has(path)
		}
	}
	return false
}

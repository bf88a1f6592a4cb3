package past

import (
	"slices"

	"stchat/internal/backups"
	"stchat/internal/lost"
	"stchat/internal/userdir"
)

// judge finds which chat a version is of, and counts what is lost of it. It may run for
// several versions at once.
func (f *finder) judge(v *lostVersion) {
	m := match{target: -1}
	if v.said.Missing > 0 {
		m = f.assign(v)
	}
	v.match = m
	if m.target >= 0 && !f.chats[m.target].deleted && (v.said.Missing >= f.opt.Min || m.weak) {
		v.lost, v.reworded = lost.NewLive(f.chats[m.target].said.Texts).Compare(v.said.Texts)
	}
	switch {
	case v.said.Missing == 0:
		v.skip = true
	case m.target < 0 || m.weak:
		v.skip = v.said.Missing < f.opt.Gone && v.lost < f.opt.Min
	default:
		v.skip = v.lost < f.opt.Min
	}
	if v.skip {
		v.said.Texts = nil
	}
}

// match is which chat a version is of.
type match struct {
	target    int  // of the finder's chats; below 0: it is gone
	weak      bool // it is not much of a proof: the chat has little else than what begins many chats
	ambiguous bool // another chat is as likely
}

// assign finds the chat that a version is of.
func (f *finder) assign(v *lostVersion) match {
	texts := lost.NewSet(v.said.Texts)
	if i, ok := f.byPath[userdir.RealPath(v.chat)]; ok && v.chat != "" {
		if c := f.chats[i]; c.said.Slug == v.said.Slug || texts.Shared(c.said.Texts) > 0 {
			return match{target: i}
		}
	}
	candidates, known := f.candidates(v)
	m := f.choose(v, texts, candidates)
	if m.weak && v.chat != "" {
		m = match{target: -1} // that it is another chat takes more
	}
	if m.target >= 0 && !m.weak || !known {
		return m
	}
	// moved to another owner: its slug tells
	var same []int
	for i, slug := range f.slugs {
		if slug != "" && slug == v.said.Slug {
			same = append(same, i)
		}
	}
	if moved := f.choose(v, texts, same); moved.target >= 0 {
		return moved
	}
	return m
}

// candidates returns the chats that a version may be of, by its key or its place; known
// says that these tell an owner, else it may be of any.
func (f *finder) candidates(v *lostVersion) (list []int, known bool) {
	owners := f.owners[v.key]
	if v.chat != "" {
		owners = []backups.Owner{ownerOf(v.chat)}
	} else if v.key == "" {
		owners = nil
	}
	for _, o := range owners {
		o.Group = ""
		list = append(list, f.byOwner[o]...)
	}
	if len(list) > 0 {
		slices.Sort(list) // live ones first
		return slices.Compact(list), true
	}
	for i := range f.chats {
		list = append(list, i)
	}
	return list, false
}

// choose picks one of the candidates. Where no slug tells, it must share half of the
// version's messages; or half of its own, which is weak: a chat that was written over by
// the greeting has nothing else, and all chats of a character begin with that.
func (f *finder) choose(v *lostVersion, texts *lost.Set, candidates []int) match {
	slugs := make([]string, len(candidates))
	scores := make([]int, len(candidates))
	for i, at := range candidates {
		slugs[i] = f.slugs[at]
	}
	best := backups.Belongs(v.said.Slug, slugs, func(i int) int {
		c := f.chats[candidates[i]]
		if v.path != "" && v.said.Slug != "" && c.said.Parent != "" && c.said.Parent != v.said.Parent {
			return 0 // a branch names its parent from its first save on, so this was never the branch
		}
		n := texts.Shared(c.said.Texts)
		if 2*n < len(v.said.Texts) && (2*n < c.said.Messages || c.deleted) {
			return 0
		}
		if scores[i] = 2 * n; n > 0 && c.changed.After(v.at) {
			scores[i]++ // of those that share as much, one that was written since is more likely
		}
		return scores[i]
	})
	if best < 0 {
		return match{target: -1}
	}
	m := match{target: candidates[best], weak: scores[best] > 0 && scores[best] < len(v.said.Texts)}
	for i, n := range scores {
		m.ambiguous = m.ambiguous || i != best && n > 0 && n == scores[best]
	}
	return m
}

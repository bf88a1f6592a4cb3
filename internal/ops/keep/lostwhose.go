package keep

import (
	"cmp"
	"slices"

	"stchat/internal/history/lost"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
)

// Whose the versions are, and which of them has the most of what a chat lost.

// loss is a chat that lost something.
type loss struct {
	in    *finder
	chat  *lostChat
	best  *lostVersion
	all   []*lostVersion
	texts lost.Set // of the first version found
	ambig bool
	weak  bool // it is not certain that it is this chat

	path     string // where the chat is, or comes back; "" if nobody knows
	group    string // the file of the group by whose name it was asked for; "": none
	isAsked  bool   // it was asked for by a name that nobody knows, or by a part of its own
	isWanted bool   // it may be what was asked for, and so may others
	guess    bool   // nothing but that name says that it had it
}

// begin begins the loss of a chat with the first version found.
func (f *finder) begin(chat *lostChat, v *lostVersion) *loss {
	g := &loss{in: f, chat: chat, best: v, ambig: v.ambiguous, texts: lost.NewSet(v.said.Texts)}
	f.found = append(f.found, g)
	return g
}

// isGone reports whether the chat has no file any more.
func (g *loss) isGone() bool { return g.chat.fate >= isGone }

// add adds a version. The best is the one that has the most of what is lost.
func (g *loss) add(v *lostVersion) {
	g.all = append(g.all, v)
	n, most := v.lost, g.best.lost
	if g.isGone() {
		n, most = v.said.Missing, g.best.said.Missing
	}
	if n > most || n == most && v.stored != nil && g.best.stored == nil { // a number says more than a file, and sidecars come with it
		g.best = v
	}
}

// last returns what a chat that is gone was last.
func (g *loss) last() *lostVersion {
	newest := g.chat.last
	if newest != nil && len(g.all) > 0 && newest.said.Greets(g.chat.of.Kind == userdir.Group) {
		newest = nil // backups have more
	}
	for _, v := range g.all {
		if newest == nil || v.at.After(newest.at) {
			newest = v
		}
	}

	if newest.stored != nil {
		return newest
	}
	for _, v := range g.all {
		if v.stored != nil && slices.Equal(v.said.Texts, newest.said.Texts) {
			return v // likewise
		}
	}
	return newest
}

// groupByChat groups the versions by chat. Versions of a chat that is gone, and not known, belong
// together by their name, by their slug, or by having nearly all messages in common.
func (f *finder) groupByChat() {
	known := map[int]*loss{}
	slices.SortStableFunc(f.versions, func(a, b *lostVersion) int { return b.at.Compare(a.at) }) // the newest first
	for _, v := range f.versions {
		switch {
		case v.said == nil || v.skip || v.target >= 0 && f.chats[v.target].fate == wasDeleted:
			continue
		case v.target < 0 || v.weak:
			f.gone(v).add(v)
			continue
		case known[v.target] == nil:
			known[v.target] = f.begin(f.chats[v.target], v)
		}
		known[v.target].add(v)
	}

	f.assignWeak(known)
	for i, c := range f.chats {
		if c.fate == isGone && known[i] == nil {
			f.begin(c, c.last)
		}
	}

	for _, g := range f.found {
		if g.isGone() {
			g.best = g.last()
		}
	}
}

// assignWeak decides the cases with weak evidence. Several stories may match one chat that has
// nothing but a greeting, or nothing at all: it lost the longest one, unless there is better evidence
// for another, and the rest are gone. A version with the same story as one that surely belongs
// to the chat belongs to it, too.
func (f *finder) assignWeak(known map[int]*loss) {
	slices.SortStableFunc(f.found, func(a, b *loss) int { return cmp.Compare(b.best.said.Missing, a.best.said.Missing) })
	f.found = slices.DeleteFunc(f.found, func(g *loss) bool {
		v := g.best
		if g.chat.fate != isUnknown || v.target < 0 {
			return false
		}
		other := known[v.target]
		if other != nil && other.tells(v, g.all[0].said.Texts) {
			for _, v := range g.all {
				other.add(v)
			}
			return true
		}

		if other != nil {
			g.ambig, other.ambig = true, other.ambig || other.weak
			v.target = f.stillFree(v, known)
		}
		if v.target < 0 {
			return false
		}
		c := f.chats[v.target]
		if v.lost >= f.opt.least() || c.said.Messages == 0 || c.fate == isGone {
			g.chat = c
			g.weak = true
			known[v.target] = g
		}
		return false
	})
}

// stillFree returns a chat of which nothing is left, that may have been a version and has lost nothing
// else; -1 for none.
func (f *finder) stillFree(v *lostVersion, known map[int]*loss) int {
	candidates, _ := f.candidates(v)
	candidates = slices.DeleteFunc(candidates, func(i int) bool { return known[i] != nil })
	return f.firstEmptied(v, candidates).target
}

// gone returns the loss for a version whose chat is gone, a new one if there is none.
func (f *finder) gone(v *lostVersion) *loss {
	chat, ambiguous := f.unknownChat(v)
	for _, g := range f.found {
		if g.chat.fate != isUnknown || !mayBeOf(g.chat.of, chat.of) {
			continue
		}
		n := g.texts.Common(v.said.Texts)
		if chat.path != "" && chat.path == g.chat.path && 2*n >= min(len(v.said.Texts), len(g.all[0].said.Texts)) || g.tells(v, v.said.Texts) {
			return g
		}
	}

	g := f.begin(chat, v)
	g.ambig = g.ambig || ambiguous
	return g
}

// mayBeOf reports whether two versions may be of one owner: of one of them nobody may know whose it is.
func mayBeOf(a, b backups.Owner) bool {
	return a.Name == "" || b.Name == "" || a.Kind == b.Kind && a.Name == b.Name
}

// tells reports whether a version tells the same story: it has the same slug, or the same parent
// and nearly all messages in common, unless both were branched from that at different places.
func (g *loss) tells(v *lostVersion, said []lost.Text) bool {
	if v.said.Slug != "" && v.said.Slug == g.best.said.Slug {
		return true
	}
	first := g.all[0].said.Texts
	if v.said.Parent != g.best.said.Parent || 8*g.texts.Common(said) < 7*min(len(said), len(first)) {
		return false
	}
	a, b := g.in.fromRoots(first), g.in.fromRoots(said)
	return v.said.Parent == "" || a == b || a > b && g.texts.Has(said[len(said)-1]) || a < b && lost.NewSet(said).Has(first[len(first)-1])
}

// fromRoots counts what chats that were no branches say of a version.
func (f *finder) fromRoots(version []lost.Text) int {
	if f.roots == nil {
		var texts [][]lost.Text
		for _, c := range f.chats {
			if c.said.Parent == "" {
				texts = append(texts, c.said.Texts)
			}
		}
		for _, v := range f.versions {
			if v.said != nil && v.said.Parent == "" {
				texts = append(texts, v.said.Texts)
			}
		}
		f.roots = lost.NewSet(texts...)
	}
	return f.roots.Common(version)
}

// further counts what other versions have that neither a live chat nor the best one has, and
// from how many of them it would come back.
func (g *loss) further(least int) (sum LostFurther) {
	var live *lost.Live
	if g.isGone() {
		live = lost.NewLive(g.best.said.Said())
	} else {
		live = g.chat.live()
	}

	back := [][]lost.Text{g.best.said.Texts}
	for {
		had := lost.NewSet(back...)
		var most *lostVersion
		n := least - 1
		for _, v := range g.all {
			if v.said.Missing < least {
				continue
			}
			if lost, _ := live.Compare(v.said.Texts, had, v.copied); lost > n {
				most, n = v, lost
			}
		}

		if most == nil {
			return sum
		}
		sum.Messages, sum.Versions = sum.Messages+n, sum.Versions+1
		back = append(back, most.said.Texts)
	}
}

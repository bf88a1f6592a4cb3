package keep

import (
	"cmp"
	"path"
	"slices"

	"stchat/internal/history"
	"stchat/internal/history/lost"
)

// facts are what identity is judged by: of a file that a snapshot found, or of one that a history
// knows. A file's slug is empty if it has none, or one that Luker changes at every save.
type facts struct {
	history.Chat // of a file without an ID until it is judged, and afterwards if it is a new one
	state        presence
	said         func() *lost.Speech // of one that a history knows: in its last version
	order        int                 // likewise: among them
	taken        bool                // likewise: a file is it
}

// presence says what became of the file where a chat was last.
type presence int

// What may have become of it.
const (
	held    presence = iota // it is there and did not change, or was not looked at
	changed                 // a file that was found has its path
	missing                 // it is not there any more
	before                  // likewise, and it was not there at the last snapshot either
)

// identity decides which chats files are. It depends on nothing but the facts.
type identity struct {
	files []*facts
	chats []*facts

	at    map[string]*facts // the files by path
	here  map[string]*facts // the chats that were there at the last snapshot and are not missing, likewise
	slugs map[string]int    // how many files and chats have each
	known map[string]bool
	lacks bool // a chat is missing whose slug tells nothing
}

// judge finds out which chat each file is. The evidence is what is said, and the slug where it is one
// chat's alone: branches inherited it up to SillyTavern 1.18, and Luker changes it at every save.
func judge(files, chats []*facts) {
	j := newIdentity(files, chats)
	for _, f := range files {
		if c := j.here[f.Path]; c != nil && j.goesOn(f, c) {
			setChat(f, c)
		}
	}
	j.bySlug()
	j.byTexts()
	j.byPath()
}

// newIdentity makes the indexes of files and chats.
func newIdentity(files, chats []*facts) *identity {
	j := &identity{
		files: files, chats: chats,
		at: map[string]*facts{}, here: map[string]*facts{},
		slugs: map[string]int{}, known: map[string]bool{},
	}

	for i, c := range chats {
		c.order = i
		j.slugs[c.Slug]++
		j.known[c.Path] = true
		if c.state <= changed {
			j.here[c.Path] = c
		}
	}
	j.lacks = slices.ContainsFunc(chats, func(c *facts) bool {
		slugTellsNothing := c.Slug == "" || j.slugs[c.Slug] > 1
		return c.state == missing && slugTellsNothing
	})

	for _, f := range files {
		j.at[f.Path] = f
		c := j.here[f.Path]
		hasTheSlugOfItsPath := c != nil && c.Slug == f.Slug
		if !hasTheSlugOfItsPath {
			j.slugs[f.Slug]++
		}
	}
	return j
}

// setChat says which chat a file is.
func setChat(f, c *facts) {
	f.ID = c.ID
	c.taken = true
}

// sure reports whether a slug is one chat's alone.
func (j *identity) sure(slug string) bool { return slug != "" && j.slugs[slug] == 1 }

// goesOn reports whether a file is the chat that had its path, without a look at others: it has
// its slug, or where that tells nothing, what was said last, and no other chat is missing.
func (j *identity) goesOn(f, c *facts) bool {
	if j.sure(f.Slug) || j.sure(c.Slug) {
		return f.Slug == c.Slug
	}
	if j.lacks || f.Slug != c.Slug || f.Main != c.Main {
		return false
	}
	return f.said().Ends(c.said())
}

// free reports whether a file may be a chat that was elsewhere, or was gone.
func (j *identity) free(f, c *facts) bool {
	isThere := c.state == held || c.state == changed && f.Path == c.Path
	if c.taken || isThere {
		return false
	}

	// A branch names the chat that it was made from, and goes on naming it.
	from := path.Join(path.Dir(f.Path), f.Main+".jsonl")
	if f.Main != c.Main {
		return f.Main != "" && from != c.Path && !j.known[from]
	}
	// That chat may have had another name then, so that the branch names itself.
	namesItself := f.Main != "" && from == c.Path
	if namesItself && c.state == changed {
		return j.at[from].said().Len() > 0
	}
	return true
}

// bySlug finds the chats that have the slug of a file, and something that it says.
func (j *identity) bySlug() {
	may := map[*facts]int{} // of a file, how many chats it may be; of a chat, how many files may be it
	var pairs [][2]*facts
	for _, f := range j.files {
		if f.Slug == "" || f.ID != 0 {
			continue
		}
		if c := j.here[f.Path]; c != nil && c.Slug == f.Slug {
			continue
		}
		for _, c := range j.chats {
			if c.Slug == f.Slug && j.free(f, c) && j.speaksAs(f, c) {
				may[f]++
				may[c]++
				pairs = append(pairs, [2]*facts{f, c})
			}
		}
	}

	for _, p := range pairs {
		if may[p[0]] == 1 && may[p[1]] == 1 {
			setChat(p[0], p[1])
		}
	}
}

// speaksAs reports whether a file says something of what the chat of its slug says. Where others have
// the slug, too, as branches did, it must say what was said last.
func (j *identity) speaksAs(f, c *facts) bool {
	a, b := f.said(), c.said()
	if a.Len()+b.Len() == 0 {
		return a.Greets(b)
	}
	othersHaveTheSlug := j.slugs[f.Slug] > 2
	if othersHaveTheSlug && !a.Ends(b) {
		return false
	}
	return a.Shared(b) > 0
}

// byTexts finds the chats that say most of what a file says, where a slug is missing or that of
// several. Two slugs that differ are never one chat, except at one path.
func (j *identity) byTexts() {
	type pair struct {
		file, chat   *facts
		shared       int
		other, moved int // 1: it names another main_chat; it is at another path
	}

	var pairs []pair
	add := func(f, c *facts, shared, moved int) {
		other := 0
		if f.Main != c.Main {
			other = 1
		}
		pairs = append(pairs, pair{f, c, shared, other, moved})
	}

	contested := map[*facts]bool{}
	for _, f := range j.files {
		if f.ID != 0 {
			continue
		}
		for _, c := range j.chats {
			if !j.mayHaveMoved(f, c) || !goesOnWith(f, c) || j.forked(f, c) {
				continue
			}
			add(f, c, f.said().Shared(c.said()), 1)
			contested[f] = true
			contested[c] = true
		}
	}

	for _, f := range j.files {
		c := j.here[f.Path]
		if f.ID != 0 || c == nil || c.taken {
			continue
		}
		if contested[f] || contested[c] {
			add(f, c, f.said().Shared(c.said()), 0)
		}
	}

	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(
			cmp.Compare(b.shared, a.shared),
			cmp.Compare(a.other, b.other),
			cmp.Compare(a.moved, b.moved),
			cmp.Compare(a.chat.state, b.chat.state),
			cmp.Compare(b.chat.order, a.chat.order),
		)
	})

	for _, p := range pairs {
		if p.file.ID == 0 && !p.chat.taken {
			setChat(p.file, p.chat)
		}
	}
}

// mayHaveMoved reports whether a file may be a chat that was at another path: neither has a slug that
// the other lacks, and what was gone before comes back into its own folder.
func (j *identity) mayHaveMoved(f, c *facts) bool {
	slugsDiffer := f.Slug != "" && c.Slug != "" && f.Slug != c.Slug
	if slugsDiffer {
		return false
	}
	if c.state == before && path.Dir(c.Path) != path.Dir(f.Path) {
		return false
	}
	return j.free(f, c)
}

// goesOnWith reports whether a file says most of what a chat says, and what it said last; without a slug
// it may have been edited there since the chat left.
func goesOnWith(f, c *facts) bool {
	file, chat := f.said(), c.said()
	shared := file.Shared(chat)
	if shared == 0 || 2*shared < chat.Len() {
		return false
	}
	if file.Ends(chat) {
		return true
	}
	return f.Slug == "" && c.state != before && file.GoesOn(chat)
}

// forked reports whether a file was branched from its parent later on than a chat: it does not end
// as that did, and says more of what the parent says.
func (j *identity) forked(f, c *facts) bool {
	at := path.Join(path.Dir(f.Path), f.Main+".jsonl")
	parent := j.at[at]
	if parent == nil || parent == f {
		parent = j.here[at]
		if parent == nil || parent.state != held {
			return false
		}
	}

	if f.said().Ends(c.said()) {
		return false
	}
	return f.said().Repeats(parent.said()) > c.said().Repeats(parent.said())
}

// byPath leaves a file to the chat that had its path, unless it is another one there, or else to
// the one that was there last.
func (j *identity) byPath() {
	for _, f := range j.files {
		if f.ID != 0 {
			continue
		}
		if c := j.here[f.Path]; c != nil && !c.taken {
			haveNoSlugs := f.Slug == "" && c.Slug == ""
			isOther := stranger(f, c) || haveNoSlugs && j.forked(f, c)
			if !isOther {
				setChat(f, c)
			}
			continue
		}

		if last := j.lastAt(f.Path); last != nil && mayComeBack(f, last) {
			setChat(f, last)
		}
	}
}

// lastAt returns the chat that was at a path last, of those that no file is yet; nil if there is none.
func (j *identity) lastAt(path string) (last *facts) {
	for _, c := range j.chats {
		if c.state != before || c.Path != path || c.taken {
			continue
		}
		if last == nil || last.Gone <= c.Gone {
			last = c
		}
	}
	return last
}

// mayComeBack reports whether a file may be the chat that was at its path before: it has its slug, or
// says nothing yet, or something of what that said.
func mayComeBack(f, last *facts) bool {
	hasItsSlug := f.Slug != "" && f.Slug == last.Slug
	return hasItsSlug || f.said().Len() == 0 || f.said().Shared(last.said()) > 0
}

// stranger reports whether a file has nothing of the chat that had its path: another slug, and
// no word. A greeting that was written over a chat is no stranger.
func stranger(f, c *facts) bool {
	if f.Slug == "" || c.Slug == "" || f.Slug == c.Slug {
		return false
	}
	a, b := f.said(), c.said()
	return a.Len() > 0 && b.Len() > 0 && a.Shared(b) == 0 && !a.Greets(b)
}

package keep

import (
	"cmp"
	"path"
	"slices"

	"stchat/internal/history"
	"stchat/internal/lost"
)

// fileFacts is what identity is judged by, of a file that a snapshot found.
type fileFacts struct {
	path string // relative to the user's folder, with slashes
	slug string // empty if there is none, or one that Luker changes at every save
	main string // main_chat
	said func() *lost.Speech
}

// chatFacts is what a history knows of a file.
type chatFacts struct {
	history.Chat
	state presence
	said  func() *lost.Speech // of its last version
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
	files []fileFacts
	chats []chatFacts

	at     map[string]*fileFacts // by path
	slugs  map[string]int        // how many files and chats have each
	known  map[string]bool
	lacks  bool  // a chat is missing whose slug tells nothing
	result []int // for each file its chat's index; -1: it is new
	taken  []bool
}

// judge returns for each file the index of its chat, or -1 if it is new. The evidence is what is
// said, and the slug where it is one chat's alone: branches inherited it up to SillyTavern 1.18,
// and Luker changes it at every save.
func judge(files []fileFacts, chats []chatFacts) []int {
	j := &identity{files: files, chats: chats, at: map[string]*fileFacts{}, slugs: map[string]int{}, known: map[string]bool{}, result: make([]int, len(files)), taken: make([]bool, len(chats))}
	here := map[string]int{}
	for i, c := range chats {
		j.slugs[c.Slug]++
		j.known[c.Path] = true
		j.lacks = j.lacks || c.state == missing && (c.Slug == "" || j.slugs[c.Slug] > 1)
		if c.state == changed {
			here[c.Path] = i
		}
	}
	for i, f := range files {
		j.result[i], j.at[f.path] = -1, &files[i]
		at, ok := here[f.path]
		if !ok || chats[at].Slug != f.slug {
			j.slugs[f.slug]++
		}
		if !ok {
			here[f.path] = -1
		}
	}
	for i := range files {
		if at := here[files[i].path]; at >= 0 && j.goesOn(&files[i], &chats[at]) {
			j.take(i, at)
		}
	}
	j.bySlug(here)
	j.byTexts(here)
	j.byPath(here)
	return j.result
}

func (j *identity) take(file, chat int) { j.result[file], j.taken[chat] = chat, true }

// sure reports whether a slug is one chat's alone.
func (j *identity) sure(slug string) bool { return slug != "" && j.slugs[slug] == 1 }

// goesOn reports whether a file is the chat that had its path, without a look at others: it has
// its slug, or where that tells nothing, what was said last, and no other chat is missing.
func (j *identity) goesOn(f *fileFacts, c *chatFacts) bool {
	if j.sure(f.slug) || j.sure(c.Slug) {
		return f.slug == c.Slug
	}
	return !j.lacks && f.slug == c.Slug && f.main == c.Main && f.said().Ends(c.said())
}

// free reports whether a file may be a chat that was elsewhere, or was gone.
func (j *identity) free(f *fileFacts, chat int) bool {
	c := &j.chats[chat]
	if j.taken[chat] || c.state == held || c.state == changed && f.path == c.Path {
		return false
	}
	// a branch names the chat that it was made from, and goes on naming it
	from := path.Join(path.Dir(f.path), f.main+".jsonl")
	if f.main == c.Main { // which may have had another name then, so that it names itself
		return f.main == "" || from != c.Path || c.state != changed || j.at[from].said().Len() > 0
	}
	return f.main != "" && from != c.Path && !j.known[from]
}

// bySlug finds the chats that have the slug of a file, and something that it says.
func (j *identity) bySlug(here map[string]int) {
	found := make([]int, len(j.files)) // how many chats may be it
	files := make([]int, len(j.chats))
	var pairs [][2]int
	for i := range j.files {
		f := &j.files[i]
		if at := here[f.path]; f.slug == "" || j.result[i] >= 0 || at >= 0 && j.chats[at].Slug == f.slug {
			continue
		}
		for k := range j.chats {
			if j.chats[k].Slug != f.slug || !j.free(f, k) {
				continue
			}
			a, b := f.said(), j.chats[k].said()
			// where others have the slug, too, as branches did, it must say what was said last
			if a.Shared(b) > 0 && (j.slugs[f.slug] <= 2 || a.Ends(b)) || a.Len()+b.Len() == 0 && a.Greets(b) {
				found[i]++
				files[k]++
				pairs = append(pairs, [2]int{i, k})
			}
		}
	}
	for _, p := range pairs {
		if found[p[0]] == 1 && files[p[1]] == 1 {
			j.take(p[0], p[1])
		}
	}
}

// byTexts finds the chats that say most of what a file says, where a slug is missing or that of
// several. Two slugs that differ are never one chat, except at one path.
func (j *identity) byTexts(here map[string]int) {
	type pair struct {
		file, chat, shared int
		other              int // 1: it names another main_chat
		moved              int // 1: from another path
	}
	var pairs []pair
	add := func(file, chat, shared, moved int) {
		other := 0
		if j.files[file].main != j.chats[chat].Main {
			other = 1
		}
		pairs = append(pairs, pair{file, chat, shared, other, moved})
	}
	contested := map[int]bool{} // files and, below 0, chats
	for i := range j.files {
		f := &j.files[i]
		if j.result[i] >= 0 {
			continue
		}
		for k := range j.chats {
			c := &j.chats[k]
			if f.slug != c.Slug && f.slug != "" && c.Slug != "" || c.state == before && path.Dir(c.Path) != path.Dir(f.path) || !j.free(f, k) {
				continue
			}
			// it must say what was said last, or if it has no slug either, but for an edit since it left
			if n := f.said().Shared(c.said()); n > 0 && 2*n >= c.said().Len() && (f.said().Ends(c.said()) || f.slug == "" && c.state != before && f.said().GoesOn(c.said())) && !j.forked(f, c) {
				add(i, k, n, 1)
				contested[i], contested[-1-k] = true, true
			}
		}
	}
	for i := range j.files {
		if at := here[j.files[i].path]; j.result[i] < 0 && at >= 0 && !j.taken[at] && (contested[i] || contested[-1-at]) {
			add(i, at, j.files[i].said().Shared(j.chats[at].said()), 0)
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.shared, a.shared), cmp.Compare(a.other, b.other), cmp.Compare(a.moved, b.moved), cmp.Compare(j.chats[a.chat].state, j.chats[b.chat].state), cmp.Compare(b.chat, a.chat))
	})
	for _, p := range pairs {
		if j.result[p.file] < 0 && !j.taken[p.chat] {
			j.take(p.file, p.chat)
		}
	}
}

// forked reports whether a file was branched from its parent later on than a chat: it does not end
// as that did, and says more of what the parent says.
func (j *identity) forked(f *fileFacts, c *chatFacts) bool {
	parent := path.Join(path.Dir(f.path), f.main+".jsonl")
	var said *lost.Speech
	if file := j.at[parent]; file != nil && file != f {
		said = file.said()
	} else if i := slices.IndexFunc(j.chats, func(c chatFacts) bool { return c.Path == parent && c.state == held }); i >= 0 {
		said = j.chats[i].said()
	}
	return said != nil && !f.said().Ends(c.said()) && f.said().Repeats(said) > c.said().Repeats(said)
}

// byPath leaves a file to the chat that had its path, unless it is another one there, or else to
// the one that was there last.
func (j *identity) byPath(here map[string]int) {
	for i := range j.files {
		f := &j.files[i]
		if j.result[i] >= 0 {
			continue
		}
		at := here[f.path]
		if at >= 0 && !j.taken[at] {
			if !stranger(f, &j.chats[at]) && (f.slug+j.chats[at].Slug != "" || !j.forked(f, &j.chats[at])) {
				j.take(i, at)
			}
			continue
		}
		at = -1
		for k, c := range j.chats {
			if c.state == before && c.Path == f.path && !j.taken[k] && (at < 0 || j.chats[at].Gone <= c.Gone) {
				at = k
			}
		}
		if at < 0 {
			continue
		}
		a, b := f.said(), j.chats[at].said()
		if f.slug != "" && f.slug == j.chats[at].Slug || a.Len() == 0 || a.Shared(b) > 0 {
			j.take(i, at)
		}
	}
}

// stranger reports whether a file has nothing of the chat that had its path: another slug, and
// no word. A greeting that was written over a chat is no stranger.
func stranger(f *fileFacts, c *chatFacts) bool {
	if f.slug == "" || c.Slug == "" || f.slug == c.Slug {
		return false
	}
	a, b := f.said(), c.said()
	return a.Len() > 0 && b.Len() > 0 && a.Shared(b) == 0 && !a.Greets(b)
}

package look

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/progress"
	"stchat/internal/text/words"
)

// SearchOptions says what to search for, and in which messages.
type SearchOptions struct {
	List         ops.List
	Query        *words.Query
	Roles        []message.Who            // any of them; empty: all
	Names        []string                 // exactly one of them; empty: all
	Since, Until time.Time                // zero where they do not matter
	Swipes       bool                     // also those that are not shown
	Gone         bool                     // only texts that no chat of the user folder has any more
	Store        func(root string) string // returns the path of a folder's history
	Limit        int                      // how many hits to return at most; 0: all
	Around       int                      // how many messages before and after a hit to return with it
	Read         bool                     // for a person: a text stands in the eldest chat that has it, and its snippet is a line of the text as it is read
	Meter        *progress.Meter
	Each         func(*SearchHit) error // called for each hit, in order
}

// SearchHit is a text that was found: a document of search. Equal texts are one hit, shown at
// the newest place, in a present chat if there is one; to a person in the eldest.
type SearchHit struct {
	Schema  int         `json:"schema"`
	Path    string      `json:"path" is:"path"`
	Owner   *string     `json:"owner"` // the character's folder or the group's name
	Chat    string      `json:"chat"`
	Index   int         `json:"index"`
	Role    string      `json:"role"`
	Name    *string     `json:"name"`
	Date    *string     `json:"date"` // RFC 3339 in UTC, or the text as it stands
	Swipe   *int        `json:"swipe"`
	Rev     *int        `json:"rev"`
	Gone    bool        `json:"gone"`
	Places  int         `json:"places"`
	Snippet string      `json:"snippet"`
	Marks   [][2]int    `json:"marks"` // in characters of the snippet
	Before  []Neighbour `json:"before"`
	After   []Neighbour `json:"after"`
	Chats   []string    `json:"-"` // all that have the text now, if SearchOptions.Read is set
	Within  string      `json:"-"` // what the snippet is of, if a reader does not see it: InPrompt, InComment
}

// Neighbour is a message before or after a hit.
type Neighbour struct {
	Index int     `json:"index"`
	Role  string  `json:"role"`
	Name  *string `json:"name"`
	Date  *string `json:"date"`
	Text  *string `json:"text"`
}

// What a snippet may be of that a reader does not see.
const (
	InPrompt  = "picture prompt"
	InComment = "comment"
)

// SearchResult is the result of a search.
type SearchResult struct {
	Shown   int     // how many hits there were
	Found   int     // how many texts, of which the hits are the first
	History bool    // a history was searched, too
	Errs    []error // of PATHs, and of chats that cannot be read
}

// ErrNoHistory means that texts that are gone were asked for, but no history is kept.
var ErrNoHistory = errors.New("no history is kept here, so nothing is known of what is gone")

// Search finds the texts that match the query: in the chats, and in the lines of their history that
// the chats do not have. The error is [ErrNoHistory], that of a history that cannot be read, that of
// Each, or that ctx ended.
func Search(ctx context.Context, opt SearchOptions) (*SearchResult, error) {
	list := opt.List
	list.AllowEmpty = true // texts that are gone may still be found
	walked := ops.Walk(list)
	res := &SearchResult{Errs: walked.Errors()}
	s := newSearcher(opt)
	defer s.close()
	s.addChats(walked.Chats)
	if err := s.open(ctx, walked); err != nil {
		return res, err
	}
	res.History = len(s.stores) > 0
	if len(walked.Chats)+len(walked.Errs)+len(s.stores) == 0 && !opt.List.AllowEmpty {
		res.Errs = append(res.Errs, ops.Walk(opt.List).Errors()...)
		return res, nil
	}

	if err := s.read(ctx); err != nil {
		return nil, err
	}
	found := s.texts()
	res.Found = len(found)
	for _, t := range found {
		if opt.Limit > 0 && res.Shown == opt.Limit {
			break
		}
		hit, err := s.show(ctx, t)
		if err != nil {
			res.Errs = append(res.Errs, err)
			continue
		}
		res.Shown++
		if err := opt.Each(hit); err != nil {
			return res, err
		}
	}

	res.Errs = append(res.Errs, s.errs...)
	return res, ctx.Err()
}

// searcher is one search.
type searcher struct {
	SearchOptions
	lib     *library.Library
	reals   userdir.Real
	sieve   *words.Sieve
	seed    maphash.Seed // of the hash that identifies a text
	stores  []*searchStore
	sources []*source // chats, of which the first asked are searched; then old versions, then chats that only say which texts there are
	asked   int

	mu   sync.Mutex // of what follows, while chats are read
	hits []hit
	errs []error

	again   *searchReader    // reads the lines that are shown
	parents map[int32]string // names of chats, by the number of the chat that names them
}

func newSearcher(opt SearchOptions) *searcher {
	s := &searcher{SearchOptions: opt, lib: new(library.Library), sieve: opt.Query.Sieve(), seed: maphash.MakeSeed(), parents: map[int32]string{}}
	s.again = newSearchReader(s)
	return s
}

// hit is a place where a text was found. There may be millions: it has no pointers, and what
// reading the line again tells is left out.
type hit struct {
	text   uint64 // its hash
	date   int64  // milliseconds since 1970; undated
	at     int64  // of a chat, the offset of the line; else its piece
	source int32
	index  int32 // of the message in a chat, else of the line; below 0: notHit
}

const (
	undated = math.MinInt64 // older than all dates

	notHit = -1 // a present chat has the text, but what was asked for excludes the place
)

// read reads all that is searched, and then, if a text was found only in a history, the other chats
// of its folder: one of them may have it.
func (s *searcher) read(ctx context.Context) error {
	s.asked = len(s.sources)
	if err := s.readChats(ctx, 0); err != nil {
		return err
	}
	if err := s.readVersions(ctx); err != nil {
		return err
	}
	if len(s.stores) == 0 || !s.onlyOld() {
		return nil
	}
	there := len(s.sources)
	for _, st := range s.stores {
		if !st.root.Whole {
			s.addChats(ops.Walk(ops.List{Paths: []string{st.root.Path}, AllowEmpty: true}).Chats)
		}
	}
	return s.readChats(ctx, there)
}

// text is a text that was found: its places among the hits, the one that is shown first.
type text struct {
	from, to int32
	gone     bool // no present chat has it
}

// onlyOld reports whether some text is known of old versions alone.
func (s *searcher) onlyOld() bool {
	found := false
	s.eachText(func(_ int, _ []hit, present bool) { found = found || !present })
	return found
}

// texts returns the texts that were found, in the order of the result.
func (s *searcher) texts() (list []text) {
	s.eachText(func(from int, all []hit, present bool) {
		isWanted := !s.Gone || !present
		if places := s.places(all); isWanted && places > 0 {
			list = append(list, text{int32(from), int32(from + places), !present})
		}
	})
	slices.SortFunc(list, func(a, b text) int { return s.before(&s.hits[a.from], &s.hits[b.from]) })
	return list
}

// places returns how many of the hits of a text, which are sorted, are places of it. One that a present
// chat has does not count those in old versions.
func (s *searcher) places(all []hit) int {
	isOld := s.sources[all[0].source].old
	for n, h := range all {
		if h.index == notHit || s.sources[h.source].old != isOld {
			return n
		}
	}
	return len(all)
}

// eachText calls each with the hits of each text, the one to show first, from which on they are among
// all, and whether a present chat has the text.
func (s *searcher) eachText(each func(from int, all []hit, present bool)) {
	slices.SortFunc(s.hits, s.byText)
	for from := 0; from < len(s.hits); {
		to := from + 1
		for to < len(s.hits) && s.hits[to].text == s.hits[from].text {
			to++
		}
		all := s.hits[from:to]
		present := slices.ContainsFunc(all, func(h hit) bool { return !s.sources[h.source].old })
		each(from, all, present)
		from = to
	}
}

// byText compares hits for sorting: by text, and of one text the one to show first: in a chat as it
// is now if there is one.
func (s *searcher) byText(a, b hit) int {
	if a.text != b.text {
		return cmp.Compare(a.text, b.text)
	}
	oldA, oldB := s.sources[a.source].old, s.sources[b.source].old
	return cmp.Or(compareBools(a.index == notHit, b.index == notHit), compareBools(oldA, oldB), s.before(&a, &b))
}

// before compares hits for sorting: the newest first and those without a date last; then by
// path, present chats before old versions, and by place.
func (s *searcher) before(a, b *hit) int {
	if a.date != b.date {
		return cmp.Compare(b.date, a.date)
	}
	from, to := s.sources[a.source], s.sources[b.source]
	return cmp.Or(strings.Compare(filepath.ToSlash(from.Path), filepath.ToSlash(to.Path)), compareBools(from.old, to.old),
		cmp.Compare(a.index, b.index), cmp.Compare(a.source, b.source), cmp.Compare(a.at, b.at))
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	if a == b {
		return 0
	}
	if b {
		return -1
	}
	return 1
}

// hash returns the hash that identifies a text.
func (s *searcher) hash(text []byte) uint64 { return maphash.Bytes(s.seed, text) }

// wants reports whether a message is one of those that were asked for.
func (s *searcher) wants(m spoken) bool {
	if len(s.Roles) > 0 && !slices.Contains(s.Roles, m.role) {
		return false
	}
	if len(s.Names) > 0 {
		name, ok := rawjson.Unquote(m.name)
		if !ok || !slices.Contains(s.Names, name) {
			return false
		}
	}

	if s.Since.IsZero() && s.Until.IsZero() {
		return true
	}
	at := time.UnixMilli(m.date)
	return m.date != undated && !at.Before(s.Since) && (s.Until.IsZero() || !at.After(s.Until))
}

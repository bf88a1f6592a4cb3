package look

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"stchat/internal/history"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
	"stchat/internal/wordindex"
)

// SearchOptions says what to search for, and in which messages.
type SearchOptions struct {
	wordindex.Want
	List    ops.List
	Names   []string                 // exactly one of them; empty: all
	Gone    bool                     // only texts that no chat of the user folder has any more
	NoIndex bool                     // read every line, even if an index rules it out
	Store   func(root string) string // returns the path of a folder's history
	Limit   int                      // how many hits to return at most; 0: all
	Read    bool                     // for a person: a text stands in the eldest chat that has it, and its snippet is a line of the text as it is read
	Meter   *progress.Meter
	Each    func(*SearchHit) error // called for each hit, in order
}

// wants reports whether a message's role and date match the options.
func (opt *SearchOptions) wants(said wordindex.Said) bool {
	if len(opt.Roles) > 0 && !slices.Contains(opt.Roles, said.Role) {
		return false
	}
	at := time.UnixMilli(said.At)
	return opt.Since.IsZero() && opt.Until.IsZero() || said.Dated && !at.Before(opt.Since) && (opt.Until.IsZero() || !at.After(opt.Until))
}

// names reports whether a name is one of opt.Names. raw is called for it only if there are
// any, and returns it as JSON.
func (opt *SearchOptions) names(raw func() []byte) bool {
	if len(opt.Names) == 0 {
		return true
	}
	name, ok := rawjson.Unquote(raw())
	return ok && slices.Contains(opt.Names, name)
}

// SearchHit is a text that was found: a document of search. Equal texts are one hit, shown at
// the newest place, in a present chat if there is one; to a person in the eldest.
type SearchHit struct {
	Schema  int      `json:"schema"`
	Path    string   `json:"path" is:"path"`
	Owner   *string  `json:"owner"` // the character's folder or the group's name
	Chat    string   `json:"chat"`
	Index   int      `json:"index"`
	Role    string   `json:"role"`
	Name    *string  `json:"name"`
	Date    *string  `json:"date"` // RFC 3339 in UTC, or the text as it stands
	Swipe   *int     `json:"swipe"`
	Rev     *int     `json:"rev"`
	Gone    bool     `json:"gone"`
	Places  int      `json:"places"`
	Snippet string   `json:"snippet"`
	Marks   [][2]int `json:"marks"` // in characters of the snippet
	Chats   []string `json:"-"`     // all that have the text now, if SearchOptions.Read is set
	Within  string   `json:"-"`     // what the snippet is of, if a reader does not see it: InPrompt, InComment
}

// What a snippet may be of that a reader does not see.
const (
	InPrompt  = "picture prompt"
	InComment = "comment"
)

// SearchResult is the result of a search.
type SearchResult struct {
	Shown  int     // how many hits there were
	Found  int     // how many texts, of which the hits are the first; with a Limit, above [MostCounted] there may be more
	ByDate bool    // otherwise hits that are not ranked are ordered by when they were archived: more than [wordindex.MostExact] have the words
	Errs   []error // of PATHs, and of chats that cannot be read

	Damaged bool     // the index of words is; all was read instead, and the next search makes it anew
	told    []uint64 // texts of the index that were shown
}

// MostCounted is how many texts are counted at most, unless more are shown.
const MostCounted = 1000

// ErrNoHistory means that texts that are gone were asked for, but no history is kept.
var ErrNoHistory = errors.New("no history is kept here, so nothing is known of what is gone")

// Search finds the texts that match the query. The error is [ErrNoHistory], a
// [*wordindex.TooManyError], that of a history that cannot be read, that of Each, or that ctx
// ended.
func Search(ctx context.Context, opt SearchOptions) (*SearchResult, error) {
	res, err := search(ctx, opt, nil)
	if wordindex.Damaged(err) { // what is shown already is not shown again
		told := res.told
		slices.Sort(told)
		opt.NoIndex = true
		if res, err = search(ctx, opt, told); res != nil {
			res.Damaged = true
		}
	}
	return res, err
}

// search is one try of [Search]; texts that were told are left out. With an error that means
// that the index is damaged, the result has what was told.
func search(ctx context.Context, opt SearchOptions, told []uint64) (res *SearchResult, err error) {
	list := opt.List
	list.AllowEmpty = true // texts that are gone may still be found
	walked := ops.Walk(list)
	res = &SearchResult{ByDate: true, Shown: len(told), Errs: walked.Errors()}
	s := &searcher{SearchOptions: opt, lib: new(library.Library), weights: map[uint64]uint32{}, counts: map[uint64][]int32{}, parents: map[int32]string{}}
	s.again = newSearchReader(s)
	s.addChats(walked.Chats)
	s.asked = len(s.sources)
	defer func() { s.close(wordindex.Damaged(err)) }()
	opt.Meter.Expect(s.asked, 0)
	if err := s.open(ctx, walked); err != nil {
		return res, err
	}
	if len(walked.Chats)+len(walked.Errs)+len(s.stores) == 0 && !opt.List.AllowEmpty {
		res.Errs = append(res.Errs, ops.Walk(opt.List).Errors()...)
		return res, nil
	}
	bytes := int64(0) // that are read; of old versions nobody knows
	for _, src := range s.sources {
		if src.version == nil && (s.index != nil || len(s.stores) == 0) {
			bytes += src.Size
		}
	}
	opt.Meter.Expect(len(s.sources)-s.asked, bytes)
	if err := cmp.Or(s.readChats(ctx), s.readVersions(ctx)); err != nil {
		return nil, err
	}
	show := func(t text) error {
		hash := s.hits[t.from].text
		if _, before := slices.BinarySearch(told, hash); before || opt.Limit > 0 && res.Shown >= opt.Limit {
			return nil
		}
		hit, err := s.show(ctx, t)
		switch {
		case wordindex.Damaged(err):
			return err
		case err != nil:
			res.Errs = append(res.Errs, err)
			return nil
		}
		if s.index != nil {
			res.told = append(res.told, hash)
		}
		res.Shown++
		return opt.Each(hit)
	}
	if res.Found, err = s.best(ctx, show); err != nil {
		return res, cmp.Or(ctx.Err(), err)
	}
	res.Errs = append(res.Errs, s.errs...)
	res.ByDate = s.Rank || s.byDate()
	if most := max(opt.Limit, MostCounted); opt.Limit > 0 && res.Found > most {
		res.Found = most + 1
	}
	return res, ctx.Err()
}

// searcher is one search.
type searcher struct {
	SearchOptions
	lib     *library.Library
	reals   userdir.Real
	id      string // of the history; part of the hash of a text
	stores  []*searchStore
	sources []*source // chats, of which the first asked are searched and the others only say which texts there are; then old versions
	asked   int

	index   *wordindex.Index   // of the history, if there is just one; nil: all lines are read
	matches *wordindex.Matches // what the index has for the query

	mu      sync.Mutex // of what follows, while chats are read
	hits    []hit
	weights map[uint64]uint32  // by which texts are ordered before all else, the highest first: the bits of their scores, or numbers in the order of archiving
	counts  map[uint64][]int32 // for ranking: how many words a text has that was read, and how often each term
	corpus  wordindex.Corpus   // of what was read

	again   *searchReader    // reads the lines that are shown
	parents map[int32]string // names of chats, by the number of the chat that names them
	errs    []error
}

// hit is a place where a text was found. There may be millions: it has no pointers, and what
// reading the line again tells is left out.
type hit struct {
	text   uint64 // its hash
	date   int64  // milliseconds since 1970; undated
	at     int64  // of a chat that was read, the offset of the line; else its piece
	source int32
	index  int32 // of the message in a chat that was read, else of the line; below 0: notHit, shown
}

const (
	undated = math.MinInt64 // older than all dates

	notHit = -1 // a present chat has the text, but what was asked for excludes the place
	shown  = -2 // the text was shown, and can be forgotten
)

// byDate reports whether texts are ordered by date, the newest first, unless they are ranked.
func (s *searcher) byDate() bool { return s.matches == nil || s.matches.ByDate }

// readChats reads all chats: several small ones at once, large ones one at a time on all
// processors.
func (s *searcher) readChats(ctx context.Context) error {
	errs := make([]error, len(s.sources))
	progress.SmallFirst(ctx, len(s.sources), s.Meter, func() *searchReader { return newSearchReader(s) }, func(r *searchReader, i int, small bool) (done bool) {
		if s.sources[i].version != nil {
			return true
		}
		done, errs[i] = r.read(ctx, i, small)
		return done
	})
	for i, err := range errs {
		if err != nil {
			s.errs = append(s.errs, &ops.SourceError{Path: s.sources[i].Path, Err: ops.PathError(err)})
		}
	}
	return ctx.Err()
}

// add adds what was found in a source, from the message or the line with a number on.
func (s *searcher) add(t *searchTally, source, index int, piece int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	src := s.sources[source]
	for _, h := range t.hits {
		h.source = int32(source)
		switch {
		case src.old && h.index == notHit:
			continue
		case src.old:
			h.at, h.index = piece, int32(index)
		case source >= s.asked:
			h.index = notHit
		case h.index != notHit:
			h.index += int32(index)
		}
		s.hits = append(s.hits, h)
	}
	maps.Copy(s.counts, t.counts)
	if source < s.asked {
		s.corpus.Texts += t.corpus.Texts
		s.corpus.Words += t.corpus.Words
	}
}

// look adds the hits at the places of texts that the index found.
func (s *searcher) look(ctx context.Context, uses wordindex.Uses) {
	taken := make([]bool, len(uses)) // by a version: of those with a line, the newest is shown
	for number, src := range s.sources {
		line := int64(0)
		for _, r := range src.runs {
			from, to := uses.In(r)
			for i := from; i < to && r.Part == history.Whole; i++ {
				if !src.old || !taken[i] {
					s.use(ctx, &uses[i], number, line+uses[i].Piece-r.First)
				}
				taken[i] = taken[i] || src.old
			}
			line += r.Lines()
		}
	}
}

// use adds the hit at a place of a text that the index found, in a line of a source.
func (s *searcher) use(ctx context.Context, u *wordindex.Use, source int, line int64) {
	h := hit{text: u.Text, date: dateOf(u.Said), at: u.Piece, source: int32(source), index: int32(line)}
	src := s.sources[source]
	wanted := (u.Chosen || s.Swipes) && s.wants(u.Said) && s.names(func() []byte {
		data, err := src.store.line(ctx, history.Run{First: u.Piece, Count: 1, Part: history.Whole})
		if err != nil {
			s.errs = append(s.errs, ops.PathError(err))
		}
		return rawjson.Value(data, "name")
	})
	switch {
	case !wanted && src.old:
		return
	case !wanted || !src.old && source >= s.asked:
		h.index = notHit
	case s.Rank:
		s.weights[u.Text] = math.Float32bits(u.Score)
	case !s.byDate():
		s.weights[u.Text] = cmp.Or(s.weights[u.Text], uint32(u.Number))
	}
	s.hits = append(s.hits, h)
}

// dateOf returns when a message was sent, as a [hit] has it.
func dateOf(said wordindex.Said) int64 {
	if said.Dated {
		return said.At
	}
	return undated
}

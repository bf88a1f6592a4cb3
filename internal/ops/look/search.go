package look

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"stchat/internal/history"
	"stchat/internal/library"
	"stchat/internal/message"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/wordindex"
	"stchat/internal/words"
)

// SearchOptions says what is looked for, and in which messages.
type SearchOptions struct {
	List    ops.List
	Query   *words.Query
	Roles   []message.Who            // any of them; empty: all
	Names   []string                 // any of them, exactly
	Since   time.Time                // not before, unless zero
	Until   time.Time                // not after, unless zero
	Swipes  bool                     // also the swipes that are not chosen
	Gone    bool                     // only what no chat of the user folder has any more
	NoIndex bool                     // read every line, also where an index says that it cannot be a hit
	Store   func(root string) string // where the history of a folder lies
	Rank    bool                     // the best first, instead of the newest
	Limit   int                      // how many are returned; 0: all
	Meter   *progress.Meter
}

// SearchHit is a text that was found: a document of search. Texts that are equal are one,
// shown where they stand last.
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
}

// SearchResult is what was found.
type SearchResult struct {
	Hits   []*SearchHit
	Found  int     // texts, of which Hits are the first; above [MostCounted] there are more
	ByDate bool    // else, if not ranked, in the order in which they were archived: more than [wordindex.MostExact] have the words
	Errs   []error // of PATHs, and of chats that cannot be read
}

// MostCounted is up to how many texts are counted, if no more are shown.
const MostCounted = 1000

// Search finds the texts that hold the query. The error is that ctx ended, or a
// [*wordindex.TooManyError].
func Search(ctx context.Context, opt SearchOptions) (*SearchResult, error) {
	list := opt.List
	list.AllowEmpty = true // what is gone may be found
	walked := ops.WalkNames(list)
	res := &SearchResult{ByDate: true}
	for _, err := range walked.Errs {
		res.Errs = append(res.Errs, err)
	}
	s := &searcher{SearchOptions: opt, lib: new(library.Library), chats: walked.Chats, asked: len(walked.Chats), held: map[uint64]bool{}}
	defer s.close()
	if err := s.open(ctx, walked); err != nil {
		return nil, err
	}
	if len(walked.Chats)+len(walked.Errs)+len(s.stores) == 0 && !opt.List.AllowEmpty {
		for _, err := range ops.Walk(opt.List).Errs {
			res.Errs = append(res.Errs, err)
		}
		return res, nil
	}
	if err := s.scan(ctx); err != nil {
		return nil, err
	}
	if err := s.scanStores(ctx); err != nil {
		return nil, err
	}
	groups, err := s.best(ctx)
	if err != nil {
		return nil, err
	}
	res.Errs = append(res.Errs, s.errs...)
	res.Found, res.ByDate = len(groups), s.byDate()
	if most := max(opt.Limit, MostCounted); opt.Limit > 0 && res.Found > most {
		res.Found = most + 1
	}
	if opt.Limit > 0 && len(groups) > opt.Limit {
		groups = groups[:opt.Limit]
	}
	for _, g := range groups {
		hit, err := s.show(ctx, g)
		if err != nil {
			res.Errs = append(res.Errs, err)
			continue
		}
		res.Hits = append(res.Hits, hit)
	}
	return res, ctx.Err()
}

// searcher is one search.
type searcher struct {
	SearchOptions
	lib     *library.Library
	chats   []ops.Target // those behind the first asked are read for what they hold alone
	asked   int
	spared  map[int]*history.Version // chats that need not be read: they are as this version
	folders map[string]string        // their real paths
	id      string                   // of the history, by which texts are known

	stores []*searchStore
	old    []*oldVersion
	held   map[uint64]bool // texts that are somewhere in a present chat, though no hits

	index   *wordindex.Index   // of the only history; nil: all lines are read
	matches *wordindex.Matches // what it has of the query
	corpus  wordindex.Corpus   // of what was read
	hits    []hit
	errs    []error
}

// hit is a place where a text was found.
type hit struct {
	text     uint64 // its hash
	date     int64  // milliseconds since 1970
	off, len int64  // of the message's line; in a version off is its piece
	number   int64  // in the order of archiving; 0: it was read, not looked up
	score    float32
	chat     int32 // below 0: in an old version, the one with number -1-chat
	index    int32 // there 0; of a chat that was not read the number of its line
	swipe    int32 // from 1; 0: not known
	words    int32 // how many it has, and how often it has each term: for ranking
	counts   []int32
	chosen   bool
	dated    bool
}

// scan reads all chats, several small ones at once, and of large ones one by all processors.
func (s *searcher) scan(ctx context.Context) error {
	s.Meter.Expect(len(s.chats), 0)
	results := make([]chatHits, len(s.chats))
	newReader := func() *searchReader { return newSearchReader(s) }
	progress.SmallFirst(ctx, len(s.chats), s.Meter, newReader, func(r *searchReader, i int, small bool) bool {
		if s.spared[i] == nil {
			results[i] = r.read(ctx, i, small)
		}
		return !results[i].large
	})
	for i, r := range results {
		if r.err != nil {
			s.errs = append(s.errs, &ops.SourceError{Path: s.chats[i].Path, Err: ops.PathError(r.err)})
		}
		if i < s.asked {
			s.hits = append(s.hits, r.hits...)
			s.corpus.Texts += r.corpus.Texts
			s.corpus.Words += r.corpus.Words
		} else {
			for _, h := range r.hits {
				s.held[h.text] = true
			}
		}
		for _, text := range r.held {
			s.held[text] = true
		}
		results[i] = chatHits{}
	}
	return ctx.Err()
}

// before orders hits: the newest first, and what has no date last; then by path, what is
// there before what was, and by place.
func (s *searcher) before(a, b hit) int {
	return cmp.Or(compareBools(!a.dated, !b.dated), cmp.Compare(b.date, a.date), strings.Compare(filepath.ToSlash(s.pathOf(a)), filepath.ToSlash(s.pathOf(b))),
		compareBools(a.chat < 0, b.chat < 0), cmp.Compare(a.index, b.index), cmp.Compare(a.off, b.off), cmp.Compare(a.swipe, b.swipe))
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

func (s *searcher) pathOf(h hit) string {
	if h.chat < 0 {
		return s.old[-1-h.chat].path
	}
	return s.chats[h.chat].Path
}

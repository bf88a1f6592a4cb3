package look

import (
	"cmp"
	"context"
	"slices"
	"time"

	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/rawjson"
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
	return opt.Since.IsZero() && opt.Until.IsZero() || said.Dated && within(time.UnixMilli(said.At), opt.Since, opt.Until)
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
	s := &searcher{SearchOptions: opt, scope: newScope(walked.Chats), presentTexts: map[uint64]bool{}, parents: map[int32]string{}}
	defer func() {
		s.damaged = wordindex.Damaged(err)
		s.close()
	}()
	asked := len(s.chats)
	opt.Meter.Expect(asked, 0)
	if s.errs, err = s.open(ctx, &opt, walked); err != nil {
		return res, err
	}
	if len(walked.Chats)+len(walked.Errs)+len(s.stores) == 0 && !opt.List.AllowEmpty {
		res.Errs = append(res.Errs, ops.Walk(opt.List).Errors()...)
		return res, nil
	}
	opt.Meter.Expect(len(s.chats)-asked, 0)
	if err := s.scan(ctx); err != nil {
		return nil, err
	}
	if err := s.scanStores(ctx); err != nil {
		return nil, err
	}
	shown := func(f *found) error {
		if _, before := slices.BinarySearch(told, f.best.text); before || opt.Limit > 0 && res.Shown >= opt.Limit {
			return nil
		}
		hit, err := s.show(ctx, f)
		switch {
		case wordindex.Damaged(err):
			return err
		case err != nil:
			res.Errs = append(res.Errs, err)
			return nil
		}
		if s.index != nil {
			res.told = append(res.told, f.best.text)
		}
		res.Shown++
		return opt.Each(hit)
	}
	if res.Found, err = s.best(ctx, shown); err != nil {
		return res, cmp.Or(ctx.Err(), err)
	}
	res.Errs = append(res.Errs, s.errs...)
	res.ByDate = s.byDate()
	if most := max(opt.Limit, MostCounted); opt.Limit > 0 && res.Found > most {
		res.Found = most + 1
	}
	return res, ctx.Err()
}

// searcher is one search.
type searcher struct {
	SearchOptions
	scope
	presentTexts map[uint64]bool // texts in a present chat that are not hits there
	looked       []uint64        // those of them that the index had for the texts that are looked up

	parents map[int32]string // names of chats, by the number of the chat that names them
	corpus  wordindex.Corpus // of what was read
	hits    []hit
	errs    []error
}

// hit is a place where a text was found.
type hit struct {
	text     uint64 // its hash
	date     int64  // milliseconds since 1970
	off, len int64  // of the message's line; in a version off is its piece
	number   int64  // in the order of archiving; 0: found by reading, not in the index
	score    float32
	chat     int32 // below 0: in an old version, the one with number -1-chat
	index    int32 // 0 in an old version; the line's number in a chat that was not read
	swipe    int32 // from 1; 0: not known
	words    int32 // for ranking: how many words the text has, and how often each term
	counts   []int32
	chosen   bool
	dated    bool
}

// scan reads all chats: several small ones at once, large ones one at a time on all
// processors.
func (s *searcher) scan(ctx context.Context) error {
	results := make([]chatHits, len(s.chats))
	newReader := func() *searchReader { return newSearchReader(s) }
	progress.SmallFirst(ctx, len(s.chats), s.Meter, newReader, func(r *searchReader, i int, small bool) bool {
		if s.unchangedChats[i] == nil {
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
				s.presentTexts[h.text] = true
			}
		}
		for _, text := range r.presentTexts {
			s.presentTexts[text] = true
		}
		results[i] = chatHits{}
	}
	return ctx.Err()
}

// byDate reports whether texts are ordered by date, the newest first. It is true, too, if
// they are ranked.
func (s *searcher) byDate() bool { return s.Rank || s.matches == nil || s.matches.ByDate }

// look adds the hits at the places of texts that the index found.
func (s *searcher) look(ctx context.Context, places []lineSpan, uses wordindex.Uses) {
	st := s.stores[0]
	taken := make([]bool, len(uses)) // by a version: of those with a line, the newest is shown
	for _, p := range places {
		from, to := uses.In(p.Run)
		for i := from; i < to; i++ {
			if p.chat < 0 && taken[i] {
				continue
			}
			u := &uses[i]
			h, ok := s.use(ctx, st, u)
			switch {
			case p.chat < 0:
				if taken[i] = true; ok {
					h.chat = p.chat
					s.hits = append(s.hits, h)
				}
			case ok && int(p.chat) < s.asked:
				h.chat, h.index = p.chat, int32(p.line+u.Piece-p.First)
				s.hits = append(s.hits, h)
			default:
				if !s.presentTexts[u.Text] {
					s.looked = append(s.looked, u.Text)
				}
				s.presentTexts[u.Text] = true
			}
		}
	}
}

// use makes a hit of a text that the index found; ok is false if the options exclude it.
func (s *searcher) use(ctx context.Context, st *searchStore, u *wordindex.Use) (h hit, ok bool) {
	if !u.Chosen && !s.Swipes || !s.wants(u.Said) {
		return h, false
	}
	name := func() []byte {
		line, err := st.piece(ctx, u.Piece)
		if err != nil {
			s.errs = append(s.errs, ops.PathError(err))
		}
		return rawjson.Value(line, "name")
	}
	return hit{text: u.Text, date: u.At, dated: u.Dated, off: u.Piece, number: u.Number, score: u.Score, swipe: int32(u.Swipe), chosen: u.Chosen}, s.names(name)
}

// scanStores searches the versions in the histories, each line once.
func (s *searcher) scanStores(ctx context.Context) error {
	for _, st := range s.stores {
		o := &oldReader{s: s, st: st, r: newSearchReader(s), long: map[string]bool{}}
		if err := o.chats(ctx); err != nil && ctx.Err() == nil {
			s.errs = append(s.errs, ops.PathError(err))
		}
	}
	return ctx.Err()
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

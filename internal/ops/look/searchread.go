package look

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/sendate"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/progress"
	"stchat/internal/text/words"
)

// searchReader searches one chat after another, and reuses its memory.
type searchReader struct {
	s    *searcher
	keys *jsonl.Keys
	buf  jsonl.Buffer
	own  searchTally

	seen []history.Run   // whole lines of a history that need not be searched
	long map[string]bool // likewise for lines stored in parts
}

// The keys of a message that a search reads.
const (
	searchText = iota
	searchSwipes
	searchSwipeID
	searchUser
	searchSystem
	searchExtra
	searchName
	searchDate
)

func newSearchReader(s *searcher) *searchReader {
	keys := jsonl.NewKeys("mes", "swipes", "swipe_id", "is_user", "is_system", "extra", "name", "send_date")
	return &searchReader{s: s, keys: keys, long: map[string]bool{}}
}

// readChats reads the chats from a number on: several small ones at once, large ones one at a time on
// all processors.
func (s *searcher) readChats(ctx context.Context, from int) error {
	sources := s.sources[from:]
	bytes := int64(0)
	for _, src := range sources {
		bytes += src.Size
	}
	s.Meter.Expect(len(sources), bytes)

	errs := make([]error, len(sources))
	progress.SmallFirst(ctx, len(sources), s.Meter, func() *searchReader { return newSearchReader(s) }, func(r *searchReader, i int, small bool) (done bool) {
		done, errs[i] = r.read(ctx, from+i, small)
		return done
	})
	for i, err := range errs {
		if err != nil {
			s.errs = append(s.errs, &ops.SourceError{Path: sources[i].Path, Err: ops.PathError(err)})
		}
	}
	return ctx.Err()
}

// read searches a chat. With small it does not read a large one, and done is false.
func (r *searchReader) read(ctx context.Context, source int, small bool) (done bool, err error) {
	src := r.s.sources[source]
	c, err := chat.Open(ctx, src.Path, chat.Options{Groups: r.s.lib, Regular: src.From != "", Any: true})
	if err != nil {
		return true, err
	}
	defer c.Close()
	opt := jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Limit: -1, Keys: r.keys, Progress: r.s.Meter.Follow()}
	switch {
	case !small:
		return true, jsonl.Map(ctx, c.Source, opt, r.line, func(t *searchTally, base jsonl.Base, _ jsonl.Damages) error {
			r.s.add(t, source, base.Index, 0)
			return nil
		}, (*searchTally).reset)
	case c.Source.Size > jsonl.Small:
		return false, nil
	}
	if err = r.lines(c.Source, opt); err == nil {
		r.s.add(&r.own, source, 0, 0)
	}
	return true, err
}

// lines searches a small source; r.own is what was found.
func (r *searchReader) lines(src jsonl.Source, opt jsonl.MapOptions) error {
	r.own.reset()
	opt.Limit, opt.Keys = -1, r.keys
	_, err := r.buf.Each(src, opt, func(l *jsonl.Line) { r.line(l, &r.own) })
	return err
}

// add adds what was found in a source, from the message or the line with a number on.
func (s *searcher) add(t *searchTally, source, index int, piece int64) {
	if len(t.hits) == 0 {
		return
	}
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
}

// searchTally is what was found in a stretch of a chat.
type searchTally struct {
	hits        []hit
	text, words []byte // memory to work in
}

func (t *searchTally) reset() { t.hits = t.hits[:0] }

// line searches one message. Only what passes the sieve is decoded.
func (r *searchReader) line(l *jsonl.Line, t *searchTally) {
	if l.Damage != nil {
		return
	}
	mes, _ := l.Value(searchText)
	swipes, _ := l.Value(searchSwipes)
	passes := r.s.sieve.Passes(mes)
	passesSwipe := r.s.readsSwipes() && len(swipes) > 0 && r.s.sieve.Passes(swipes)
	if !passes && !passesSwipe {
		return
	}

	m := spokenIn(l)
	wanted := r.s.wants(m)
	if !wanted && len(r.s.stores) == 0 {
		return
	}
	for text := range textsIn(l) {
		if !text.chosen && !passesSwipe {
			return
		}
		h := hit{at: l.Off, index: int32(l.Index), date: m.date}
		if !wanted || !text.chosen && !r.s.Swipes {
			h.index = notHit
		}
		r.match(text.raw, h, t)
	}
}

// readsSwipes reports whether other swipes than the chosen one matter: they are asked for, or tell that
// a text is not gone.
func (s *searcher) readsSwipes() bool { return s.Swipes || len(s.stores) > 0 }

// match adds a hit if the query matches a text.
func (r *searchReader) match(raw []byte, h hit, t *searchTally) {
	var ok bool
	if t.text, ok = rawjson.AppendUnquoted(t.text[:0], raw); !ok {
		return
	}
	if !r.s.sieve.Matches(raw) {
		t.words = words.Append(t.words[:0], string(t.text))
		if !r.s.Query.Match(t.words) {
			return
		}
	}

	h.text = r.s.hash(t.text)
	t.hits = append(t.hits, h)
}

// spoken is who says a message, and when.
type spoken struct {
	role message.Who
	name []byte // raw
	date int64  // milliseconds since 1970; undated
}

// spokenIn reads who says the message of a line, and when.
func spokenIn(l *jsonl.Line) spoken {
	value := func(key int) []byte {
		raw, _ := l.Value(key)
		return raw
	}
	m := spoken{name: value(searchName), date: undated}
	m.role = message.Role(m.name, value(searchUser), value(searchSystem), value(searchExtra))
	if date, ok := sendate.ParseRaw(value(searchDate)); ok {
		m.date = date.UnixMilli()
	}
	return m
}

// oneText is one text of a message.
type oneText struct {
	raw    []byte // a JSON string
	swipe  int    // its number, from 1; 0: it is none
	chosen bool   // it is shown
}

// textsIn yields the shown text of a message, and then the swipes that differ from it.
func textsIn(l *jsonl.Line) iter.Seq[oneText] {
	return func(yield func(oneText) bool) {
		mes, _ := l.Value(searchText)
		chosen := 0
		if id, ok := l.Value(searchSwipeID); ok {
			if n, ok := rawjson.Int(id); ok && n >= 0 && n < l.Count(searchSwipes) {
				chosen = n + 1
			}
		}

		if rawjson.KindOf(mes) == rawjson.String && !yield(oneText{mes, chosen, true}) {
			return
		}
		swipes, _ := l.Value(searchSwipes)
		n := 0
		for raw := range rawjson.Elements(swipes) {
			n++
			isSame := string(raw) == string(mes) || n == chosen && sameString(raw, mes)
			if rawjson.KindOf(raw) == rawjson.String && !isSame && !yield(oneText{raw, n, false}) {
				return
			}
		}
	}
}

// sameString reports whether two JSON strings have the same value, however they are escaped.
func sameString(a, b []byte) bool {
	x, okX := rawjson.Unquote(a)
	y, okY := rawjson.Unquote(b)
	return okX && okY && x == y
}

// readVersions searches the versions in the histories, each line once.
func (s *searcher) readVersions(ctx context.Context) error {
	for _, st := range s.stores {
		if err := newSearchReader(s).history(ctx, st); err != nil && ctx.Err() == nil {
			s.errs = append(s.errs, ops.PathError(err))
		}
	}
	return ctx.Err()
}

// history searches all versions of each chat, the newest first: of the versions that have a line,
// it is the one shown. What chats were found to have that are unchanged since the last snapshot need
// not be read again.
func (r *searchReader) history(ctx context.Context, st *searchStore) error {
	chats, err := st.store.Chats(ctx)
	if err != nil {
		return err
	}
	if r.seen, err = r.s.unchanged(ctx, st); err != nil {
		return err
	}
	byChat := map[int64][]*history.Version{}
	for i := range st.versions {
		v := &st.versions[i]
		byChat[v.Chat] = append(byChat[v.Chat], v)
	}

	for _, c := range chats {
		path := filepath.Join(st.root.Path, filepath.FromSlash(c.Path))
		kind := history.KindOf(c.Path)
		if !kind.IsChat() || !st.root.Means(path) {
			continue
		}
		var owner *string
		if kind == history.Solo {
			owner = new(filepath.Base(filepath.Dir(path)))
		}
		slices.SortFunc(byChat[c.ID], func(a, b *history.Version) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Rev, a.Rev)) })
		for _, v := range byChat[c.ID] {
			if err := r.version(ctx, &source{Target: ops.Target{Path: path}, owner: owner, old: true, store: st, version: v}); err != nil {
				return fmt.Errorf("%s, version %d: %w", path, v.Rev, err)
			}
		}
	}
	return nil
}

// version adds a version to the sources, and searches its lines that were not searched yet.
func (r *searchReader) version(ctx context.Context, src *source) (err error) {
	s := r.s
	if src.runs, err = src.version.Runs(); err != nil {
		return err
	}
	var whole, long []history.Run
	for i := 0; i < len(src.runs); i++ {
		if src.runs[i].Part == history.Whole {
			whole = append(whole, src.runs[i])
			continue
		}
		from := i // a line in parts
		for src.runs[i].Part == history.More && i+1 < len(src.runs) {
			i++
		}
		if key := fmt.Sprint(src.runs[from : i+1]); !r.long[key] {
			r.long[key] = true
			long = append(long, src.runs[from:i+1]...)
		}
	}

	fresh := history.Without(whole, r.seen)
	if len(fresh)+len(long) == 0 {
		return ctx.Err()
	}

	s.sources = append(s.sources, src)
	r.seen = history.Ranges(append(r.seen, fresh...))
	for line, err := range src.store.store.Lines(ctx, append(fresh, long...)) {
		if err != nil {
			return err
		}
		if err := r.lines(jsonl.Bytes(line.Data), jsonl.MapOptions{}); err != nil {
			return err
		}
		s.add(&r.own, len(s.sources)-1, int(src.line(line.Piece)), line.Piece)
	}
	return ctx.Err()
}

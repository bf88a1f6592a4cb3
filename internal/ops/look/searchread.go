package look

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"time"

	"stchat/internal/chat"
	"stchat/internal/inspect"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
	"stchat/internal/userdir"
	"stchat/internal/words"
)

// The keys of a message that a search reads.
const (
	searchName = iota
	searchIsUser
	searchIsSystem
	searchDate
	searchText
	searchSwipes
	searchSwipeID
)

// chatHits is what was found in a chat.
type chatHits struct {
	hits   []hit
	held   []uint64 // texts that match and are no hits
	corpus corpus
	large  bool // it was left alone, being large
	err    error
}

// searchReader searches one chat after another, with memory that it keeps.
type searchReader struct {
	s     *searcher
	terms []*words.Term
	keys  *jsonl.Keys
	buf   jsonl.Buffer
	own   searchTally
}

func newSearchReader(s *searcher) *searchReader {
	return &searchReader{s: s, terms: s.Query.Terms(), keys: jsonl.NewKeys("name", "is_user", "is_system", "send_date", "mes", "swipes", "swipe_id")}
}

// read searches the chat with number i; with small it leaves a large one alone.
func (r *searchReader) read(ctx context.Context, i int, small bool) (res chatHits) {
	t := r.s.chats[i]
	c, err := chat.Open(ctx, t.Path, chat.Options{Groups: r.s.lib, Regular: t.From != "", Any: true})
	if err != nil {
		res.err = err
		return res
	}
	defer c.Close()
	if res.large = small && c.Source.Size > jsonl.Small; res.large {
		return res
	}
	take := func(tally *searchTally, index int) {
		for _, h := range tally.hits {
			h.chat = int32(i)
			h.index += int32(index)
			res.hits = append(res.hits, h)
		}
		res.held = append(res.held, tally.held...)
		res.corpus.add(tally.corpus)
	}
	opt := jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Limit: -1, Keys: r.keys, Progress: r.s.Meter.Follow()}
	if small {
		r.own.reset()
		_, res.err = r.buf.Each(c.Source, opt, func(l *jsonl.Line) { r.own.line(l, r) })
		take(&r.own, 0)
	} else {
		res.err = jsonl.Map(ctx, c.Source, opt, func(l *jsonl.Line, t *searchTally) { t.line(l, r) }, func(t *searchTally, base jsonl.Base, _ jsonl.Damages) error {
			take(t, base.Index)
			return nil
		}, (*searchTally).reset)
	}
	res.hits = slices.Clip(res.hits)
	return res
}

// searchTally is what was found in a stretch of a chat.
type searchTally struct {
	hits   []hit
	held   []uint64
	corpus corpus

	text, words []byte
}

func (t *searchTally) reset() { t.hits, t.held, t.corpus = t.hits[:0], t.held[:0], corpus{} }

// line searches one message.
func (t *searchTally) line(l *jsonl.Line, r *searchReader) {
	if l.Damage != nil {
		return
	}
	h := hit{off: l.Off, len: int64(len(l.Raw)), index: int32(l.Index)}
	looked, wanted := false, false
	for swipe, raw := range textsOf(l) {
		h.chosen = swipe == 0
		if h.swipe = int32(swipe); h.chosen {
			h.swipe = int32(chosenSwipe(l))
		}
		// words are dearer than who and when
		if !looked {
			wanted, looked = r.wants(l, &h), true
		}
		if shown := h.chosen || r.s.Swipes; shown && (wanted || r.s.Rank) || len(r.s.stores) > 0 {
			t.match(raw, h, shown, wanted, r)
		}
	}
}

// match looks for the query in one text. It is a hit where texts of its kind are shown and
// the message is wanted.
func (t *searchTally) match(raw []byte, h hit, shown, wanted bool, r *searchReader) {
	var ok bool
	if t.text, ok = rawjson.AppendUnquoted(t.text[:0], raw); !ok {
		return
	}
	t.words = words.Append(t.words[:0], string(t.text))
	if r.s.Rank && shown {
		for _, c := range t.words {
			if c == ' ' {
				h.words++
			}
		}
		h.words = max(h.words-1, 0)
		t.corpus.add(corpus{1, int(h.words)})
	}
	if !r.s.Query.Match(t.words) {
		return
	}
	h.text = maphash.Bytes(r.s.seed, t.text)
	if !shown || !wanted {
		t.held = append(t.held, h.text)
		return
	}
	if r.s.Rank {
		for _, term := range r.terms {
			h.counts = append(h.counts, int32(term.Count(t.words)))
		}
	}
	t.hits = append(t.hits, h)
}

// textsOf yields the chosen text of a message, as swipe 0, and then those swipes that are
// other texts, with their numbers from 1.
func textsOf(l *jsonl.Line) func(yield func(swipe int, raw []byte) bool) {
	return func(yield func(int, []byte) bool) {
		mes, ok := l.Value(searchText)
		if ok && rawjson.KindOf(mes) == rawjson.String && !yield(0, mes) {
			return
		}
		swipes, _ := l.Value(searchSwipes)
		n := 0
		for raw := range rawjson.Elements(swipes) {
			n++
			if rawjson.KindOf(raw) == rawjson.String && string(raw) != string(mes) && !yield(n, raw) {
				return
			}
		}
	}
}

// chosenSwipe returns the number of the chosen swipe, from 1; 0 where the message has none.
func chosenSwipe(l *jsonl.Line) int {
	id, _ := l.Value(searchSwipeID)
	if n, ok := rawjson.Int(id); ok && n >= 0 && n < l.Count(searchSwipes) {
		return n + 1
	}
	return 0
}

// wants reports whether who said a message, and when, is what is looked for. It notes when.
func (r *searchReader) wants(l *jsonl.Line, h *hit) bool {
	value := func(key int) []byte {
		raw, _ := l.Value(key)
		return raw
	}
	date, dated := sendate.ParseRaw(value(searchDate))
	if h.dated = dated; dated {
		h.date = date.UnixMilli()
	}
	if len(r.s.Roles) > 0 && !slices.Contains(r.s.Roles, message.Role(value(searchIsUser), value(searchIsSystem))) {
		return false
	}
	if len(r.s.Names) > 0 {
		if name, ok := rawjson.Unquote(value(searchName)); !ok || !slices.Contains(r.s.Names, name) {
			return false
		}
	}
	return r.s.Since.IsZero() && r.s.Until.IsZero() || dated && within(date, r.s.Since, r.s.Until)
}

// within reports whether a date is not before since and not after until, which are zero
// where they do not matter.
func within(date, since, until time.Time) bool {
	return !date.Before(since) && (until.IsZero() || !date.After(until))
}

// corpus is what BM25 needs to know of all texts.
type corpus struct{ texts, words int }

func (c *corpus) add(d corpus) { c.texts, c.words = c.texts+d.texts, c.words+d.words }

// score is what SQLite's bm25() computes: k1 is 1.2, b is 0.75, and a term that more than
// half of the texts have counts next to nothing.
func (c *corpus) score(h hit, having []int) (score float64) {
	const k1, b, least = 1.2, 0.75, 1e-6
	mean := float64(c.words) / float64(max(c.texts, 1))
	for i, n := range h.counts {
		idf := math.Log((float64(c.texts-having[i]) + 0.5) / (float64(having[i]) + 0.5))
		if idf <= 0 {
			idf = least
		}
		score += idf * float64(n) * (k1 + 1) / (float64(n) + k1*(1-b+b*float64(h.words)/max(mean, 1)))
	}
	return score
}

// show reads a hit's message again and makes its document.
func (s *searcher) show(ctx context.Context, g *found) (*SearchHit, error) {
	h := g.best
	doc := &SearchHit{Schema: 1, Path: s.pathOf(h), Index: int(h.index), Places: g.places, Gone: g.gone, Marks: [][2]int{}}
	doc.Chat = userdir.ChatName(doc.Path)
	var line []byte
	var err error
	if h.chat < 0 {
		line, err = s.showOld(ctx, doc, h)
	} else {
		line, err = s.showPresent(ctx, doc, h)
	}
	if err != nil {
		return nil, &ops.SourceError{Path: doc.Path, Err: ops.PathError(err)}
	}
	o, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doc.Path, jsonl.ErrChanged)
	}
	user, _ := o.Get("is_user")
	system, _ := o.Get("is_system")
	date, _ := o.Get("send_date")
	doc.Role, doc.Name, doc.Date = string(message.Role(user, system)), text(o, "name"), inspect.DateText(date)
	if h.swipe > 0 {
		n := int(h.swipe)
		doc.Swipe = &n
	}
	raw, _ := o.Get("mes")
	if !h.chosen {
		swipes, _ := o.Get("swipes")
		n := int32(0)
		for element := range rawjson.Elements(swipes) {
			if n++; n == h.swipe {
				raw = element
			}
		}
	}
	said, ok := rawjson.Unquote(raw)
	if !ok || maphash.Bytes(s.seed, []byte(said)) != h.text {
		return nil, fmt.Errorf("%s: %w", doc.Path, jsonl.ErrChanged)
	}
	if snippet, marks := s.Query.Snippet(said); marks != nil {
		doc.Snippet, doc.Marks = snippet, marks
	} else {
		doc.Snippet = snippet
	}
	return doc, nil
}

// showPresent reads a hit's line in a chat as it is now.
func (s *searcher) showPresent(ctx context.Context, doc *SearchHit, h hit) ([]byte, error) {
	t := s.chats[h.chat]
	c, err := chat.Open(ctx, t.Path, chat.Options{Groups: s.lib, Regular: t.From != "", Any: true})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if c.Owner != "" {
		doc.Owner = &c.Owner
	}
	return c.Source.Section(h.off, h.len)
}

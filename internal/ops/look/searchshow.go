package look

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"stchat/internal/chat"
	"stchat/internal/history"
	"stchat/internal/inspect"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
	"stchat/internal/userdir"
	"stchat/internal/wordindex"
)

// show reads a hit's message again and makes its document.
func (s *searcher) show(ctx context.Context, g *found) (*SearchHit, error) {
	h := g.best
	doc := &SearchHit{Schema: 1, Path: s.pathOf(h), Index: int(h.index), Places: g.places, Gone: g.onlyInVersions, Marks: [][2]int{}}
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
	date := o.Value("send_date")
	doc.Role, doc.Name, doc.Date = string(message.Role(o.Value("is_user"), o.Value("is_system"))), text(o, "name"), inspect.DateText(date)
	if h.swipe > 0 {
		n := int(h.swipe)
		doc.Swipe = &n
	}
	raw := o.Value("mes")
	if !h.chosen {
		swipes := o.Value("swipes")
		n := int32(0)
		for element := range rawjson.Elements(swipes) {
			if n++; n == h.swipe {
				raw = element
			}
		}
	}
	said, ok := rawjson.Unquote(raw)
	at, dated := sendate.ParseRaw(date)
	if h.number != 0 && (!ok || s.hash([]byte(said)) != h.text || dated != h.dated || dated && at.UnixMilli() != h.date) {
		return nil, fmt.Errorf("%w: it leads to another text", wordindex.ErrDamaged)
	}
	if !ok || s.hash([]byte(said)) != h.text {
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
	if v := s.unchangedChats[int(h.chat)]; v != nil {
		st := s.stores[0] // an index is only used with one store
		if doc.Index, err = st.indexOf(ctx, v, int64(h.index)); err != nil {
			return nil, err
		}
		return st.piece(ctx, h.off)
	}
	return c.Source.Section(h.off, h.len)
}

// showOld finds a hit's line in its version, and the message's index there.
func (s *searcher) showOld(ctx context.Context, doc *SearchHit, h hit) ([]byte, error) {
	old := s.old[-1-h.chat]
	rev := int(old.Rev)
	if doc.Rev = &rev; old.owner != "" {
		doc.Owner = &old.owner
	}
	runs, err := old.Runs()
	if err != nil {
		return nil, err
	}
	counter := newMessageCounter()
	if inIndex(&old.Version) {
		line := int64(0)
		for _, r := range runs {
			if h.off >= r.First && h.off < r.First+r.Count {
				if doc.Index, err = old.store.indexOf(ctx, &old.Version, line+h.off-r.First); err != nil {
					return nil, err
				}
				return old.store.piece(ctx, h.off)
			}
			line += r.Count
		}
	}
	for line, err := range old.store.store.Lines(ctx, runs) {
		if err != nil {
			return nil, err
		}
		if line.Piece == h.off {
			doc.Index = counter.messages
			return slices.Clone(line.Data), nil
		}
		if err := counter.line(line.Data); err != nil {
			return nil, err
		}
	}
	return nil, history.ErrRewritten
}

// ErrNoHistory means that texts that are gone were asked for, but no history is kept.
var ErrNoHistory = errors.New("no history is kept here, so nothing is known of what is gone")

// searchStore is the history of a user's folder.
type searchStore struct {
	store *history.Store
	root  *ops.Root

	versions []history.Version // of all chats, in the order of archiving
}

// piece returns a line that is stored as one piece.
func (st *searchStore) piece(ctx context.Context, id int64) ([]byte, error) {
	for line, err := range st.store.Lines(ctx, []history.Run{{First: id, Count: 1, Part: history.Whole}}) {
		return slices.Clone(line.Data), err
	}
	return nil, history.ErrRewritten
}

// indexOf returns the index of the message on a line of a version. It need not read the
// lines before if all are messages, but for a header and an empty one after the last LF.
func (st *searchStore) indexOf(ctx context.Context, v *history.Version, line int64) (index int, err error) {
	runs, err := v.Runs()
	if err != nil {
		return 0, err
	}
	lines := int64(0)
	for _, r := range runs {
		lines += r.Count
	}
	last := runs[len(runs)-1]
	first, err := st.piece(ctx, runs[0].First)
	if err != nil {
		return 0, err
	}
	if end, err := st.piece(ctx, last.First+last.Count-1); err != nil {
		return 0, err
	} else if len(end) == 0 {
		lines--
	}
	header := int64(0)
	if meta.IsHeader(first) {
		header = 1
	}
	if lines-header == int64(v.Messages) {
		return int(line - header), nil
	}
	counter := newMessageCounter()
	for l, err := range st.store.Lines(ctx, runs) {
		if err != nil || line == 0 {
			return counter.messages, err
		}
		line--
		if err := counter.line(l.Data); err != nil {
			return 0, err
		}
	}
	return 0, history.ErrRewritten
}

// inIndex reports whether all lines of a version can be in the index: none is stored in
// parts.
func inIndex(v *history.Version) bool {
	runs, err := v.Runs()
	return err == nil && !slices.ContainsFunc(runs, func(r history.Run) bool { return r.Part != history.Whole })
}

// messageCounter counts messages as SillyTavern does.
type messageCounter struct {
	buf      jsonl.Buffer
	keys     *jsonl.Keys
	messages int
	begun    bool // the first line, header or not, was read
}

func newMessageCounter() *messageCounter { return &messageCounter{keys: jsonl.NewKeys()} }

func (c *messageCounter) line(data []byte) error {
	survives := false
	_, err := c.buf.Each(jsonl.Bytes(data), jsonl.MapOptions{Limit: -1, Keys: c.keys}, func(l *jsonl.Line) { survives = l.Damage == nil })
	if survives {
		if c.begun || !meta.IsHeader(data) {
			c.messages++
		}
		c.begun = true
	}
	return err
}

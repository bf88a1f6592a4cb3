package look

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"stchat/internal/chat"
	"stchat/internal/history"
	"stchat/internal/inspect"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/prose"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
	"stchat/internal/userdir"
	"stchat/internal/wordindex"
)

// show reads a hit's message again and makes its document.
func (s *searcher) show(ctx context.Context, g *found) (*SearchHit, error) {
	h := g.best
	doc := &SearchHit{Schema: 1, Places: g.places, Gone: g.onlyInVersions, Marks: [][2]int{}}
	if len(g.present) > 0 {
		h, doc.Chats = s.eldest(ctx, g.present)
	}
	doc.Path, doc.Index = s.pathOf(h), int(h.index)
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
	doc.Role, doc.Name, doc.Date = string(message.Role(o.Value("is_user"), o.Value("is_system"))), rawjson.TextOrNil(o.Value("name")), inspect.DateText(date)
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
	if s.Read {
		said, doc.Within = s.readable(said)
	}
	if snippet, marks := s.Query.Snippet(said); marks != nil {
		doc.Snippet, doc.Marks = snippet, marks
	} else {
		doc.Snippet = snippet
	}
	return doc, nil
}

// eldest returns, of places of one text, that in the chat of which all others may have it: an
// ancestor, else the first by name. It also returns the paths of the chats.
func (s *searcher) eldest(ctx context.Context, places []hit) (best hit, paths []string) {
	slices.SortFunc(places, func(a, b hit) int { return cmp.Or(strings.Compare(s.pathOf(a), s.pathOf(b)), s.before(a, b)) })
	places = slices.CompactFunc(places, func(a, b hit) bool { return a.chat == b.chat })
	for _, h := range places {
		paths = append(paths, s.pathOf(h))
	}
	for _, h := range places {
		if _, isChild := slices.BinarySearch(paths, s.parentOf(ctx, h.chat)); len(paths) == 1 || !isChild {
			return h, paths
		}
	}
	return places[0], paths
}

// parentOf returns where the chat lies that a chat names as its parent.
func (s *searcher) parentOf(ctx context.Context, number int32) string {
	path := s.chats[number].Path
	parent, known := s.parents[number]
	if !known {
		if c, err := chat.Open(ctx, path, chat.Options{Groups: s.lib, Regular: true, Any: true}); err == nil {
			parent, _ = rawjson.Unquote(c.Metadata().Value("main_chat"))
			c.Close()
		}
		s.parents[number] = parent // what cannot be read has none that is known
	}
	return filepath.Join(filepath.Dir(path), parent+filepath.Ext(path))
}

// readable returns the line that a reader sees of a text if the found words are in one; else the comment or
// tag that holds one, and which it is; else all of the text.
func (s *searcher) readable(said string) (text, within string) {
	holds := func(part string) bool {
		_, marks := s.Query.Snippet(part)
		return marks != nil
	}
	if text = prose.Plain(said); holds(text) {
		for line := range strings.SplitSeq(text, "\n") {
			if holds(line) {
				return line, ""
			}
		}
		return text, ""
	}
	for _, part := range hiddenPart.FindAllString(said, -1) {
		if _, prompt, ok := strings.Cut(part, `prompt="`); ok && holds(prompt) {
			return strings.Trim(prompt, `<!->"/ `), InPrompt
		}
		if holds(part) {
			return strings.Trim(part, "<!->/ "), InComment
		}
	}
	return said, ""
}

// hiddenPart is what a page does not show: a comment or a tag.
var hiddenPart = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)

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
		line, index, err := s.stores[0].message(ctx, v, h.off, int64(h.index)) // an index is only used with one store
		doc.Index = index
		return line, err
	}
	return c.Source.Section(h.off, h.len)
}

// showOld reads a hit's line in its version.
func (s *searcher) showOld(ctx context.Context, doc *SearchHit, h hit) ([]byte, error) {
	old := s.old[-1-h.chat]
	rev := int(old.Rev)
	if doc.Rev = &rev; old.owner != "" {
		doc.Owner = &old.owner
	}
	line, index, err := old.store.message(ctx, &old.Version, h.off, old.line(h.off))
	doc.Index = index
	return line, err
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

// message returns a line of a version, by its piece and its number, and the index of its message. It
// need not read the lines before if all are messages, but for a header and an empty one after the
// last LF.
func (st *searchStore) message(ctx context.Context, v *history.Version, piece, number int64) (line []byte, index int, err error) {
	runs, err := v.Runs()
	if err != nil {
		return nil, 0, err
	}
	if inIndex(v) {
		lines := int64(0)
		for _, r := range runs {
			lines += r.Count
		}
		last := runs[len(runs)-1]
		first, err := st.piece(ctx, runs[0].First)
		if err != nil {
			return nil, 0, err
		}
		if end, err := st.piece(ctx, last.First+last.Count-1); err != nil {
			return nil, 0, err
		} else if len(end) == 0 {
			lines--
		}
		header := int64(0)
		if meta.IsHeader(first) {
			header = 1
		}
		if lines-header == int64(v.Messages) {
			line, err = st.piece(ctx, piece)
			return line, int(number - header), err
		}
	}
	begun := false
	for l, err := range st.store.Lines(ctx, runs) {
		if err != nil || number == 0 {
			return slices.Clone(l.Data), index, err
		}
		number--
		if jsonl.Valid(l.Data) && rawjson.KindOf(l.Data) == rawjson.ObjectKind {
			if begun || !meta.IsHeader(l.Data) {
				index++
			}
			begun = true
		}
	}
	return nil, 0, history.ErrRewritten
}

// inIndex reports whether all lines of a version can be in the index: none is stored in
// parts.
func inIndex(v *history.Version) bool {
	runs, err := v.Runs()
	return err == nil && !slices.ContainsFunc(runs, func(r history.Run) bool { return r.Part != history.Whole })
}

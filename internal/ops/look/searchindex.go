package look

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
	"stchat/internal/wordindex"
)

// ask asks the word index. Where it does not serve, all lines are read, with the same
// answers; an index knows the texts of one history alone. The error is that ctx ended, or
// a [*wordindex.TooManyError].
func (s *searcher) ask(ctx context.Context) error {
	if s.NoIndex || len(s.stores) != 1 {
		return nil
	}
	st := s.stores[0]
	x, err := wordindex.Open(ctx, st.store)
	if err != nil {
		return ctx.Err()
	}
	m, err := x.Find(ctx, &wordindex.Want{Query: s.Query, Rank: s.Rank, Roles: s.Roles, Since: s.Since, Until: s.Until, Swipes: s.Swipes})
	if err == nil {
		if s.spared, err = s.atRest(ctx, st); err == nil {
			s.index, s.matches = x, m
			return ctx.Err()
		}
		_ = m.Close()
	}
	_ = x.Close() // what it has noted is noted
	if _, tooMany := errors.AsType[*wordindex.TooManyError](err); tooMany {
		return err
	}
	return ctx.Err()
}

// atRest finds the chats that stand as the last snapshot found them: they need not be read.
func (s *searcher) atRest(ctx context.Context, st *searchStore) (map[int]*history.Version, error) {
	seen, err := st.store.Seen(ctx)
	if err != nil {
		return nil, err
	}
	versions := make(map[int64]*history.Version, len(st.versions))
	for i := range st.versions {
		versions[st.versions[i].ID] = &st.versions[i]
	}
	rest := map[int]*history.Version{}
	root := userdir.RealPath(st.root.Path)
	for i, t := range s.chats {
		rel, err := filepath.Rel(root, s.real(t))
		if err != nil {
			continue
		}
		f, ok := seen[filepath.ToSlash(rel)]
		if !ok || f.Racy {
			continue
		}
		stamp, err := safefile.StampPath(t.Path)
		if err != nil || !stamp.Regular() || stamp.Size() != f.Size || stamp.ModTime().UnixNano() != f.Mtime || stamp.ChangeTime() != f.Ctime {
			continue
		}
		if v := versions[f.Version]; v != nil && inIndex(v) {
			rest[i] = v
		}
	}
	return rest, ctx.Err()
}

// inIndex reports whether all lines of a version are in the index: none is stored in parts.
func inIndex(v *history.Version) bool {
	runs, err := v.Runs()
	return err == nil && !slices.ContainsFunc(runs, func(r history.Run) bool { return r.Part != history.Whole })
}

// place is a run of lines in a chat at rest, or in an old version.
type place struct {
	history.Run
	line int64 // the number of the first
	chat int32 // as in [hit]
}

// places lists where lines are that are in the index: in the chats at rest, and then in
// old versions, of each chat the newest first.
func (s *searcher) places() (list []place, err error) {
	add := func(v *history.Version, chat int) error {
		runs, err := v.Runs()
		line := int64(0)
		for _, r := range runs {
			if r.Part == history.Whole {
				list = append(list, place{r, line, int32(chat)})
			}
			line += r.Count
		}
		return err
	}
	for i := range s.chats {
		if v := s.spared[i]; v != nil {
			if err := add(v, i); err != nil {
				return nil, err
			}
		}
	}
	for i, old := range s.old {
		if err := add(&old.Version, -1-i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// look takes hits from the uses of texts that the index found.
func (s *searcher) look(ctx context.Context, places []place, uses wordindex.Uses) {
	st := s.stores[0]
	taken := make([]bool, len(uses)) // by a version: the newest that has a line is shown
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
				s.held[u.Text] = true
			}
		}
	}
}

// use makes a hit of a text that was found, unless it is not what is looked for.
func (s *searcher) use(ctx context.Context, st *searchStore, u *wordindex.Use) (h hit, ok bool) {
	if !u.Chosen && !s.Swipes || !s.wants(u.Said) {
		return h, false
	}
	name := func() []byte {
		line, err := st.piece(ctx, u.Piece)
		if err != nil {
			s.errs = append(s.errs, ops.PathError(err))
		}
		raw, _ := rawjson.Lookup(line, "name")
		return raw
	}
	return hit{text: u.Text, date: u.At, dated: u.Dated, off: u.Piece, number: u.Number, score: u.Score, swipe: int32(u.Swipe), chosen: u.Chosen}, s.names(name)
}

// piece reads a line that is one piece.
func (st *searchStore) piece(ctx context.Context, id int64) ([]byte, error) {
	for line, err := range st.store.Lines(ctx, []history.Run{{First: id, Count: 1, Part: history.Whole}}) {
		return slices.Clone(line.Data), err
	}
	return nil, history.ErrRewritten
}

// indexOf returns the index of the message in a line of a version. Where each line is one,
// but for a header and what is behind the last LF, it need not read those before.
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

// messageCounter counts messages as SillyTavern does.
type messageCounter struct {
	buf      jsonl.Buffer
	keys     *jsonl.Keys
	messages int
	begun    bool // a header, or what stands in its place
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

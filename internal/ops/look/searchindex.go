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

// index asks the word index. Where it does not serve, all lines are read, with the same
// answers; an index knows the texts of one history alone. The error is that ctx ended, or
// a [*wordindex.TooManyError].
func (s *searcher) index(ctx context.Context, st *searchStore) error {
	if s.NoIndex || len(s.stores) > 1 {
		return nil
	}
	x, err := wordindex.Open(ctx, st.store)
	if err != nil {
		return ctx.Err()
	}
	defer func() { _ = x.Close() }() // what it has noted is noted
	f, err := x.Find(ctx, s.Query, s.Rank)
	if _, tooMany := errors.AsType[*wordindex.TooManyError](err); tooMany {
		return err
	}
	if err == nil && s.Rank {
		var c wordindex.Corpus
		c, err = x.Corpus(ctx, s.Query)
		s.indexed = &c
	}
	if err == nil {
		if s.spared, err = s.atRest(ctx, st); err == nil {
			st.found = f
		}
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

// look takes the places in chats at rest from what the index found.
func (s *searcher) look(ctx context.Context) error {
	for _, st := range s.stores {
		for i := range s.chats {
			v := s.spared[i]
			if v == nil {
				continue
			}
			runs, err := v.Runs()
			if err != nil {
				return err
			}
			line := int64(0)
			for _, r := range runs {
				for _, u := range st.found.In(r) {
					if h, ok := s.use(ctx, st, u); ok && i < s.asked {
						h.chat, h.index = int32(i), int32(line+u.Piece-r.First)
						s.hits = append(s.hits, h)
					} else {
						s.held[u.Text] = true
					}
				}
				line += r.Count
			}
		}
	}
	return ctx.Err()
}

// use makes a hit of a text that was found, unless it is not what is looked for.
func (s *searcher) use(ctx context.Context, st *searchStore, u wordindex.Use) (h hit, ok bool) {
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
	return hit{text: u.Text, date: u.At, dated: u.Dated, off: u.Piece, number: u.Number, swipe: int32(u.Swipe), chosen: u.Chosen}, s.names(name)
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

package look

import (
	"context"
	"errors"
	"slices"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/ops"
)

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

package look

import (
	"context"

	"stchat/internal/history"
	"stchat/internal/jsonl"
)

// onlyOld finds the texts of a search with --gone that the index has: it reads the lines of
// old versions that no chat at rest has. Most of a history is still in chats, so this takes
// less than to look up where each text with a common word stands. all is false if it does
// not, or if a line cannot be read, and texts are then to be taken from the index.
func (s *searcher) onlyOld(ctx context.Context, places []place) (texts []uint64, all bool) {
	if !s.Gone {
		return nil, false
	}
	var present, old []history.Run
	for _, p := range places {
		if p.chat < 0 {
			old = append(old, p.Run)
		} else {
			present = append(present, p.Run)
		}
	}
	old = history.Without(old, present)
	lines := int64(0)
	for _, r := range old {
		lines += r.Count
	}
	if lines > int64(s.matches.Texts) {
		return nil, false
	}
	r := newSearchReader(s)
	for line, err := range s.stores[0].store.Lines(ctx, old) {
		if err != nil {
			return nil, false
		}
		r.own.reset()
		if _, err := r.buf.Each(jsonl.Bytes(line.Data), jsonl.MapOptions{Limit: -1, Keys: r.keys}, func(l *jsonl.Line) { r.own.line(l, r) }); err != nil {
			return nil, false
		}
		for _, h := range r.own.hits {
			texts = append(texts, h.text)
		}
		texts = append(texts, r.own.held...)
	}
	return texts, true
}

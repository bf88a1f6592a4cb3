package edit

import (
	"context"

	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/message"
)

// isWhole reports whether a choice is all messages.
func isWhole(c choose.Choice) bool {
	if len(c.Ranges) == 1 && c.Ranges[0] == choose.From(0) {
		c.Ranges = nil
	}
	return c.All()
}

// reword makes the plan's substitutions in all messages while they are counted and validated, so
// that the chat is read once.
func (m *making) reword(ctx context.Context) error {
	subs := m.plan.Reword
	m.plan.Reword = nil // made
	var batch []changed
	scanned, err := choose.ScanBeside(ctx, &choose.Choice{Whole: true}, m.open.source(), func(at choose.Place) error {
		if len(batch) == 0 || batch[0].off != at.Off {
			return nil
		}
		c := &batch[0]
		batch = batch[1:]
		if c.index = at.Index; c.diff != nil {
			c.diff.Index = at.Index
		}
		return m.take(c)
	}, choose.Beside[[]changed]{
		Keys: []string{"mes", "swipes", "swipe_id"},
		Read: func(l *jsonl.Line, keys []int, batch *[]changed) {
			texts := message.TextsAt(l.Raw, l.Span(keys[0]), l.Span(keys[1]), l.Span(keys[2]))
			m.add(batch, &changed{splices: reworded(l.Raw, texts, subs)}, l.Off, l.Raw)
		},
		Fold: func(found *[]changed) { batch = *found },
		Reset: func(found *[]changed) {
			clear(*found)
			*found = (*found)[:0]
		},
	})
	if err = m.open.scanned(&scanned, err); err != nil {
		return err
	}
	if m.change.Messages = scanned.Messages; scanned.Chosen == 0 {
		return m.open.errorf("%w", choose.ErrNone)
	}
	return nil
}

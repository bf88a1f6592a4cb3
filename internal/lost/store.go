package lost

import (
	"context"
	"fmt"

	"stchat/internal/history"
	"stchat/internal/jsonl"
)

// StoreReader reads versions from a history. It reads each piece once and keeps its text.
type StoreReader struct {
	Store *history.Store
	*Reader

	texts []Text // by the number of the piece; 0: not read yet
	long  map[string]Text
}

// NewStoreReader returns a reader of the versions in a history.
func NewStoreReader(s *history.Store, r *Reader) *StoreReader {
	return &StoreReader{Store: s, Reader: r, long: map[string]Text{}}
}

// noText stands for a piece that was read and is not a message that counts.
const noText = ^Text(0)

// Version returns the texts of a version.
func (r *StoreReader) Version(ctx context.Context, v *history.Version) (*Version, error) {
	runs, err := v.Runs()
	if err != nil {
		return nil, err
	}
	return r.Pieces(ctx, runs, v.Messages)
}

// Pieces returns the texts of a version that consists of some pieces.
func (r *StoreReader) Pieces(ctx context.Context, runs []history.Run, messages int) (*Version, error) {
	res := &Version{Messages: messages}
	add := func(t Text) {
		if t == noText || !t.says() {
			return
		}
		if res.Texts = append(res.Texts, t); t&mark != 0 {
			res.Missing++
		}
	}
	for i := 0; i < len(runs); i++ {
		if runs[i].Part == history.Whole {
			if err := r.whole(ctx, runs[i], add); err != nil {
				return nil, err
			}
			continue
		}
		from := i // a line in parts
		for runs[i].Part == history.More && i+1 < len(runs) {
			i++
		}
		if err := r.parts(ctx, runs[from:i+1], add); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// whole adds the texts of pieces that are lines.
func (r *StoreReader) whole(ctx context.Context, run history.Run, add func(Text)) error {
	if need := int(run.First + run.Count); need > len(r.texts) {
		r.texts = append(r.texts, make([]Text, need-len(r.texts))...)
	}
	for id := run.First; id < run.First+run.Count; id++ {
		if r.texts[id] == 0 {
			// together with what follows, since packs are unpacked whole
			to := id
			for to < run.First+run.Count && r.texts[to] == 0 {
				to++
			}
			for line, err := range r.Store.Lines(ctx, []history.Run{{First: id, Count: to - id, Part: history.Whole}}) {
				if err != nil {
					return err
				}
				if r.texts[line.Piece], err = r.text(line.Data); err != nil {
					return err
				}
			}
		}
		add(r.texts[id])
	}
	return nil
}

// parts adds the texts of lines that are stored in parts.
func (r *StoreReader) parts(ctx context.Context, runs []history.Run, add func(Text)) error {
	key := fmt.Sprint(runs)
	if t, ok := r.long[key]; ok && runs[len(runs)-1].Count == 1 {
		add(t)
		return nil
	}
	for line, err := range r.Store.Lines(ctx, runs) {
		if err != nil {
			return err
		}
		t, err := r.text(line.Data)
		if err != nil {
			return err
		}
		r.long[key] = t
		add(t)
	}
	return nil
}

// text returns the text of a line, noText if it has none.
func (r *StoreReader) text(line []byte) (Text, error) {
	r.all.reset()
	_, err := r.buf.Each(jsonl.Bytes(line), jsonl.MapOptions{Limit: -1, Keys: r.keys}, func(l *jsonl.Line) { r.all.line(l, r.Reader) })
	if err != nil || len(r.all.texts) == 0 || r.all.texts[0] == 0 {
		return noText, err
	}
	return r.all.texts[0], nil
}

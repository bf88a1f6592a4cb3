package past

import (
	"context"
	"fmt"

	"stchat/internal/history"
	"stchat/internal/lost"
)

// backupPrefix begins the names in the history of backups whose chat is not known.
const backupPrefix = "backup:"

// storeReader reads versions from a history. It reads each piece once and keeps its text.
type storeReader struct {
	s     *history.Store
	r     *lost.Reader
	texts []lost.Text // by the number of the piece; 0: not read yet
	long  map[string]lost.Text
}

// noText stands for a piece that was read and is not a message that counts.
const noText = ^lost.Text(0)

// version returns the texts of a version.
func (r *storeReader) version(ctx context.Context, v *history.Version) (*lost.Version, error) {
	runs, err := v.Runs()
	if err != nil {
		return nil, err
	}
	res := &lost.Version{Messages: v.Messages}
	add := func(t lost.Text) {
		if t != noText {
			res.Append(t)
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
func (r *storeReader) whole(ctx context.Context, run history.Run, add func(lost.Text)) error {
	if need := int(run.First + run.Count); need > len(r.texts) {
		r.texts = append(r.texts, make([]lost.Text, need-len(r.texts))...)
	}
	for id := run.First; id < run.First+run.Count; id++ {
		if r.texts[id] == 0 {
			// together with what follows, since packs are unpacked whole
			to := id
			for to < run.First+run.Count && r.texts[to] == 0 {
				to++
			}
			for line, err := range r.s.Lines(ctx, []history.Run{{First: id, Count: to - id, Part: history.Whole}}) {
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
func (r *storeReader) parts(ctx context.Context, runs []history.Run, add func(lost.Text)) error {
	key := fmt.Sprint(runs)
	if t, ok := r.long[key]; ok && runs[len(runs)-1].Count == 1 {
		add(t)
		return nil
	}
	for line, err := range r.s.Lines(ctx, runs) {
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
func (r *storeReader) text(line []byte) (lost.Text, error) {
	t, err := r.r.Line(line)
	if t == 0 {
		t = noText
	}
	return t, err
}

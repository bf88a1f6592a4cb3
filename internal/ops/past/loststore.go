package past

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/history"
	"stchat/internal/lost"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// backupPrefix begins the names of backups in the history whose chat is not known.
const backupPrefix = "backup:"

// readStore judges the versions that the root's history has. What is wrong with it is told,
// and the rest of the search goes on. The error is that ctx ended.
func (f *finder) readStore(ctx context.Context, live *lost.Set) error {
	s, err := history.OpenRead(ctx, f.opt.Store(f.root.Path))
	if err == nil {
		defer s.Close()
		r := &storeReader{s: s, r: lost.NewReader(f.seed, live), long: map[string]lost.Text{}}
		err = f.readChats(ctx, r)
	}
	if err != nil && !errors.Is(err, history.ErrNoStore) && ctx.Err() == nil {
		f.errs = append(f.errs, ops.PathError(err))
	}
	return ctx.Err()
}

func (f *finder) readChats(ctx context.Context, r *storeReader) error {
	chats, err := r.s.Chats(ctx)
	if err != nil {
		return err
	}
	deleted := map[string]bool{}
	for _, c := range f.chats {
		deleted[userdir.RealPath(c.path)] = c.deleted // of a name that is taken again, the last one counts
	}
	for path := range f.byPath {
		deleted[path] = false
	}
	for _, c := range chats {
		path := filepath.Join(f.root.Path, filepath.FromSlash(c.Path()))
		if !c.Kind.IsChat() || deleted[userdir.RealPath(path)] {
			continue
		}
		versions, err := r.s.Versions(ctx, c.ID)
		if err != nil {
			return err
		}
		for _, v := range slices.Backward(versions) {
			if v.At.Before(f.opt.Since) {
				continue
			}
			old := &lostVersion{rev: int(v.Rev), at: v.At, chat: path}
			if c.Kind == history.Backup {
				old.chat, old.key = "", strings.TrimPrefix(c.Name, backupPrefix)
			}
			if old.said, err = r.version(ctx, &v); err != nil {
				return fmt.Errorf("%s, version %d: %w", path, v.Rev, err)
			}
			old.said.Slug = c.Slug
			if f.judge(old); !old.skip {
				f.versions = append(f.versions, old)
			}
		}
	}
	return nil
}

// storeReader reads versions from a history: each piece once, of which it keeps the text.
type storeReader struct {
	s     *history.Store
	r     *lost.Reader
	texts []lost.Text // by the number of the piece; 0: not read yet
	long  map[string]lost.Text
}

// noText stands for a piece that was read and is no message that counts.
const noText = ^lost.Text(0)

// version returns what a version says.
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
			// with what follows, since packs are unpacked whole
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

// text returns what a line says, and noText where that is nothing.
func (r *storeReader) text(line []byte) (lost.Text, error) {
	t, err := r.r.Line(line)
	if t == 0 {
		t = noText
	}
	return t, err
}

package rules

import (
	"context"
	"errors"
	"hash/maphash"
	"os"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// Common gives how many messages from the first on two chats share, by name,
// is_user and mes; it stops looking after limit of them (below 0: never). Both
// are read in step, a batch of lines at a time.
func (k *Checker) Common(ctx context.Context, a, b string, limit int) (int, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	left, right := k.stream(ctx, a, limit), k.stream(ctx, b, limit)
	n := 0
	for limit < 0 || n < limit {
		x, okX := left.next()
		y, okY := right.next()
		if !okX || !okY || x != y {
			break
		}
		n++
	}
	stop()
	return n, errors.Join(left.close(), right.close())
}

// stream is the hashes of a chat's messages, one by one.
type stream struct {
	batches chan []uint64
	now     []uint64
	err     error // once batches is closed
}

func (k *Checker) stream(ctx context.Context, path string, limit int) *stream {
	st := &stream{batches: make(chan []uint64)}
	go func() {
		defer close(st.batches)
		st.err = k.send(ctx, path, limit, st.batches)
	}()
	return st
}

func (st *stream) next() (uint64, bool) {
	for len(st.now) == 0 {
		batch, ok := <-st.batches
		if !ok {
			return 0, false
		}
		st.now = batch
	}
	h := st.now[0]
	st.now = st.now[1:]
	return h, true
}

// close waits for the reader to end; that it was stopped is no error.
func (st *stream) close() error {
	for range st.batches {
	}
	if errors.Is(st.err, context.Canceled) {
		return nil
	}
	return st.err
}

// send reads a chat and sends the hashes of its messages.
func (k *Checker) send(ctx context.Context, path string, limit int, to chan<- []uint64) error {
	src, f, _, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if limit >= 0 {
		limit++ // the header
	}
	type hashes struct {
		list   []uint64
		header bool // the first line is one
	}
	err = jsonl.Map(ctx, src, jsonl.MapOptions{Limit: limit, Keys: lineKeys(), Workers: 1},
		func(l *jsonl.Line, h *hashes) {
			if l.Damage != nil {
				return
			}
			if l.Index == 0 {
				h.header = isHeader(l)
			}
			h.list = append(h.list, k.meaning(l))
		},
		func(h *hashes, base jsonl.Base, _ []jsonl.Damage) error {
			if base.Index == 0 && h.header {
				h.list = h.list[1:]
			}
			select {
			case to <- h.list:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}, nil)
	if err != nil && !errors.Is(err, context.Canceled) {
		return &os.PathError{Op: "read", Path: path, Err: err}
	}
	return err
}

// meaning is the hash of a message's name, is_user and mes as they read,
// however they are spelled.
func (k *Checker) meaning(l *jsonl.Line) uint64 {
	text := func(key int) uint64 {
		raw, _ := l.Value(key)
		if s, ok := rawjson.Unquote(raw); ok {
			return maphash.String(k.seed, s)
		}
		return ^maphash.Bytes(k.seed, raw)
	}
	user, _ := l.Value(keyIsUser)
	h := roll(text(keyMes), text(keyName))
	if rawjson.Truthy(user) {
		h = ^h
	}
	return h
}

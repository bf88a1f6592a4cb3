package rules

import (
	"context"
	"errors"
	"hash/maphash"
	"os"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// hasher hashes messages; hashes of one hasher can be compared.
type hasher struct{ seed maphash.Seed }

// hash is the hash of what two chats that share a message agree on: its name,
// is_user and mes, as they are spelled.
func (h hasher) hash(l *jsonl.Line) uint64 {
	name, _ := l.Value(keyName)
	user, _ := l.Value(keyIsUser)
	mes, _ := l.Value(keyMes)
	sum := maphash.Bytes(h.seed, mes)
	sum = roll(sum, maphash.Bytes(h.seed, name))
	if rawjson.Truthy(user) {
		sum = ^sum
	}
	return sum
}

// meaning is the hash of a message's name, is_user and mes as they read,
// however they are spelled.
func (h hasher) meaning(l *jsonl.Line) uint64 {
	text := func(key int) uint64 {
		raw, _ := l.Value(key)
		if s, ok := rawjson.Unquote(raw); ok {
			return maphash.String(h.seed, s)
		}
		return ^maphash.Bytes(h.seed, raw)
	}
	user, _ := l.Value(keyIsUser)
	sum := roll(text(keyMes), text(keyName))
	if rawjson.Truthy(user) {
		sum = ^sum
	}
	return sum
}

// roll puts one more message behind a rolling hash.
func roll(chain, message uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	chain = (chain ^ message) * odd
	return chain ^ chain>>29
}

// common returns how many messages from the first on two chats share, by name,
// is_user and mes; it stops looking after limit of them (below 0: never). Both
// are read in step, a batch of lines at a time.
func (h hasher) common(ctx context.Context, a, b string, limit int) (int, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	left, right := h.stream(ctx, a, limit), h.stream(ctx, b, limit)
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

// errFound ends a search.
var errFound = errors.New("found")

// holds reports whether one of the chat's messages says the same as that with
// the given meaning.
func (h hasher) holds(ctx context.Context, path string, meaning uint64) (bool, error) {
	src, f, _, err := open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = jsonl.Map(ctx, src, jsonl.MapOptions{Limit: -1, Keys: lineKeys(), Workers: 1},
		func(l *jsonl.Line, found *bool) {
			if l.Damage == nil && !*found {
				*found = h.meaning(l) == meaning
			}
		},
		func(found *bool, _ jsonl.Base, _ jsonl.Damages) error {
			if *found {
				return errFound
			}
			return nil
		}, nil)
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// stream is the hashes of a chat's messages, one by one.
type stream struct {
	batches chan []uint64
	now     []uint64
	err     error // once batches is closed
}

func (h hasher) stream(ctx context.Context, path string, limit int) *stream {
	st := &stream{batches: make(chan []uint64)}
	go func() {
		defer close(st.batches)
		st.err = h.send(ctx, path, limit, st.batches)
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
	sum := st.now[0]
	st.now = st.now[1:]
	return sum, true
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
func (h hasher) send(ctx context.Context, path string, limit int, to chan<- []uint64) error {
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
		func(l *jsonl.Line, batch *hashes) {
			if l.Damage != nil {
				return
			}
			if l.Index == 0 {
				batch.header = isHeader(l)
			}
			batch.list = append(batch.list, h.meaning(l))
		},
		func(batch *hashes, base jsonl.Base, _ jsonl.Damages) error {
			if base.Index == 0 && batch.header {
				batch.list = batch.list[1:]
			}
			select {
			case to <- batch.list:
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

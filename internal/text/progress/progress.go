// Package progress spreads work over the processors, and counts what is done so that it
// can be shown.
//
// The verbs add to a [Meter] from any goroutine; only the command reads it and draws. A
// nil Meter counts nothing, so that no verb has to check for one.
package progress

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Meter counts files and bytes.
type Meter struct {
	files, done, bytes, read atomic.Int64
}

// Expect adds files and their bytes to the work ahead.
func (m *Meter) Expect(files int, bytes int64) {
	if m != nil {
		m.files.Add(int64(files))
		m.bytes.Add(bytes)
	}
}

// Read adds to the bytes read.
func (m *Meter) Read(bytes int64) {
	if m != nil {
		m.read.Add(bytes)
	}
}

// Done counts one file as done.
func (m *Meter) Done() {
	if m != nil {
		m.done.Add(1)
	}
}

// State holds a meter's counts: of the work ahead, files and bytes; of what is done,
// files and bytes read.
type State struct{ Files, Done, Bytes, Read int64 }

// State returns the current counts. The meter must not be nil.
func (m *Meter) State() State {
	return State{m.files.Load(), m.done.Load(), m.bytes.Load(), m.read.Load()}
}

// Follow returns a function that takes the byte offset that a reader has reached in a
// file, and adds the progress since its last call to the meter. It returns nil for a nil
// Meter.
func (m *Meter) Follow() func(int64) {
	if m == nil {
		return nil
	}
	var last int64
	return func(at int64) {
		m.read.Add(at - last)
		last = at
	}
}

// Each calls do for 0 to n-1 from as many goroutines as there are processors, and returns
// when all calls have returned. It makes no new calls once ctx ends.
func Each(ctx context.Context, n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			do(i)
		}
	}

	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// SmallFirst calls read for 0 to n-1, each time with a reader from newReader that no other
// call uses meanwhile. It first calls read for all of them with small set, as [Each] does.
// Those for which read returned false, because they are large, follow one after another, so
// that each can have all processors. What is done counts in m. It stops when ctx ends.
func SmallFirst[R any](ctx context.Context, n int, m *Meter, newReader func() R, read func(r R, i int, small bool) (done bool)) {
	readers := sync.Pool{New: func() any { return newReader() }}
	large := make([]bool, n)
	do := func(i int, small bool) {
		r := readers.Get().(R)
		defer readers.Put(r)

		done := read(r, i, small)
		large[i] = !done
		if done {
			m.Done()
		}
	}

	Each(ctx, n, func(i int) { do(i, true) })
	for i := range n {
		if large[i] && ctx.Err() == nil {
			do(i, false)
		}
	}
}

// Until returns what do returns, or the error of ctx as soon as that ends: do, which cannot be
// interrupted, is left to itself then.
func Until[T any](ctx context.Context, do func() (T, error)) (value T, err error) {
	done := make(chan struct{})
	var made T
	var failed error
	go func() {
		defer close(done)
		made, failed = do()
	}()
	select {
	case <-done:
		return made, failed
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

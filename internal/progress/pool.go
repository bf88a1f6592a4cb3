package progress

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

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
		if large[i] = !read(r, i, small); !large[i] {
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

package ops

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls do for 0 to n-1 from as many goroutines as there are processors,
// and stops handing out numbers when ctx ends.
func each(ctx context.Context, n int, do func(i int)) {
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

// inner gives how many goroutines may work on one of n files: all where there
// is only one, else the files themselves are the parallel work.
func inner(n int) int {
	if n > 1 {
		return 1
	}
	return 0
}

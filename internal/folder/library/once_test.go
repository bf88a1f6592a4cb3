package library

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestOnceAKey(t *testing.T) {
	var o Once[string]
	var found atomic.Int32
	var wg sync.WaitGroup
	for i := range 100 {
		key := string(rune('a' + i%4))
		wg.Go(func() {
			got := o.Get(key, func() string {
				found.Add(1)
				return "value of " + key
			})
			if got != "value of "+key {
				t.Errorf("%s: %q", key, got)
			}
		})
	}
	wg.Wait()
	if n := found.Load(); n != 4 {
		t.Errorf("found %d times, want once a key", n)
	}
}

package library

import "sync"

// Once remembers a value for each key. The zero Once is ready, and safe for use
// by several goroutines at once: of those that ask for one key, one finds its
// value and the others wait for it; other keys are not held up.
type Once[V any] struct {
	mu     sync.Mutex
	values map[string]func() V
}

// Get returns the key's value, which find returns when the key is first asked
// for.
func (o *Once[V]) Get(key string, find func() V) V {
	o.mu.Lock()
	known := o.values[key]
	if known == nil {
		if o.values == nil {
			o.values = map[string]func() V{}
		}
		known = sync.OnceValue(find)
		o.values[key] = known
	}
	o.mu.Unlock()
	return known()
}

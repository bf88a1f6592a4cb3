// Package memo looks each thing up once: what lies around many chats (folders,
// group files, lorebooks) is read for the first of them and remembered for the
// rest of the call.
package memo

import "sync"

// Memo remembers a value a key. The zero Memo is ready, and safe for use by
// several goroutines at once: of those that ask for one key, one finds its value
// and the others wait for it, while other keys go on.
type Memo[V any] struct {
	mu     sync.Mutex
	values map[string]func() V
}

// Get gives the key's value, which find makes when it is first asked for.
func (m *Memo[V]) Get(key string, find func() V) V {
	m.mu.Lock()
	known := m.values[key]
	if known == nil {
		if m.values == nil {
			m.values = map[string]func() V{}
		}
		known = sync.OnceValue(find)
		m.values[key] = known
	}
	m.mu.Unlock()
	return known()
}

package library

import (
	"slices"
	"sync"

	"stchat/internal/names"
)

// Names are the names of the chats in a folder.
type Names struct {
	Chats  []string // as they were given
	has    map[string]bool
	folded func() map[string]string // the chat for a name without its letter case
}

// NamesOf returns the names to look for others among.
func NamesOf(chats []string) Names {
	n := Names{Chats: chats, has: make(map[string]bool, len(chats))}
	for _, name := range chats {
		n.has[name] = true
	}
	n.folded = sync.OnceValue(func() map[string]string {
		folded := make(map[string]string, len(chats))
		for _, name := range slices.Backward(chats) {
			folded[names.Fold(name)] = name
		}
		return folded
	})
	return n
}

// Has reports whether a chat of just this name is among them.
func (n Names) Has(name string) bool { return n.has[name] }

// Target returns the name of the chat to which a name out of a file leads: the chat
// of that name, else the one that SillyTavern's server makes of the name, else one
// that differs in letter case only, as in folders that come from Windows. ok is false
// where there is none.
func (n Names) Target(name string) (chat string, ok bool) {
	if n.has[name] {
		return name, true
	}
	safe, err := names.Sanitize(name)
	if err != nil {
		return "", false
	}
	if n.has[safe] {
		return safe, true
	}
	chat, ok = n.folded()[names.Fold(safe)]
	return chat, ok
}

package library

import (
	"slices"
	"sync"

	"stchat/internal/names"
)

// Names holds the names of the chats in a folder.
type Names struct {
	Chats  []string // as given to [NamesOf]
	has    map[string]bool
	folded func() map[string]string // the chat for a folded name
}

// NamesOf returns a Names in which chats can be found.
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

// Has reports whether a chat with exactly this name is among them.
func (n Names) Has(name string) bool { return n.has[name] }

// Target returns the chat that a name found in a file refers to: the one with that
// name, or with what SillyTavern's server makes of the name, or one that differs only
// in letter case, as in folders that come from Windows. ok is false if there is none.
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

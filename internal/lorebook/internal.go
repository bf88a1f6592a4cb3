package lorebook

import (
	"fmt"
	"strings"
)

// Kind is what an entry is for, by its comment.
type Kind uint8

// The kinds of entries. All but User are extension-internal: state of Auto-Recap,
// not lore.
const (
	User     Kind = iota
	QueueLog      // __operation_queue, and the stale name _operations_queue_
	Registry      // _registry_<type>
	Index         // __index_<category>
)

const queueComment = "__operation_queue"

// KindOf returns the kind of an entry with the comment.
func KindOf(comment string) Kind {
	switch {
	case comment == queueComment, comment == "_operations_queue_":
		return QueueLog
	case strings.HasPrefix(comment, "_registry_"):
		return Registry
	case strings.HasPrefix(comment, "__index_"):
		return Index
	default:
		return User
	}
}

// Kind returns the entry's kind.
func (e *Entry) Kind() Kind { return KindOf(e.Comment) }

// HasExtensionState reports whether any entry is extension-internal.
func (b *Book) HasExtensionState() bool { return b.InternalCount() > 0 }

// InternalCount returns how many entries are extension-internal.
func (b *Book) InternalCount() int {
	n := 0
	for i := range b.Entries {
		if b.Entries[i].Kind() != User {
			n++
		}
	}
	return n
}

// Internal is what happens to extension-internal entries in a clone or snapshot.
type Internal uint8

// The policies. [Default] means [Drop] for a clone and [Reset] for a snapshot, which is
// useless without its registries.
const (
	Default Internal = iota
	Drop             // left out
	Keep             // copied
	Reset            // copied, with the queue emptied
)

// InternalNames returns the names that [ParseInternal] accepts.
func InternalNames() []string { return []string{"drop", "keep", "reset"} }

// ParseInternal returns the policy with one of the [InternalNames]; "" is [Default]. The
// error names an unknown policy.
func ParseInternal(s string) (Internal, error) {
	switch s {
	case "":
		return Default, nil
	case "drop":
		return Drop, nil
	case "keep":
		return Keep, nil
	case "reset":
		return Reset, nil
	}
	return Default, fmt.Errorf("unknown policy %q for internal entries; choose %s", s, strings.Join(InternalNames(), ", "))
}

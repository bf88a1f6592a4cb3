package lorebook

import (
	"errors"
	"fmt"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
)

// Operation is one piece of work in Auto-Recap's queue.
type Operation struct {
	Type, Status string
	Messages     []int // message indexes in its params and metadata
}

// Pending reports whether the operation would still run: on load Auto-Recap resets
// in_progress and retrying to pending.
func (o *Operation) Pending() bool {
	return o.Status == "pending" || o.Status == "in_progress" || o.Status == "retrying"
}

// Queue is the content of a book's queue entries.
type Queue []Operation

// Pending returns how many operations would still run.
func (q Queue) Pending() (n int) {
	for i := range q {
		if q[i].Pending() {
			n++
		}
	}
	return n
}

// Queue reads the queue entries. Content that is empty, or has no queue in it, is an
// empty queue, as in Auto-Recap's loadQueue; the old form with operations is read, too.
// Anything else is an error, since it is unknown what such a queue holds.
func (b *Book) Queue() (q Queue, err error) {
	for i := range b.Entries {
		e := &b.Entries[i]
		if e.Kind() != QueueLog {
			continue
		}
		operations, err := readQueue(e.Raw)
		if err != nil {
			return q, fmt.Errorf("%s: entry %q (uid %s): the queue cannot be read: %w", b.Path, e.Comment, e.UID, err)
		}
		q = append(q, operations...)
	}
	return q, nil
}

func readQueue(entry []byte) ([]Operation, error) {
	raw, ok := rawjson.Lookup(entry, "content")
	if !ok || rawjson.KindOf(raw) == rawjson.Null {
		return nil, nil
	}
	content, ok := rawjson.Unquote(raw)
	if !ok {
		return nil, fmt.Errorf("its content is %s, not text", rawjson.KindOf(raw))
	}
	if strings.TrimSpace(content) == "" {
		return nil, nil
	}
	if damage := jsonl.Check([]byte(content)); damage != nil {
		return nil, fmt.Errorf("its content is not JSON: %w", damage)
	}
	queue := []byte(content)
	if rawjson.KindOf(queue) != rawjson.ObjectKind {
		return nil, errors.New("its content is not an object")
	}
	list, ok := rawjson.Lookup(queue, "queue")
	if !ok {
		list = rawjson.Value(queue, "operations")
	}
	switch kind := rawjson.KindOf(list); {
	case !rawjson.Truthy(list):
		return nil, nil
	case kind != rawjson.Array:
		return nil, fmt.Errorf("its queue is %s, not a list", kind)
	}

	var operations []Operation
	for raw := range rawjson.Elements(list) {
		var o Operation
		for key, value := range rawjson.Members(raw) {
			switch name, _ := rawjson.Unquote(key); name {
			case "type":
				o.Type, _ = rawjson.Unquote(value)
			case "status":
				o.Status, _ = rawjson.Unquote(value)
			case "params", "metadata":
				o.Messages = append(o.Messages, messagesIn(value)...)
			}
		}
		operations = append(operations, o)
	}
	return operations, nil
}

// messagesIn returns the message indexes in an operation's params or metadata.
func messagesIn(raw []byte) (list []int) {
	for key, value := range rawjson.Members(raw) {
		switch name, _ := rawjson.Unquote(key); name {
		case "message_index", "scene_index", "start_index", "end_index", "index":
			if at, ok := rawjson.Int(value); ok {
				list = append(list, at)
			}
		}
	}
	return list
}

// emptyQueue is the content of an empty queue as Auto-Recap writes it (JSON.stringify
// with two spaces).
const emptyQueue = "{\n  \"queue\": [],\n  \"current_operation_id\": null,\n  \"paused\": false,\n  \"version\": 1,\n  \"queueVersion\": 0\n}"

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
type Internal string

// The policies. [Default] means [Drop] for a clone and [Reset] for a snapshot, which is
// useless without its registries.
const (
	Default Internal = ""
	Drop    Internal = "drop"  // left out
	Keep    Internal = "keep"  // copied
	Reset   Internal = "reset" // copied, with the queue emptied
)

// Internals returns the policies, but for [Default].
func Internals() []Internal { return []Internal{Drop, Keep, Reset} }

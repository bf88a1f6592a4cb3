package ops

import (
	"fmt"
	"strings"
	"time"

	"stchat/internal/changeset"
	"stchat/internal/luker"
	"stchat/internal/safefile"
)

// Result is what a verb made of one CHAT. D is its JSON document, with nothing else in it.
type Result[D any] struct {
	Doc D
	// Warnings are what one should know before relying on the result; Notes are further
	// remarks.
	Warnings, Notes []string
	// Outcome is what became of the files; its Err is why there is no result.
	changeset.Outcome
}

// Warn adds a warning.
func (r *Result[D]) Warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Note adds a remark that is not a warning.
func (r *Result[D]) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// LeftOut returns the note that keys were named which a merge or a patch cannot change.
func LeftOut(keys []string) string {
	return fmt.Sprintf("what is given for %s is left out", strings.Join(keys, " and "))
}

// Written is the part of the JSON document that all commands that write have in common.
type Written struct {
	Operation *string `json:"operation"` // what undo takes
	Steps     []Step  `json:"steps"`     // as done, or as they would be
}

// Step is a step of a change as JSON documents show it.
type Step struct {
	Do    changeset.Do `json:"do"`
	Path  string       `json:"path" is:"path"`
	To    *string      `json:"to" is:"path"`
	About string       `json:"about"`
	Bytes int64        `json:"bytes"`
}

// WrittenBy returns the part of the document that an outcome fills.
func WrittenBy(o changeset.Outcome) Written {
	w := Written{}
	if o.ID != "" {
		w.Operation = &o.ID
	}
	for _, s := range o.Steps {
		step := Step{s.Do, s.Path, nil, s.About, s.Bytes}
		if s.To != "" {
			step.To = &s.To
		}
		w.Steps = append(w.Steps, step)
	}
	return w
}

// Sidecar is a file beside a chat of Luker, and what became of it.
type Sidecar struct {
	Path   string `json:"path" is:"path"`
	Action string `json:"action"`
}

// SyncSlug drafts the chat's new slug in its chat_sync, where Luker looks first (FORMATS.md
// A1.6).
func SyncSlug(s *changeset.Set, path, slug string, now time.Time, about string) error {
	return s.Edit(path, safefile.Stamp{}, changeset.Bytes(func([]byte) ([]byte, error) { return luker.SyncData(slug, now.UnixMilli()), nil }), about)
}

// NewSlug is what a step says of a chat_sync that follows its chat.
const NewSlug = "the chat's new slug, where Luker looks first"

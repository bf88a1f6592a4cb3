package cut

import (
	"errors"
	"fmt"

	"stchat/internal/lorebook"
)

// Kinds of errors that a caller can act on, to be matched with errors.Is.
var (
	ErrMetadataElsewhere = errors.New("the chat has no header, so its metadata may be in this group file, which cannot be read")
	ErrGivenTwice        = errors.New("an earlier CHAT of this call has this name already")
	ErrNoUserFolder      = errors.New("the chat is in no SillyTavern user folder")
	ErrNoSnapshot        = errors.New("there is no snapshot of it")
	ErrRequirement       = errors.New("required") // something that was required does not hold
	ErrGroupFile         = errors.New("the group file cannot be edited")
	ErrLinkElsewhere     = errors.New("a link needs the new chat beside its source")
	ErrLink              = errors.New("the source cannot be edited")
	ErrNoSlug            = errors.New("the chat has no header to hold a slug")
)

// kindError is an error of a kind that its text does not name.
type kindError struct {
	error
	kind error
}

func (e *kindError) Unwrap() []error { return []error{e.error, e.kind} }

// as marks err as one of a kind.
func as(kind, err error) error { return &kindError{err, kind} }

// MissingBookError means that a chat names a lorebook that does not exist. It wraps
// [lorebook.ErrMissing].
type MissingBookError struct{ Name string }

func (e *MissingBookError) Error() string {
	return fmt.Sprintf("the lorebook %q that the chat names does not exist", e.Name)
}

// Unwrap returns [lorebook.ErrMissing].
func (e *MissingBookError) Unwrap() error { return lorebook.ErrMissing }

// OwnMessagesError means that a chat made from a source was continued, so that replacing it
// would lose messages.
type OwnMessagesError struct {
	Path string
	Own  int    // its messages that the source lacks
	From string // the source's name
}

// Error returns a message with the number of messages that would be lost.
func (e *OwnMessagesError) Error() string {
	own := fmt.Sprintf("%d messages", e.Own)
	if e.Own == 1 {
		own = "a message"
	}
	return fmt.Sprintf("%s: has %s of its own, which %s does not have, so it is not replaced; choose another name", e.Path, own, e.From)
}

// ErrNoPoint means that a name does not lead to a message of the chat.
var ErrNoPoint = errors.New("the name leads to no message")

// ErrNoOwner means that the new chat has no owner to open with it: no card, and no group that
// lists it.
var ErrNoOwner = errors.New("neither a character nor a group could open with the new chat")

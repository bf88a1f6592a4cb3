package choose

import (
	"context"
	"errors"
	"fmt"

	"stchat/internal/jsonl"
)

// Choice says which messages are meant. The zero Choice is all of them.
type Choice struct {
	Ranges []Range // empty: all
	Filter Filter
	First  int // only so many of what the others choose, from the front; 0: all
	Last   int // only so many from the end; 0: all

	// Only, if not nil, narrows the choice like Ranges: it reports whether a message is
	// chosen. It is called in the messages' order.
	Only func(index int) bool
	// Whole reads on behind the last message that can be meant, so that all are counted.
	Whole bool
}

// All reports whether nothing narrows the choice.
func (c *Choice) All() bool {
	return len(c.Ranges) == 0 && c.Filter.Empty() && c.First == 0 && c.Last == 0 && c.Only == nil
}

// Source is where a chat's messages lie.
type Source struct {
	jsonl.Source
	Body    int64 // offset at which they begin, behind the header
	Line    int   // physical lines before Body
	Workers int   // goroutines at most; 0: as many as processors
}

// Place is where a chosen message lies.
type Place struct {
	Index    int // below 0: not known
	Off, Len int64
}

// Scanned is what a scan found besides the chosen messages.
type Scanned struct {
	Messages int           // number of messages read
	Chosen   int           // number of messages handed out
	Whole    bool          // the whole chat was read
	Last     Place         // of the last message read; its Len is 0 if there is none
	Damage   jsonl.Damages // of the lines read
}

// errEnough ends a scan early.
var errEnough = errors.New("enough")

var (
	// ErrNone means that no message is chosen.
	ErrNone = errors.New("no message is chosen")
	// ErrNotOne means that several messages are chosen instead of one.
	ErrNotOne = errors.New("choose one message")
)

// One returns the only message that is chosen. The error is that of [Choice.Scan] or
// [ErrNone], or wraps [ErrNotOne].
func (c *Choice) One(ctx context.Context, src Source) (one Place, scanned Scanned, err error) {
	scanned, err = c.Scan(ctx, src, func(p Place) error {
		one = p
		return nil
	})
	switch {
	case err != nil:
	case scanned.Chosen == 0:
		err = ErrNone
	case scanned.Chosen > 1:
		err = fmt.Errorf("%w, not %d", ErrNotOne, scanned.Chosen)
	}
	return one, scanned, err
}

// Scan calls each with the places of the chosen messages, in the chat's order. Unless
// Whole is set, it reads no further than the last message that can be meant. It skips
// damaged lines and does not count them. The error is a [*OutOfRangeError] if a range
// names a message that the chat lacks, that of each, or that of reading.
func (c *Choice) Scan(ctx context.Context, src Source, each func(Place) error) (Scanned, error) {
	return ScanBeside(ctx, c, src, each, Beside[struct{}]{})
}

package chat

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"io"
	"slices"

	"stchat/internal/jsonl"
)

// Lines edits the header and messages of a chat, each line with its edits in their
// order; all other lines keep their bytes, line ends and order.
//
// It may be rendered from another state of the file than it was drafted from. A
// line is taken from its Place if its Hash matches there. Otherwise it is found by
// its index, and must still match the Hash.
type Lines []LineEdit

// LineEdit is one edit to the header or to a message.
type LineEdit struct {
	Index int         // of the message; [HeaderIndex] for the header
	Place jsonl.Place // where its line was; only Off and Len are used
	Hash  uint64      // [HashLine] of the line; 0: it may be any line

	// Do returns the edited line, without a line end. For a missing header it gets
	// nil, and what it returns becomes the first line. A nil Do removes the line.
	Do    func(line []byte) ([]byte, error)
	After [][]byte // new lines after the line, or in place of a removed one
}

// HeaderIndex is the index of the header.
const HeaderIndex = -1

// HashLine returns the hash by which a line is recognised; it is never 0.
func HashLine(line []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(line) // never fails
	return nonZero(h.Sum64())
}

func nonZero(hash uint64) uint64 { return max(hash, 1) }

// ErrConflict means that an edit changes a line that another one removes.
var ErrConflict = errors.New("one edit removes the line, another changes it")

// errBreaks means that an edit returned more than one line.
var errBreaks = errors.New("an edit would break the line in two")

// Join returns the edits of both, those of next after those of l.
func (l Lines) Join(next Lines) Lines { return slices.Concat(l, next) }

// Render writes the chat in old, which has size bytes, to dst with the edits made.
// The error wraps [jsonl.ErrChanged] if a line is no longer what it was.
func (l Lines) Render(ctx context.Context, dst io.Writer, old io.ReaderAt, size int64) error {
	src := jsonl.Source{R: old, Size: size}
	targets, err := l.targets(ctx, src)
	if err != nil {
		return err
	}
	return jsonl.Rewrite(ctx, dst, src, func(yield func(jsonl.Edit, error) bool) {
		for _, t := range targets {
			if e, err := t.edit(src); !yield(e, err) {
				return
			}
		}
	})
}

// targets returns the lines to edit, with their edits, in the file's order and
// located in src.
func (l Lines) targets(ctx context.Context, src jsonl.Source) ([]*target, error) {
	var list []*target
	byIndex := map[int]*target{}
	for _, e := range l {
		t := byIndex[e.Index]
		if t == nil {
			t = &target{index: e.Index, at: span{e.Place.Off, e.Place.Len}}
			byIndex[e.Index] = t
			list = append(list, t)
		}
		t.edits = append(t.edits, e)
	}
	slices.SortFunc(list, func(a, b *target) int { return cmp.Compare(a.index, b.index) })
	return list, locate(ctx, src, list)
}

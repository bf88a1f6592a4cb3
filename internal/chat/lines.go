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

// Lines edits the header and messages of a chat in place, each line once its
// edits in their order; all other lines keep their bytes, line ends and place.
//
// It may be rendered from another state of the file than it was drafted from. A
// line is where its Place says as long as its Hash is found there. Otherwise it is
// looked for by its index, and must be what it was.
type Lines []LineEdit

// LineEdit is one edit to the header or to a message.
type LineEdit struct {
	Index int         // of the message; [HeaderIndex] for the header
	Place jsonl.Place // where its line was; only Off and Len count
	Hash  uint64      // [HashLine] of it; 0: whatever the line is

	// Do returns the line as it is to be, without a line end. It gets nil in
	// place of a header that is missing, and what it returns then becomes the
	// first line. Where Do is nil the line goes.
	Do    func(line []byte) ([]byte, error)
	After [][]byte // new lines behind the line, or in place of one that goes
}

// HeaderIndex is the index of the header.
const HeaderIndex = -1

// HashLine returns the hash by which a line is known again; it is never 0.
func HashLine(line []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(line) // a hash takes everything
	return nonZero(h.Sum64())
}

func nonZero(hash uint64) uint64 { return max(hash, 1) }

// ErrConflict means that edits to one line do not go together.
var ErrConflict = errors.New("one edit removes the line, another changes it")

// errBreaks means that an edit does not return one line.
var errBreaks = errors.New("an edit would break the line in two")

// Join returns the edits of both, next behind those of l.
func (l Lines) Join(next Lines) Lines { return slices.Concat(l, next) }

// Render writes the chat that is in old with the edits made. The error wraps
// [jsonl.ErrChanged] where a line is no longer what it was.
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

// targets groups the edits by line, in the file's order, and finds the lines.
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

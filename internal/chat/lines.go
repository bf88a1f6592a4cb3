package chat

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"io"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
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

// edit makes the edits to the line.
func (t *target) edit(src jsonl.Source) (jsonl.Edit, error) {
	out := jsonl.Edit{Splice: rawjson.Splice{At: t.at.off, Len: t.at.len}}
	var line []byte
	var err error
	if !t.absent {
		if line, err = src.Section(t.at.off, t.at.len); err != nil {
			return out, t.errorf(err)
		}
	}
	for _, e := range t.edits {
		switch {
		case e.Do == nil:
			out.Gone = true
		case out.Gone:
			return out, t.errorf(ErrConflict)
		default:
			if line, err = e.Do(line); err != nil {
				return out, t.errorf(err)
			}
		}
		out.After = append(out.After, e.After...)
	}
	if bytes.IndexByte(line, '\n') >= 0 {
		return out, t.errorf(errBreaks)
	}
	if out.Data = line; t.absent {
		t.front(src, &out)
	}
	return out, nil
}

// front makes new lines in front of the first one of an edit to a header that is
// missing.
func (t *target) front(src jsonl.Source, e *jsonl.Edit) {
	lines := e.After
	if e.Data != nil && !e.Gone {
		lines = append([][]byte{e.Data}, lines...)
	}
	e.Data = bytes.Join(lines, []byte{'\n'})
	if len(lines) > 0 && t.at.off < src.Size {
		e.Data = append(e.Data, '\n')
	}
	e.After, e.Gone = nil, false
}

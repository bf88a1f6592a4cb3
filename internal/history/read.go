package history

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"io"
	"iter"
)

// Line is one line of a version.
type Line struct {
	Piece int64  // its only or first piece
	Parts int    // how many pieces it has
	Data  []byte // without its LF; valid until the next line
}

// lines joins pieces into lines.
func lines(pieces iter.Seq2[part, error]) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		var line Line
		var joined []byte
		for part, err := range pieces {
			if err != nil {
				yield(Line{}, err)
				return
			}
			if line.Parts == 0 {
				line = Line{Piece: part.id}
			}
			line.Parts++
			switch {
			case part.kind == More:
				joined = append(joined, part.data...)
				continue
			case line.Parts > 1:
				joined = append(joined, part.data...)
				line.Data = joined
			default:
				line.Data = part.data
			}
			if !yield(line, nil) {
				return
			}
			line, joined = Line{}, joined[:0]
		}
	}
}

// writeSize is how many bytes are written at once: the draft below does not buffer.
const writeSize = 256 << 10

// writeAll writes the pieces of a version. The error is a [LostError] if its sum differs.
func writeAll(pieces iter.Seq2[part, error], w io.Writer, v *Version) error {
	out := bufio.NewWriterSize(w, writeSize)
	sum, size, first := sha256.New(), int64(0), int64(0)
	begun := false
	for part, err := range pieces {
		if err != nil {
			return err
		}
		if begun {
			if err := out.WriteByte('\n'); err != nil {
				return err
			}
			size++
		}
		begun = part.kind != More
		first = cmp.Or(first, part.id)
		sum.Write(part.key[:])
		n, err := out.Write(part.data)
		if err != nil {
			return err
		}
		size += int64(n)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if size != v.Size || !bytes.Equal(sum.Sum(nil), []byte(v.Sum)) {
		return &LostError{Piece: first, Why: "the version's sum differs"}
	}
	return nil
}

type part struct {
	id   int64
	kind Part
	key  key
	data []byte
}

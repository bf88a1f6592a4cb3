package history

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Line is one line of a version.
type Line struct {
	Piece int64  // its only or first piece
	Data  []byte // without its LF; valid until the next line
}

// Lines yields the lines that runs consist of, as [Version.Runs] returns them; a part of a
// run of whole lines will do as well. Each line is held in memory whole. Every piece is
// compared with its key; the error is a [LostError] if one differs.
func (s *Store) Lines(ctx context.Context, runs []Run) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		first := int64(0) // of the line's pieces, so far in joined; 0 if there are none
		var joined []byte
		for part, err := range s.pieces(ctx, runs) {
			if err != nil {
				yield(Line{}, err)
				return
			}
			line := Line{cmp.Or(first, part.id), part.data}
			if part.kind == More || first != 0 {
				joined = append(joined, part.data...)
				first = line.Piece
				line.Data = joined
			}

			if part.kind == More {
				continue
			}
			if !yield(line, nil) {
				return
			}
			first = 0
			joined = joined[:0]
		}
	}
}

// writeSize is how many bytes are written at once: the draft below does not buffer.
const writeSize = 256 << 10

// WriteTo writes a version's exact bytes, and compares every piece with its key and all of
// them with the version's sum: an error, such as a [LostError], may be returned after all is
// written. w must not use the store.
func (s *Store) WriteTo(ctx context.Context, w io.Writer, v *Version) error {
	runs, err := v.Runs()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, writeSize)
	sum := sha256.New()
	size := int64(0)
	first := int64(0) // the first piece
	begun := false    // a line before ended
	for part, err := range s.pieces(ctx, runs) {
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

// pieces yields the pieces of runs in order, each compared with its key.
func (s *Store) pieces(ctx context.Context, runs []Run) iter.Seq2[part, error] {
	keys := newKeyer(s.salt)
	return func(yield func(part, error) bool) {
		for _, r := range runs {
			var p *pack
			for id := r.First; id < r.First+r.Count; id++ {
				if p == nil || !p.has(id) {
					var err error
					if p, err = s.packOf(ctx, id); err != nil {
						yield(part{}, err)
						return
					}
				}

				i := int(id - p.first)
				data, k := p.piece(i), p.keys[i]
				if keys.keyOf(data) != k {
					yield(part{}, &LostError{id, "its key differs"})
					return
				}
				if !yield(part{id, r.Part, k, data}, nil) {
					return
				}
			}
		}
	}
}

// packOf returns the unpacked pack that holds a piece.
func (s *Store) packOf(ctx context.Context, id int64) (*pack, error) {
	if p := s.packs.find(id); p != nil {
		return p, nil
	}
	r, err := packRow(ctx, s.db, id)
	if errors.Is(err, errNoPiece) {
		return nil, s.missing(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	if s.dec == nil {
		s.dec = newDecoder()
	}
	p := &pack{}
	if err := r.decode(s.dec, p); err != nil {
		return nil, &LostError{id, err.Error()}
	}
	s.packs.add(p)
	return p, nil
}

var errNoPiece = errors.New("no pack has this piece")

// A column of a pack that is longer than 16 MB is damage, and is not read into memory: even the
// keys of a pack whose pieces are all of one byte take half of it.
const (
	keysColumn  = "CASE WHEN length(keys) <= 16777216 THEN keys END"
	packColumns = "first, n, raw, CASE WHEN length(lens) <= 16777216 THEN lens END, " + keysColumn +
		", CASE WHEN length(data) <= 16777216 THEN data END"
)

// packRow reads the row of the pack that holds a piece; the error may be errNoPiece.
func packRow(ctx context.Context, db *database, id int64) (*row, error) {
	r, err := onePack(ctx, db, "first <= ? ORDER BY first DESC", id)
	if err == nil && id >= r.first+r.n {
		err = errNoPiece
	}
	return r, err
}

// onePack reads the first row that which selects by a number; the error may be errNoPiece.
func onePack(ctx context.Context, db *database, which string, number int64) (*row, error) {
	var r row
	err := r.scan(db.Row(ctx, "SELECT "+packColumns+" FROM pack WHERE "+which+" LIMIT 1", number).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		err = errNoPiece
	}
	return &r, db.wrap(err)
}

// eachPack calls f, which may change a pack, for all packs in order. Where they have none, because a
// number was changed, the error wraps [ErrBroken].
func eachPack(ctx context.Context, db *database, f func(*row) error) error {
	for at := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := onePack(ctx, db, "first > ? ORDER BY first", at)
		if errors.Is(err, errNoPiece) {
			return nil
		}
		if err != nil {
			return err
		}
		if r.first <= at {
			return fmt.Errorf("%s: %w: the packs of lines are in no order", db.path, ErrBroken)
		}
		if err := f(r); err != nil {
			return err
		}
		at = r.first
	}
}

// missing returns the error for a piece that is not there: an [ErrRewritten] if the store was
// pruned meanwhile, else a [LostError].
func (s *Store) missing(ctx context.Context, id int64) error {
	var gen int64
	if err := s.db.Get(ctx, metaGeneration, &gen); err != nil {
		return s.db.wrap(err)
	}
	if gen != s.gen {
		return ErrRewritten
	}
	return &LostError{id, "it is not there"}
}

package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// Line is one line of a version.
type Line struct {
	Piece int64  // its only or first piece
	Parts int    // how many pieces it has
	Data  []byte // without its LF; valid until the next line
}

// Lines gives the lines that runs consist of, as [Version.Runs] has them; a range of a
// run of whole lines may be asked for as well. A line is held in memory whole. Every piece
// is compared with its key; the error is a [LostError] where one does not hold.
func (s *Store) Lines(ctx context.Context, runs []Run) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		var line Line
		var joined []byte
		for part, err := range s.pieces(ctx, runs) {
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

// WriteTo writes a version's exact bytes, and compares every piece with its key and all
// of them with the version's sum: an error may come when all is written.
func (s *Store) WriteTo(ctx context.Context, w io.Writer, v *Version) error {
	runs, err := v.Runs()
	if err != nil {
		return errors.Join(ErrBroken, err)
	}
	sum, size, begun := sha256.New(), int64(0), false
	for part, err := range s.pieces(ctx, runs) {
		if err != nil {
			return err
		}
		if begun {
			if _, err := w.Write([]byte{'\n'}); err != nil {
				return err
			}
			size++
		}
		begun = part.kind != More
		sum.Write(part.key[:])
		n, err := w.Write(part.data)
		if err != nil {
			return err
		}
		size += int64(n)
	}
	if size != v.Size || !bytes.Equal(sum.Sum(nil), []byte(v.Sum)) {
		return &LostError{Piece: runs[0].First, Why: "the version's sum differs"}
	}
	return nil
}

type part struct {
	id   int64
	kind Part
	key  key
	data []byte
}

// pieces reads runs in order.
func (s *Store) pieces(ctx context.Context, runs []Run) iter.Seq2[part, error] {
	keys := newKeyer(s.salt)
	return func(yield func(part, error) bool) {
		for _, r := range runs {
			for id := r.First; id < r.First+r.Count; {
				p, err := s.packOf(ctx, id)
				if err != nil {
					yield(part{}, err)
					return
				}
				p.pins++
				n := min(r.First+r.Count, p.first+int64(len(p.keys))) - id
				goesOn := p.each(id, n, keys, func(data []byte, k key, err error) bool {
					defer func() { id++ }()
					return yield(part{id, r.Part, k, data}, err) && err == nil
				})
				p.pins--
				if !goesOn {
					return
				}
			}
		}
	}
}

// each hands out n pieces from id on, each compared with its key, until f says no.
func (p *pack) each(id, n int64, keys *keyer, f func(data []byte, k key, err error) bool) bool {
	for i := int(id - p.first); n > 0; i, n = i+1, n-1 {
		data, err := p.piece(i), error(nil)
		if keys.of(data) != p.keys[i] {
			data, err = nil, &LostError{p.first + int64(i), "its key differs"}
		}
		if !f(data, p.keys[i], err) {
			return false
		}
	}
	return true
}

// packCache holds the packs that were unpacked last.
type packCache struct {
	dec   *zstd.Decoder
	slots [8]*pack
	used  [8]int // when each was used last
	clock int
}

// packOf unpacks the pack that holds a piece.
func (s *Store) packOf(ctx context.Context, id int64) (*pack, error) {
	c := &s.packs
	c.clock++
	oldest := 0
	for i, p := range c.slots {
		if p != nil && id >= p.first && id < p.first+int64(len(p.keys)) {
			c.used[i] = c.clock
			return p, nil
		}
		if c.used[i] < c.used[oldest] {
			oldest = i
		}
	}
	r, err := s.packRow(ctx, id)
	if err != nil {
		return nil, err
	}
	if c.dec == nil {
		if c.dec, err = newDecoder(); err != nil {
			return nil, err
		}
	}
	p := c.slots[oldest]
	if p == nil || p.pins > 0 {
		p = &pack{}
	}
	c.slots[oldest] = nil // it is no pack while it is half unpacked
	if err := r.decode(c.dec, p); err != nil {
		return nil, &LostError{id, err.Error()}
	}
	c.slots[oldest], c.used[oldest] = p, c.clock
	return p, nil
}

// packRow reads the row of the pack that holds a piece.
func (s *Store) packRow(ctx context.Context, id int64) (*row, error) {
	var r row
	err := s.row(ctx, "SELECT first, n, raw, lens, keys, data FROM pack WHERE first <= ? ORDER BY first DESC LIMIT 1", id).
		Scan(&r.first, &r.n, &r.raw, &r.lens, &r.keys, &r.data)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && id >= r.first+r.n:
		return nil, s.missing(ctx, id)
	case err != nil:
		return nil, s.told(err)
	}
	return &r, nil
}

// missing says why a piece is not there.
func (s *Store) missing(ctx context.Context, id int64) error {
	var gen int64
	if err := s.row(ctx, "SELECT v FROM meta WHERE k = ?", metaGeneration).Scan(&gen); err != nil {
		return s.told(err)
	}
	if gen != s.gen {
		return ErrRewritten
	}
	return &LostError{id, "it is not there"}
}

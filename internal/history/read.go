package history

import (
	"bufio"
	"bytes"
	"cmp"
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

// unpacker reads pieces of a store, and caches the packs that it unpacked last.
type unpacker struct {
	s     *Store
	dec   *zstd.Decoder
	slots [8]*pack
	used  [8]int // when each was used last
	clock int
}

// forget empties the cache.
func (c *unpacker) forget() { *c = unpacker{s: c.s, dec: c.dec} }

// pieces yields the pieces of runs in order.
func (c *unpacker) pieces(ctx context.Context, runs []Run) iter.Seq2[part, error] {
	keys := newKeyer(c.s.salt)
	return func(yield func(part, error) bool) {
		for st, err := range c.stretches(ctx, runs) {
			if err != nil {
				yield(part{}, err)
				return
			}
			goesOn := st.each(keys, yield)
			st.p.pins--
			if !goesOn {
				return
			}
		}
	}
}

// stretch is a part of a run that lies in one pack. The pack is pinned until its reader
// unpins it.
type stretch struct {
	Run
	p *pack
}

// stretches yields the stretches of runs in order.
func (c *unpacker) stretches(ctx context.Context, runs []Run) iter.Seq2[stretch, error] {
	return func(yield func(stretch, error) bool) {
		for _, r := range runs {
			for r.Count > 0 {
				p, err := c.packOf(ctx, r.First)
				if err != nil {
					yield(stretch{}, err)
					return
				}
				p.pins++
				n := min(r.First+r.Count, p.first+int64(len(p.keys))) - r.First
				if !yield(stretch{Run{r.First, n, r.Part}, p}, nil) {
					return
				}
				r.First, r.Count = r.First+n, r.Count-n
			}
		}
	}
}

// each yields the stretch's pieces, each compared with its key, and reports whether to go on.
func (st *stretch) each(keys *keyer, yield func(part, error) bool) bool {
	id := st.First
	return st.p.each(st.First, st.Count, keys, func(data []byte, k key, err error) bool {
		defer func() { id++ }()
		return yield(part{id, st.Part, k, data}, err) && err == nil
	})
}

// packOf returns the unpacked pack that holds a piece.
func (c *unpacker) packOf(ctx context.Context, id int64) (*pack, error) {
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
	r, err := packRow(ctx, c.s.db, id)
	if errors.Is(err, errNoPiece) {
		return nil, c.missing(ctx, id)
	}
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
	var r row
	err := db.row(ctx, "SELECT "+packColumns+" FROM pack WHERE first <= ? ORDER BY first DESC LIMIT 1", id).
		Scan(&r.first, &r.n, &r.raw, &r.lens, &r.keys, &r.data)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && id >= r.first+r.n:
		return nil, errNoPiece
	case err != nil:
		return nil, db.wrap(err)
	}
	return &r, nil
}

// missing returns the error for a piece that is not there: an [ErrRewritten] if the store was
// pruned meanwhile, else a [LostError].
func (c *unpacker) missing(ctx context.Context, id int64) error {
	var gen int64
	if err := c.s.db.get(ctx, metaGeneration, &gen); err != nil {
		return c.s.db.wrap(err)
	}
	if gen != c.s.gen {
		return ErrRewritten
	}
	return &LostError{id, "it is not there"}
}

package history

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"github.com/klauspost/compress/zstd"
)

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
		for _, r := range runs {
			for id := r.First; id < r.First+r.Count; {
				p, err := c.packOf(ctx, id)
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

// packRow reads the row of the pack that holds a piece; the error may be errNoPiece.
func packRow(ctx context.Context, db *database, id int64) (*row, error) {
	var r row
	err := db.row(ctx, "SELECT first, n, raw, lens, keys, data FROM pack WHERE first <= ? ORDER BY first DESC LIMIT 1", id).
		Scan(&r.first, &r.n, &r.raw, &r.lens, &r.keys, &r.data)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && id >= r.first+r.n:
		return nil, errNoPiece
	case err != nil:
		return nil, db.told(err)
	}
	return &r, nil
}

// missing returns the error for a piece that is not there: an [ErrRewritten] if the store was
// pruned meanwhile, else a [LostError].
func (c *unpacker) missing(ctx context.Context, id int64) error {
	var gen int64
	if err := c.s.db.get(ctx, metaGeneration, &gen); err != nil {
		return c.s.db.told(err)
	}
	if gen != c.s.gen {
		return ErrRewritten
	}
	return &LostError{id, "it is not there"}
}

package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"

	"github.com/klauspost/compress/zstd"
)

const (
	packSize = 256 << 10 // of raw bytes; the piece that reaches it is the last
	maxPiece = 256 << 10
	maxPack  = packSize + maxPiece
	keySize  = 16
)

type key [keySize]byte

type keyer struct {
	salt []byte
	h    hash.Hash
	sum  [sha256.Size]byte
}

func newKeyer(salt []byte) *keyer { return &keyer{salt: salt, h: sha256.New()} }

func (k *keyer) keyOf(piece []byte) (id key) {
	k.h.Reset()
	k.h.Write(k.salt)
	k.h.Write(piece)
	copy(id[:], k.h.Sum(k.sum[:0]))
	return id
}

// pack holds consecutive pieces. A dropped piece, which no version names any more, has the
// zero key and no bytes.
type pack struct {
	first int64
	keys  []key
	ends  []int // of each piece in raw
	raw   []byte
}

func (p *pack) add(piece []byte, k key) {
	p.raw = append(p.raw, piece...)
	p.ends = append(p.ends, len(p.raw))
	p.keys = append(p.keys, k)
}

func (p *pack) piece(i int) []byte {
	start := 0
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.raw[start:p.ends[i]:p.ends[i]]
}

func (p *pack) lens() []byte {
	var b []byte
	start := 0
	for _, end := range p.ends {
		b = binary.AppendUvarint(b, uint64(end-start))
		start = end
	}
	return b
}

func (p *pack) keyBytes() []byte {
	b := make([]byte, 0, len(p.keys)*keySize)
	for i := range p.keys {
		b = append(b, p.keys[i][:]...)
	}
	return b
}

func (p *pack) has(id int64) bool { return id >= p.first && id < p.first+int64(len(p.keys)) }

// recent holds the packs that were used last, the last one first.
type recent []*pack

const manyRecent = 12 // packs that are kept

// find returns the pack that holds a piece, nil if it is not among them.
func (r recent) find(id int64) *pack {
	for i, p := range r {
		if p.has(id) {
			copy(r[1:], r[:i])
			r[0] = p
			return p
		}
	}
	return nil
}

func (r *recent) add(p *pack) { *r = slices.Insert((*r)[:min(len(*r), manyRecent-1)], 0, p) }

func newEncoder() *zstd.Encoder {
	return sure(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(maxPack), zstd.WithLowerEncoderMem(true)))
}

// newDecoder makes the decompressor of packs, which refuses anything far larger than a pack.
// It ignores checksums: pieces are compared with their keys, and a wrong sum would only mean
// that the whole pack is lost.
func newDecoder() *zstd.Decoder {
	return sure(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*maxPack), zstd.WithDecoderLowmem(true), zstd.IgnoreChecksum(true)))
}

// sure returns what is made of constant options, of which only a wrong one is an error.
func sure[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func parseKeys(b []byte) []key {
	keys := make([]key, len(b)/keySize)
	for i := range keys {
		copy(keys[i][:], b[i*keySize:])
	}
	return keys
}

// row is a pack as it is stored.
type row struct {
	first, n, raw    int64
	lens, keys, data []byte
}

// scan reads the columns packColumns of a row.
func (r *row) scan(scan func(...any) error) error {
	return scan(&r.first, (*number)(&r.n), (*number)(&r.raw), &r.lens, &r.keys, &r.data)
}

// pieces returns how many pieces a row is about. Where its numbers contradict each other that is the
// larger one, as far as any pack could have so many.
func (r *row) pieces() int {
	return int(min(max(r.n, int64(len(r.keys)/keySize), 1), maxPack))
}

// decode unpacks a row into p, whose memory is reused. An error wraps [ErrBroken].
func (r *row) decode(dec *zstd.Decoder, p *pack) error {
	p.first = r.first
	p.ends = p.ends[:0]
	p.keys = parseKeys(r.keys)
	hasItsKeys := r.n >= 1 && int64(len(p.keys)) == r.n && len(r.keys)%keySize == 0
	fits := r.raw >= 0 && r.raw <= maxPack
	if !hasItsKeys || !fits {
		return fmt.Errorf("%w: pack %d has %d pieces and keys of %d bytes", ErrBroken, r.first, r.n, len(r.keys))
	}
	end := 0
	for lens := r.lens; len(lens) > 0; {
		var size uint64
		size, lens = cutUvarint(lens)
		if lens == nil || size > maxPiece || len(p.ends) == len(p.keys) {
			return fmt.Errorf("%w: the lengths of pack %d make no sense", ErrBroken, r.first)
		}
		end += int(size)
		p.ends = append(p.ends, end)
	}

	if len(p.ends) != len(p.keys) || int64(end) != r.raw {
		return fmt.Errorf("%w: the lengths of pack %d make no sense", ErrBroken, r.first)
	}
	var err error
	if p.raw, err = dec.DecodeAll(r.data, p.raw[:0]); err != nil {
		return fmt.Errorf("%w: pack %d does not unpack: %w", ErrBroken, r.first, err)
	}
	if int64(len(p.raw)) != r.raw {
		return fmt.Errorf("%w: pack %d holds %d bytes, not %d", ErrBroken, r.first, len(p.raw), r.raw)
	}
	return nil
}

// isZero reports whether a key is that of a dropped piece.
func (k *key) isZero() bool { return bytes.Equal(k[:], make([]byte, keySize)) }

// cutUvarint returns the number that b begins with, and the rest of b; 0 and nil if there is
// none.
func cutUvarint(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil
	}
	return v, b[n:]
}

// putPack writes a pack, whose bytes are compressed already: by INSERT a new one, by REPLACE what is
// left of one.
func (s *Store) putPack(ctx context.Context, verb string, p *pack, data []byte) error {
	return s.change(ctx, verb+" INTO pack(first, n, raw, lens, keys, data) VALUES(?, ?, ?, ?, ?, ?)",
		p.first, len(p.keys), len(p.raw), p.lens(), p.keyBytes(), data)
}

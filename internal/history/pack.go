package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/klauspost/compress/zstd"
)

const (
	packSize = 256 << 10 // of raw bytes; the piece that reaches it is the last
	maxPiece = 256 << 10
	maxPack  = packSize + maxPiece
	keySize  = 16
)

// key identifies a piece.
type key [keySize]byte

// keyer computes keys.
type keyer struct {
	salt []byte
	h    hash.Hash
	sum  [sha256.Size]byte
}

func newKeyer(salt []byte) *keyer { return &keyer{salt: salt, h: sha256.New()} }

func (k *keyer) of(piece []byte) (id key) {
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
	pins  int // how many iterators are reading it
}

func (p *pack) add(piece []byte, k key) {
	p.raw = append(p.raw, piece...)
	p.ends = append(p.ends, len(p.raw))
	p.keys = append(p.keys, k)
}

// piece returns the bytes of the pack's piece i.
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

// each calls f for n pieces from id on, each compared with its key, until f returns false. It
// reports whether f never did.
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

// newEncoder makes the compressor of packs.
func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(maxPack), zstd.WithLowerEncoderMem(true))
}

// newDecoder makes the decompressor of packs, which refuses anything far larger than a pack.
// It ignores checksums: pieces are compared with their keys, and a wrong sum would only mean
// that the whole pack is lost.
func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*maxPack), zstd.WithDecoderLowmem(true), zstd.IgnoreChecksum(true))
}

// parseKeys reads a pack's list of keys.
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

// decode unpacks a row into p, whose memory is reused. An error wraps [ErrBroken].
func (r *row) decode(dec *zstd.Decoder, p *pack) error {
	p.first, p.ends, p.keys = r.first, p.ends[:0], parseKeys(r.keys)
	if int64(len(p.keys)) != r.n || len(r.keys)%keySize != 0 || r.n < 1 || r.raw < 0 || r.raw > maxPack {
		return fmt.Errorf("%w: pack %d has %d pieces and keys of %d bytes", ErrBroken, r.first, r.n, len(r.keys))
	}
	end := 0
	for lens := r.lens; len(lens) > 0; {
		size, n := binary.Uvarint(lens)
		if n <= 0 || size > maxPiece || len(p.ends) == len(p.keys) {
			return fmt.Errorf("%w: the lengths of pack %d make no sense", ErrBroken, r.first)
		}
		lens = lens[n:]
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

// takeUvarint returns the number that b begins with, and the rest of b; 0 and nil if there is
// none.
func takeUvarint(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil
	}
	return v, b[n:]
}

package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"

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

const (
	inFlight  = 4       // packs that wait for the compressor or the disk
	manyKeys  = 64      // keys that one statement inserts
	freshKeys = 1 << 14 // keys that are sorted at once
)

// packer fills packs with new pieces, has them compressed, and writes them in order.
type packer struct {
	ctx context.Context
	db  *database

	cur     *packJob
	shares  []*Content    // the files that have pieces in cur
	pending map[key]int64 // pieces whose keys are not in the index yet
	queue   []*packJob
	spare   []*packJob // whose memory is reused
	fresh   []keyOf    // of written packs, not in the index yet
	jobs    chan *packJob
	done    chan struct{}
}

// keyOf is a key and its piece.
type keyOf struct {
	k  key
	id int64
}

// packJob is a pack on its way to the disk.
type packJob struct {
	pack   pack
	data   []byte
	shares []*Content
	bytes  []int64 // of each share
	ready  chan struct{}
}

// start starts the goroutine that compresses packs.
func (p *packer) start() error {
	p.pending, p.jobs, p.done = map[key]int64{}, make(chan *packJob, inFlight), make(chan struct{})
	enc, err := newEncoder()
	if err != nil {
		return err
	}
	go func() {
		for j := range p.jobs {
			j.data = enc.EncodeAll(j.pack.raw, j.data[:0])
			j.ready <- struct{}{}
		}
		_ = enc.Close()
		close(p.done)
	}()
	return nil
}

// add adds a new piece of the file c. id is the next number.
func (p *packer) add(c *Content, data []byte, k key, id int64) error {
	if p.cur == nil {
		p.cur = p.newPack(id)
	}
	p.cur.pack.add(data, k)
	if c.share += int64(len(data)) + 1; !slices.Contains(p.shares, c) {
		p.shares = append(p.shares, c)
	}
	if len(p.cur.pack.raw) >= packSize {
		return p.flush()
	}
	return nil
}

// flush hands the pack that is being filled to the compressor, and writes the oldest one if
// too many are on their way.
func (p *packer) flush() error {
	if p.cur == nil {
		return nil
	}
	j := p.cur
	j.shares, j.bytes = p.shares, j.bytes[:0]
	for _, c := range p.shares {
		j.bytes = append(j.bytes, c.share)
		c.share = 0
	}
	p.cur, p.shares = nil, nil
	p.jobs <- j
	if p.queue = append(p.queue, j); len(p.queue) > inFlight {
		return p.writeOldest()
	}
	return nil
}

// drain writes all packs and keys.
func (p *packer) drain() error {
	if err := p.flush(); err != nil {
		return err
	}
	for len(p.queue) > 0 {
		if err := p.writeOldest(); err != nil {
			return err
		}
	}
	return p.insertKeys()
}

func (p *packer) writeOldest() error {
	j := p.queue[0]
	p.queue = p.queue[1:]
	<-j.ready
	done := &j.pack
	lens := done.lens()
	const insert = "INSERT INTO pack(first, n, raw, lens, keys, data) VALUES(?, ?, ?, ?, ?, ?)"
	if err := p.db.exec(p.ctx, insert, done.first, len(done.keys), len(done.raw), lens, done.keyBytes(), j.data); err != nil {
		return err
	}
	stored := int64(len(j.data) + len(lens) + 2*len(done.keys)*keySize)
	total := int64(0)
	for _, n := range j.bytes {
		total += n
	}
	for i, c := range j.shares {
		c.Stored += stored * j.bytes[i] / max(total, 1)
	}
	for i, k := range done.keys {
		p.fresh = append(p.fresh, keyOf{k, done.first + int64(i)})
	}
	p.spare = append(p.spare, j)
	if len(p.fresh) >= freshKeys {
		return p.insertKeys()
	}
	return nil
}

// newPack begins a pack, in the memory of a written one.
func (p *packer) newPack(first int64) *packJob {
	n := len(p.spare)
	if n == 0 {
		return &packJob{pack: pack{first: first, raw: make([]byte, 0, maxPack)}, ready: make(chan struct{}, 1)}
	}
	j := p.spare[n-1]
	p.spare = p.spare[:n-1]
	j.pack = pack{first: first, raw: j.pack.raw[:0], ends: j.pack.ends[:0], keys: j.pack.keys[:0]}
	return j
}

// insertKeys adds the keys of written packs to the index, in its order.
func (p *packer) insertKeys() error {
	if len(p.fresh) == 0 {
		return nil
	}
	if err := p.db.exec(p.ctx, "PRAGMA "+writeCache); err != nil {
		return err
	}
	slices.SortFunc(p.fresh, func(a, b keyOf) int { return bytes.Compare(a.k[:], b.k[:]) })
	const one = "INSERT OR IGNORE INTO key(k, id) VALUES(?, ?)"
	many := one + strings.Repeat(", (?, ?)", manyKeys-1)
	args := make([]any, 0, 2*manyKeys)
	for rest := p.fresh; len(rest) > 0; {
		n, insert := 1, one
		if len(rest) >= manyKeys {
			n, insert = manyKeys, many
		}
		args = args[:0]
		for i := range rest[:n] {
			args = append(args, rest[i].k[:], rest[i].id)
			delete(p.pending, rest[i].k)
		}
		if err := p.db.exec(p.ctx, insert, args...); err != nil {
			return err
		}
		rest = rest[n:]
	}
	p.fresh = p.fresh[:0]
	return nil
}

// stop stops the compressor. What was not drained is dropped.
func (p *packer) stop() {
	close(p.jobs)
	<-p.done
}

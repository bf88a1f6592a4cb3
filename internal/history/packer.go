package history

import (
	"bytes"
	"context"
	"slices"
	"strings"
)

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

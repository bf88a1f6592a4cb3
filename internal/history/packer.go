package history

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
)

const (
	inFlight = 4  // packs that are being compressed
	manyKeys = 64 // keys that one statement inserts
)

// packer fills packs with new pieces, has them compressed, and writes them in order.
type packer struct {
	ctx    context.Context
	insert struct{ pack, key, keys *sql.Stmt }

	cur     *packJob
	shares  []*Content    // those that have pieces in cur
	pending map[key]int64 // pieces that no transaction holds yet
	queue   []*packJob
	spare   []*packJob // whose room is used again
	jobs    chan *packJob
	done    chan struct{}
}

// packJob is a pack on its way to the disk.
type packJob struct {
	pack   pack
	data   []byte
	shares []*Content
	bytes  []int64 // of each
	ready  chan struct{}
}

// start prepares the statements and begins to wait for packs to compress.
func (p *packer) start(ctx context.Context, db *database) error {
	p.ctx, p.pending, p.jobs, p.done = ctx, map[key]int64{}, make(chan *packJob, inFlight), make(chan struct{})
	enc, err := newEncoder()
	if err != nil {
		return err
	}
	for stmt, text := range map[**sql.Stmt]string{
		&p.insert.pack: "INSERT INTO pack(first, n, raw, lens, keys, data) VALUES(?, ?, ?, ?, ?, ?)",
		&p.insert.key:  "INSERT OR IGNORE INTO key(k, id) VALUES(?, ?)",
		&p.insert.keys: "INSERT OR IGNORE INTO key(k, id) VALUES(?, ?)" + strings.Repeat(", (?, ?)", manyKeys-1),
	} {
		if *stmt, err = db.conn.PrepareContext(ctx, text); err != nil {
			return err
		}
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

// add adds a new piece of a file, under the next number.
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

// flush hands the pack that is being filled to the compressor, and writes those before
// it that are ready when too many are on their way.
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

// drain writes all packs.
func (p *packer) drain() error {
	if err := p.flush(); err != nil {
		return err
	}
	for len(p.queue) > 0 {
		if err := p.writeOldest(); err != nil {
			return err
		}
	}
	return nil
}

func (p *packer) writeOldest() error {
	j := p.queue[0]
	p.queue = p.queue[1:]
	<-j.ready
	done := &j.pack
	lens := done.lens()
	if _, err := p.insert.pack.ExecContext(p.ctx, done.first, len(done.keys), len(done.raw), lens, done.keyBytes(), j.data); err != nil {
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
	if err := p.insertKeys(done); err != nil {
		return err
	}
	p.spare = append(p.spare, j)
	return nil
}

// newPack begins a pack, in the room of one that was written.
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

// insertKeys adds a pack's keys to the index, sorted, which is how the index is.
func (p *packer) insertKeys(of *pack) error {
	order := make([]int, len(of.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(of.keys[a][:], of.keys[b][:]) })
	args := make([]any, 0, 2*manyKeys)
	for n, i := range order {
		args = append(args, of.keys[i][:], of.first+int64(i))
		if len(args) == 2*manyKeys {
			if _, err := p.insert.keys.ExecContext(p.ctx, args...); err != nil {
				return err
			}
			args = args[:0]
		}
		if n == len(order)-1 {
			for ; len(args) > 0; args = args[2:] {
				if _, err := p.insert.key.ExecContext(p.ctx, args[:2]...); err != nil {
					return err
				}
			}
		}
	}
	for _, k := range of.keys {
		delete(p.pending, k)
	}
	return nil
}

// stop ends the compressing. What was not drained is dropped.
func (p *packer) stop() (err error) {
	close(p.jobs)
	<-p.done
	for _, stmt := range []*sql.Stmt{p.insert.pack, p.insert.key, p.insert.keys} {
		err = errors.Join(err, stmt.Close())
	}
	return err
}

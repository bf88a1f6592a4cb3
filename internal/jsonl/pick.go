package jsonl

import (
	"context"
	"iter"
	"runtime"
	"runtime/debug"
)

// Picked is one line that is wanted.
type Picked struct {
	Off, Len int64 // without the line's end; a Len of 0 is not read
}

// How much of a source [Pick] reads at once, and how many lines.
const (
	pickBytes = 128 << 10
	pickLines = 512
)

// Pick reads lines of a source, in the order in which jobs asks for them, and hands each to
// work with what is to be made of its batch: in several goroutines, batch by batch. fold
// gets the batches in order, in the caller's goroutine; between two of them jobs is asked
// for more. A line is valid until work returns, and must not be changed. An error of work
// comes where its batch would.
//
// Memory follows the longest line: of those longer than a batch only one is held at a time.
func Pick[J, T any](ctx context.Context, src Source, jobs iter.Seq[J], line func(J) Picked, work func(job J, line []byte, batch *T) error, fold func(*T) error) error {
	p := &picker[J, T]{src: src, line: line, work: work, fold: fold, todo: make(chan *picking[J, T], runtime.GOMAXPROCS(0)+2)}
	err := p.all(ctx, jobs)
	close(p.todo)
	for _, b := range p.sent {
		<-b.done
	}
	return err
}

type picker[J, T any] struct {
	src  Source
	line func(J) Picked
	work func(J, []byte, *T) error
	fold func(*T) error

	todo    chan *picking[J, T]
	workers int
	sent    []*picking[J, T] // that fold has not had, in order
	free    []*picking[J, T]
}

// picking is one batch.
type picking[J, T any] struct {
	jobs   []J
	at     []Picked
	bytes  int64
	buf    []byte
	result T
	err    error
	done   chan struct{} // has one element once the batch is done
}

func (p *picker[J, T]) all(ctx context.Context, jobs iter.Seq[J]) error {
	b := p.next()
	for job := range jobs {
		at := p.line(job)
		if n := len(b.jobs); n == pickLines || n > 0 && b.bytes+at.Len > pickBytes {
			if err := p.send(ctx, b); err != nil {
				return err
			}
			b = p.next()
		}
		b.jobs, b.at, b.bytes = append(b.jobs, job), append(b.at, at), b.bytes+at.Len
	}
	return p.end(ctx, b)
}

// next returns an empty batch.
func (p *picker[J, T]) next() *picking[J, T] {
	n := len(p.free)
	if n == 0 {
		return &picking[J, T]{done: make(chan struct{}, 1)}
	}
	b := p.free[n-1]
	p.free = p.free[:n-1]
	var zero T
	b.jobs, b.at, b.bytes, b.result, b.err = b.jobs[:0], b.at[:0], 0, zero, nil
	return b
}

// send has a batch worked on, and folds the oldest one where enough are under way.
func (p *picker[J, T]) send(ctx context.Context, b *picking[J, T]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.bytes > pickBytes { // one long line
		if err := p.drain(0); err != nil {
			return err
		}
		return p.alone(b)
	}
	limit := runtime.GOMAXPROCS(0)
	if p.workers < limit {
		p.workers++
		go func() {
			for b := range p.todo {
				p.do(b)
			}
		}()
	}
	p.sent = append(p.sent, b)
	p.todo <- b
	return p.drain(limit + 1)
}

// alone works on a batch while no other is under way. A long line is not held together
// with what came of those before it: the collector would let several pile up.
func (p *picker[J, T]) alone(b *picking[J, T]) error {
	const long = 4 << 20
	if b.bytes > long {
		debug.FreeOSMemory()
	}
	p.do(b)
	p.sent = append(p.sent, b)
	err := p.drain(0)
	if b.bytes > pickBytes {
		b.buf = nil
	}
	return err
}

// drain folds batches until no more than so many are left.
func (p *picker[J, T]) drain(left int) error {
	for len(p.sent) > left {
		b := p.sent[0]
		p.sent = p.sent[1:]
		<-b.done
		if b.err != nil {
			return b.err
		}
		if err := p.fold(&b.result); err != nil {
			return err
		}
		p.free = append(p.free, b)
	}
	return nil
}

// end folds what is left; a single batch needs no other goroutine.
func (p *picker[J, T]) end(ctx context.Context, b *picking[J, T]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.drain(0); err != nil || len(b.jobs) == 0 {
		return err
	}
	return p.alone(b)
}

// do reads the lines of a batch and works on them.
func (p *picker[J, T]) do(b *picking[J, T]) {
	defer func() { b.done <- struct{}{} }()
	if b.err = b.read(p.src); b.err != nil {
		return
	}
	buf := b.buf
	for i, job := range b.jobs {
		n := b.at[i].Len
		if b.err = p.work(job, buf[:n:n], &b.result); b.err != nil {
			return
		}
		buf = buf[n:]
	}
}

// read reads the lines of a batch into buf, one behind the other. Lines that lie behind
// one another in the source are read at once.
func (b *picking[J, T]) read(src Source) error {
	const gap = 4 // a line end or two, which are read with the lines and left out
	room := int(b.bytes) + gap*len(b.at)
	if cap(b.buf) < room {
		b.buf = make([]byte, room)
	}
	buf := b.buf[:room]
	put := 0
	for i := 0; i < len(b.at); {
		off, end, n := b.at[i].Off, b.at[i].Off+b.at[i].Len, 1
		for ; i+n < len(b.at); n++ {
			next := b.at[i+n]
			if next.Off < end || next.Off > end+gap {
				break
			}
			end = next.Off + next.Len
		}
		if end > src.Size {
			return ErrChanged
		}
		if end > off {
			if _, err := src.readAt(buf[put:put+int(end-off)], off); err != nil {
				return err
			}
		}
		from := put
		for _, at := range b.at[i : i+n] {
			k := from + int(at.Off-off)
			put += copy(buf[put:], buf[k:k+int(at.Len)])
		}
		i += n
	}
	b.buf = buf
	return nil
}

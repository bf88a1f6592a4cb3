package jsonl

import (
	"context"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"
)

// Picked is the place of one wanted line, in bytes.
type Picked struct {
	Off, Len int64 // without the line's end; a Len of 0 is not read
}

// How many bytes of a source [Pick] reads at once at most, and how many lines.
const (
	pickBytes = 128 << 10
	pickLines = 512
)

// Pick reads the lines of a source that jobs ask for, and calls work with each line and its
// batch's result, in several goroutines. line returns a job's place. fold gets the batches'
// results in the order of the jobs, one at a time; jobs is advanced from any of the
// goroutines. A line is valid until its batch is folded, and must not be changed. An error of work
// ends Pick when its batch's turn to be folded comes.
//
// Memory grows with the longest line: of those longer than a batch only one is held at a
// time.
func Pick[J, T any](ctx context.Context, src Source, jobs iter.Seq[J], line func(J) Picked, work func(job J, line []byte, batch *T) error, fold func(*T) error) error {
	p := &picker[J, T]{src: src, line: line, work: work, fold: fold}
	var stop func()
	p.jobs, stop = iter.Pull(jobs)
	defer stop()
	workers := runtime.GOMAXPROCS(0)
	p.fill(&p.first)
	if p.over { // all are in the first batch
		workers = 1
	}
	return run(ctx, workers, p.next, func() stage { return &picking[J, T]{all: p} })
}

type picker[J, T any] struct {
	src  Source
	line func(J) Picked
	work func(J, []byte, *T) error
	fold func(*T) error

	mu    sync.Mutex // guards all that follows
	jobs  func() (J, bool)
	first picked[J] // the first batch, until it is taken
	held  picked[J] // the job, if any, that did not fit into the last batch
	seq   int
	over  bool // there are no more jobs
}

// picked is a batch of lines.
type picked[J any] struct {
	jobs  []J
	at    []Picked
	bytes int64
}

func (b *picked[J]) add(job J, at Picked) {
	b.jobs = append(b.jobs, job)
	b.at = append(b.at, at)
	b.bytes += at.Len
}

func (b *picked[J]) reset() {
	b.jobs = b.jobs[:0]
	b.at = b.at[:0]
	b.bytes = 0
}

// next takes the next batch, and returns false if there is none.
func (p *picker[J, T]) next(s *slot) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := s.stage.(*picking[J, T]) //nolint:forcetypeassert // all stages are
	s.reset()
	if len(p.first.jobs) > 0 {
		st.picked = p.first
		p.first = picked[J]{}
	} else {
		p.fill(&st.picked)
	}

	s.seq = p.seq
	p.seq++
	return len(st.jobs) > 0
}

// fill fills b with the next jobs.
func (p *picker[J, T]) fill(b *picked[J]) {
	b.reset()
	for i := range p.held.jobs {
		b.add(p.held.jobs[i], p.held.at[i])
	}
	p.held.reset()
	for !p.over {
		job, ok := p.jobs()
		if !ok {
			p.over = true
			return
		}
		at := p.line(job)
		n := len(b.jobs)
		isTooLong := n > 0 && b.bytes+at.Len > pickBytes
		if n == pickLines || isTooLong {
			p.held.add(job, at)
			return
		}
		b.add(job, at)
	}
}

// picking is the stage that works on batches.
type picking[J, T any] struct {
	all *picker[J, T]
	picked[J]
	buf    []byte
	result T
}

func (st *picking[J, T]) measure(*block, int) error { return nil }

func (st *picking[J, T]) scan(b *block) {
	if st.bytes <= pickBytes {
		b.err = st.do()
	}
}

// emit also works on a long line, so that only one of them is held, and no results of those
// before it.
func (st *picking[J, T]) emit(*block) (more bool, err error) {
	if st.bytes > pickBytes {
		const long = 4 << 20
		if st.bytes > long {
			debug.FreeOSMemory() // the collector would let several pile up
		}
		err = st.do()
		st.buf = nil
	}
	if err == nil {
		err = st.all.fold(&st.result)
	}
	if st.bytes > pickBytes {
		var zero T
		st.result = zero
	}
	return err == nil, err
}

// do reads the lines of a batch and works on them.
func (st *picking[J, T]) do() error {
	var zero T
	st.result = zero
	if err := st.read(st.all.src); err != nil {
		return err
	}
	buf := st.buf
	for i, job := range st.jobs {
		n := st.at[i].Len
		if err := st.all.work(job, buf[:n:n], &st.result); err != nil {
			return err
		}
		buf = buf[n:]
	}
	return nil
}

// read reads the lines of a batch into buf, one after the other. Lines that follow one
// another in the source are read at once.
func (st *picking[J, T]) read(src Source) error {
	const gap = 4 // a line end or two, which are read with the lines and left out
	room := int(st.bytes) + gap*len(st.at)
	if cap(st.buf) < room {
		st.buf = make([]byte, room)
	}
	buf := st.buf[:room]
	put := 0
	for i := 0; i < len(st.at); {
		off := st.at[i].Off
		end := off + st.at[i].Len
		n := 1 // lines that follow one another
		for ; i+n < len(st.at); n++ {
			next := st.at[i+n]
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
		for _, at := range st.at[i : i+n] {
			k := from + int(at.Off-off)
			put += copy(buf[put:], buf[k:k+int(at.Len)])
		}

		i += n
	}

	st.buf = buf
	return nil
}

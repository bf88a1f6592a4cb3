package jsonl

import "sync"

// slot is a block and its stage, which are reused.
type slot struct {
	block
	stage
}

// queue puts scanned blocks back into the file's order.
type queue struct {
	mu       sync.Mutex
	changed  sync.Cond // a slot is free, or it is over
	newStage func() stage
	unmade   int     // slots that may still be made
	free     []*slot // not in use
	scanned  []*slot // those waiting for their turn, by seq modulo their number
	next     int     // seq of the block whose turn it is
	line     int     // physical lines of the blocks before it
	emitting bool    // a goroutine is emitting
	over     bool    // nothing more is read
	err      error
}

// newQueue returns a queue that lets enough blocks run ahead to keep workers
// busy while one of them emits.
func newQueue(workers int, newStage func() stage) *queue {
	n := workers
	if workers > 1 {
		n = workers + 1
	}
	q := &queue{newStage: newStage, unmade: n, scanned: make([]*slot, n)}
	q.changed.L = &q.mu
	return q
}

// take returns a free slot, waiting for one if need be, or nil if nothing more
// is to be read.
func (q *queue) take() *slot {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch n := len(q.free); {
		case q.over:
			return nil
		case n > 0:
			s := q.free[n-1]
			q.free = q.free[:n-1]
			return s
		case q.unmade > 0:
			q.unmade--
			return &slot{stage: q.newStage()}
		}
		q.changed.Wait()
	}
}

// close makes take return nil: there is nothing more to read.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.changed.Broadcast()
}

// put takes a scanned slot and emits all slots whose turn it is. If another
// goroutine is emitting, that one emits this slot too.
func (q *queue) put(s *slot) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.scanned[s.seq%len(q.scanned)] = s
	if q.emitting {
		return
	}
	q.emitting = true
	for {
		turn := q.next % len(q.scanned)
		s := q.scanned[turn]
		if s == nil {
			break
		}
		q.scanned[turn] = nil
		s.line = q.line
		q.mu.Unlock()
		more, err := false, s.err
		if err == nil {
			more, err = s.emit(&s.block)
		}
		q.mu.Lock()
		q.next++
		q.line += s.lines
		q.free = append(q.free, s)
		q.changed.Signal()
		if !more || err != nil {
			// emitting stays true: nothing after this block is wanted
			q.over, q.err = true, err
			q.changed.Broadcast()
			return
		}
	}
	q.emitting = false
}

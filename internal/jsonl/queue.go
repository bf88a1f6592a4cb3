package jsonl

import "sync"

// slot is a block and its stage, used again and again.
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
	free     []*slot // made, and not in use
	scanned  []*slot // by seq, modulo their number: those that wait for their turn
	next     int     // seq of the block whose turn it is
	line     int     // physical lines of the blocks before it
	emitting bool    // somebody emits
	over     bool    // nothing more is read
	err      error
}

// newQueue makes a queue that lets as many blocks run ahead as keeps workers
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

// take returns a free slot, waiting for one if need be, and nil when it is over.
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

// close lets those who take stop: there is nothing to read.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.changed.Broadcast()
}

// put takes a scanned slot, and emits all whose turn it is, unless somebody is
// at it, who will then emit this one too.
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
			// emitting stays true: nothing behind this block is wanted
			q.over, q.err = true, err
			q.changed.Broadcast()
			return
		}
	}
	q.emitting = false
}

package jsonl

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"stchat/internal/jsonl/rawjson"
)

// Keys is a set of top-level keys whose values are wanted from each line.
type Keys struct {
	names  []string
	byLen  [][]int // numbers of the names of each length
	inside string  // the raw key of an object whose members are wanted too; or empty
}

// NewKeys returns a set of names. A name's number is its index among the arguments.
func NewKeys(names ...string) *Keys {
	k := new(Keys)
	for i, name := range names {
		for len(k.byLen) <= len(name) {
			k.byLen = append(k.byLen, nil)
		}
		k.byLen[len(name)] = append(k.byLen[len(name)], i)
		k.names = append(k.names, name)
	}
	return k
}

// Inside makes the scanner also record the members of the object under one of the keys, for
// [Line.Inside]. It returns k.
func (k *Keys) Inside(name string) *Keys {
	k.inside = string(rawjson.Quote(name))
	return k
}

// isIn reports whether m's key is spelled as the name with the number, without escapes.
func (k *Keys) isIn(number int, line []byte, m *Member) bool {
	return string(line[m.Key+1:m.KeyEnd-1]) == k.names[number]
}

// find returns the number of the name that a member's key spells, or -1.
func (k *Keys) find(line []byte, m *Member) int {
	if m.Escaped {
		return slices.IndexFunc(k.names, func(name string) bool { return rawjson.KeyIs(line[m.Key:m.KeyEnd], name) })
	}
	if n := m.KeyEnd - m.Key - 2; n < len(k.byLen) {
		for _, i := range k.byLen[n] {
			if k.isIn(i, line, m) {
				return i
			}
		}
	}
	return -1
}

// Line is one line that is not blank, as [Map] passes it on. Its bytes are valid until the
// function that gets it returns.
type Line struct {
	Raw     []byte  // without BOM and line end
	Damage  *Damage // not nil: the line does not survive. Line and Before are not set in it
	BadUTF8 bool    // some string in it is not UTF-8
	CRLF    bool    // it ended in CR LF
	Plain   bool    // its strings are known to be UTF-8 and spelled as JSON.stringify does; false means unknown

	Number int   // physical lines of the batch before it
	Index  int   // surviving lines of the batch before it
	Off    int64 // its first byte in the file

	members []Member
	at      []int // for each key, its member's index plus 1; 0: absent
	order   []int // the keys' numbers in the line before, which mostly has the same order; -1: not wanted
	inside  inside
}

// Members returns the members of the line's object in their order: the first [MaxMembers], and
// of the others the last one of each wanted key.
func (l *Line) Members() []Member { return l.members }

// Value returns the raw value of the key with number k: the last one, if the line repeats the
// key.
func (l *Line) Value(k int) (raw []byte, ok bool) {
	at := l.Span(k)
	if at.End == 0 {
		return nil, false
	}
	return l.Raw[at.At:at.End], true
}

// Span returns where in the line the value of key k is: the last one, if the line repeats the
// key; the zero Span if it is missing, and in a damaged line.
func (l *Line) Span(k int) rawjson.Span {
	if l.Damage != nil {
		return rawjson.Span{}
	}
	i := l.at[k]
	if i == 0 {
		return rawjson.Span{}
	}
	m := &l.members[i-1]
	return rawjson.Span{At: m.Val, End: m.ValEnd}
}

// Inside calls do with the raw keys and values of the object that is the value of key k, in
// their order; for any other value it does nothing. The slices alias the line. If the key was
// set with [Keys.Inside], the object need not be read again.
func (l *Line) Inside(k int, do func(key, value []byte)) {
	raw, ok := l.Value(k)
	if !ok || l.inside.at != l.members[l.at[k]-1].Val {
		for key, value := range rawjson.Members(raw) {
			do(key, value)
		}
		return
	}
	for i := range l.inside.members {
		m := &l.inside.members[i]
		do(l.Raw[m.Key:m.KeyEnd:m.KeyEnd], l.Raw[m.Val:m.ValEnd:m.ValEnd])
	}
}

// Count returns the number of elements or members of the value of key k if it is an array or an
// object, otherwise 0.
func (l *Line) Count(k int) int {
	if i := l.at[k]; i > 0 {
		return l.members[i-1].Count
	}
	return 0
}

// index finds the wanted keys among the members.
func (l *Line) index(keys *Keys) {
	clear(l.at)
	for i := range l.members {
		m := &l.members[i]
		if i == len(l.order) {
			l.order = append(l.order, -1)
		}
		k := l.order[i]
		if k < 0 || !keys.isIn(k, l.Raw, m) {
			k = keys.find(l.Raw, m)
			l.order[i] = k
		}
		if k >= 0 {
			l.at[k] = i + 1
		}
	}
}

// lineReader reads the lines of blocks into one Line, one after the other.
type lineReader struct {
	sc   scanner
	line Line
}

// want sets the keys that are wanted.
func (r *lineReader) want(keys *Keys) {
	r.sc.keys = keys
	r.line.at = make([]int, len(keys.names))
	r.line.order = nil
}

// each calls work with the lines of a block that are not blank, up to limit surviving ones (below
// 0: all).
func (r *lineReader) each(b *block, limit int, work func(*Line)) {
	l := &r.line
	l.Index = 0
	r.sc.scanLines(b, false, func(line []byte, d *Damage, at int64, number int, crlf bool) {
		if l.Index == limit {
			return
		}
		l.Raw = line
		l.Damage = d
		l.BadUTF8 = r.sc.text.bad
		l.CRLF = crlf
		l.Plain = d == nil && r.sc.plain
		l.Number = number
		l.Off = b.off + at
		l.members = nil
		if d == nil {
			l.members = r.sc.found
			l.inside = r.sc.inside
			l.index(r.sc.keys)
		}

		work(l)
		if d == nil {
			l.Index++
		}
	})
}

// Base is where in the file a batch of lines begins.
type Base struct {
	Line  int // physical lines before it
	Index int // surviving lines before it
}

// MapOptions select what of a source is read.
type MapOptions struct {
	From    int64 // where to begin: the start of a line
	Line    int   // physical lines before From
	Limit   int   // how many surviving lines to read; below 0: all
	Keys    *Keys
	Workers int // goroutines at most; 0: as many as processors

	// Progress, unless nil, is called with the offset reached in the source.
	Progress func(int64)
}

// Map calls work with every line that is not blank, batch by batch and in several goroutines,
// and fold with the result, the place and the damage of each batch, in the file's order and one
// at a time. A batch's result starts as the zero T; reset, unless nil, clears it for the next
// batch.
//
// A line is held in memory while work sees it, so memory grows with the longest line; only one
// line longer than a block is held at a time.
func Map[T any](ctx context.Context, src Source, opt MapOptions, work func(*Line, *T), fold func(*T, Base, Damages) error, reset func(*T)) error {
	return (&mapper[T]{src: src, opt: opt, work: work, fold: fold, reset: reset}).run(ctx)
}

// Each calls work with every line that is not blank, in order and in the caller's goroutine, and
// with the place where the line's batch begins. An error of work ends it. opt.Limit and
// opt.Workers are ignored.
func Each(ctx context.Context, src Source, opt MapOptions, work func(l *Line, base Base) error) error {
	opt.Limit, opt.Workers = -1, 1
	var failed error
	m := &mapper[struct{}]{src: src, opt: opt}
	m.work = func(l *Line, _ *struct{}) {
		if failed == nil {
			failed = work(l, Base{opt.Line + m.read, m.lines})
		}
	}
	m.fold = func(*struct{}, Base, Damages) error { return failed }
	return m.run(ctx)
}

func (m *mapper[T]) run(ctx context.Context) error {
	opt := &m.opt
	if opt.Limit == 0 {
		return nil
	}
	if m.src.block == 0 && opt.Limit < 0 && opt.Workers != 1 {
		m.src.block = mapBlock
	}
	return pipeline(ctx, m.src, opt.From, m.src.workers(opt.From, opt.Limit, opt.Workers), func() stage {
		st := &mapStage[T]{all: m}
		st.want(opt.Keys)
		return st
	})
}

type mapper[T any] struct {
	src    Source
	opt    MapOptions
	work   func(*Line, *T)
	fold   func(*T, Base, Damages) error
	reset  func(*T)
	lines  int // surviving, folded so far
	read   int // physical, likewise
	big    sync.Mutex
	bigBuf []byte
}

type mapStage[T any] struct {
	all *mapper[T]
	lineReader
	result T
}

func (st *mapStage[T]) clear() {
	if st.all.reset != nil {
		st.all.reset(&st.result)
		return
	}
	var zero T
	st.result = zero
}

func (st *mapStage[T]) measure(b *block, n int) error { return b.measure(st.all.src, n) }

func (st *mapStage[T]) scan(b *block) { st.run(b, -1) }

// run calls work with the block's lines, at most limit surviving ones (below 0: all).
func (st *mapStage[T]) run(b *block, limit int) {
	st.clear()
	work := func(l *Line) { st.all.work(l, &st.result) }
	if b.long == 0 {
		st.each(b, limit, work)
		return
	}
	st.all.big.Lock()
	defer st.all.big.Unlock()
	st.all.grow(b.long + 1)
	whole := block{off: b.off, buf: b.buf, data: st.all.bigBuf[:b.long+1], scanned: b.scanned}
	if _, b.err = st.all.src.readAt(whole.data[:b.long], b.off); b.err != nil {
		return
	}
	whole.data[b.long] = '\n'
	st.each(&whole, limit, work)
	b.scanned = whole.scanned
}

// grow makes room for a long line. The buffer that was too small goes back to the system before
// a larger one is allocated: it may be tens of megabytes, and the collector would let several
// pile up.
func (m *mapper[T]) grow(n int64) {
	if int64(cap(m.bigBuf)) >= n {
		return
	}
	if m.bigBuf != nil {
		m.bigBuf = nil
		debug.FreeOSMemory()
	}
	m.bigBuf = make([]byte, n+n/4) // untouched pages take no memory
}

func (st *mapStage[T]) emit(b *block) (more bool, err error) {
	m := st.all
	keep := len(b.kept)
	full := m.opt.Limit >= 0 && m.lines+keep >= m.opt.Limit
	if full && m.lines+keep > m.opt.Limit {
		// only now is it known where the block is cut: run it again, up to there
		keep = m.opt.Limit - m.lines
		b.scanned.reset()
		st.run(b, keep)
		if b.err != nil {
			return false, b.err
		}
	}

	damage := b.damageIn(keep, full, m.opt.Line+b.line, m.lines)
	if err := m.fold(&st.result, Base{Line: m.opt.Line + b.line, Index: m.lines}, damage); err != nil {
		return false, err
	}
	m.lines += keep
	m.read = b.line + b.lines
	if m.opt.Progress != nil {
		m.opt.Progress(b.off + int64(len(b.data)) + b.long)
	}
	return !full, nil
}

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

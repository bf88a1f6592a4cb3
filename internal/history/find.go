package history

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math/bits"
)

// manyMisses is the number of misses in the index after which the filter is built.
const manyMisses = 10_000

// finder looks up the numbers of stored pieces. Piece i is most likely followed by i+1, so
// that key is compared first, in the list of its pack; only on a mismatch is the index asked.
type finder struct {
	db     *database
	lists  [16]keyList
	used   [16]int
	clock  int
	misses int
	filter *filter
}

// keyList holds the keys of a pack.
type keyList struct {
	first int64
	keys  []key
}

// is reports whether the piece with this number has this key.
func (f *finder) is(ctx context.Context, id int64, k key) (bool, error) {
	l, err := f.list(ctx, id)
	if err != nil || l == nil {
		return false, err
	}
	i := id - l.first
	return i < int64(len(l.keys)) && l.keys[i] == k, nil
}

// list returns the keys of the pack that holds a piece, nil where there is none.
func (f *finder) list(ctx context.Context, id int64) (*keyList, error) {
	f.clock++
	oldest := 0
	for i := range f.lists {
		l := &f.lists[i]
		if id >= l.first && id < l.first+int64(len(l.keys)) {
			f.used[i] = f.clock
			return l, nil
		}
		if f.used[i] < f.used[oldest] {
			oldest = i
		}
	}
	var first int64
	var raw []byte
	err := f.db.row(ctx, "SELECT first, "+keysColumn+" FROM pack WHERE first <= ? ORDER BY first DESC LIMIT 1", id).Scan(&first, &raw)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if id >= first+int64(len(raw)/keySize) {
		return nil, nil
	}
	f.lists[oldest], f.used[oldest] = keyList{first, parseKeys(raw)}, f.clock
	return &f.lists[oldest], nil
}

// find looks up a key in the index, unless the filter rules it out.
func (f *finder) find(ctx context.Context, k key) (id int64, found bool, err error) {
	if f.filter != nil && !f.filter.has(k) {
		return 0, false, nil
	}
	err = f.db.row(ctx, "SELECT id FROM key WHERE k = ?", k[:]).Scan(&id)
	if err == nil {
		return id, true, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return 0, false, err
	}
	f.misses++
	if f.misses == manyMisses && f.filter == nil {
		return 0, false, f.build(ctx)
	}
	return 0, false, nil
}

// build fills the filter with all keys in the store.
func (f *finder) build(ctx context.Context) error {
	var n int
	if err := f.db.row(ctx, "SELECT coalesce(sum(n), 0) FROM pack").Scan(&n); err != nil {
		return err
	}
	f.filter = newFilter(n)
	rows, err := f.db.query(ctx, "SELECT k FROM key")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var raw sql.RawBytes
		if err := rows.Scan(&raw); err != nil {
			return err
		}
		if len(raw) == keySize {
			f.filter.add(key(raw))
		}
	}
	return rows.Err()
}

// forget drops what may have changed while another run wrote.
func (f *finder) forget() {
	f.lists = [len(f.lists)]keyList{}
	f.filter, f.misses = nil, 0
}

// filter is a Bloom filter of keys, which are hashes themselves.
type filter struct {
	words []uint64
	mask  uint64
}

// newFilter makes a filter with room for n keys and as many again, of 1 to 16 MiB.
func newFilter(n int) *filter {
	size := uint64(min(max(n, 1<<19)*16, 1<<27))
	size = 1 << bits.Len64(size-1)
	return &filter{make([]uint64, size/64), size - 1}
}

func (f *filter) has(k key) bool {
	a, b := binary.LittleEndian.Uint64(k[:]), binary.LittleEndian.Uint64(k[8:])
	for i := range uint64(4) {
		h := (a + i*b) & f.mask
		if f.words[h>>6]&(1<<(h&63)) == 0 {
			return false
		}
	}
	return true
}

func (f *filter) add(k key) {
	a, b := binary.LittleEndian.Uint64(k[:]), binary.LittleEndian.Uint64(k[8:])
	for i := range uint64(4) {
		h := (a + i*b) & f.mask
		f.words[h>>6] |= 1 << (h & 63)
	}
}

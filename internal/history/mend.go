package history

import (
	"context"
	"io"
)

// Mender repairs damaged pieces from files that still have them.
type Mender struct {
	s     *Store
	bad   *damage
	want  map[key]bool
	found map[key][]byte
	cut   *cutter
	keys  *keyer
}

// NewMender verifies a store, calls each for every problem, and returns a mender of the
// damage.
func NewMender(ctx context.Context, s *Store, each func(Problem) error) (*Mender, error) {
	d, err := findDamage(ctx, s, each)
	if err != nil {
		return nil, err
	}
	m := &Mender{s: s, bad: d, want: map[key]bool{}, found: map[key][]byte{}, cut: newCutter(), keys: newKeyer(s.salt)}
	for _, k := range d.pieces {
		m.want[k] = true
	}
	return m, nil
}

// Damaged reports whether there is anything to mend.
func (m *Mender) Damaged() bool {
	return len(m.bad.pieces)+m.bad.wrong+m.bad.missing > 0
}

// Look reads a file, a chat or another one, and keeps those of its pieces that are damaged
// in the store.
func (m *Mender) Look(r io.Reader, chat bool) error {
	take := func(data []byte, _ Part) error {
		if k := m.keys.of(data); m.want[k] && m.found[k] == nil {
			m.found[k] = append(make([]byte, 0, len(data)+1), data...)
		}
		return nil
	}
	if chat {
		return m.cut.lines(r, take, func([]byte) {})
	}
	return m.cut.file(r, take)
}

// Mend stores the pieces that were found again, and repairs the index of keys if it was
// damaged. It returns how many pieces were recovered.
func (m *Mender) Mend(ctx context.Context) (pieces int, err error) {
	enc, dec := newEncoder(), newDecoder()
	defer enc.Close()
	defer dec.Close()
	err = m.s.transact(ctx, func() error {
		for first := range m.bad.packs {
			r, err := packRow(ctx, m.s.db, first)
			if err != nil {
				return err
			}
			old, now := &pack{}, &pack{first: r.first}
			whole := r.decode(dec, old) == nil
			for i := range int(max(r.n, int64(len(r.keys)/keySize))) {
				k, data := keyAt(r, i), []byte(nil)
				switch again, bad := m.mended(ctx, r, old, whole, i); {
				case !bad:
					data = old.piece(i)
				case again != nil:
					data = again
					k = m.keys.of(data)
					pieces++
				case whole:
					data = old.piece(i) // as it is: it stays lost
				}
				now.add(data, k)
			}
			if err := m.s.putPack(ctx, now, enc.EncodeAll(now.raw, nil)); err != nil {
				return err
			}
		}
		if m.bad.wrong+m.bad.missing > 0 {
			return indexAgain(ctx, m.s.db)
		}
		return nil
	})
	return pieces, err
}

// mended reports whether a piece is damaged, and returns its bytes, nil if they were not
// found. If the index has the piece under the key of its present bytes, only the key in the
// pack is damaged.
func (m *Mender) mended(ctx context.Context, r *row, old *pack, whole bool, i int) (data []byte, bad bool) {
	id := r.first + int64(i)
	k, bad := m.bad.pieces[id]
	if !bad {
		return nil, false
	}
	if data := m.found[k]; data != nil {
		return data, true
	}
	if whole {
		data := old.piece(i)
		real := m.keys.of(data)
		var known int64
		if err := m.s.db.Row(ctx, "SELECT id FROM key WHERE k = ?", real[:]).Scan(&known); err == nil && known == id {
			return data, true
		}
	}
	return nil, true
}

// indexAgain makes the index of keys anew.
func indexAgain(ctx context.Context, db *database) error {
	if err := db.Exec(ctx, "DELETE FROM key"); err != nil {
		return err
	}
	return eachPack(ctx, db, func(r *row) error {
		for i, k := range parseKeys(r.keys) {
			if k.isZero() {
				continue
			}
			if err := db.Exec(ctx, "INSERT OR IGNORE INTO key(k, id) VALUES(?, ?)", k[:], r.first+int64(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

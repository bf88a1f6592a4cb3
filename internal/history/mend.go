package history

import (
	"context"
	"io"
)

// Mender repairs damaged pieces from files that still have them.
type Mender struct {
	s     *Store
	bad   *damage
	found map[key][]byte // by the keys of damaged pieces; nil: not found yet
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
	m := &Mender{s: s, bad: d, found: map[key][]byte{}, cut: newCutter(), keys: newKeyer(s.salt)}
	for _, k := range d.pieces {
		m.found[k] = nil
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
		k := m.keys.of(data)
		if found, wanted := m.found[k]; wanted && found == nil {
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
				id, k, data := r.first+int64(i), keyAt(r, i), []byte(nil)
				if whole {
					data = old.piece(i) // if it is damaged and was not found, it stays lost
				}
				if wanted, bad := m.bad.pieces[id]; bad {
					again := m.found[wanted]
					if whole && again == nil {
						// known by the key of its present bytes, only the key in the pack is damaged
						if known, ok, err := m.s.find(ctx, m.keys.of(data)); err == nil && ok && known == id {
							again = data
						}
					}
					if again != nil {
						data, k = again, m.keys.of(again)
						pieces++
					}
				}
				now.add(data, k)
			}
			if err := m.s.putPack(ctx, "REPLACE", now, enc.EncodeAll(now.raw, nil)); err != nil {
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

package history

import (
	"context"
	"database/sql"
	"fmt"
)

// pieceSet is a set of piece numbers, 64 of them by number/64.
type pieceSet map[int64]uint64

func (s pieceSet) add(id int64)      { s[id>>6] |= 1 << (id & 63) }
func (s pieceSet) has(id int64) bool { return s[id>>6]&(1<<(id&63)) != 0 }

// index compares the index of keys with the packs, both ways.
func (v *verifier) index(ctx context.Context) error {
	known := pieceSet{}
	if err := v.entries(ctx, known); err != nil {
		return v.db.wrap(err)
	}
	if err := v.unknown(ctx, known); err != nil {
		return v.db.wrap(err)
	}
	if len(v.d.wrong)+v.d.missing == 0 {
		return nil
	}
	return v.each(Problem{Rule: Index, Index: -1, Text: fmt.Sprintf("in the index of lines, wrong: %d, missing: %d; nothing is lost, but such lines are stored again", len(v.d.wrong), v.d.missing)})
}

// entries looks for rows of the index that lead to other pieces, and adds the pieces that the
// others lead to.
func (v *verifier) entries(ctx context.Context, known pieceSet) error {
	rows, err := v.db.query(ctx, "SELECT k, id FROM key ORDER BY id") // so that each pack's keys are read once
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var raw sql.RawBytes
		var id int64
		if err := rows.Scan(&raw, &id); err != nil {
			return err
		}
		var k key
		copy(k[:], raw)
		ok, err := v.find.is(ctx, id, k)
		if err != nil {
			return err
		}
		if ok {
			known.add(id)
		} else if _, bad := v.d.pieces[id]; !bad {
			v.d.wrong = append(v.d.wrong, k)
		}
	}
	return rows.Err()
}

// unknown counts the sound pieces that are not known and whose key leads nowhere. If it leads
// to another piece, that is the same line, stored twice.
func (v *verifier) unknown(ctx context.Context, known pieceSet) error {
	rows, err := v.db.query(ctx, "SELECT first, "+keysColumn+" FROM pack")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var first int64
		var raw sql.RawBytes
		if err := rows.Scan(&first, &raw); err != nil {
			return err
		}
		for i, k := range parseKeys(raw) {
			id := first + int64(i)
			if _, bad := v.d.pieces[id]; bad || k.isZero() || known.has(id) {
				continue
			}
			_, found, err := v.find.find(ctx, k)
			if err != nil {
				return err
			}
			if !found {
				v.d.missing++
			}
		}
	}
	return rows.Err()
}

package history

import (
	"context"
	"fmt"
	"slices"
)

// alive returns the pieces that versions name, as sorted ranges, leaving out the versions for
// which spare is true.
func alive(ctx context.Context, db *database, spare func(*Version) bool) ([]Run, error) {
	rows, err := db.query(ctx, "SELECT "+versionColumns+" FROM version")
	if err != nil {
		return nil, db.told(err)
	}
	defer rows.Close()
	var all []Run
	for rows.Next() {
		v, err := scanVersion(rows)
		if err != nil {
			return nil, db.told(err)
		}
		if spare(&v) {
			continue
		}
		runs, err := v.Runs()
		if err != nil {
			return nil, fmt.Errorf("%s: %w: what a version needs cannot be told", db.path, ErrBroken)
		}
		if all = append(all, runs...); len(all) > 1<<20 {
			all = ranges(all)
		}
	}
	return ranges(all), db.told(rows.Err())
}

// has reports whether sorted ranges hold a piece.
func has(sorted []Run, id int64) bool {
	i, found := slices.BinarySearchFunc(sorted, id, func(r Run, id int64) int { return int(min(max(r.First-id, -1), 1)) })
	return found || i > 0 && id < sorted[i-1].First+sorted[i-1].Count
}

// eachPack calls f for all packs in order.
func eachPack(ctx context.Context, db *database, f func(*row) error) error {
	for at := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var r row
		rows, err := db.query(ctx, "SELECT first, n, raw, lens, keys, data FROM pack WHERE first > ? ORDER BY first LIMIT 1", at)
		if err != nil {
			return db.told(err)
		}
		found := rows.Next()
		if found {
			err = rows.Scan(&r.first, &r.n, &r.raw, &r.lens, &r.keys, &r.data)
		} else {
			err = rows.Err()
		}
		_ = rows.Close()
		if err != nil || !found {
			return db.told(err)
		}
		if err := f(&r); err != nil {
			return err
		}
		at = r.first
	}
}

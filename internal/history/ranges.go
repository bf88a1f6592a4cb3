package history

import (
	"context"
	"fmt"
	"slices"
)

// alive returns the pieces that versions name, as sorted ranges, leaving out the versions for
// which spare is true.
func alive(ctx context.Context, s *Store, spare func(*Version) bool) (all []Run, err error) {
	err = s.eachVersion(ctx, func(v *Version) error {
		if spare(v) {
			return nil
		}
		runs, err := v.Runs()
		if err != nil {
			return fmt.Errorf("%s: %w: what a version needs cannot be told", s.db.path, ErrBroken)
		}
		if all = append(all, runs...); len(all) > 1<<20 {
			all = Ranges(all)
		}
		return nil
	})
	return Ranges(all), err
}

// has reports whether sorted ranges hold a piece.
func has(sorted []Run, id int64) bool {
	i, found := slices.BinarySearchFunc(sorted, id, func(r Run, id int64) int { return int(min(max(r.First-id, -1), 1)) })
	return found || i > 0 && id < sorted[i-1].First+sorted[i-1].Count
}

// Ranges sorts runs by their pieces, and joins those that touch or overlap.
func Ranges(runs []Run) []Run {
	sorted := slices.Clone(runs)
	slices.SortFunc(sorted, func(a, b Run) int { return int(min(max(a.First-b.First, -1), 1)) })
	var out []Run
	for _, r := range sorted {
		if n := len(out); n > 0 && r.First <= out[n-1].First+out[n-1].Count {
			last := &out[n-1]
			last.Count = max(last.Count, r.First+r.Count-last.First)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Without returns the ranges of the pieces that are in a and not in b.
func Without(a, b []Run) (rest []Run) {
	b = Ranges(b)
	for _, r := range Ranges(a) {
		for r.Count > 0 {
			for len(b) > 0 && b[0].First+b[0].Count <= r.First {
				b = b[1:]
			}
			free, drop := r.Count, int64(0)
			if len(b) > 0 {
				free = min(r.Count, max(b[0].First-r.First, 0))
				drop = min(r.Count, max(b[0].First+b[0].Count-r.First, 0))
			}
			if free > 0 {
				rest = append(rest, Run{First: r.First, Count: free, Part: r.Part})
			}
			gone := max(free, drop)
			r.First, r.Count = r.First+gone, r.Count-gone
		}
	}
	return rest
}

// eachPack calls f for all packs in order.
func eachPack(ctx context.Context, db *database, f func(*row) error) error {
	for at := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var r row
		rows, err := db.query(ctx, "SELECT "+packColumns+" FROM pack WHERE first > ? ORDER BY first LIMIT 1", at)
		if err != nil {
			return db.wrap(err)
		}
		found := rows.Next()
		if found {
			err = rows.Scan(&r.first, &r.n, &r.raw, &r.lens, &r.keys, &r.data)
		} else {
			err = rows.Err()
		}
		_ = rows.Close()
		if err != nil || !found {
			return db.wrap(err)
		}
		if err := f(&r); err != nil {
			return err
		}
		at = r.first
	}
}

package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Rules say which versions of a chat stay: those that at least one rule keeps.
type Rules struct {
	Last    int // how many of the newest
	Daily   int // the newest of so many days that have a version; likewise the others
	Weekly  int
	Monthly int
}

// Freed counts what was dropped, or would be: a part of the document of history.
type Freed struct {
	Versions int   `json:"versions"`
	Pieces   int64 `json:"pieces"`
	Bytes    int64 `json:"bytes"` // of packs, approximately
}

// Prune drops the versions that no rule keeps. Those with a note stay, and the last one of each
// chat. Pieces that no version names are dropped where it pays: packs of which less than half is
// left are rewritten.
func Prune(ctx context.Context, s *Store, rules Rules) (f Freed, err error) {
	err = s.transact(ctx, func() error {
		chats, err := s.Chats(ctx)
		if err != nil {
			return err
		}
		going := map[int64]bool{}
		for i := range chats {
			versions, err := s.Versions(ctx, chats[i].ID)
			if err != nil {
				return err
			}
			goingHere := rules.going(versions)
			maps.Copy(going, goingHere)
			if err := s.notePruned(ctx, versions, goingHere); err != nil {
				return err
			}
		}

		f, err = drop(ctx, s, going, wherePays)
		return err
	})
	return f, err
}

// notePruned notes on the versions that stay which snapshots held another one since.
func (s *Store) notePruned(ctx context.Context, versions []Version, going map[int64]bool) error {
	versions = slices.DeleteFunc(versions, func(v Version) bool { return v.Snapshot == 0 })
	slices.SortFunc(versions, func(a, b Version) int { return cmp.Compare(a.Rev, b.Rev) })
	var stays *Version
	for i := range versions {
		v := &versions[i]
		if !going[v.Rev] {
			stays = v
			continue
		}
		if stays == nil || stays.Thin != 0 && stays.Thin <= v.Snapshot {
			continue
		}
		stays.Thin = v.Snapshot
		if err := s.change(ctx, "UPDATE version SET thin = ?, tag = ? WHERE id = ?", stays.Thin, s.tag(stays), stays.Rev); err != nil {
			return err
		}
	}
	return nil
}

// going returns the numbers of the versions that no rule keeps, of a list that begins with the
// oldest.
func (r Rules) going(versions []Version) map[int64]bool {
	going := map[int64]bool{}
	last := int64(0) // what the file holds now, or held last
	for i := range versions {
		if versions[i].Note == "" {
			going[versions[i].Rev] = true
		}
		if versions[i].Snapshot > 0 || i == len(versions)-1 && last == 0 {
			last = versions[i].Rev
		}
	}

	delete(going, last)
	for _, rule := range []struct {
		n    int
		name func(i int, at time.Time) string
	}{
		{r.Last, func(i int, _ time.Time) string { return fmt.Sprint(i) }},
		{r.Daily, func(_ int, at time.Time) string { return at.Format(time.DateOnly) }},
		{r.Weekly, func(_ int, at time.Time) string { y, w := at.ISOWeek(); return fmt.Sprint(y, w) }},
		{r.Monthly, func(_ int, at time.Time) string { return at.Format("2006-01") }},
	} {
		last, n := "", 0
		for i := len(versions) - 1; i >= 0 && n < rule.n; i-- {
			if name := rule.name(i, versions[i].At.Local()); name != last {
				last = name
				n++
				delete(going, versions[i].Rev)
			}
		}
	}
	return going
}

// Forget drops chats with all their versions, overwrites every piece that only they have, and
// compacts the file.
func Forget(ctx context.Context, s *Store, chats []int64) (f Freed, err error) {
	err = s.transact(ctx, func() error {
		going := map[int64]bool{}
		for _, id := range chats {
			versions, err := s.Versions(ctx, id)
			if err != nil {
				return err
			}
			for _, v := range versions {
				going[v.Rev] = true
			}
			if err := s.change(ctx, "DELETE FROM seen WHERE path IN (SELECT path FROM place WHERE chat = ?1) OR version IN (SELECT id FROM version WHERE chat = ?1)", id); err != nil {
				return err
			}
		}

		f, err = drop(ctx, s, going, everywhere)
		if err != nil {
			return err
		}
		for _, id := range chats {
			if err := errors.Join(s.delete(ctx, "place", "chat", id), s.delete(ctx, "chat", "id", id)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	return f, Compact(ctx, s)
}

// Compact returns free pages to the file system.
func Compact(ctx context.Context, s *Store) error {
	return s.db.wrap(s.change(ctx, "VACUUM"))
}

// packs says from which packs pieces are dropped.
type packs bool

const (
	wherePays  packs = false // those of which little is left
	everywhere packs = true
)

// drop deletes versions, and from packs the pieces that no version names any more.
func drop(ctx context.Context, s *Store, going map[int64]bool, from packs) (f Freed, err error) {
	f.Versions = len(going)
	versions, err := s.VersionsSince(ctx, 0)
	if err != nil {
		return f, err
	}
	var alive []Run
	for i := range versions {
		if going[versions[i].Rev] {
			continue
		}
		runs, err := versions[i].Runs()
		if err != nil {
			return f, fmt.Errorf("%s: %w: what a version needs cannot be told", s.db.path, ErrBroken)
		}
		alive = append(alive, runs...)
		const many = 1 << 20
		if len(alive) > many {
			alive = Ranges(alive)
		}
	}

	for id := range going {
		if err := s.change(ctx, "UPDATE seen SET version = 0 WHERE version = ?", id); err != nil {
			return f, err
		}
		if err := s.delete(ctx, "version", "id", id); err != nil {
			return f, err
		}
	}
	if err := sweep(ctx, s, Ranges(alive), from, &f); err != nil || s.dry {
		return f, err
	}
	s.gen++
	s.packs, s.lists = nil, nil
	return f, s.db.Set(ctx, metaGeneration, s.gen)
}

// delete deletes the rows of a table that have a number in a column, and counts them for [Verify].
func (s *Store) delete(ctx context.Context, table, column string, number int64) error {
	if err := s.change(ctx, "DELETE FROM "+table+" WHERE "+column+" = ?", number); err != nil {
		return err
	}
	return s.change(ctx, "INSERT INTO meta(k, v) VALUES(?, changes()) ON CONFLICT DO UPDATE SET v = v + excluded.v", metaDropped+table)
}

// sweep removes the pieces that are not alive, and counts them.
func sweep(ctx context.Context, s *Store, alive []Run, from packs, freed *Freed) error {
	enc, dec := newEncoder(), newDecoder()
	defer enc.Close()
	defer dec.Close()
	// no number is used twice, whatever is dropped
	var next int64
	if err := s.nextPiece(ctx, &next); err != nil {
		return err
	}
	if err := s.change(ctx, "UPDATE meta SET v = ? WHERE k = ?", next, metaFloor); err != nil {
		return err
	}
	p := &pack{}
	return eachPack(ctx, s.db, func(r *row) error {
		dead, stays, fresh, bytes := r.dead(alive)
		if stays && (fresh == 0 || from == wherePays && 2*bytes <= r.raw) {
			return nil
		}
		whole := stays && r.decode(dec, p) == nil
		if stays && !whole && from == wherePays {
			return nil // a damaged pack stays as it is
		}
		now := &pack{first: r.first}
		for i := range dead {
			k := keyAt(r, i)
			switch {
			case dead[i]:
				now.add(nil, key{})
			case whole:
				now.add(p.piece(i), p.keys[i])
			default:
				now.add(nil, k) // it is lost already; by its key it can be mended
			}

			if dead[i] && !k.isZero() {
				if err := s.change(ctx, "DELETE FROM key WHERE k = ? AND id = ?", k[:], r.first+int64(i)); err != nil {
					return err
				}
			}
		}

		freed.Pieces += fresh
		if !stays {
			freed.Bytes += int64(len(r.data) + len(r.keys))
			return s.change(ctx, "DELETE FROM pack WHERE first = ?", r.first)
		}
		data := enc.EncodeAll(now.raw, nil)
		freed.Bytes += int64(len(r.data) - len(data))
		return s.putPack(ctx, "REPLACE", now, data)
	})
}

// dead reports for each piece of a pack whether it is not alive, and whether any is. fresh of the
// dead ones still have bytes, and bytes is how many.
func (r *row) dead(alive []Run) (dead []bool, stays bool, fresh, bytes int64) {
	dead = make([]bool, r.pieces())
	lens := r.lens
	for i := range dead {
		var size uint64
		size, lens = cutUvarint(lens)
		if dead[i] = !has(alive, r.first+int64(i)); !dead[i] {
			stays = true
		} else if k := keyAt(r, i); !k.isZero() {
			fresh++
			bytes += int64(size)
		}
	}
	return dead, stays, fresh, bytes
}

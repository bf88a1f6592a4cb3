package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// flush gives the pack that is being filled to the compressor, and writes those before
// it that are ready when too many are on their way.
func (w *Writer) flush() error {
	if w.cur == nil {
		return nil
	}
	j := w.cur
	j.shares, j.bytes = w.shares, j.bytes[:0]
	for _, c := range w.shares {
		j.bytes = append(j.bytes, c.share)
		c.share = 0
	}
	w.cur, w.shares = nil, nil
	w.jobs <- j
	if w.queue = append(w.queue, j); len(w.queue) > inFlight {
		return w.writeOldest()
	}
	return nil
}

// drain writes all packs.
func (w *Writer) drain() error {
	if err := w.flush(); err != nil {
		return err
	}
	for len(w.queue) > 0 {
		if err := w.writeOldest(); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) writeOldest() error {
	j := w.queue[0]
	w.queue = w.queue[1:]
	<-j.ready
	p := &j.pack
	lens := p.lens()
	if _, err := w.insert.pack.ExecContext(w.ctx, p.first, len(p.keys), len(p.raw), lens, p.keyBytes(), j.data); err != nil {
		return err
	}
	stored := int64(len(j.data) + len(lens) + 2*len(p.keys)*keySize)
	total := int64(0)
	for _, n := range j.bytes {
		total += n
	}
	for i, c := range j.shares {
		c.Stored += stored * j.bytes[i] / max(total, 1)
	}
	if err := w.insertKeys(p); err != nil {
		return err
	}
	w.spare = append(w.spare, j)
	return nil
}

// newPack begins a pack, in the room of one that was written.
func (w *Writer) newPack(first int64) *packJob {
	n := len(w.spare)
	if n == 0 {
		return &packJob{pack: pack{first: first, raw: make([]byte, 0, maxPack)}, ready: make(chan struct{}, 1)}
	}
	j := w.spare[n-1]
	w.spare = w.spare[:n-1]
	j.pack = pack{first: first, raw: j.pack.raw[:0], ends: j.pack.ends[:0], keys: j.pack.keys[:0]}
	return j
}

// insertKeys adds a pack's keys to the index, sorted, which is how the index is.
func (w *Writer) insertKeys(p *pack) error {
	order := make([]int, len(p.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(p.keys[a][:], p.keys[b][:]) })
	args := make([]any, 0, 2*manyKeys)
	for n, i := range order {
		args = append(args, p.keys[i][:], p.first+int64(i))
		if len(args) == 2*manyKeys {
			if _, err := w.insert.keys.ExecContext(w.ctx, args...); err != nil {
				return err
			}
			args = args[:0]
		}
		if n == len(order)-1 {
			for ; len(args) > 0; args = args[2:] {
				if _, err := w.insert.key.ExecContext(w.ctx, args[:2]...); err != nil {
					return err
				}
			}
		}
	}
	for _, k := range p.keys {
		delete(w.pending, k)
	}
	return nil
}

// Full says whether so much was read since the last commit that it is time for one.
func (w *Writer) Full() bool { return w.files >= stayFiles || w.read >= stayRead }

// Commit puts all that was read and added so far into the store, and goes on. What was
// added may be told once it returns.
func (w *Writer) Commit() error {
	if err := w.finish(); err != nil {
		return err
	}
	return w.begin()
}

// finish commits. Where it fails, nothing of the transaction is left.
func (w *Writer) finish() error {
	err := w.drain()
	if err == nil {
		end := "COMMIT"
		if w.s.dry {
			end = "ROLLBACK"
		}
		err = w.s.exec(context.WithoutCancel(w.ctx), end)
	}
	if err != nil {
		w.rollback()
		return w.s.told(err)
	}
	w.read, w.files = 0, 0
	return nil
}

func (w *Writer) rollback() {
	// where SQLite has taken it back itself, this is an error of no interest
	_ = w.s.exec(context.WithoutCancel(w.ctx), "ROLLBACK")
}

// Close commits and ends the writing; after an error there is nothing to commit, and it
// takes back what was not committed.
func (w *Writer) Close(failed bool) error {
	var err error
	if failed {
		w.rollback()
	} else {
		err = w.finish()
	}
	close(w.jobs)
	<-w.done
	return errors.Join(err, w.forget())
}

// NewVersion describes a version that is to be added.
type NewVersion struct {
	Chat   int64
	At     int64 // ms since 1970
	Mtime  int64 // ns since 1970, 0 where it is not known
	Source Source
	Note   string
}

// Add adds a version with the given content. A chat's versions are numbered from 1, or
// from the last number of another chat that had the same name, so that no two versions
// under one name have one number. A snapshot is never dated before the last one of its
// chat, even if the clock was set back.
func (w *Writer) Add(v NewVersion, c *Content) (Version, error) {
	out := Version{Chat: v.Chat, Size: c.Size, Messages: c.Messages, Source: v.Source, Note: v.Note, Sum: string(c.Sum[:]), runs: encodeRuns(c.Runs)}
	var latest int64
	err := w.s.row(w.ctx, `SELECT coalesce(max(rev), 0) + 1, coalesce(max(at) FILTER (WHERE chat = ?1 AND source <> 'backup'), 0) FROM version
		WHERE chat IN (SELECT b.id FROM chat a JOIN chat b ON b.owner = a.owner AND b.name = a.name WHERE a.id = ?1)`, v.Chat).Scan(&out.Rev, &latest)
	if err != nil {
		return out, w.s.told(err)
	}
	at := v.At
	if v.Source != FromBackup {
		at = max(at, latest)
	}
	out.At = time.UnixMilli(at)
	if w.s.dry {
		return out, nil
	}
	err = w.s.row(w.ctx, `INSERT INTO version(chat, rev, at, mtime, size, messages, source, note, sum, runs)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		out.Chat, out.Rev, at, v.Mtime, out.Size, out.Messages, string(out.Source), out.Note, c.Sum[:], out.runs).Scan(&out.ID)
	if err != nil {
		return out, w.s.told(fmt.Errorf("adding a version: %w", err))
	}
	return out, nil
}

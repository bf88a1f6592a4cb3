package history

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"stchat/internal/jsonl"
)

const (
	stayRead  = 64 << 20
	stayFiles = 1000
)

// ErrAgain means that another run pruned the store while a file was read: it must be read
// again.
var ErrAgain = errors.New("the history was pruned meanwhile; try again")

// Writer takes files into a store. It locks the store from [NewWriter] to Close, but lets
// others in after each [Writer.Commit].
type Writer struct {
	s     *Store
	stop  context.Context // ends reading
	ctx   context.Context // for statements: watching each for cancellation costs more than most of them do
	in    intake
	keys  *keyer
	cut   *cutter
	lines jsonl.Buffer
	links *jsonl.Keys
	data  int64 // SQLite's data_version, which reveals changes by others

	read    int64 // bytes since the last commit
	files   int
	commits int
}

// NewWriter begins a transaction. The error is an [ErrBusy] where another program holds
// the store for five seconds.
func NewWriter(ctx context.Context, s *Store) (*Writer, error) {
	w := &Writer{s: s, stop: ctx, ctx: context.WithoutCancel(ctx), keys: newKeyer(s.salt), links: linkKeys(), in: intake{dry: s.dry, find: finder{db: s.db}, pack: packer{ctx: context.WithoutCancel(ctx), db: s.db}}}
	var err error
	if w.cut, err = newCutter(); err != nil {
		return nil, err
	}
	if err := w.begin(); err != nil {
		return nil, err
	}
	if err := w.in.pack.start(); err != nil {
		s.db.rollback(ctx)
		return nil, s.db.wrap(err)
	}
	return w, nil
}

// begin begins a transaction, and checks what others did since the last one.
func (w *Writer) begin() error {
	begin := "BEGIN IMMEDIATE"
	if w.s.dry {
		begin = "BEGIN"
	}
	if err := w.s.db.exec(w.stop, begin); err != nil {
		return w.s.db.wrap(err)
	}
	err := w.look()
	if err != nil {
		w.s.db.rollback(w.ctx)
	}
	return w.s.db.wrap(err)
}

func (w *Writer) look() error {
	was := w.data
	if err := w.s.db.row(w.ctx, "PRAGMA data_version").Scan(&w.data); err != nil {
		return err
	}
	if was == w.data {
		return nil
	}
	gen := w.s.gen
	if err := w.s.db.get(w.ctx, metaGeneration, &w.s.gen); err != nil {
		return err
	}
	if err := w.in.begin(w.ctx); err != nil {
		return err
	}
	if gen != w.s.gen && was != 0 {
		return ErrAgain
	}
	return nil
}

// Read takes in all of r: a chat's lines, or any other file's bytes. Its pieces are in
// the store after the next Commit.
func (w *Writer) Read(r io.Reader, chat bool) (*Content, error) {
	c := &Content{}
	sum, last := sha256.New(), int64(0)
	count := lineCounter{c: c, lines: &w.lines, keys: w.links}
	add := func(data []byte, part Part) error {
		if n := len(c.Runs); n > 0 && c.Runs[n-1].Part != More {
			c.Size++ // the LF before this line
		}
		c.Size += int64(len(data))
		if w.read += int64(len(data)); w.read >= stayRead {
			if err := w.Commit(); err != nil {
				return err
			}
		}
		if err := w.stop.Err(); err != nil {
			return err
		}
		k := w.keys.of(data)
		sum.Write(k[:])
		id, err := w.in.piece(w.ctx, c, data, k, last+1)
		if err != nil {
			return err
		}
		last = id
		if n := len(c.Runs); chat && part != Whole && (n == 0 || c.Runs[n-1].Part != More) {
			count.long(data)
		}
		c.Runs = appendRun(c.Runs, id, part)
		if part == Whole && len(data) == 0 {
			c.empty = id
		}
		return nil
	}
	var err error
	if chat {
		err = w.cut.lines(r, add, count.whole)
	} else {
		err = w.cut.file(r, add)
	}
	if err != nil {
		return nil, w.s.db.wrap(err)
	}
	w.files++
	copy(c.Sum[:], sum.Sum(nil))
	return c, nil
}

// MayLink reports whether a message of a chat may name a checkpoint or branch, as
// [Content.Links] does, without taking the chat in.
func (w *Writer) MayLink(r io.Reader) (bool, error) {
	c := &Content{}
	count := lineCounter{c: c, lines: &w.lines, keys: w.links}
	err := w.cut.lines(r, func(data []byte, part Part) error {
		if part != Whole {
			count.long(data)
		}
		return w.stop.Err()
	}, count.whole)
	return c.Links, err
}

// Full reports whether so much was read since the last commit that it is time for one.
func (w *Writer) Full() bool { return w.files >= stayFiles || w.read >= stayRead }

// Commits returns how many commits were made. What was added is safe once there is another.
func (w *Writer) Commits() int { return w.commits }

// Commit commits all that was read and added so far, and begins a new transaction. What was
// added may be reported once it returns.
func (w *Writer) Commit() error {
	if err := w.finish(); err != nil {
		return err
	}
	return w.begin()
}

// finish commits. Where it fails, nothing of the transaction is left.
func (w *Writer) finish() error {
	err := w.in.pack.drain()
	if err == nil {
		end := "COMMIT"
		if w.s.dry {
			end = "ROLLBACK"
		}
		err = w.s.db.exec(w.ctx, end)
	}
	if err != nil {
		w.s.db.rollback(w.ctx)
		return w.s.db.wrap(err)
	}
	w.read, w.files = 0, 0
	w.commits++
	return nil
}

// Close commits and ends the writing. After a failure it rolls back instead.
func (w *Writer) Close(failed bool) error {
	var err error
	if failed {
		w.s.db.rollback(w.ctx)
	} else {
		err = w.finish()
	}
	w.in.pack.stop()
	return err
}

// NewVersion describes a version to add.
type NewVersion struct {
	Chat   int64
	At     int64 // ms since 1970
	Mtime  int64 // ns since 1970, 0 where it is not known
	Source Source
	Note   string
}

// Add adds a version with the given content. A chat's versions are numbered from 1, or go on
// from the last number of another chat that had the same name, so that no two versions under
// one name share a number. A snapshot is never dated before the last one of its chat, even
// if the clock was set back.
func (w *Writer) Add(v NewVersion, c *Content) (Version, error) {
	out := Version{Chat: v.Chat, Size: c.Size, Messages: c.Messages, Source: v.Source, Note: v.Note, Sum: string(c.Sum[:]), runs: encodeRuns(c.Runs)}
	var latest int64
	err := w.s.db.row(w.ctx, `SELECT coalesce(max(rev), 0) + 1, coalesce(max(at) FILTER (WHERE chat = ?1 AND source <> 'backup'), 0) FROM version
		WHERE chat IN (SELECT b.id FROM chat a JOIN chat b ON b.owner = a.owner AND b.name = a.name WHERE a.id = ?1)`, v.Chat).Scan(&out.Rev, &latest)
	if err != nil {
		return out, w.s.db.wrap(err)
	}
	at := v.At
	if v.Source != FromBackup {
		at = max(at, latest)
	}
	out.At = time.UnixMilli(at)
	if w.s.dry {
		return out, nil
	}
	err = w.s.db.row(w.ctx, `INSERT INTO version(chat, rev, at, mtime, size, messages, source, note, sum, runs)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		out.Chat, out.Rev, at, v.Mtime, out.Size, out.Messages, string(out.Source), out.Note, c.Sum[:], out.runs).Scan(&out.ID)
	if err != nil {
		return out, w.s.db.wrap(fmt.Errorf("adding a version: %w", err))
	}
	return out, nil
}

// See records how a file was found.
func (w *Writer) See(path string, f Seen) error {
	if w.s.dry {
		return nil
	}
	return w.s.db.wrap(w.s.db.exec(w.ctx, `INSERT INTO seen(path, version, size, mtime_ns, ctime_ns, inode, racy) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)
		ON CONFLICT DO UPDATE SET version = ?2, size = ?3, mtime_ns = ?4, ctime_ns = ?5, inode = ?6, racy = ?7`,
		path, f.Version, f.Size, f.Mtime, f.Ctime, f.Inode, f.Racy))
}

// Identify returns the chat that a file is a version of, or makes a new one.
func (w *Writer) Identify(f Candidate, c *Content) (Chat, error) {
	known := identities{w.ctx, w.s.db, w.s.dry}
	return known.identify(f, c)
}

// Parent records the chat that another was made from; 0 if unknown.
func (w *Writer) Parent(chat, parent int64) error {
	known := identities{w.ctx, w.s.db, w.s.dry}
	return known.parent(chat, parent)
}

// Gone records that a chat's file was not found, at a time in ms since 1970.
func (w *Writer) Gone(chat, at int64) error {
	known := identities{w.ctx, w.s.db, w.s.dry}
	return known.gone(chat, at)
}

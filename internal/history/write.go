package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

const (
	stayRead  = 64 << 20
	stayFiles = 1000

	manyKeys  = 64      // keys that one statement inserts
	freshKeys = 1 << 14 // keys that are sorted at once
)

// Writer takes files into a store. It locks the store from [NewWriter] to Close, but lets
// others in after each [Writer.Commit].
type Writer struct {
	s     *Store
	stop  context.Context // ends reading
	ctx   context.Context // for statements: watching each for cancellation costs more than most of them do
	next  int64           // the number of the next new piece
	keys  *keyer
	cut   *cutter
	count lineCounter
	seen  int64 // SQLite's data_version, which reveals changes by others
	rev   int64 // in a dry run, the number of the last version

	enc     *zstd.Encoder
	cur     pack          // of new pieces, not written yet
	data    []byte        // of the last pack, whose memory is reused
	shares  []*Content    // the files that have pieces in cur
	pending map[key]int64 // pieces whose keys are not in the index yet
	fresh   []key         // those of them that are in written packs

	read    int64 // bytes since the last commit
	files   int
	commits int
}

// NewWriter begins a transaction. The error is an [ErrBusy] where another program holds
// the store for five seconds.
func NewWriter(ctx context.Context, s *Store) (*Writer, error) {
	w := &Writer{s: s, stop: ctx, ctx: context.WithoutCancel(ctx), keys: newKeyer(s.salt), cut: newCutter(), enc: newEncoder(), pending: map[key]int64{}}
	if err := w.begin(); err != nil {
		return nil, err
	}
	return w, nil
}

// begin begins a transaction, and checks what others did since the last one.
func (w *Writer) begin() error {
	begin := "BEGIN IMMEDIATE"
	if w.s.dry {
		begin = "BEGIN"
	}
	if err := w.s.db.Exec(w.stop, begin); err != nil {
		return w.s.db.wrap(err)
	}
	err := w.look()
	if err != nil {
		w.s.db.Rollback(w.ctx)
	}
	return w.s.db.wrap(err)
}

// look notices what another program has written meanwhile.
func (w *Writer) look() error {
	was := w.seen
	if err := w.s.db.Row(w.ctx, "PRAGMA data_version").Scan(&w.seen); err != nil {
		return err
	}
	if was == w.seen {
		return nil
	}
	gen := w.s.gen
	if err := w.s.db.Get(w.ctx, metaGeneration, &w.s.gen); err != nil {
		return err
	}
	w.s.lists = nil
	if err := w.s.nextPiece(w.ctx, &w.next); err != nil {
		return err
	}
	if gen != w.s.gen && was != 0 {
		return ErrRewritten
	}
	return nil
}

// Read takes in all of r: a chat's lines, or any other file's bytes. Its pieces are in
// the store after the next Commit.
func (w *Writer) Read(r io.Reader, chat bool) (*Content, error) {
	c := &Content{}
	sum := sha256.New()
	last := int64(0) // the piece before
	count := &w.count
	count.c = c
	count.held = count.held[:0]
	count.headed = false
	add := func(data []byte, part Part) error {
		isFirst := len(c.Runs) == 0
		beginsLine := isFirst || c.Runs[len(c.Runs)-1].Part != More
		if beginsLine && !isFirst {
			c.Size++ // the LF before this line
		}
		c.Size += int64(len(data))
		w.read += int64(len(data))
		if w.read >= stayRead {
			if err := w.Commit(); err != nil {
				return err
			}
		}
		if err := w.stop.Err(); err != nil {
			return err
		}
		k := w.keys.keyOf(data)
		sum.Write(k[:])
		id, err := w.piece(c, data, k, last+1)
		if err != nil {
			return err
		}
		last = id
		if chat && beginsLine && part != Whole {
			count.long(data)
		}
		c.Runs = appendRun(c.Runs, id, part)
		return nil
	}
	if err := w.cut.cut(r, chat, add, count.whole); err != nil {
		return nil, w.s.db.wrap(err)
	}
	count.flush()
	w.files++
	copy(c.Sum[:], sum.Sum(nil))
	return c, nil
}

// piece returns the number of a piece, and adds it if it is new. likely is the number to try
// first, the one after the previous piece's.
func (w *Writer) piece(c *Content, data []byte, k key, likely int64) (int64, error) {
	if id, ok := w.pending[k]; ok {
		return id, nil
	}
	if likely > 1 && likely < w.next {
		if ok, err := w.s.isPiece(w.ctx, likely, k); ok || err != nil {
			return likely, err
		}
	}
	if id, ok, err := w.s.find(w.ctx, k); ok || err != nil {
		return id, err
	}
	id := w.next
	w.next++
	w.pending[k] = id
	c.NewPieces++
	if w.s.dry {
		return id, nil
	}
	if len(w.cur.keys) == 0 {
		w.cur.first = id
	}
	w.cur.add(data, k)
	if c.share += int64(len(data)) + 1; !slices.Contains(w.shares, c) {
		w.shares = append(w.shares, c)
	}
	if len(w.cur.raw) < packSize {
		return id, nil
	}
	return id, w.flush()
}

func (w *Writer) flush() error {
	done := &w.cur
	if len(done.keys) == 0 {
		return nil
	}
	w.data = w.enc.EncodeAll(done.raw, w.data[:0])
	if err := w.s.putPack(w.ctx, "INSERT", done, w.data); err != nil {
		return err
	}
	stored := int64(len(w.data) + len(done.lens()) + 2*len(done.keys)*keySize)
	total := int64(0)
	for _, c := range w.shares {
		total += c.share
	}
	for _, c := range w.shares {
		c.Stored += stored * c.share / max(total, 1)
		c.share = 0
	}

	w.fresh = append(w.fresh, done.keys...)
	w.cur, w.shares = pack{raw: done.raw[:0], ends: done.ends[:0], keys: done.keys[:0]}, nil
	if len(w.fresh) >= freshKeys {
		return w.insertKeys()
	}
	return nil
}

// insertKeys adds the keys of written packs to the index, in its order.
func (w *Writer) insertKeys() error {
	slices.SortFunc(w.fresh, func(a, b key) int { return bytes.Compare(a[:], b[:]) })
	const one = "INSERT OR IGNORE INTO key(k, id) VALUES(?, ?)"
	many := one + strings.Repeat(", (?, ?)", manyKeys-1)
	args := make([]any, 0, 2*manyKeys)
	for rest := w.fresh; len(rest) > 0; {
		n, insert := 1, one
		if len(rest) >= manyKeys {
			n, insert = manyKeys, many
		}
		args = args[:0]
		for i := range rest[:n] {
			args = append(args, rest[i][:], w.pending[rest[i]])
			delete(w.pending, rest[i])
		}
		if err := w.s.db.Exec(w.ctx, insert, args...); err != nil {
			return err
		}
		rest = rest[n:]
	}

	w.fresh = w.fresh[:0]
	return nil
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
	err := w.flush()
	if err == nil {
		err = w.insertKeys()
	}
	if err == nil {
		end := "COMMIT"
		if w.s.dry {
			end = "ROLLBACK"
		}
		err = w.s.db.Exec(w.ctx, end)
	}
	if err != nil {
		w.s.db.Rollback(w.ctx)
		return w.s.db.wrap(err)
	}
	w.read, w.files = 0, 0
	w.commits++
	return nil
}

// Close commits and ends the writing. After a failure it rolls back instead.
func (w *Writer) Close(failed bool) error {
	if failed {
		w.s.db.Rollback(w.ctx)
		return nil
	}
	return w.finish()
}

// Take notes a run that is not older than the last one, and returns it.
func (w *Writer) Take(r Snapshot) (Snapshot, error) {
	var latest int64
	if err := w.s.db.Row(w.ctx, "SELECT coalesce(max(at), 0), coalesce(max(id), 0) + 1 FROM run").Scan(&latest, &r.ID); err != nil {
		return r, w.s.db.wrap(err)
	}
	r.At = time.UnixMilli(max(r.At.UnixMilli(), latest))
	return r, w.insert("run(at, whole, note, tag)", &r)
}

// Found adds a file that no snapshot saw before. [Writer.Enter] says where it is.
func (w *Writer) Found(c Chat) (Chat, error) {
	return c, w.insert("chat(slug, main, tag)", &c)
}

// Know records the slug and main_chat of a file.
func (w *Writer) Know(c Chat) error {
	return w.exec("UPDATE chat SET slug = ?, main = ?, tag = ? WHERE id = ?", c.Slug, c.Main, w.s.tag(&c), c.ID)
}

// Enter records that a file is at a path from a snapshot on.
func (w *Writer) Enter(p Place) error {
	return w.insert("place(chat, path, first, until, tag)", &p)
}

// Leave records that a file is not at a path any more.
func (w *Writer) Leave(p Place, snapshot int64) error {
	p.Until = snapshot
	return w.exec("UPDATE place SET until = ?, tag = ? WHERE id = ?", p.Until, w.s.tag(&p), p.ID)
}

// Add adds a version with the given content, and returns it with its number.
func (w *Writer) Add(v Version, c *Content) (Version, error) {
	v.Size = c.Size
	v.Messages = c.Messages
	v.Sum = string(c.Sum[:])
	v.runs = encodeRuns(c.Runs)
	v.At = time.UnixMilli(v.At.UnixMilli())
	v.Thin = 0
	if w.s.dry && w.rev == 0 {
		if err := w.s.db.Row(w.ctx, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'version'), 0)").Scan(&w.rev); err != nil {
			return v, w.s.db.wrap(err)
		}
	}

	w.rev++
	v.Rev = w.rev
	return v, w.insert("version(chat, run, path, at, mtime, size, messages, source, note, thin, sum, runs, tag)", &v)
}

// insert adds a row with its number, which is never used again, and its tag.
func (w *Writer) insert(into string, row interface{ row() stored }) error {
	if w.s.dry {
		return nil
	}
	table, _, _ := strings.Cut(into, "(")
	columns := row.row().columns
	values := append(slices.Clone(columns[1:]), []byte{})
	err := w.s.db.Row(w.ctx, "INSERT INTO "+into+" VALUES(?"+strings.Repeat(", ?", len(columns)-1)+") RETURNING id", values...).Scan(columns[0])
	if err != nil {
		return w.s.db.wrap(err)
	}
	return w.exec("UPDATE "+table+" SET tag = ? WHERE id = ?", w.s.tag(row), columns[0])
}

func (w *Writer) exec(query string, args ...any) error {
	return w.s.db.wrap(w.s.change(w.ctx, query, args...))
}

// See records how a file was found.
func (w *Writer) See(path string, f Seen) error {
	return w.exec("REPLACE INTO seen(path, version, size, mtime_ns, ctime_ns, inode, racy) VALUES(?, ?, ?, ?, ?, ?, ?)",
		path, f.Rev, f.Size, f.Mtime, f.Ctime, f.Inode, f.Racy)
}

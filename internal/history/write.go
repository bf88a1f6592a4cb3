package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"io"
	"slices"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
)

const (
	inFlight  = 4  // packs that are being compressed
	manyKeys  = 64 // keys that one statement inserts
	stayRead  = 64 << 20
	stayFiles = 1000
)

// ErrAgain says that another run pruned the store while a file was read: it must be read
// again.
var ErrAgain = errors.New("the history was pruned meanwhile; try again")

// Writer takes files into a store. It holds the store for itself from [Store.Writer] to
// Close, but lets others in after each [Writer.Commit].
type Writer struct {
	s      *Store
	ctx    context.Context
	find   finder
	keys   *keyer
	cut    *cutter
	insert struct{ pack, key, keys *sql.Stmt }
	data   int64 // SQLite's data_version, by which changes by others are seen

	next    int64 // the number of the next new piece
	cur     *packJob
	shares  []*Content    // those that have pieces in cur
	pending map[key]int64 // pieces that no transaction holds yet
	queue   []*packJob
	spare   []*packJob // whose room is used again
	jobs    chan *packJob
	done    chan struct{}

	read  int64 // since the last commit
	files int
}

// Content is what a file holds, as the store has it.
type Content struct {
	Runs      []Run
	Sum       [sha256.Size]byte
	Size      int64
	Messages  int
	Damaged   int    // lines that are no message
	Head      []byte // the header line, where there is one of reasonable length
	NewPieces int
	NewBytes  int64 // of new pieces
	Stored    int64 // on disk, about; known after the commit

	share int64 // of the pack that is being filled
}

// packJob is a pack on its way to the disk.
type packJob struct {
	pack   pack
	data   []byte
	shares []*Content
	bytes  []int64 // of each
	ready  chan struct{}
}

// Writer begins a transaction. The error is an [ErrBusy] where another program holds the
// store for five seconds.
func (s *Store) Writer(ctx context.Context) (*Writer, error) {
	w := &Writer{s: s, ctx: ctx, keys: newKeyer(s.salt), pending: map[key]int64{}, jobs: make(chan *packJob, inFlight), done: make(chan struct{})}
	w.find.s = s
	enc, err := newEncoder()
	if err != nil {
		return nil, err
	}
	if w.cut, err = newCutter(); err != nil {
		return nil, err
	}
	if err = w.prepare(); err == nil {
		err = w.begin()
	}
	if err != nil {
		return nil, errors.Join(err, w.forget(), enc.Close())
	}
	go func() {
		for j := range w.jobs {
			j.data = enc.EncodeAll(j.pack.raw, j.data[:0])
			j.ready <- struct{}{}
		}
		_ = enc.Close()
		close(w.done)
	}()
	return w, nil
}

// prepare compiles what is asked and inserted again and again.
func (w *Writer) prepare() error {
	for stmt, text := range map[**sql.Stmt]string{
		&w.find.look:   "SELECT id FROM key WHERE k = ?",
		&w.insert.pack: "INSERT INTO pack(first, n, raw, lens, keys, data) VALUES(?, ?, ?, ?, ?, ?)",
		&w.insert.key:  "INSERT OR IGNORE INTO key(k, id) VALUES(?, ?)",
		&w.insert.keys: "INSERT OR IGNORE INTO key(k, id) VALUES(?, ?)" + strings.Repeat(", (?, ?)", manyKeys-1),
	} {
		var err error
		if *stmt, err = w.s.conn.PrepareContext(w.ctx, text); err != nil {
			return w.s.told(err)
		}
	}
	return nil
}

// forget closes what was prepared: SQLite keeps the file open as long as one statement is.
func (w *Writer) forget() error {
	var err error
	for _, stmt := range []*sql.Stmt{w.find.look, w.insert.pack, w.insert.key, w.insert.keys} {
		if stmt != nil {
			err = errors.Join(err, stmt.Close())
		}
	}
	return err
}

// begin begins a transaction, and looks what others did since the last one.
func (w *Writer) begin() error {
	begin := "BEGIN IMMEDIATE"
	if w.s.dry {
		begin = "BEGIN"
	}
	if err := w.s.exec(w.ctx, begin); err != nil {
		return w.s.told(err)
	}
	err := w.look()
	if err != nil {
		w.rollback()
	}
	return w.s.told(err)
}

func (w *Writer) look() error {
	was := w.data
	if err := w.s.row(w.ctx, "PRAGMA data_version").Scan(&w.data); err != nil {
		return err
	}
	if was == w.data {
		return nil
	}
	var gen int64
	if err := w.s.row(w.ctx, "SELECT v FROM meta WHERE k = ?", metaGeneration).Scan(&gen); err != nil {
		return err
	}
	pruned := gen != w.s.gen
	w.s.gen = gen
	w.find.forget()
	err := w.s.row(w.ctx, "SELECT max(coalesce((SELECT max(first + n) FROM pack), 1), (SELECT v FROM meta WHERE k = ?))", metaFloor).Scan(&w.next)
	if err != nil {
		return err
	}
	if w.next == 1 {
		w.find.filter = newFilter(0) // of an empty store it is complete
	}
	if pruned && was != 0 {
		return ErrAgain
	}
	return nil
}

// Read takes in what r gives: a chat's lines, or any other file's bytes. Its pieces are in
// the store after the next Commit.
func (w *Writer) Read(r io.Reader, chat bool) (*Content, error) {
	c := &Content{}
	sum, last := sha256.New(), int64(0)
	counted := false // a header, or what stands in its place
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
		k := w.keys.of(data)
		sum.Write(k[:])
		id, err := w.piece(c, data, k, last+1)
		if err != nil {
			return err
		}
		if last = id; chat {
			c.count(data, part, &counted)
		}
		c.Runs = appendRun(c.Runs, id, part)
		return nil
	}
	var err error
	if chat {
		err = w.cut.lines(r, add)
	} else {
		err = w.cut.file(r, add)
	}
	if err != nil {
		return nil, w.s.told(err)
	}
	w.files++
	copy(c.Sum[:], sum.Sum(nil))
	return c, nil
}

// count counts a line. Of one in parts the beginning alone decides.
func (c *Content) count(data []byte, part Part, header *bool) {
	if part != Whole {
		if n := len(c.Runs); n > 0 && c.Runs[n-1].Part == More {
			return
		}
	}
	line := bytes.Trim(data, " \t\r")
	switch {
	case len(line) == 0:
		return
	case line[0] != '{', part == Whole && !jsonl.Valid(line):
		c.Damaged++
		return
	}
	if !*header {
		*header = true
		if part != Whole || meta.IsHeader(line) {
			c.Head = slices.Clone(line)
			return
		}
	}
	c.Messages++
}

// Slug gives the integrity slug in the header, "" where there is none.
func (c *Content) Slug() string {
	value, _ := rawjson.Lookup(c.Head, "chat_metadata", "integrity")
	slug, _ := rawjson.Unquote(value)
	return slug
}

// piece finds a piece, or adds it. The one before says which is likely.
func (w *Writer) piece(c *Content, data []byte, k key, likely int64) (int64, error) {
	if id, ok := w.pending[k]; ok {
		return id, nil
	}
	if likely > 1 && likely < w.next {
		if ok, err := w.find.is(w.ctx, likely, k); ok || err != nil {
			return likely, err
		}
	}
	if id, ok, err := w.find.find(w.ctx, k); ok || err != nil {
		return id, err
	}
	if w.find.filter != nil {
		w.find.filter.add(k)
	}
	id := w.next
	w.next++
	w.pending[k] = id
	c.NewPieces++
	c.NewBytes += int64(len(data))
	if w.s.dry {
		return id, nil
	}
	if w.cur == nil {
		w.cur = w.newPack(id)
	}
	w.cur.pack.add(data, k)
	if c.share += int64(len(data)) + 1; !slices.Contains(w.shares, c) {
		w.shares = append(w.shares, c)
	}
	if len(w.cur.pack.raw) >= packSize {
		return id, w.flush()
	}
	return id, nil
}

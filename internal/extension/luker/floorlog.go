package luker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"stchat/internal/jsonl/rawjson"
)

// Commit is one entry of a floor log: what one swipe of one message changed.
type Commit struct {
	Raw          []byte // as it stands in the log
	Floor, Swipe int    // the message and its swipe, both from 0
	Operations   int    // how many there are
	// Valid is isValidCommit of floor-state/core.js. Luker skips commits that are not, and
	// drops them when it next writes the log (normalizeLog).
	Valid bool

	patches []byte
}

// ReadCommit reads one entry of a floor log; raw must be valid JSON. What is missing or not
// a whole number from 0 up becomes -1.
func ReadCommit(raw []byte) *Commit {
	c := &Commit{Raw: raw}
	var floor, swipe []byte
	rawjson.Into(raw, []string{"floor", "swipeId", "patches"}, &floor, &swipe, &c.patches)
	c.Floor = index(floor)
	c.Swipe = index(swipe)
	c.Operations = rawjson.Len(c.patches)
	c.Valid = c.Floor >= 0 && c.Swipe >= 0 && c.Operations > 0
	return c
}

// index reads a whole number from 0 up; for everything else it returns -1.
func index(raw []byte) int {
	if n, ok := rawjson.Int(raw); ok && n >= 0 {
		return n
	}
	return -1
}

// NewCommit returns a commit of RFC 6902 operations, a raw list.
func NewCommit(floor, swipe int, operations []byte) []byte {
	return fmt.Appendf(nil, `{"floor":%d,"swipeId":%d,"patches":%s}`, floor, swipe, operations)
}

// placed returns the commit for another message or swipe.
func (c *Commit) placed(floor, swipe int) []byte {
	return rawjson.Edit(c.Raw, func(o *rawjson.Object) {
		if floor != c.Floor {
			o.Set("floor", strconv.AppendInt(nil, int64(floor), 10))
		}
		if swipe != c.Swipe {
			o.Set("swipeId", strconv.AppendInt(nil, int64(swipe), 10))
		}
	})
}

// EachCommit reads a floor log, holding one commit at a time; a commit is valid until each
// returns. As for Luker, JSON that is not a log has no commits. The error is each's or that
// of reading.
func EachCommit(r io.Reader, each func(c *Commit) error) error {
	_, err := eachCommit(r, func([]byte) error { return nil }, each)
	return err
}

// Where decides what becomes of a commit: it returns the message and the swipe to which the
// commit belongs from now on, or keep false if it goes.
type Where func(c *Commit) (floor, swipe int, keep bool)

// Rewritten counts what became of a log's commits. Kept includes Moved.
type Rewritten struct{ Kept, Moved, Dropped int }

// Changed reports whether any commit was moved or dropped.
func (w Rewritten) Changed() bool { return w.Moved+w.Dropped > 0 }

// The ends of a log as Luker writes it.
const (
	logHead = `{"version":1,"commits":[`
	logTail = `]}`
)

// Rewrite copies a floor log with each commit where it now belongs, and appends more
// commits. Commits that stay where they are keep their bytes, and so do keys that Luker
// does not know. JSON that is not a log becomes a log of the commits in more. The error
// is that of reading or writing.
func Rewrite(dst io.Writer, r io.Reader, where Where, more ...[]byte) (Rewritten, error) {
	var did Rewritten
	list := newListWriter(dst)
	tail, err := eachCommit(r, list.text, func(c *Commit) error {
		floor, swipe, keep := where(c)
		switch {
		case !keep:
			did.Dropped++
			return nil
		case floor != c.Floor || swipe != c.Swipe:
			did.Moved++
		}
		did.Kept++
		return list.element(c.placed(floor, swipe))
	})
	if err != nil {
		return did, err
	}
	if tail == nil {
		_ = list.text([]byte(logHead)) // the error comes again
		tail = []byte(logTail)
	}
	for _, commit := range more {
		_ = list.element(commit)
	}
	_ = list.text(tail)
	return did, list.Flush()
}

// Cut writes the floor log of a branch that has the first messages of its source. Commits of
// later messages go; those of all swipes stay, in order and byte for byte except for white
// space. Like Luker's normalizeLog it drops commits that are not valid and top-level keys other
// than its own. If no commit is left it writes nothing: such a branch has no log.
func Cut(dst io.Writer, r io.Reader, messages int) (kept, dropped int, err error) {
	list := newListWriter(dst)
	err = EachCommit(r, func(c *Commit) error {
		if !c.Valid || c.Floor >= messages {
			dropped++
			return nil
		}
		if kept++; kept == 1 {
			_ = list.text([]byte(logHead)) // the error comes again
		}
		return list.element(rawjson.Compact(c.Raw))
	})
	if err == nil && kept > 0 {
		_ = list.text([]byte(logTail))
		err = list.Flush()
	}
	return kept, dropped, err
}

// listWriter writes a list. After an error, all that it does fails.
type listWriter struct {
	*bufio.Writer
	inner bool // an element was written
}

func newListWriter(w io.Writer) *listWriter {
	return &listWriter{Writer: bufio.NewWriterSize(w, 1<<16)}
}

func (l *listWriter) element(raw []byte) error {
	if l.inner {
		_ = l.WriteByte(',')
	}
	l.inner = true
	return l.text(raw)
}

// text writes what is not an element.
func (l *listWriter) text(raw []byte) error {
	_, err := l.Write(raw)
	return err
}

// SyncData returns the content of the chat_sync sidecar of a chat whose header has
// this slug; now is in milliseconds since 1970.
func SyncData(integrity string, now int64) []byte {
	return fmt.Appendf(nil, `{"integrity":%s,"updated_at":%d}`, rawjson.Quote(integrity), now)
}

// errTwice means that a floor log has two lists of commits.
var errTwice = errors.New("it has two lists of commits")

// eachCommit is [EachCommit], and calls begin with what stands before the first commit; tail is
// what follows the last one. Members other than commits are held in memory: they are small. If
// there is no log, begin and each are not called, and tail is nil.
func eachCommit(r io.Reader, begin func(head []byte) error, each func(c *Commit) error) (tail []byte, err error) {
	read := &recorder{r: r}
	d := json.NewDecoder(read)
	d.UseNumber() // or one that is too large would be an error
	found := false
	var stop error // of begin or each
	err = func() error {
		t, err := d.Token()
		if err != nil || t != json.Delim('{') {
			return errors.Join(err, skip(d, t))
		}
		var raw json.RawMessage
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if name != "commits" {
				if err := d.Decode(&raw); err != nil {
					return err
				}
				continue
			}

			if found {
				return errTwice
			}
			t, err := d.Token()
			if err != nil || t != json.Delim('[') {
				if err := errors.Join(err, skip(d, t)); err != nil {
					return err
				}
				continue
			}

			found = true
			stop = begin(read.cut(d.InputOffset()))
			for stop == nil && d.More() {
				if err := d.Decode(&raw); err != nil {
					return err
				}
				read.cut(d.InputOffset())
				stop = each(ReadCommit(raw))
			}

			if stop != nil {
				return stop
			}
			if _, err := d.Token(); err != nil {
				return err
			}
		}

		_, err = d.Token()
		return err
	}()
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = errors.New("something follows")
		}
	}

	switch {
	case stop != nil:
		return nil, stop
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	case err != nil && read.err == nil && !errors.Is(err, errTwice) && !errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("it is not JSON from byte %d on: %w", d.InputOffset(), err)
	}

	switch {
	case err != nil:
		return nil, fmt.Errorf("the log of Luker cannot be read: %w", err)
	case !found:
		return nil, nil
	}
	return bytes.TrimLeft(read.kept, " \t\r\n"), nil
}

// skip reads the rest of the value that t begins.
func skip(d *json.Decoder, t json.Token) error {
	for depth := 0; ; {
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if t, err = d.Token(); err != nil {
			return err
		}
	}
}

// recorder keeps what is read, until it is cut off.
type recorder struct {
	r    io.Reader
	at   int64 // offset of kept
	kept []byte
	err  error
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.kept = append(r.kept, p[:n]...)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// cut forgets what was read before an offset, and returns it.
func (r *recorder) cut(to int64) (before []byte) {
	n := to - r.at
	before, r.kept, r.at = r.kept[:n:n], r.kept[n:], to
	return before
}

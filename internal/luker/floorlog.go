package luker

import (
	"fmt"
	"io"
	"strconv"

	"stchat/internal/rawjson"
)

// Commit is one entry of a floor log: what one swipe of one message changed.
type Commit struct {
	Raw          []byte // as it stands in the log
	Floor, Swipe int    // the message and its swipe, both from 0
	Operations   int    // how many
	// Valid is isValidCommit of floor-state/core.js. Luker passes over what is not, and
	// drops it when it next writes the log (normalizeLog).
	Valid bool

	patches []byte
}

// ReadCommit reads one entry of a floor log, which must be JSON.
func ReadCommit(raw []byte) *Commit {
	c := &Commit{Raw: raw, Floor: -1, Swipe: -1}
	for key, value := range rawjson.Members(raw) {
		switch {
		case rawjson.KeyIs(key, "floor"):
			c.Floor = index(value)
		case rawjson.KeyIs(key, "swipeId"):
			c.Swipe = index(value)
		case rawjson.KeyIs(key, "patches"):
			c.patches = value
		}
	}
	for range rawjson.Elements(c.patches) {
		c.Operations++
	}
	c.Valid = c.Floor >= 0 && c.Swipe >= 0 && c.Operations > 0
	return c
}

// index reads a whole number from 0, or gives -1.
func index(raw []byte) int {
	if n, ok := rawjson.Int(raw); ok && n >= 0 {
		return n
	}
	return -1
}

// NewCommit makes a commit from RFC 6902 operations.
func NewCommit(floor, swipe int, operations []byte) []byte {
	return fmt.Appendf(nil, `{"floor":%d,"swipeId":%d,"patches":%s}`, floor, swipe, operations)
}

// placed returns the commit for another message or swipe.
func (c *Commit) placed(floor, swipe int) []byte {
	o, err := rawjson.ParseObject(c.Raw)
	if err != nil {
		return c.Raw // it is no valid commit
	}
	if floor != c.Floor {
		o.Set("floor", strconv.AppendInt(nil, int64(floor), 10))
	}
	if swipe != c.Swipe {
		o.Set("swipeId", strconv.AppendInt(nil, int64(swipe), 10))
	}
	return o.Bytes()
}

// EachCommit reads a floor log, holding one commit at a time; a commit is good until each
// returns. What is JSON and no log has no commits, as for Luker.
func EachCommit(r io.Reader, each func(c *Commit) error) error {
	_, err := eachCommit(r, func([]byte) error { return nil }, each)
	return err
}

func eachCommit(r io.Reader, begin func(head []byte) error, each func(c *Commit) error) (tail []byte, err error) {
	var stop error
	tail, err = eachElement(r, "commits", func(head []byte) error {
		stop = begin(head)
		return stop
	}, func(raw []byte) error {
		stop = each(ReadCommit(raw))
		return stop
	})
	if err != nil && stop == nil {
		err = fmt.Errorf("the floor log cannot be read: %w", err)
	}
	return tail, err
}

// Where says what becomes of a commit: the message and the swipe that it belongs to from
// now on, or that it goes.
type Where func(c *Commit) (floor, swipe int, keep bool)

// Rewritten counts what became of the commits of a log.
type Rewritten struct{ Kept, Moved, Dropped int }

// Changed reports whether the log is another one now.
func (w Rewritten) Changed() bool { return w.Moved+w.Dropped > 0 }

// The ends of a log as Luker writes it.
const (
	logHead = `{"version":1,"commits":[`
	logTail = `]}`
)

// Rewrite copies a floor log, each commit to where it belongs from now on, and more
// commits behind them. What stays where it is keeps its bytes, and so do keys that Luker
// does not know. What is no log, or nothing, becomes one.
func Rewrite(dst io.Writer, r io.Reader, where Where, more ...[]byte) (Rewritten, error) {
	var did Rewritten
	list := &listWriter{w: dst}
	tail, err := eachCommit(r, list.text, func(c *Commit) error {
		floor, swipe, keep := where(c)
		switch {
		case !keep:
			did.Dropped++
			return nil
		case floor != c.Floor || swipe != c.Swipe:
			did.Moved++
			did.Kept++
			return list.element(c.placed(floor, swipe))
		}
		did.Kept++
		return list.element(c.Raw)
	})
	if err != nil {
		return did, err
	}
	if tail == nil {
		if err := list.text([]byte(logHead)); err != nil {
			return did, err
		}
		tail = []byte(logTail)
	}
	for _, commit := range more {
		if err := list.element(commit); err != nil {
			return did, err
		}
	}
	return did, list.text(tail)
}

// Cut writes the floor log of a branch that has the first messages of the source's: the
// commits of later messages go (FORMATS.md A2.4, A2.5: truncateCommits), those of all
// swipes stay, in their order and byte for byte but for white space. Like Luker's
// normalizeLog it drops commits that are not valid and top-level keys other than its own.
// Where nothing is left nothing is written: there is no file then.
func Cut(dst io.Writer, r io.Reader, messages int) (kept, dropped int, err error) {
	list := &listWriter{w: dst}
	err = EachCommit(r, func(c *Commit) error {
		if !c.Valid || c.Floor >= messages {
			dropped++
			return nil
		}
		if kept++; kept == 1 {
			if err := list.text([]byte(logHead)); err != nil {
				return err
			}
		}
		return list.element(rawjson.Compact(c.Raw))
	})
	if err == nil && kept > 0 {
		err = list.text([]byte(logTail))
	}
	return kept, dropped, err
}

// listWriter writes a list in blocks.
type listWriter struct {
	w     io.Writer
	buf   []byte
	inner bool // an element stands before
}

func (l *listWriter) element(raw []byte) error {
	if l.inner {
		l.buf = append(l.buf, ',')
	}
	l.inner = true
	l.buf = append(l.buf, raw...)
	const block = 1 << 16
	if len(l.buf) < block {
		return nil
	}
	return l.flush()
}

// text writes what is no element, and all that is waiting.
func (l *listWriter) text(raw []byte) error {
	l.buf = append(l.buf, raw...)
	return l.flush()
}

func (l *listWriter) flush() error {
	_, err := l.w.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}

// SyncData returns the content of the chat_sync sidecar of a chat whose header has
// this slug; now is in milliseconds since 1970.
func SyncData(integrity string, now int64) []byte {
	out := append([]byte(`{"integrity":`), rawjson.Quote(integrity)...)
	out = append(out, `,"updated_at":`...)
	out = strconv.AppendInt(out, now, 10)
	return append(out, '}')
}

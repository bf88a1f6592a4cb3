package repair

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
)

// quarantine collects what is taken out of a chat in a file of its own, which is created on
// first use.
type quarantine struct {
	chat string // path
	now  time.Time
	make func() (io.Writer, error)
	out  *bufio.Writer // nil: nothing yet
}

// add writes what was taken out of a line.
func (q *quarantine) add(at step, what string, lost []byte) error {
	if q.out == nil {
		out, err := q.make()
		if err != nil {
			return err
		}
		q.out = bufio.NewWriterSize(out, 64<<10)
		if _, err := fmt.Fprintf(q.out, "# taken out of %s at its repair, %s\n", filepath.Base(q.chat), q.now.Format("2006-01-02 15:04:05")); err != nil {
			return err
		}
	}

	where := ""
	if at.line > 0 {
		where = fmt.Sprintf("line %d", at.line)
		if at.index >= 0 {
			where += fmt.Sprintf(", message %d", at.index)
		}
		where += ": "
	}

	_, err := fmt.Fprintf(q.out, "# %s%s: %s\n%s\n", where, at.rule, oneLine(what), lost)
	return err
}

// oneLine returns s with control characters replaced by spaces, so that it stays on one line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

func (q *quarantine) flush() error {
	if q.out == nil {
		return nil
	}
	return q.out.Flush()
}

const (
	// tries is how many names are tried for a quarantine file.
	tries = 1000
	// longest is the maximum length of its name in bytes, before a number.
	longest = 255 - len(".1000.damaged")
)

// quarantines finds names for the .damaged files of a call. It is safe for concurrent use.
type quarantines struct {
	mu    sync.Mutex
	taken map[string]bool
}

// name returns the first free name.
func (q *quarantines) name(chat string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	stem := filepath.Join(filepath.Dir(chat), names.Shorten(userdir.ChatName(chat), longest))
	path := stem + ".damaged"
	for i := 2; i <= tries; i++ {
		if _, err := os.Lstat(path); err != nil && !q.taken[path] {
			break // free, or an error that creating it will report
		}
		path = fmt.Sprintf("%s.%d.damaged", stem, i)
	}

	q.taken[path] = true
	return path
}

// junkChange describes what was taken off a line.
func junkChange(line, rest []byte) string {
	what := "NUL bytes and byte order marks"
	switch junk := bytes.Replace(line, rest, nil, 1); {
	case len(bytes.Trim(junk, "\x00 \t\r")) == 0:
		what = "NUL bytes"
	case bytes.IndexByte(junk, 0) < 0:
		what = "bytes of byte order marks"
	}
	return fmt.Sprintf("took %d %s off the line", len(line)-len(rest), what)
}

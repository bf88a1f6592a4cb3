package mend

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// quarantine collects what is taken out of a chat, in a file of its own, which is
// made when there is something.
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
	b := append(q.out.AvailableBuffer(), "# line "...)
	b = strconv.AppendInt(b, int64(at.line), 10)
	if at.index >= 0 {
		b = append(b, ", message "...)
		b = strconv.AppendInt(b, int64(at.index), 10)
	}
	b = append(append(b, ": "...), at.rule.String()...)
	b = append(append(b, ": "...), oneLine(what)...)
	_, err := q.out.Write(append(b, '\n'))
	if err == nil {
		_, err = q.out.Write(lost)
	}
	if err == nil {
		err = q.out.WriteByte('\n')
	}
	return err
}

// oneLine is a text without what would end its line.
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

package luker

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// errTwice means that a floor log has two lists of commits.
var errTwice = errors.New("it has two lists of commits")

// eachElement reads an object of which one member is a list that may not fit into memory.
// It calls begin with what stands before the list's first element and do with each element,
// checked; tail is what follows the last one. Other members are checked, and held in memory:
// they are small in the files that this is for. If the value is not an object, or the member
// not a list, begin and do are not called, and tail is nil.
func eachElement(r io.Reader, key string, begin, do func(raw []byte) error) (tail []byte, err error) {
	s := &stream{r: r, keep: true}
	switch first, err := s.peek(); {
	case err != nil:
		return nil, err
	case first != '{':
		if _, err := s.value(); err != nil {
			return nil, err
		}
		return nil, s.end()
	}
	found := false
	err = s.each('{', '}', func() error { return nil }, func() error {
		if _, err := s.peek(); err != nil {
			return err
		}
		name, err := s.value()
		if err != nil {
			return err
		}
		if rawjson.KindOf(name) != rawjson.String {
			return s.damaged()
		}
		is := rawjson.KeyIs(name, key)
		if is && found {
			return errTwice
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		c, err := s.peek()
		if err != nil {
			return err
		}
		if !is || c != '[' {
			_, err := s.value()
			return err
		}
		found = true
		err = s.each('[', ']', func() error {
			head := s.kept
			s.keep, s.kept = false, nil
			return begin(head)
		}, func() error {
			if _, err := s.peek(); err != nil {
				return err
			}
			raw, err := s.value()
			if err != nil {
				return err
			}
			return do(raw)
		})
		s.keep, s.kept = true, []byte("]")
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err != nil || !found {
		return nil, err
	}
	return s.kept, nil
}

// stream reads JSON values one after another.
type stream struct {
	r    io.Reader
	buf  []byte // buf[at:] is read and not used yet
	at   int
	off  int64 // of buf[0]
	eof  bool
	keep bool   // take appends to kept
	kept []byte // for head and tail
}

// each reads a list or an object between two brackets. It calls opened behind the opening
// bracket, and one at each item.
func (s *stream) each(open, end byte, opened, one func() error) error {
	if err := s.expect(open); err != nil {
		return err
	}
	if err := opened(); err != nil {
		return err
	}
	c, err := s.peek()
	for more := c != end; more && err == nil; {
		if err = one(); err != nil {
			return err
		}
		if c, err = s.peek(); err != nil || c == end {
			break
		}
		err = s.expect(',')
	}
	if err != nil {
		return err
	}
	return s.expect(end)
}

// take returns the next n bytes and moves on.
func (s *stream) take(n int) []byte {
	raw := s.buf[s.at : s.at+n]
	if s.keep {
		s.kept = append(s.kept, raw...)
	}
	s.at += n
	return raw
}

// peek returns the next byte that is no white space.
func (s *stream) peek() (byte, error) {
	for {
		for i := s.at; i < len(s.buf); i++ {
			switch c := s.buf[i]; c {
			case ' ', '\t', '\n', '\r':
			default:
				s.take(i - s.at)
				return c, nil
			}
		}
		s.take(len(s.buf) - s.at)
		if err := s.more(); err != nil {
			return 0, err
		}
	}
}

func (s *stream) expect(want byte) error {
	c, err := s.peek()
	switch {
	case err != nil:
		return err
	case c != want:
		return s.damaged()
	}
	s.take(1)
	return nil
}

// end returns an error if something follows the value.
func (s *stream) end() error {
	_, err := s.peek()
	switch {
	case err == nil:
		return s.damaged()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil
	}
	return err
}

func (s *stream) damaged() error {
	return fmt.Errorf("it is no JSON from byte %d on", s.off+int64(s.at))
}

// value reads one value and checks it. The value is valid until the next call.
func (s *stream) value() ([]byte, error) {
	n, depth, text := 0, 0, false
	c := s.buf[s.at] // callers have peeked
	for container := c == '{' || c == '['; ; {
		b := s.buf[s.at:]
		for ; n < len(b); n++ {
			if text {
				k := bytes.IndexAny(b[n:], `"\`)
				if k < 0 {
					n = len(b)
					break
				}
				if n += k; b[n] == '\\' {
					if n++; n == len(b) {
						n-- // the backslash is read again
						break
					}
					continue
				}
				text = false
				if depth == 0 {
					return s.checked(n + 1)
				}
				continue
			}
			switch b[n] {
			case '"':
				text = true
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; container && depth == 0 {
					return s.checked(n + 1)
				}
			}
			if !container && !text && bytes.IndexByte([]byte(" \t\r\n,:}]"), b[n]) >= 0 {
				return s.checked(n)
			}
		}
		if err := s.more(); err != nil {
			if !container && !text && errors.Is(err, io.ErrUnexpectedEOF) {
				return s.checked(n)
			}
			return nil, err
		}
	}
}

func (s *stream) checked(n int) ([]byte, error) {
	if damage := jsonl.Check(s.buf[s.at : s.at+n]); damage != nil {
		return nil, fmt.Errorf("from byte %d on: %w", s.off+int64(s.at), damage)
	}
	return s.take(n), nil
}

// more reads on, behind what is not used yet. At the end it returns io.ErrUnexpectedEOF.
func (s *stream) more() error {
	if s.eof {
		return io.ErrUnexpectedEOF
	}
	if s.at > 0 {
		s.off += int64(s.at)
		s.buf = s.buf[:copy(s.buf, s.buf[s.at:])]
		s.at = 0
	}
	const first, enough = 1 << 12, 1 << 18
	if room := cap(s.buf) - len(s.buf); room <= cap(s.buf)/2 || s.off > 0 && cap(s.buf) < enough {
		grown := make([]byte, len(s.buf), max(first, 2*cap(s.buf)))
		copy(grown, s.buf)
		s.buf = grown
	}
	n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	switch {
	case errors.Is(err, io.EOF):
		s.eof = true
	case err != nil:
		return err
	}
	if n == 0 && s.eof {
		return io.ErrUnexpectedEOF
	}
	return nil
}

package convert

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"stchat/internal/jsonl"
)

var (
	// ErrFormat means that no format fits.
	ErrFormat = errors.New("no format fits")
	// ErrTavern means that a file is a chat of SillyTavern's own.
	ErrTavern = errors.New("this is a chat of SillyTavern's own")
	// ErrLayout means that a file is a chat of SillyTavern's own, but not with a message a line.
	ErrLayout = errors.New("this is a chat of SillyTavern's own, in another layout")
	// errLong means that a conversation is too long to be read.
	errLong = fmt.Errorf("a conversation of more than %d GB", maxLength>>30)
)

// maxLength is the longest conversation that is read, in bytes: SillyTavern reads no string
// that is longer, and memory follows the longest.
const maxLength = 2 << 30

// Found is a conversation in a file, or why it cannot be read.
type Found struct {
	Format   string
	Off, Len int64
	Err      error // the others go on
}

// LooksLikeJSON reports whether a file begins as JSON objects do, or a list of some. A text may begin with a
// bracket, too.
func LooksLikeJSON(r io.ReaderAt) (bool, error) {
	var front [512]byte
	n, err := r.ReadAt(front[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	text := bytes.TrimPrefix(front[:n], []byte(bom))
	text = bytes.TrimLeft(text, blanks)
	if inner, isList := bytes.CutPrefix(text, []byte("[")); isList {
		text = bytes.TrimLeft(inner, blanks+"[")
	}
	if inner, isObject := bytes.CutPrefix(text, []byte("{")); isObject {
		text = bytes.TrimLeft(inner, blanks)
		return len(text) > 0 && (text[0] == '"' || text[0] == '}'), nil
	}
	return false, nil
}

const (
	blanks = " \t\r\n" // the white space of JSON
	bom    = "\xef\xbb\xbf"
)

// Scan finds the conversations in a file of size bytes, and calls tell with each and what the file has
// there. as is a format that is certain, "" to find it. The error is tell's or that of reading, wraps
// [ErrFormat], [ErrTavern] or [ErrLayout], or is a [*jsonl.Damage].
func Scan(r io.ReaderAt, size int64, as string, tell func(f Found, raw string) error) error {
	s := &splitter{file: r, size: size, as: as, tell: tell, r: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 256<<10)}
	if front, _ := s.r.Peek(3); bytes.HasPrefix(front, []byte(bom)) {
		s.skip(len(bom))
		s.start = s.off
	} else if len(front) > 1 && (front[0] == 0 || front[1] == 0 || bytes.HasPrefix(front, []byte("\xff\xfe")) || bytes.HasPrefix(front, []byte("\xfe\xff"))) {
		return s.damageHere("this is not UTF-8; save it as UTF-8")
	}
	kind, err := s.next()
	switch {
	case errors.Is(err, io.EOF):
		return s.damageHere("the file is empty")
	case err != nil:
		return err
	case as == "txt" || as == "chub":
		return s.whole(as, nil)
	case kind == '[':
		return s.list()
	case kind != '{':
		return fmt.Errorf("%w: it is not JSON", ErrFormat)
	}
	return s.lines(0)
}

// lines hands out the values of what follows, one a line; n of them are read.
func (s *splitter) lines(n int) error {
	for ; ; n++ {
		kind, err := s.next()
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		} else if err != nil {
			return err
		}
		if kind != '{' && (kind != '[' || s.as != "openai") || n > 0 && !s.newLine {
			return s.damageHere("there is more behind the end")
		}
		off, at := s.off, s.damageHere("")
		raw, err := s.value(s.off, 0)
		if err == nil && n == 0 && s.as == "" && isTavern(raw) {
			if strings.Contains(raw, "\n") {
				return ErrLayout
			}
			return s.whole("chub", hasChub)
		}
		if err = s.found(off, at, raw, err); err != nil {
			return err
		}
	}
}

// whole hands out all of the file but its byte order mark, if it fits a format; otherwise it is [ErrTavern].
func (s *splitter) whole(as string, fits func(raw string) bool) error {
	f := Found{Format: as, Off: s.start, Len: s.size - s.start}
	if f.Len > maxLength {
		f.Err = errLong
		return s.tell(f, "")
	}
	raw, err := s.read(f.Off, f.Len)
	if err != nil {
		return err
	}
	if fits != nil && !fits(raw) {
		return ErrTavern
	}
	return s.tell(f, raw)
}

// isTavern reports whether a value is a line of a chat of SillyTavern's, and in no other format.
func isTavern(raw string) bool {
	o := objectOf(gjson.Parse(raw))
	for _, key := range []string{"chat_metadata", "user_name", "character_name", "mes"} {
		if o.get(key).Exists() {
			return formatOf("", o) == nil
		}
	}
	return false
}

// isMessage reports whether a valid value is a message of a list of such.
func isMessage(raw string) bool {
	return jsonl.Valid(raw) && valueOf(gjson.Parse(raw), "role").Exists()
}

// list hands out the conversations of a list, or the list if it is itself one.
func (s *splitter) list() error {
	off, begin := s.off, s.damageHere("")
	s.skip(1)
	for n := 0; ; n++ {
		kind, err := s.next()
		if kind == ',' && n > 0 {
			s.skip(1)
			kind, err = s.next()
		} else if kind != ']' && n > 0 && err == nil {
			return s.damageHere("a comma is missing")
		}
		switch {
		case errors.Is(err, io.EOF):
			return s.damageHere("the list has no end")
		case err != nil:
			return err
		case kind == ']':
			s.skip(1)
			if _, err := s.next(); !errors.Is(err, io.EOF) {
				return s.damageHere("there is more behind the end")
			} else if n > 0 {
				return nil
			}
			return fmt.Errorf("%w: the list is empty", ErrFormat)
		}
		from, at := s.off, s.damageHere("")
		raw, err := s.value(s.off, 0)
		mayBeMessage := n == 0 && (s.as == "openai" || s.as == "")
		if err == nil && mayBeMessage && isMessage(raw) {
			s.as = "openai" // the messages of one conversation
			raw, err = s.value(off, 1)
			if err = s.found(off, begin, raw, err); err != nil {
				return err
			}
			return s.lines(1)
		}
		if err == nil && n == 0 && s.as == "" && isTavern(raw) {
			return ErrLayout
		}
		if err = s.found(from, at, raw, err); err != nil {
			return err
		}
	}
}

// found finds the format of a value that begins at a place, and hands out the conversations in
// it.
func (s *splitter) found(off int64, at *jsonl.Damage, raw string, err error) error {
	f := Found{Format: s.as, Off: off, Len: int64(len(raw)), Err: err}
	if err == nil {
		if d := jsonl.Check(raw); d != nil {
			if d.Line == 1 {
				d.Column += at.Column - 1
			}
			d.Line += at.Line - 1
			f.Err = d
		}
	} else if !errors.Is(err, errLong) {
		return err
	}
	if f.Err != nil {
		return s.tell(f, "")
	}
	v := gjson.Parse(raw)
	o := objectOf(v)
	is := formatOf(s.as, o)
	if is == nil && !s.known {
		return ErrFormat
	} else if is == nil {
		at.Reason = ErrFormat.Error()
		f.Err = at
		return s.tell(f, "")
	}
	s.known = true
	f.Format = is.name
	list := o.at(is.parts)
	if !list.IsArray() || amount(list) == 0 { // it is one conversation, or there is none
		return s.tell(f, raw)
	}
	list.ForEach(func(_, one gjson.Result) bool {
		part := Found{Format: is.name, Off: off + int64(one.Index), Len: int64(len(one.Raw))}
		err = s.tell(part, one.Raw)
		return err == nil
	})
	return err
}

// splitter cuts JSON into values, without reading what is in them.
type splitter struct {
	r       *bufio.Reader
	off     int64 // of what is next
	line    int   // from 0
	begin   int64 // of that line
	newLine bool  // a line ended before what is next
	known   bool  // a format fitted
	start   int64 // behind a byte order mark

	file io.ReaderAt
	size int64
	as   string
	tell func(f Found, raw string) error
}

func (s *splitter) damageHere(reason string) *jsonl.Damage {
	return &jsonl.Damage{Line: s.line + 1, Column: int(s.off-s.begin) + 1, Reason: reason}
}

func (s *splitter) skip(n int) {
	n, _ = s.r.Discard(n)
	s.off += int64(n)
}

// next skips white space, and returns the byte that follows.
func (s *splitter) next() (byte, error) {
	for s.newLine = false; ; {
		b, err := s.r.Peek(1)
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(blanks, rune(b[0])) {
			return b[0], nil
		}
		s.skip(1)
		if b[0] == '\n' {
			s.line, s.begin, s.newLine = s.line+1, s.off, true
		}
	}
}

// value reads the value that begins at off, in which so many levels are open at what is next.
// One that is longer than the longest is skipped: the error
// is [errLong].
func (s *splitter) value(off int64, depth int) (string, error) {
	if err := s.through(depth); err != nil {
		return "", err
	}
	if s.off-off > maxLength {
		return "", errLong
	}
	return s.read(off, s.off-off)
}

// read reads n bytes from off.
func (s *splitter) read(off, n int64) (string, error) {
	return ReadAt(s.file, Found{Off: off, Len: n})
}

// ReadAt returns what a file has in the place where a conversation was found.
func ReadAt(r io.ReaderAt, f Found) (string, error) {
	var text strings.Builder // what it returns is not copied: conversations may be long
	text.Grow(int(min(f.Len, 1<<30)))
	_, err := io.Copy(&text, io.NewSectionReader(r, f.Off, f.Len))
	return text.String(), err
}

// through goes on until so many levels are closed, or behind one value.
func (s *splitter) through(depth int) error {
	quoted, escaped, began := false, false, depth > 0
	for {
		if _, err := s.r.Peek(1); err == io.EOF {
			if began && depth == 0 && !quoted {
				return nil
			}
			return s.damageHere("the value has no end")
		} else if err != nil {
			return err
		}
		chunk, _ := s.r.Peek(s.r.Buffered())
		n, done := 0, false
		for n < len(chunk) && !done {
			c := chunk[n]
			switch {
			case escaped:
				escaped = false
			case quoted:
				escaped, quoted = c == '\\', c != '"'
				done = !quoted && depth == 0
			case c == '"':
				quoted, began = true, true
			case c == '{' || c == '[':
				depth, began = depth+1, true
			case c == '}' || c == ']':
				if depth == 0 { // of what is around a bare number
					s.advance(chunk[:n])
					return nil
				}
				depth--
				done = depth == 0
			case depth == 0 && began && strings.ContainsRune(", \t\r\n", rune(c)):
				s.advance(chunk[:n])
				return nil
			default:
				began = true
			}
			n++
		}
		s.advance(chunk[:n])
		if done {
			return nil
		}
	}
}

// advance goes behind what was read.
func (s *splitter) advance(read []byte) {
	if n := bytes.Count(read, []byte("\n")); n > 0 {
		s.line += n
		s.begin = s.off + int64(bytes.LastIndexByte(read, '\n')) + 1
	}
	s.skip(len(read))
}

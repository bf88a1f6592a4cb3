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

// Scan finds the conversations in a file of size bytes, and calls handle with each and what the file has
// there. as is a format that is certain, "" to find it. The error is handle's or that of reading, wraps
// [ErrFormat], [ErrTavern] or [ErrLayout], or is a [*jsonl.Damage].
func Scan(r io.ReaderAt, size int64, as string, handle func(f Found, raw string) error) error {
	s := &splitter{
		r:    bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 256<<10),
		file: r, size: size, as: as, handle: handle,
	}
	front, _ := s.r.Peek(3) // an error comes again with the next byte
	switch {
	case bytes.HasPrefix(front, []byte(bom)):
		s.skip(len(bom))
		s.start = s.off
	case isUTF16(front):
		return damageAt(s.here(), "this is not UTF-8; save it as UTF-8")
	}

	kind, err := s.next()
	if errors.Is(err, io.EOF) {
		return damageAt(s.here(), "the file is empty")
	}
	if err != nil {
		return err
	}
	switch {
	case as == "txt" || as == "chub":
		return s.whole(as, nil)
	case kind == '[':
		return s.list()
	case kind == '{':
		return s.lines(0)
	}
	return fmt.Errorf("%w: it is not JSON", ErrFormat)
}

// isUTF16 reports whether a file begins as one of UTF-16 does.
func isUTF16(front []byte) bool {
	if bytes.HasPrefix(front, []byte("\xff\xfe")) || bytes.HasPrefix(front, []byte("\xfe\xff")) {
		return true
	}
	return len(front) > 1 && (front[0] == 0 || front[1] == 0)
}

// lines hands out the values of what follows, one a line; n of them are read.
func (s *splitter) lines(n int) error {
	for ; ; n++ {
		kind, err := s.next()
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		isConversation := kind == '{' || kind == '[' && s.as == "openai"
		beginsLine := n == 0 || s.newLine
		if !isConversation || !beginsLine {
			return damageAt(s.here(), "there is more behind the end")
		}

		from := s.here()
		raw, err := s.value(from, 0)
		if err == nil && n == 0 && s.isTavern(raw) {
			if strings.Contains(raw, "\n") {
				return ErrLayout
			}
			return s.whole("chub", hasChub)
		}
		if err := s.handOut(from, raw, err); err != nil {
			return err
		}
	}
}

// whole hands out all of the file but its byte order mark, if it fits a format; otherwise it is [ErrTavern].
func (s *splitter) whole(as string, fits func(raw string) bool) error {
	f := Found{Format: as, Off: s.start, Len: s.size - s.start}
	if f.Len > maxLength {
		f.Err = errLong
		return s.handle(f, "")
	}
	raw, err := ReadAt(s.file, f)
	if err != nil {
		return err
	}
	if fits != nil && !fits(raw) {
		return ErrTavern
	}
	return s.handle(f, raw)
}

// isTavern reports whether a value, which may be damaged, is a line of a chat of SillyTavern's. It is none
// if a format is certain, or fits.
func (s *splitter) isTavern(raw string) bool {
	if s.as != "" {
		return false
	}
	hasKey := false
	each(gjson.Parse(raw), func(key, _ gjson.Result) {
		switch key.Str {
		case "chat_metadata", "user_name", "character_name", "mes":
			hasKey = true
		}
	})
	return hasKey && formatOf(gjson.Parse(lastOfRepeated(raw))) == nil
}

// isMessage reports whether a value is a message of a list of such.
func (s *splitter) isMessage(raw string) bool {
	mayBe := s.as == "" || s.as == "openai"
	return mayBe && jsonl.Valid(raw) && get(gjson.Parse(raw), "role").Exists()
}

// list hands out the conversations of a list, or the list if it is itself one.
func (s *splitter) list() error {
	begin := s.here()
	s.skip(1)
	for n := 0; ; n++ {
		ends, err := s.element(n)
		if ends || err != nil {
			return err
		}
		from := s.here()
		raw, err := s.value(from, 0)
		isFirst := err == nil && n == 0
		if isFirst && s.isMessage(raw) {
			return s.messages(begin)
		}
		if isFirst && s.isTavern(raw) {
			return ErrLayout
		}
		if err := s.handOut(from, raw, err); err != nil {
			return err
		}
	}
}

// element goes to the next element of a list, of which n are read. At the end of the list it reports whether
// the list ends as it must: with something in it, and nothing behind it.
func (s *splitter) element(n int) (ends bool, err error) {
	kind, err := s.next()
	if err == nil && n > 0 {
		if kind != ',' && kind != ']' {
			return false, damageAt(s.here(), "a comma is missing")
		}
		if kind == ',' {
			s.skip(1)
			kind, err = s.next()
		}
	}
	if errors.Is(err, io.EOF) {
		return false, damageAt(s.here(), "the list has no end")
	}
	if err != nil || kind != ']' {
		return false, err
	}

	s.skip(1)
	if _, err := s.next(); !errors.Is(err, io.EOF) {
		return true, damageAt(s.here(), "there is more behind the end")
	}
	if n == 0 {
		return true, fmt.Errorf("%w: the list is empty", ErrFormat)
	}
	return true, nil
}

// messages hands out a list of messages, of which the first is read: one conversation. Others may follow,
// one a line.
func (s *splitter) messages(begin place) error {
	s.as = "openai"
	raw, err := s.value(begin, 1)
	if err := s.handOut(begin, raw, err); err != nil {
		return err
	}
	return s.lines(1)
}

// handOut hands out the conversations in a value, or why they cannot be read. readErr is how reading the
// value ended: one that is too long is passed over, and the others are read.
func (s *splitter) handOut(from place, raw string, readErr error) error {
	f := Found{Format: s.as, Off: from.off, Len: int64(len(raw))}
	if errors.Is(readErr, errLong) {
		f.Err = errLong
		return s.handle(f, "")
	}
	if readErr != nil {
		return readErr
	}
	if damage := jsonl.Check(raw); damage != nil {
		f.Err = movedTo(from, damage)
		return s.handle(f, "")
	}

	v := gjson.Parse(lastOfRepeated(raw))
	is := s.formatOf(v)
	if is == nil && !s.known {
		return ErrFormat
	}
	if is == nil {
		f.Err = damageAt(from, ErrFormat.Error())
		return s.handle(f, "")
	}
	s.known = true
	f.Format = is.name
	return s.handOutParts(f, raw, get(v, is.parts))
}

// formatOf returns the format of a value, nil if there is none.
func (s *splitter) formatOf(v gjson.Result) *format {
	if s.as != "" {
		return formatNamed(s.as)
	}
	return formatOf(v)
}

// handOutParts hands out the conversations of a list within a value. A value without such a list is one
// conversation.
func (s *splitter) handOutParts(f Found, raw string, list gjson.Result) error {
	isOne := !list.IsArray() || amount(list) == 0
	if isOne {
		return s.handle(f, raw)
	}
	var err error
	list.ForEach(func(_, one gjson.Result) bool {
		part := Found{Format: f.Format, Off: f.Off + int64(one.Index), Len: int64(len(one.Raw))}
		// list has blanks in the places of repeated keys; what is handed out is what the file has
		err = s.handle(part, raw[one.Index:one.Index+len(one.Raw)])
		return err == nil
	})
	return err
}

// place is a place in a file: its offset, and its line and column, from 1.
type place struct {
	off          int64
	line, column int
}

// damageAt returns what is wrong at a place.
func damageAt(at place, reason string) *jsonl.Damage {
	return &jsonl.Damage{Line: at.line, Column: at.column, Reason: reason}
}

// movedTo returns the damage of a value as damage of the file, in which the value begins at a place.
func movedTo(from place, damage *jsonl.Damage) *jsonl.Damage {
	if damage.Line == 1 {
		damage.Column += from.column - 1
	}
	damage.Line += from.line - 1
	return damage
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

	file   io.ReaderAt
	size   int64
	as     string // the format, if it is certain
	handle func(f Found, raw string) error
}

// here returns the place of what is next.
func (s *splitter) here() place {
	return place{off: s.off, line: s.line + 1, column: int(s.off-s.begin) + 1}
}

// skip goes behind n bytes without a line end.
func (s *splitter) skip(n int) {
	n, _ = s.r.Discard(n)
	s.off += int64(n)
}

// next skips white space, and returns the byte that follows.
func (s *splitter) next() (byte, error) {
	s.newLine = false
	for {
		b, err := s.r.Peek(1)
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(blanks, rune(b[0])) {
			return b[0], nil
		}
		s.skip(1)
		if b[0] == '\n' {
			s.line++
			s.begin = s.off
			s.newLine = true
		}
	}
}

// value reads the value that begins at a place, in which so many levels are open at what is next. One that is
// longer than the longest is skipped: the error is [errLong].
func (s *splitter) value(from place, depth int) (string, error) {
	if err := s.through(depth); err != nil {
		return "", err
	}
	length := s.off - from.off
	if length > maxLength {
		return "", errLong
	}
	return ReadAt(s.file, Found{Off: from.off, Len: length})
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
	end := valueEnd{depth: depth, began: depth > 0}
	for {
		_, err := s.r.Peek(1)
		if errors.Is(err, io.EOF) {
			if end.mayBeHere() {
				return nil
			}
			return damageAt(s.here(), "the value has no end")
		}
		if err != nil {
			return err
		}
		chunk, _ := s.r.Peek(s.r.Buffered())
		n, isOver := end.find(chunk)
		s.advance(chunk[:n])
		if isOver {
			return nil
		}
	}
}

// valueEnd finds where a value ends that comes in chunks. It looks at brackets and quotes only.
type valueEnd struct {
	depth   int  // how many levels are open
	began   bool // something of the value was there
	quoted  bool // within a string
	escaped bool // behind a backslash
}

// mayBeHere reports whether the value may end where the file does: a bare number or name.
func (e *valueEnd) mayBeHere() bool { return e.began && e.depth == 0 && !e.quoted }

// find returns how many bytes of a chunk belong to the value, and whether it is over behind them.
func (e *valueEnd) find(chunk []byte) (n int, isOver bool) {
	for i, c := range chunk {
		if e.quoted {
			switch {
			case e.escaped:
				e.escaped = false
			case c == '\\':
				e.escaped = true
			case c == '"':
				e.quoted = false
				if e.depth == 0 {
					return i + 1, true
				}
			}
			continue
		}

		switch c {
		case '"':
			e.quoted = true
		case '{', '[':
			e.depth++
		case '}', ']':
			if e.depth == 0 { // of what is around a bare number
				return i, true
			}
			e.depth--
			if e.depth == 0 {
				return i + 1, true
			}
		case ',', ' ', '\t', '\r', '\n':
			if e.mayBeHere() {
				return i, true
			}
		}

		e.began = true
	}
	return len(chunk), false
}

// advance goes behind what was read.
func (s *splitter) advance(read []byte) {
	if n := bytes.Count(read, []byte("\n")); n > 0 {
		s.line += n
		s.begin = s.off + int64(bytes.LastIndexByte(read, '\n')) + 1
	}
	s.skip(len(read))
}

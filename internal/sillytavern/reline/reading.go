// Package reline reads chats whose objects can be read, but not as lines of UTF-8: a file in
// UTF-16, one JSON list, objects spread over several lines, a comma behind each line, two objects
// in one line.
//
// [Read] goes through such a file once. What remains is a [Reading], which says what the file is
// and turns it into lines: [Reading.Over] is the file as it would be if it had been written as
// lines, made piece by piece while it is read. Nothing is held in memory but where the pieces
// are, and no other file is made.
//
// Every value keeps its bytes. Only what is between values goes: brackets and commas around the
// objects, line ends and the white space beside them. In UTF-16, half a surrogate pair becomes an
// escape (\ud83d), which JSON reads as the same.
//
// A file may be damaged besides. What stands between the objects that can be read and is not one
// stays as a line of its own, damaged as it is. An object that is spread over lines and is not
// whole would leave lines that are objects by chance; it is left out instead, and is in
// [Reading.Torn].
package reline

import (
	"bytes"
	"context"
	"sort"

	"stchat/internal/jsonl"
)

// Encoding is how the characters of a file are stored.
type Encoding uint8

// The encodings.
const (
	UTF8 Encoding = iota
	UTF16LE
	UTF16BE
)

// String returns the encoding's name, as people know it.
func (e Encoding) String() string {
	return [...]string{"UTF-8", "UTF-16 (little-endian)", "UTF-16 (big-endian)"}[e]
}

// Reading is how a file is read as lines. It does not change, and holds no file.
type Reading struct {
	Encoding Encoding
	Tail     []byte // of UTF-16: a last byte that is only half a character

	List   bool // the objects are in a list
	Spread int  // objects on several lines
	Commas int  // lines with a comma behind the object, outside a list
	First  int  // the first line that is of no other use than to be read so; 0: there is none
	Whole  int  // objects that were put on lines of their own

	Joined []Joined // lines that hold more than one object
	Torn   []Torn   // what is left out

	text  *text
	lines *lines
}

// Joined is a line with more than its object.
type Joined struct {
	Line    int // physical line, from 1
	Objects int // at least 1
}

// Torn is an object on several lines that is not whole.
type Torn struct {
	Line   int    // where it begins
	Reason string // why it cannot be read

	off, len int64
}

// Read finds out how a file is to be read. It returns nil if each of its lines is to be read as it
// stands, which says nothing about damage. The error is that of reading, or ctx's.
func Read(ctx context.Context, src jsonl.Source) (*Reading, error) {
	r := &Reading{}
	var err error
	if r.Encoding, err = EncodingOf(src); err != nil {
		return nil, err
	}
	if r.Encoding != UTF8 {
		if r.text, err = readText(ctx, src, r.Encoding); err != nil {
			return nil, err
		}
		r.Tail = r.text.tail
		src = r.text.over(src)
	}

	p := newParser(ctx, src, r)
	found, err := p.read()
	switch {
	case err != nil:
		return nil, err
	case found:
		r.lines = &p.out.lines
	case r.text == nil:
		return nil, nil
	}
	return r, nil
}

// IsSure reports whether a file, by its first bytes, is not one object in each line, so that its
// lines need not be looked at.
func IsSure(src jsonl.Source) (bool, error) {
	encoding, err := EncodingOf(src)
	if err != nil || encoding != UTF8 {
		return encoding != UTF8, err
	}
	head, err := src.Section(0, min(sniffed, src.Size))
	if err != nil {
		return false, err
	}
	head = bytes.TrimPrefix(head, []byte(bom))
	head = bytes.TrimLeft(head, "\x00 \t\r\n")
	return len(head) > 0 && head[0] == '[', nil
}

// HasLayout reports whether the objects are not on lines of their own for another reason than that
// some are joined.
func (r *Reading) HasLayout() bool { return r.List || r.Spread > 0 || r.Commas > 0 }

// Over returns the file as lines. src is the file that was read.
func (r *Reading) Over(src jsonl.Source) jsonl.Source {
	if r == nil {
		return src
	}
	src = r.decoded(src)
	if r.lines != nil {
		src = r.lines.over(src)
	}
	return src
}

// decoded returns the file in UTF-8.
func (r *Reading) decoded(src jsonl.Source) jsonl.Source {
	if r.text == nil {
		return src
	}
	return r.text.over(src)
}

// Section returns the bytes, in UTF-8, that are left out.
func (r *Reading) Section(src jsonl.Source, torn Torn) ([]byte, error) {
	return r.decoded(src).Section(torn.off, torn.len)
}

// Place returns the line of the file for a line of [Reading.Over], and whether the bytes of both
// are the same.
func (r *Reading) Place(line int) (in int, same bool) {
	if r == nil {
		return line, true
	}
	same = r.text == nil
	if r.lines == nil {
		return line, same
	}
	marks := r.lines.marks
	i := sort.Search(len(marks), func(i int) bool { return marks[i].out > line }) - 1
	if i < 0 {
		return line, same
	}
	return marks[i].src + line - marks[i].out, same && marks[i].same
}

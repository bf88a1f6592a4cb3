package reline

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sort"
	"unicode/utf16"
	"unicode/utf8"

	"stchat/internal/jsonl"
)

// sniffed is how much of a file's beginning may be NUL bytes or white space before it is known
// what the file is.
const sniffed = 64 << 10

// EncodingOf returns the encoding of a chat by its beginning. JSON begins with ASCII, so in UTF-16
// its first two characters are each a byte beside a zero byte (RFC 4627, section 3), whether or
// not a byte order mark comes first. Zero bytes before them are damage.
func EncodingOf(src jsonl.Source) (Encoding, error) {
	head, err := src.Section(0, min(sniffed, src.Size))
	if err != nil {
		return UTF8, err
	}
	if len(head) >= 2 && (isMark(head, binary.LittleEndian) || isMark(head, binary.BigEndian)) {
		head = head[2:]
	}
	for len(head) >= 2 && head[0] == 0 && head[1] == 0 {
		head = head[2:]
	}
	if len(head) < 4 {
		return UTF8, nil
	}
	isText := func(c byte) bool { return c != 0 && c < utf8.RuneSelf }
	switch {
	case isText(head[0]) && head[1] == 0 && isText(head[2]) && head[3] == 0:
		return UTF16LE, nil
	case head[0] == 0 && isText(head[1]) && head[2] == 0 && isText(head[3]):
		return UTF16BE, nil
	}
	return UTF8, nil
}

func isMark(b []byte, order binary.ByteOrder) bool { return order.Uint16(b) == 0xfeff }

// chunk is how much of a file in UTF-16 is decoded at once.
const chunk = 32 << 10

// text is a file in UTF-16, as UTF-8. The file is cut into chunks; a surrogate pair belongs to the
// chunk in which it begins.
type text struct {
	order binary.ByteOrder
	begin int64   // after the byte order mark
	end   int64   // after the last whole unit
	outs  []int64 // where each chunk begins in UTF-8, and at last where that ends
	tail  []byte
}

// readText measures the chunks of a file.
func readText(ctx context.Context, src jsonl.Source, encoding Encoding) (*text, error) {
	t := &text{order: binary.ByteOrder(binary.LittleEndian), end: src.Size &^ 1}
	if encoding == UTF16BE {
		t.order = binary.BigEndian
	}
	head, err := src.Section(0, min(2, t.end))
	if err != nil {
		return nil, err
	}
	if isMark(head, t.order) {
		t.begin = 2
	}
	if t.end < src.Size {
		if t.tail, err = src.Section(t.end, src.Size-t.end); err != nil {
			return nil, err
		}
	}

	out := int64(0)
	var room decoding
	for at := t.begin; at < t.end; at += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.outs = append(t.outs, out)
		decoded, err := t.decode(src, at, &room)
		if err != nil {
			return nil, err
		}
		out += int64(len(decoded))
	}

	t.outs = append(t.outs, out)
	return t, nil
}

// decoding is memory for [text.decode].
type decoding struct{ units, out []byte }

// decode returns the chunk at an offset in UTF-8. It is valid until room is used again.
func (t *text) decode(src jsonl.Source, at int64, room *decoding) ([]byte, error) {
	const unit = 2
	from := max(at-unit, t.begin) // the unit before may begin a pair
	to := min(at+chunk+unit, t.end)
	var err error
	if room.units, err = src.ReadSection(room.units, from, to-from); err != nil {
		return nil, err
	}
	units := room.units[at-from:]
	own := int(min(chunk, t.end-at)) // without the unit after the chunk
	low, high := 0, 1                // the bytes of a unit
	if t.order == binary.BigEndian {
		low, high = high, low
	}
	i := 0
	if at > from {
		before := rune(t.order.Uint16(room.units))
		if isPair(before, rune(t.order.Uint16(units))) {
			i += unit
		}
	}

	out := room.out[:0]
	for i < own {
		r := rune(units[i+low]) | rune(units[i+high])<<8
		i += unit
		switch {
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		case !utf16.IsSurrogate(r):
			out = utf8.AppendRune(out, r)
		case i < len(units) && isPair(r, rune(t.order.Uint16(units[i:]))):
			out = utf8.AppendRune(out, utf16.DecodeRune(r, rune(t.order.Uint16(units[i:]))))
			i += unit
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}

	room.out = out
	return out, nil
}

func isPair(high, low rune) bool { return utf16.DecodeRune(high, low) != utf8.RuneError }

// over returns the file in UTF-8.
func (t *text) over(src jsonl.Source) jsonl.Source {
	return jsonl.Source{R: &decoded{t, src}, Size: t.outs[len(t.outs)-1]}
}

type decoded struct {
	text *text
	src  jsonl.Source
}

// ReadAt implements [io.ReaderAt].
func (d *decoded) ReadAt(p []byte, off int64) (n int, err error) {
	outs := d.text.outs
	i := sort.Search(len(outs), func(i int) bool { return outs[i] > off }) - 1
	var room decoding
	for n < len(p) && i >= 0 && i < len(outs)-1 {
		part, err := d.text.decode(d.src, d.text.begin+int64(i)*chunk, &room)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], part[off+int64(n)-outs[i]:])
		i++
	}

	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

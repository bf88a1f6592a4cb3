package chatgen

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Layouts returns how the objects of a chat may stand in its file: as SillyTavern writes them, and
// as other programs, and people, leave them. The first is the usual one.
func Layouts() []string {
	return []string{"lines", "list", "pretty", "pretty-list", "commas", "joined"}
}

// Encodings returns how the characters of a chat may be stored. The first is the usual one; -bom is
// with a byte order mark.
func Encodings() []string {
	return []string{"utf-8", "utf-8-bom", "utf-16le", "utf-16be", "utf-16le-bom", "utf-16be-bom"}
}

// form writes lines in another layout and encoding. It holds one line.
type form struct {
	out    io.Writer
	layout string
	line   []byte
	lines  int // written

	order binary.AppendByteOrder // nil: UTF-8
	rest  []byte                 // of a character of which more is to come
	units []byte
	count int64 // bytes written
}

// newForm returns a form; the error names a layout or an encoding that there is not.
func newForm(out io.Writer, layout, encoding string) (*form, error) {
	f := &form{out: out, layout: layout}
	if layout == "" {
		f.layout = Layouts()[0]
	}
	if !slices.Contains(Layouts(), f.layout) {
		return nil, fmt.Errorf("there is no layout %q; there are %s", layout, strings.Join(Layouts(), ", "))
	}
	if encoding != "" && !slices.Contains(Encodings(), encoding) {
		return nil, fmt.Errorf("there is no encoding %q; there are %s", encoding, strings.Join(Encodings(), ", "))
	}
	name, hasMark := strings.CutSuffix(encoding, "-bom")
	switch name {
	case "utf-16le":
		f.order = binary.LittleEndian
	case "utf-16be":
		f.order = binary.BigEndian
	}
	if hasMark {
		return f, f.encode([]byte("\ufeff"))
	}
	return f, nil
}

// Write implements [io.Writer].
func (f *form) Write(p []byte) (n int, err error) {
	if f.layout == Layouts()[0] {
		return len(p), f.encode(p)
	}
	n = len(p)
	for {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		f.line = append(f.line, line...)
		if !ended {
			return n, nil
		}
		if err := f.put(f.line, false); err != nil {
			return 0, err
		}
		f.line, p = f.line[:0], rest
	}
}

// end writes what is left.
func (f *form) end() error {
	if f.layout != Layouts()[0] {
		if err := f.put(f.line, true); err != nil {
			return err
		}
	}
	if len(f.rest) == 0 {
		return nil
	}
	f.rest = nil // a torn character
	return f.encode([]byte("\ufffd"))
}

// put writes a line in its layout.
func (f *form) put(line []byte, last bool) error {
	var out bytes.Buffer
	isFirst := f.lines == 0
	f.lines++
	between := "\n"
	switch f.layout {
	case "list":
		between = ","
		if isFirst {
			out.WriteString("[")
		}
		out.Write(bytes.TrimRight(line, "\r"))
	case "pretty-list":
		between = ","
		if isFirst {
			out.WriteString("[")
		}
		out.WriteString("\n    ")
		indent(&out, line, "    ")
	case "pretty":
		indent(&out, line, "")
	case "commas":
		between = ",\n"
		out.Write(line)
	case "joined":
		if f.lines%2 == 0 {
			between = ""
		}
		out.Write(line)
	}
	switch {
	case !last:
		out.WriteString(between)
	case f.layout == "list":
		out.WriteString("]")
	case f.layout == "pretty-list":
		out.WriteString("\n]")
	}
	return f.encode(out.Bytes())
}

// indent writes a line as an editor formats it, or as it stands if it is damaged.
func indent(out *bytes.Buffer, line []byte, prefix string) {
	before := out.Len()
	if err := json.Indent(out, line, prefix, "    "); err != nil {
		out.Truncate(before)
		out.Write(line)
	}
}

// encode writes text in the encoding.
func (f *form) encode(text []byte) error {
	if f.order == nil {
		f.count += int64(len(text))
		_, err := f.out.Write(text)
		return err
	}
	text = append(f.rest, text...)
	f.units = f.units[:0]
	for len(text) > 0 && utf8.FullRune(text) {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if high, low := utf16.EncodeRune(r); r > 0xffff {
			f.units = f.order.AppendUint16(f.units, uint16(high))
			r = low
		}
		f.units = f.order.AppendUint16(f.units, uint16(r))
	}
	f.rest = slices.Clone(text)
	f.count += int64(len(f.units))
	_, err := f.out.Write(f.units)
	return err
}

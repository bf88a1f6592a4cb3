package jsonl

import (
	"cmp"
	"fmt"
)

// Code is the kind of damage of a line.
type Code uint8

// The kinds of damage.
const (
	InvalidJSON Code = iota + 1 // not JSON
	NotObject                   // JSON, but not an object
	TooDeep                     // nested deeper than MaxDepth
	BOM                         // begins with a byte order mark, but is fine without it
)

// Damage is one line that SillyTavern cannot use as it stands.
type Damage struct {
	Line   int    // physical line, from 1; blank lines count
	Column int    // byte in the line, from 1; one past the end if the line is cut short
	Code   Code   // what kind
	Reason string // for people, without a full stop
	Byte   int    // the byte that was not expected, or -1 at the line's end

	// SillyTavernKeeps is true for a value that is not an object but truthy in
	// JavaScript (5, "x", [1]): SillyTavern keeps it as a broken message, so its
	// message numbers differ from ours after this line.
	SillyTavernKeeps bool

	// Before is the number of surviving lines before it, from where reading began.
	Before int
}

// MaxDamage is how many damaged lines [Damages] holds: a file of any size may
// consist of nothing else.
const MaxDamage = 100

// Damages is the damage of a file, or of a stretch of one. Its memory does not
// grow with the number of damaged lines.
type Damages struct {
	First []Damage // in the file's order, at most [MaxDamage]
	Total int      // how many there are
}

// Add adds one damaged line.
func (d *Damages) Add(line Damage) {
	d.Total++
	if len(d.First) < MaxDamage {
		d.First = append(d.First, line)
	}
}

// Append adds the damage of the stretch that follows.
func (d *Damages) Append(next Damages) {
	d.Total += next.Total
	n := min(len(next.First), MaxDamage-len(d.First))
	d.First = append(d.First, next.First[:n]...)
}

// More returns how many damaged lines there are beyond those in First.
func (d *Damages) More() int { return d.Total - len(d.First) }

// Error returns LINE:COLUMN: reason.
func (d *Damage) Error() string {
	return fmt.Sprintf("%d:%d: %s", d.Line, d.Column, d.Reason)
}

// LineError is a damaged line in a named file. It formats as
// FILE:LINE:COLUMN: reason, as editors and people expect.
type LineError struct {
	Path   string
	Damage Damage
}

func (e *LineError) Error() string { return e.Path + ":" + e.Damage.Error() }

// Unwrap returns the [*Damage].
func (e *LineError) Unwrap() error { return &e.Damage }

// name returns a byte as a person would write it.
func name(c byte) string {
	switch {
	case c == 0:
		return "NUL byte"
	case c == '\t':
		return "tab"
	case c == '\'':
		return `"'"`
	case c > ' ' && c < 0x7f:
		return "'" + string(rune(c)) + "'"
	case c == ' ':
		return "space"
	default:
		return fmt.Sprintf("byte 0x%02X", c)
	}
}

// damage describes what is wrong with the line that was just read. The scanner did not
// see its byte order mark, which hasBOM reports.
func (s *scanner) damage(hasBOM bool) Damage {
	if s.code == 0 {
		return Damage{Code: BOM, Column: 1, Byte: int(bom[0]), Reason: "the file begins with a byte order mark (BOM)"}
	}
	d := Damage{Code: s.code, Column: int(s.badAt) + 1, Byte: s.badIs}
	if hasBOM {
		d.Column += len(bom)
	}
	switch s.code {
	case TooDeep:
		d.Reason = "nested deeper than 10,000 levels"
	case NotObject:
		d.Reason = kindOf(s.first) + ", not an object"
		d.SillyTavernKeeps = !s.falsy
	default:
		d.Reason = syntax(s.badIs, s.badIn)
	}
	return d
}

// syntax describes how a byte breaks the grammar in a state; below 0 it is the line's
// end.
func syntax(is int, in state) string {
	if is < 0 {
		return "the line ends " + stateText(in)
	}
	c := byte(is)
	switch in {
	case stString:
		if c == 0 {
			return "NUL byte in a string"
		}
		return name(c) + " in a string, where it must be escaped"
	case stEscape:
		return "invalid escape: " + name(c) + " after a backslash"
	case stHex:
		return "invalid escape: " + name(c) + " among the four hexadecimal digits of \\u"
	default:
		return "unexpected " + name(c) + " " + stateText(in)
	}
}

// stateText describes where in the grammar a state is.
func stateText(st state) string {
	return cmp.Or([stBad]string{
		stStart:    "at the start, not JSON",
		stValue:    "where a value must follow",
		stArrFirst: "where a list's first value or ] must follow",
		stObjFirst: "where a key or } must follow",
		stKey:      "where a key must follow",
		stColon:    "where a colon must follow the key",
		stAfter:    "after a value, where a comma or the closing bracket must follow",
		stEnd:      "after the line's value",
		stString:   "inside a string",
		stEscape:   "inside a string",
		stHex:      "inside a string",
		stLiteral:  "in true, false or null",
	}[st], "in a number")
}

func kindOf(first byte) string {
	switch first {
	case '"':
		return "a string"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// Valid reports whether b is one JSON value, with any white space around it (LF
// too), nested at most [MaxDepth] deep: what encoding/json.Valid accepts.
func Valid[T ~[]byte | ~string](b T) bool { return Check(b) == nil }

// Check returns nil if b is [Valid], otherwise what is wrong: the damage's Line
// and Column are those of the first wrong byte. It accepts any JSON value, not
// only objects.
func Check[T ~[]byte | ~string](b T) *Damage {
	const part = 64 << 10 // of a string, which is copied
	s := scanner{multiline: true}
	for at := 0; at < len(b) && s.code == 0; at += part {
		s.feed([]byte(b[at:min(at+part, len(b))]))
	}
	if s.code == 0 {
		in := s.state
		s.feed([]byte{'\n'}) // ends a number
		if s.state == stEnd {
			return nil
		}
		s.fail(InvalidJSON, int64(len(b)), -1, in) // not the LF, which b does not have
	}

	d := s.damage(false)
	before := b[:min(s.badAt, int64(len(b)))]
	d.Line, d.Column = 1, 1
	for i := range len(before) {
		d.Column++
		if before[i] == '\n' {
			d.Line++
			d.Column = 1
		}
	}
	return &d
}

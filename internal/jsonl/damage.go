package jsonl

import "fmt"

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

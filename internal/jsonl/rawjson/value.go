package rawjson

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of JSON values. Invalid is the kind of nothing at all.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	ObjectKind
)

// String names the kind as a person reads it in a message ("a list").
func (k Kind) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// KindOf returns the kind of a value, judging only by its first byte that is not white
// space.
func KindOf(raw []byte) Kind {
	i := skipSpace(raw, 0)
	if i >= len(raw) {
		return Invalid
	}
	switch raw[i] {
	case '{':
		return ObjectKind
	case '[':
		return Array
	case '"':
		return String
	case 'n':
		return Null
	case 't', 'f':
		return Bool
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return Number
	default:
		return Invalid
	}
}

// Truthy reports the truth of a value as JavaScript sees it: false, null, a
// number that is zero as a float64 (0, -0, 0.0, 1e-999), "" and nothing at all
// are false, everything else is true.
func Truthy(raw []byte) bool {
	switch KindOf(raw) {
	case Invalid, Null:
		return false
	case Bool:
		return raw[skipSpace(raw, 0)] == 't'
	case String:
		return !bytes.Equal(trim(raw), []byte(`""`))
	case Number:
		f, ok := Float(raw)
		return ok && f != 0
	default:
		return true
	}
}

// Float returns a JSON number as JavaScript holds it: the nearest float64, an infinity
// if it is too large. ok is false for anything but a number.
func Float(raw []byte) (f float64, ok bool) {
	if KindOf(raw) != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(trim(raw)), 64)
	return f, err == nil || math.IsInf(f, 0)
}

// Int returns a JSON number that is integral (3, 3.0, 1e2, -0) and within the range of
// int. It is exact and never expands an exponent: 1e999999999 is merely out of range. ok
// is false for anything else.
func Int(raw []byte) (n int, ok bool) {
	if KindOf(raw) != Number {
		return 0, false
	}
	if n, err := strconv.Atoi(string(raw)); err == nil {
		return n, true
	}
	text := string(trim(raw))
	digits, negative := strings.CutPrefix(text, "-")
	exp := 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		e, err := strconv.Atoi(digits[i+1:])
		digits = digits[:i]
		if err != nil {
			// The exponent is out of int's range, so only zero is integral and in range.
			e = 0
			if strings.Trim(digits, "0.") != "" {
				return 0, false
			}
		}
		exp = e
	}

	whole, frac, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return 0, true
	}
	point := exp - len(frac) // the value is digits × 10^point
	if stripped := strings.TrimRight(digits, "0"); point < 0 {
		zeros := len(digits) - len(stripped)
		if point < -zeros {
			return 0, false
		}
		digits, point = digits[:len(digits)+point], 0
	}

	const most = 19 // digits of the largest int64
	if point > most || len(digits)+point > most {
		return 0, false
	}
	digits += strings.Repeat("0", point)
	if negative {
		digits = "-" + digits
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

// IntOrNil returns what [Int] does, nil for what is no int.
func IntOrNil(raw []byte) *int {
	if n, ok := Int(raw); ok {
		return &n
	}
	return nil
}

// trim removes the JSON white space around a value.
func trim(raw []byte) []byte {
	return bytes.Trim(raw, " \t\n\r")
}

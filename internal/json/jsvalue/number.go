package jsvalue

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// FormatNumber spells a number as JavaScript does (ECMAScript Number::toString).
func FormatNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0" // -0 too
	}

	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exp, _ := strings.Cut(s, "e")
	sign, digits := exp[:1], strings.TrimLeft(exp[1:], "0")
	return mantissa + "e" + sign + digits
}

// ToNumber is JavaScript's Number(v); NaN where v is no number.
func ToNumber(v Value) float64 {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 1
		}
		return 0
	case float64:
		return v
	case string:
		return parseNumber(v)
	case *Array:
		return parseNumber(String(v))
	default:
		return math.NaN()
	}
}

// parseNumber reads a string as Number does: white space around it, nothing is
// zero, decimal, 0x, 0o and 0b, Infinity; no underscores, no hexadecimal fractions.
func parseNumber(s string) float64 {
	s = Trim(s)
	if s == "" {
		return 0
	}

	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'x', 'X':
			return parseDigits(s[2:], 16)
		case 'o', 'O':
			return parseDigits(s[2:], 8)
		case 'b', 'B':
			return parseDigits(s[2:], 2)
		}
	}

	switch s {
	case "Infinity", "+Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}

	f, err := strconv.ParseFloat(s, 64)
	tooLarge := err != nil && math.IsInf(f, 0) // it is Infinity to JavaScript, too
	if err != nil && !tooLarge {
		return math.NaN()
	}
	if isForeign := strings.Trim(s, numeric) != ""; isForeign { // ParseFloat takes more, such as 1_000
		return math.NaN()
	}
	return f
}

// numeric are the characters of decimal numbers.
const numeric = "0123456789.+-eE"

// parseDigits reads digits of a base that is a power of two.
func parseDigits(s string, base int) float64 {
	f := 0.0
	for _, c := range strings.ToLower(s) {
		digit := strings.IndexRune("0123456789abcdef"[:base], c)
		if digit < 0 {
			return math.NaN()
		}
		f = f*float64(base) + float64(digit)
	}
	return f
}

// Trim is String.prototype.trim.
func Trim(s string) string { return strings.TrimFunc(s, IsSpace) }

// IsSpace reports whether String.prototype.trim removes r, and \s matches it: ECMAScript
// WhiteSpace and LineTerminator, which is not quite Go's unicode.IsSpace.
func IsSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200A
}

// Hash36 is the hash that several extensions make of a text: over its UTF-16 units
// h = h*31 + unit in 32 bits, its sign dropped, in base 36.
func Hash36(text string) string {
	var h int32
	add := func(unit rune) { h = h<<5 - h + unit }
	for i, r := range text {
		switch {
		case r == utf8.RuneError && len(text) >= i+3 && text[i] == 0xED: // half of a pair, as rawjson keeps it
			add(0xD000 | rune(text[i+1]&0x3F)<<6 | rune(text[i+2]&0x3F))
		case r == utf8.RuneError && i > 0 && text[i]&0xC0 == 0x80: // the rest of that
		case r <= 0xFFFF:
			add(r)
		default:
			high, low := utf16.EncodeRune(r)
			add(high)
			add(low)
		}
	}

	n := int64(h)
	return strconv.FormatInt(max(n, -n), 36)
}

// Number is a JSON number as it is written.
type Number string

// Equal reports whether two numbers are the same, exactly: 1.0 is 1, and 9007199254740993 is
// not 9007199254740992, although both are one number to JavaScript.
func (n Number) Equal(m Number) bool {
	return n == m || decimalOf(string(n)) == decimalOf(string(m))
}

// decimal is a JSON number in a form that is the same for equal numbers, and
// never expanded: sign × digits × 10^exp.
type decimal struct {
	negative bool
	digits   string // without zeros at either end; empty: zero
	exp      string // decimal, "-" in front where negative; empty for zero
}

// decimalOf reads a JSON number of any length exactly.
func decimalOf(text string) decimal {
	text, negative := strings.CutPrefix(text, "-")
	exp := "0"
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exp = text[i+1:]
		text = text[:i]
	}

	whole, frac, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return decimal{}
	}
	stripped := strings.TrimRight(digits, "0")
	return decimal{negative, stripped, addInt(exp, len(digits)-len(stripped)-len(frac))}
}

// addInt adds n to an integer of any length.
func addInt(text string, n int) string {
	digits, negative := strings.CutPrefix(text, "-")
	digits = strings.TrimLeft(digits, "+0")
	if negative {
		n = -n
	}

	// add n to the digits, which have room for all digits of n in front
	b := make([]byte, len(digits)+20)
	copy(b[20:], digits)
	for i := range b[:20] {
		b[i] = '0'
	}

	carry := int64(n)
	for i := len(b) - 1; i >= 0 && carry != 0; i-- {
		sum := int64(b[i]-'0') + carry
		digit := ((sum % 10) + 10) % 10
		b[i] = '0' + byte(digit)
		carry = (sum - digit) / 10
	}

	if carry != 0 {
		// the sum is below zero, and b has its ten's complement
		negative = !negative
		borrow := 10
		for i := len(b) - 1; i >= 0; i-- {
			digit := borrow - int(b[i]-'0')
			b[i] = '0' + byte(digit%10)
			borrow = 9 + digit/10
		}
	}

	out := strings.TrimLeft(string(b), "0")
	switch {
	case out == "":
		return "0"
	case negative:
		return "-" + out
	}
	return out
}

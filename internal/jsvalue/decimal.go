package jsvalue

import "strings"

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
		text, exp = text[:i], text[i+1:]
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
	// now to |text| comes n, which may carry below zero
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
	if carry != 0 { // below zero: the ten's complement
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

package sendate

import (
	"strings"
	"time"
)

// reader parses a text from its start. The first thing that is missing makes it bad, and it
// stays so.
type reader struct {
	rest string
	bad  bool
}

// end reports whether the whole text was read and nothing was missing.
func (r *reader) end() bool { return !r.bad && r.rest == "" }

// accept skips text if it comes next, and reports whether it did.
func (r *reader) accept(text string) bool {
	rest, ok := strings.CutPrefix(r.rest, text)
	r.rest = rest
	return ok
}

// expect skips text, which must come next.
func (r *reader) expect(text string) {
	if !r.accept(text) {
		r.bad = true
	}
}

// spaces takes any number of spaces. U+202F is what newer browsers put before AM.
func (r *reader) spaces() { r.rest = strings.TrimLeft(r.rest, " \u00a0\u202f") }

// digits takes all the digits there are.
func (r *reader) digits() string {
	n := 0
	for n < len(r.rest) && r.rest[n] >= '0' && r.rest[n] <= '9' {
		n++
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// number takes a number of least to most digits.
func (r *reader) number(least, most int) int {
	d := r.digits()
	if len(d) < least || len(d) > most {
		r.bad = true
		return 0
	}
	n := 0
	for _, c := range []byte(d) {
		n = 10*n + int(c-'0')
	}
	return n
}

// fraction takes the digits after a second's point, in nanoseconds; what is finer is
// cut off.
func (r *reader) fraction() int {
	d := r.digits()
	if d == "" {
		r.bad = true
	}
	n := 0
	for i := range 9 {
		n *= 10
		if i < len(d) {
			n += int(d[i] - '0')
		}
	}
	return n
}

// zone takes Z, ±hh:mm, ±hhmm or ±hh.
func (r *reader) zone() *time.Location {
	if r.accept("Z") {
		return time.UTC
	}
	sign := 1
	if r.accept("-") {
		sign = -1
	} else {
		r.expect("+")
	}
	hours, minutes := 0, 0
	if d := r.digits(); len(d) == 2 || len(d) == 4 {
		sub := reader{rest: d[:2]}
		hours = sub.number(2, 2)
		switch {
		case len(d) == 4:
			sub = reader{rest: d[2:]}
			minutes = sub.number(2, 2)
		case r.accept(":"):
			minutes = r.number(2, 2)
		}
	} else {
		r.bad = true
	}
	if hours > 23 || minutes > 59 {
		r.bad = true
	}
	return time.FixedZone("", sign*(hours*60+minutes)*60)
}

// month takes an English month's name, whole or its first three letters.
func (r *reader) month() int {
	n := 0
	for n < len(r.rest) && (r.rest[n]|0x20) >= 'a' && (r.rest[n]|0x20) <= 'z' {
		n++
	}
	word := r.rest[:n]
	r.rest = r.rest[n:]
	for m := time.January; m <= time.December; m++ {
		if name := m.String(); strings.EqualFold(word, name) || strings.EqualFold(word, name[:3]) {
			return int(m)
		}
	}
	r.bad = true
	return 0
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

package jsonl

import (
	"bytes"
	"strconv"
)

// MaxDepth is the deepest nesting accepted, as in encoding/json.
const MaxDepth = 10000

// state is where in the grammar of JSON (RFC 8259) the scanner is.
type state uint8

const (
	stStart    state = iota // before the line's value
	stValue                 // a value must follow
	stArrFirst              // after [
	stObjFirst              // after {
	stKey                   // after , in an object
	stColon                 // after a key
	stAfter                 // after a value inside an array or object
	stEnd                   // after the line's value
	stString                // in a string
	stEscape                // after a backslash
	stHex                   // in \uXXXX
	stMinus                 // after -
	stZero                  // after a leading 0
	stInt                   // in the integer digits
	stPoint                 // after .
	stFrac                  // in the fraction digits
	stExp                   // after e or E
	stExpSign               // after e+ or e-
	stExpInt                // in the exponent digits
	stLiteral               // in true, false or null
	stBad                   // damaged: nothing but the line's end matters
)

// scanner validates one line after another. It can stop at any byte and
// continue in the next buffer, so that no line ever has to be held.
type scanner struct {
	state   state
	depth   int
	key     bool   // the string being read is a key
	hex     int    // digits of \uXXXX still to come
	literal string // what is left of true, false or null
	pos     int64  // bytes of the line in earlier buffers

	first    byte  // first byte of the line's value; 0: blank so far
	firstPos int64 // its place
	falsy    bool  // a top-level scalar that is false in JavaScript

	text  runes // the strings' characters
	plain bool  // see Line.Plain

	code  Code // what is wrong, 0: nothing
	badAt int64
	badIs int   // the byte there, -1 at the line's end
	badIn state // where in the grammar
	bad   Damage

	multiline bool // LF is white space: one value over many lines
	single    bool // reading stops where the value's last bracket closes

	keys   *Keys // not nil: record the top-level members, these always; the whole line is in one buffer
	found  []Member
	cur    Member
	inside inside // only walk fills it

	stack [MaxDepth/64 + 1]uint64 // a bit for each level: 1 in an object
	index index
}

// reset prepares for a new line.
func (s *scanner) reset() {
	s.state = stStart
	s.depth = 0
	s.pos = 0
	s.first = 0
	s.falsy = false
	s.text.bad = false
	s.text.tailLen = 0
	s.code = 0
	s.plain = false
	s.found = s.found[:0]
	s.inside.at = 0
}

func (s *scanner) inObject() bool {
	d := s.depth - 1
	return s.stack[d>>6]>>(d&63)&1 == 1
}

// fail notes what is wrong first.
func (s *scanner) fail(code Code, at int64, is int, in state) {
	s.code = code
	s.badAt = at
	s.badIs = is
	s.badIn = in
	s.state = stBad
}

// feed continues the line with p. It returns the number of bytes that it took
// and whether the line ended with an LF, which is among them.
//
// Every iteration of the loop continues from one state. What most often follows
// is read in the same iteration (a colon after a key, a key after a comma, a
// whole number). The buffer may end anywhere, so each of these can also begin
// an iteration.
func (s *scanner) feed(p []byte) (n int, ended bool) {
	i, st := 0, s.state
	resumed := 0 // bytes of p that end a character cut by the last buffer's end
	if st == stString && s.text.tailLen > 0 {
		resumed = s.text.resume(p)
	}
	for i < len(p) {
		c := p[i]
		switch st {
		case stString:
			goto text

		case stAfter:
			switch c {
			case ',':
				goto comma
			case '}', ']':
				if s.inObject() != (c == '}') {
					goto bad
				}
				if s.depth == 1 && s.keys != nil && c == '}' {
					s.endMember(p, i)
				}
				i++
				goto closed
			}
			goto space

		case stKey, stObjFirst:
			if c == '"' {
				if st == stObjFirst && s.depth == 2 {
					s.cur.Count = 1
				}
				goto key
			}
			if c == '}' && st == stObjFirst {
				i++
				goto closed
			}
			goto space

		case stColon:
			if c == ':' {
				i++
				st = stValue
				continue
			}
			goto space

		case stValue, stArrFirst, stStart:
			if c <= ' ' {
				goto space
			}
			if c == ']' && st == stArrFirst {
				i++
				goto closed
			}
			switch s.depth {
			case 0:
				s.first, s.firstPos = c, s.pos+int64(i)
			case 1:
				s.cur.Val = i
			case 2:
				if st == stArrFirst {
					s.cur.Count = 1
				}
			}
			switch {
			case c == '"':
				s.key = false
				i++
				st = stString
			case c == '{' || c == '[':
				if s.depth == MaxDepth {
					s.fail(TooDeep, s.pos+int64(i), int(c), st)
					st = stBad
					continue
				}
				d := s.depth
				s.depth++
				i++
				if c == '{' {
					s.stack[d>>6] |= 1 << (d & 63)
					st = stObjFirst
				} else {
					s.stack[d>>6] &^= 1 << (d & 63)
					st = stArrFirst
				}
			case c == '-':
				i++
				st = stMinus
			case c == '0':
				i++
				st = stZero
			case c >= '1' && c <= '9':
				i = digits(p, i+1)
				st = stInt
			case c == 't':
				i++
				st, s.literal = stLiteral, "rue"
			case c == 'f':
				i++
				st, s.literal = stLiteral, "alse"
			case c == 'n':
				i++
				st, s.literal = stLiteral, "ull"
			default:
				goto bad
			}
			continue

		case stEscape:
			switch {
			case isEscape(c):
				st = stString
			case c == 'u':
				st, s.hex = stHex, 4
			default:
				goto bad
			}
			i++
			continue

		case stHex:
			if !isHex(c) {
				goto bad
			}
			i++
			if s.hex--; s.hex == 0 {
				st = stString
			}
			continue

		case stMinus:
			switch {
			case c == '0':
				st = stZero
			case c >= '1' && c <= '9':
				st = stInt
			default:
				goto bad
			}
			i++
			continue

		case stInt:
			if i = digits(p, i); i == len(p) {
				continue
			}
			c = p[i]
			fallthrough
		case stZero:
			switch c {
			case '.':
				i++
				st = stPoint
				continue
			case 'e', 'E':
				i++
				st = stExp
				continue
			}
			goto number

		case stPoint:
			if c < '0' || c > '9' {
				goto bad
			}
			i++
			st = stFrac
			continue

		case stFrac:
			if i = digits(p, i); i == len(p) {
				continue
			}
			if c = p[i]; c == 'e' || c == 'E' {
				i++
				st = stExp
				continue
			}
			goto number

		case stExp, stExpSign:
			switch {
			case c >= '0' && c <= '9':
				st = stExpInt
			case (c == '+' || c == '-') && st == stExp:
				st = stExpSign
			default:
				goto bad
			}
			i++
			continue

		case stExpInt:
			if i = digits(p, i); i == len(p) {
				continue
			}
			goto number

		case stLiteral:
			for c == s.literal[0] {
				i++
				if s.literal = s.literal[1:]; s.literal == "" {
					st = stAfter
					if s.depth == 0 {
						s.falsy = s.first != 't'
						st = stEnd
					}
					break
				}
				if i == len(p) {
					break
				}
				c = p[i]
			}
			if st == stLiteral && i < len(p) {
				goto bad
			}
			continue

		case stEnd:
			goto space

		case stBad:
			k := bytes.IndexByte(p[i:], '\n')
			if k < 0 {
				i = len(p)
				continue
			}
			s.state = st
			return i + k + 1, true
		}

	comma: // at a comma after a value
		if s.depth == 2 {
			s.cur.Count++
		}
		if !s.inObject() {
			i++
			st = stValue
			continue
		}

		if s.depth == 1 && s.keys != nil {
			s.endMember(p, i)
		}
		i++
		st = stKey
		if i == len(p) || p[i] != '"' {
			continue
		}

	key: // at a key's opening quote
		if s.depth == 1 {
			s.cur = Member{Key: i}
		}
		s.key = true
		i++
		st = stString
		if i == len(p) {
			continue
		}

	text: // in a string
		if p[i] != '\\' { // often one escape follows another: \n\n
			n, nonASCII := skipPlain(p[i:])
			if nonASCII && !s.text.bad {
				s.text.check(p[max(i, resumed):i+n], i+n == len(p))
			}
			i += n
		}
		if i == len(p) {
			continue
		}
		switch p[i] {
		case '\\':
			if s.key && s.depth == 1 {
				s.cur.Escaped = true
			}
			i++
			if i == len(p) || !isEscape(p[i]) {
				st = stEscape
				continue
			}
			i++
			if i == len(p) {
				continue
			}
			goto text
		case '"':
			i++
		default:
			goto bad
		}

		if s.key {
			if s.depth == 1 {
				s.cur.KeyEnd = i
			}
			st = stColon
			if i == len(p) || p[i] != ':' {
				continue
			}
			i++
			st = stValue
			if i == len(p) || p[i] != '"' {
				continue
			}
			if s.depth == 1 {
				s.cur.Val = i
			}
			s.key = false
			i++
			st = stString
			if i == len(p) {
				continue
			}
			goto text
		}

		if s.depth == 0 {
			s.falsy = s.pos+int64(i) == s.firstPos+2
			st = stEnd
			continue
		}

		st = stAfter
		if i == len(p) || p[i] != ',' {
			continue
		}
		goto comma

	number: // at the byte after a number, which is still to be read
		st = stAfter
		if s.depth == 0 {
			s.topNumber(p, i)
			st = stEnd
		}
		continue

	closed: // a container ended
		s.depth--
		st = stAfter
		if s.depth == 0 {
			st = stEnd
			if s.single {
				s.state = st
				return i, true
			}
		}

		continue

	space: // at a byte that can only be white space
		switch c {
		case ' ', '\t', '\r':
			i++
			continue
		case '\n':
			if s.multiline {
				i++
				continue
			}
			s.state = st
			s.finish(s.pos + int64(i))
			return i + 1, true
		}

	bad:
		if p[i] == '\n' && !s.multiline {
			s.state = st
			s.finish(s.pos + int64(i))
			return i + 1, true
		}
		s.fail(InvalidJSON, s.pos+int64(i), int(p[i]), st)
		st = stBad
	}

	s.state = st
	s.pos += int64(len(p))
	return len(p), false
}

// finish ends the line at the place end. The LF has already ended a number.
func (s *scanner) finish(end int64) {
	switch s.state {
	case stStart, stBad, stEnd:
	default:
		s.fail(InvalidJSON, end, -1, s.state)
		return
	}
	if s.state == stEnd && s.first != '{' {
		s.fail(NotObject, s.firstPos, int(s.first), stStart)
	}
}

// topNumber sets falsy for a number that is the line's whole value and ends at
// i. A number that spans buffers counts as true: it would have to be many
// kilobytes of digits.
func (s *scanner) topNumber(p []byte, i int) {
	if at := s.firstPos - s.pos; at >= 0 {
		f, _ := strconv.ParseFloat(string(p[at:i]), 64)
		s.falsy = f == 0
	}
}

// isEscape reports whether c after a backslash is a whole escape.
func isEscape(c byte) bool {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// digits returns where the digits from i on end.
func digits(p []byte, i int) int {
	for i < len(p) && p[i] >= '0' && p[i] <= '9' {
		i++
	}
	return i
}

func isHex(c byte) bool {
	lower := c | 0x20
	isDigit := c >= '0' && c <= '9'
	return isDigit || lower >= 'a' && lower <= 'f'
}

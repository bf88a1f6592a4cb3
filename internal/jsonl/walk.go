package jsonl

import "unicode/utf8"

// The walk reads lines whose strings are in s.index, so that only the grammar between them is
// left. Every byte outside strings is looked at, so an opening quote is always the next in the
// index. Lines end in an LF, which is in no string, so p[i] is in range until one is seen.
//
// What the walk does not accept, feed must read again: damage, a line that is no object, or one
// with too many members or levels.

// walkDepth is how many levels the walk goes down.
const walkDepth = 64

// walk reads the line at i. It leaves the scanner as feed does after a line that survives, and
// returns the place after its LF. ok is false if feed must read the line.
func (s *scanner) walk(p []byte, i int) (end int, ok bool) {
	line := i
	i = afterBlanks(p, i)
	switch p[i] {
	case '\n':
		return i + 1, true
	case '{':
	default:
		return 0, false
	}

	s.first, s.firstPos = '{', int64(i-line)
	if s.keys == nil {
		i, _ = s.walkValue(p, i)
	} else {
		i = s.walkObject(p, line, i, &s.found, s.keys.inside)
	}

	if i == 0 {
		return 0, false
	}
	if i = afterBlanks(p, i); p[i] != '\n' {
		return 0, false
	}
	s.state, s.plain = stEnd, !s.index.rare
	return i + 1, true
}

// walkObject reads the object at i and adds its members to list, and the members of the object
// with the raw key wanted, unless that is empty, to s.inside. It returns the place after the
// object, or 0 if feed must read the line.
func (s *scanner) walkObject(p []byte, line, i int, list *[]Member, wanted string) int {
	x := &s.index
	quotes, q := x.quotes, x.next
	if i = afterBlanks(p, i+1); p[i] == '}' {
		return i + 1
	}
	for {
		if p[i] != '"' || len(*list) == MaxMembers {
			return 0
		}
		key, keyEnd := i, int(quotes[q+1])+1
		m := add(list) // written where it stays: a copy would wait for what was just written
		m.Key = key - line
		m.KeyEnd = keyEnd - line
		m.Count = 0
		m.Escaped = x.mayHaveSlash(key, keyEnd-1) && x.hasSlash(key, keyEnd-1)
		q += 2
		if i = afterBlanks(p, keyEnd); p[i] != ':' {
			return 0
		}
		i = afterBlanks(p, i+1)
		m.Val = i - line
		switch c := p[i]; {
		case c == '"':
			i = int(quotes[q+1]) + 1
			q += 2
		case c == '{' && string(p[key:keyEnd]) == wanted:
			s.inside = inside{at: m.Val, members: s.inside.members[:0]}
			x.next = q
			i = s.walkObject(p, line, i, &s.inside.members, "")
			q = x.next
			m.Count = len(s.inside.members)
		case c == '{' || c == '[':
			x.next = q
			i, m.Count = s.walkValue(p, i)
			q = x.next
		default:
			i = literal(p, i)
		}

		if i == 0 {
			return 0
		}
		m.ValEnd = i - line
		if i = afterBlanks(p, i); p[i] == '}' {
			x.next = q
			return i + 1
		}
		if p[i] != ',' {
			return 0
		}
		i = afterBlanks(p, i+1)
	}
}

// walkValue reads the array or object at i. It returns the place after it and how many elements
// or members it has, or 0 if feed must read the line.
func (s *scanner) walkValue(p []byte, i int) (end, count int) {
	x := &s.index
	quotes, q := x.quotes, x.next
	depth, objects := 0, uint64(0) // a bit for each level, the lowest for the innermost: an object

open: // at an opening bracket
	if depth == walkDepth {
		return 0, 0
	}
	depth++
	objects <<= 1
	if p[i] == '{' {
		objects |= 1
	}
	i = afterBlanks(p, i+1)
	switch c := p[i]; {
	case objects&1 == 1 && c == '}', objects&1 == 0 && c == ']':
		goto closed
	case depth == 1:
		count = 1
	}

	if objects&1 == 0 {
		goto value
	}

key: // where a key must begin
	if p[i] != '"' {
		return 0, 0
	}
	i = afterBlanks(p, int(quotes[q+1])+1)
	q += 2
	if p[i] != ':' {
		return 0, 0
	}
	i++

value: // where a value must begin, with white space before it
	i = afterBlanks(p, i)
	switch p[i] {
	case '"':
		i = int(quotes[q+1]) + 1
		q += 2
	case '{', '[':
		goto open
	default:
		if i = literal(p, i); i == 0 {
			return 0, 0
		}
	}

after: // after a value
	i = afterBlanks(p, i)
	switch c := p[i]; {
	case c == ',':
		if depth == 1 {
			count++
		}
		i++
		if objects&1 == 0 {
			goto value
		}
		i = afterBlanks(p, i)
		goto key
	case objects&1 == 1 && c == '}', objects&1 == 0 && c == ']':
	default:
		return 0, 0
	}

closed: // at a closing bracket
	i++
	depth--
	objects >>= 1
	if depth > 0 {
		goto after
	}
	x.next = q
	return i, count
}

// literal returns where the number or the name at i ends, 0 if there is none. p must go on after
// a number.
func literal(p []byte, i int) int {
	var name string
	switch p[i] {
	case 't':
		name = "true"
	case 'f':
		name = "false"
	case 'n':
		name = "null"
	default:
		return number(p, i)
	}

	if len(p)-i < len(name) || string(p[i:i+len(name)]) != name {
		return 0
	}
	return i + len(name)
}

// add makes room for one more member and returns it; its fields may have any values.
func add(members *[]Member) *Member {
	m := *members
	if len(m) < cap(m) {
		m = m[:len(m)+1]
	} else {
		m = append(m, Member{})
	}
	*members = m
	return &m[len(m)-1]
}

// number returns where the number at i ends, 0 if there is none. p must go on after it.
func number(p []byte, i int) int {
	if p[i] == '-' {
		i++
	}
	switch c := p[i]; {
	case c == '0':
		i++
	case c >= '1' && c <= '9':
		i = digits(p, i+1)
	default:
		return 0
	}

	if p[i] == '.' {
		from := i + 1
		if i = digits(p, from); i == from {
			return 0
		}
	}

	if p[i] == 'e' || p[i] == 'E' {
		i++
		if p[i] == '+' || p[i] == '-' {
			i++
		}
		from := i
		if i = digits(p, from); i == from {
			return 0
		}
	}
	return i
}

// afterBlanks returns where the white space at i, within a line, ends. It can be inlined.
func afterBlanks(p []byte, i int) int {
	for p[i] <= ' ' && isBlank(p[i]) {
		i++
	}
	return i
}

// isBlank reports whether c is white space within a line.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// runes checks that strings are UTF-8. The end of a buffer may cut a character.
type runes struct {
	bad     bool              // something is not UTF-8
	tail    [utf8.UTFMax]byte // start of a character cut by the buffer's end
	tailLen int
}

// resume completes the character that the last buffer cut, and returns where in
// p the check continues.
func (r *runes) resume(p []byte) int {
	have := r.tailLen
	took := copy(r.tail[have:], p)
	b := r.tail[:have+took]
	if !utf8.FullRune(b) {
		r.tailLen += took
		return len(p)
	}
	r.tailLen = 0
	first, size := utf8.DecodeRune(b)
	if first == utf8.RuneError && size <= 1 {
		r.bad = true
		return 0
	}
	return size - have
}

// check checks a part of a string. With cut it ends at the buffer's end, which
// may cut a character; the cut part is kept.
func (r *runes) check(p []byte, cut bool) {
	if cut {
		for k := 1; k < utf8.UTFMax && k <= len(p); k++ {
			if last := p[len(p)-k:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					r.tailLen = copy(r.tail[:], last)
					p = p[:len(p)-k]
				}
				break
			}
		}
	}

	if !utf8.Valid(p) {
		r.bad = true
	}
}

// Member is one key and value of a line's top-level object, as ranges of the
// line's bytes.
type Member struct {
	Key, KeyEnd int  // the key with its quotes
	Val, ValEnd int  // the value
	Count       int  // elements or members of the value, if it is an array or object
	Escaped     bool // the key has a backslash: it must be decoded to compare it
}

// inside holds the members of an object that is a top-level value.
type inside struct {
	at      int // where it begins; 0: its members are not known
	members []Member
}

// MaxMembers is how many members of a line are recorded whatever their keys,
// since a line may have any number. After them, only members with wanted keys
// are recorded.
const MaxMembers = 1 << 14

// endMember records the member whose value ended before i, without the white
// space in between.
func (s *scanner) endMember(p []byte, i int) {
	for p[i-1] <= ' ' {
		i--
	}
	s.cur.ValEnd = i
	if len(s.found) < MaxMembers {
		s.found = append(s.found, s.cur)
		return
	}
	k := s.keys.find(p, &s.cur)
	if k < 0 {
		return
	}
	for j := MaxMembers; j < len(s.found); j++ {
		if s.keys.find(p, &s.found[j]) == k {
			s.found[j] = s.cur // the last one counts
			return
		}
	}

	s.found = append(s.found, s.cur)
}

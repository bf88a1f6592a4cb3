package jsonl

// walk reads the line at i, whose strings are in s.index, so that only the grammar between them
// is left. It leaves the scanner as feed does after a line that survives, and returns the place
// after its LF. ok is false if the line is neither blank nor a whole object, or has too many
// members: then feed must read it again.
//
// Every byte outside strings is looked at, so an opening quote is always the next in the index.
// Lines end in an LF, which is in no string, so p[i] is in range until one is seen.
func (s *scanner) walk(p []byte, i int) (end int, ok bool) {
	x := &s.index
	quotes, q := x.quotes, x.next
	line, members := i, s.keys != nil
	depth := 0
	var inObject bool
	var cur, sub Member
	within := 0 // 2 in the object whose members are wanted too
	c := p[i]
	for c <= ' ' {
		if c == '\n' { // blank
			return i + 1, true
		}
		if !isBlank(c) {
			return 0, false
		}
		i++
		c = p[i]
	}
	if c != '{' {
		return 0, false
	}
	s.first, s.firstPos = c, int64(i-line)

open: // at c, an opening bracket
	if depth == MaxDepth {
		return 0, false
	}
	inObject = c == '{'
	if d := depth; inObject {
		s.stack[d>>6] |= 1 << (d & 63)
	} else {
		s.stack[d>>6] &^= 1 << (d & 63)
	}
	depth++
	i++
	for c = p[i]; c <= ' '; c = p[i] {
		if !isBlank(c) {
			return 0, false
		}
		i++
	}
	switch {
	case inObject && c == '}', !inObject && c == ']':
		goto closed
	case depth == 2:
		cur.Count = 1
	}
	switch {
	case depth != within:
	case inObject:
		s.inside.at, s.inside.members = cur.Val, s.inside.members[:0]
	default:
		within = 0
	}
	if !inObject {
		goto value
	}

key: // at c, where a key must begin
	if c != '"' {
		return 0, false
	}
	{
		j := int(quotes[q+1])
		if depth == 1 && members {
			cur = Member{Key: i - line, KeyEnd: j + 1 - line, Escaped: x.hasSlash(i, j)}
			if within = 0; string(p[i:j+1]) == s.keys.inside {
				within = 2
			}
		} else if depth == within {
			sub = Member{Key: i - line, KeyEnd: j + 1 - line}
		}
		i = j + 1
		q += 2
	}
	for c = p[i]; c != ':'; c = p[i] {
		if !isBlank(c) {
			return 0, false
		}
		i++
	}
	i++
	c = p[i]

value: // at c, where a value must begin, with white space before it
	for c <= ' ' {
		if !isBlank(c) {
			return 0, false
		}
		i++
		c = p[i]
	}
	switch depth {
	case 1:
		cur.Val = i - line
	case within:
		sub.Val = i - line
	}
	switch c {
	case '"':
		i = int(quotes[q+1]) + 1
		q += 2
	case '{', '[':
		goto open
	case 't':
		if len(p)-i < 4 || string(p[i:i+4]) != "true" {
			return 0, false
		}
		i += 4
	case 'f':
		if len(p)-i < 5 || string(p[i:i+5]) != "false" {
			return 0, false
		}
		i += 5
	case 'n':
		if len(p)-i < 4 || string(p[i:i+4]) != "null" {
			return 0, false
		}
		i += 4
	default:
		if i = number(p, i); i == 0 {
			return 0, false
		}
	}

after: // after a value
	switch depth {
	case 1:
		cur.ValEnd = i - line
	case within:
		if sub.ValEnd = i - line; len(s.inside.members) < MaxMembers {
			s.inside.members = append(s.inside.members, sub)
		} else {
			s.inside.at, within = 0, 0
		}
	}
	for c = p[i]; c <= ' '; c = p[i] {
		if !isBlank(c) {
			return 0, false
		}
		i++
	}
	if depth == 1 && members { // next is a comma or bracket, or the walk fails
		if len(s.found) == MaxMembers {
			return 0, false
		}
		s.found = append(s.found, cur)
	}
	switch {
	case c == ',':
		if depth == 2 {
			cur.Count++
		}
		i++
		c = p[i]
		if !inObject {
			goto value
		}
		for c <= ' ' {
			if !isBlank(c) {
				return 0, false
			}
			i++
			c = p[i]
		}
		goto key
	case inObject && c == '}', !inObject && c == ']':
	default:
		return 0, false
	}

closed: // at a closing bracket
	i++
	depth--
	if depth > 0 {
		inObject = s.stack[(depth-1)>>6]>>((depth-1)&63)&1 == 1
		goto after
	}
	for c = p[i]; c != '\n'; c = p[i] {
		if !isBlank(c) {
			return 0, false
		}
		i++
	}
	s.state, x.next, s.plain = stEnd, q, !x.rare
	return i + 1, true
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

// isBlank reports whether c is white space within a line.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

package jsonl

// Valid reports whether b is one JSON value, with any white space around it (LF
// too), nested at most [MaxDepth] deep: what encoding/json.Valid accepts.
func Valid(b []byte) bool { return Check(b) == nil }

// Check returns nil if b is [Valid], otherwise what is wrong: the damage's Line
// and Column are those of the first wrong byte. It accepts any JSON value, not
// only objects.
func Check(b []byte) *Damage {
	s := scanner{multiline: true}
	s.feed(b)
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
	for _, c := range before {
		d.Column++
		if c == '\n' {
			d.Line++
			d.Column = 1
		}
	}
	return &d
}

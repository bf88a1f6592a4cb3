package jsonl

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

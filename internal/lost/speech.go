package lost

// Speech is what a chat says: the texts of its messages and their swipes, without the first
// message, a greeting that many chats may begin with.
type Speech struct {
	greetings map[Text]bool
	own       map[Text]bool
	last      Text
	before    Text // the last but one
}

// NewSpeech collects the texts of versions, any of which may be nil; the last one says what is
// said last.
func NewSpeech(versions ...*Version) *Speech {
	s := &Speech{greetings: map[Text]bool{}, own: map[Text]bool{}}
	for _, v := range versions {
		messages := 0
		for i := 0; v != nil && i < len(v.Texts); i++ {
			t := v.Texts[i]
			if t&mark == 0 {
				messages++
			}
			if t = t.key(); !t.says() {
				continue
			}
			if t != s.last {
				s.last, s.before = t, s.last
			}
			if messages == 1 {
				s.greetings[t] = true
			} else if !s.greetings[t] {
				s.own[t] = true
			}
		}
	}
	return s
}

// Len counts the texts besides the greeting.
func (s *Speech) Len() int { return len(s.own) }

// Shared counts the texts that both say besides the greeting.
func (s *Speech) Shared(other *Speech) (n int) {
	for t := range s.own {
		if other.own[t] {
			n++
		}
	}
	return n
}

// Has reports whether a text is said.
func (s *Speech) Has(t Text) bool { return s.own[t] || s.greetings[t] }

// Ends reports whether s says what other says last, if that says anything.
func (s *Speech) Ends(other *Speech) bool { return s.Has(other.last) }

// GoesOn reports whether s says what other says last, or but for a last message that may have been
// edited.
func (s *Speech) GoesOn(other *Speech) bool { return s.Ends(other) || s.Has(other.before) }

// Greets reports whether both begin alike, or one says how the other begins.
func (s *Speech) Greets(other *Speech) bool {
	for t := range s.greetings {
		if other.greetings[t] || other.own[t] {
			return true
		}
	}
	for t := range other.greetings {
		if s.own[t] {
			return true
		}
	}
	return false
}

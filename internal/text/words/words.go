// Package words splits text into the words that search goes by, and matches queries against
// them.
//
// Text is normalised by NFKC and made lower case. A word is a run of letters and digits;
// apostrophes are dropped, and so is the possessive 's behind a word: winter's is winter.
// Latin, Greek and Cyrillic letters lose their marks. Each
// character of a script without spaces (Han, Kana, Hangul, Thai, Lao, Khmer, Myanmar) is
// a word by itself, so that any part of a sentence is found as a phrase. There is no
// stemming.
//
// One function defines what a word is, for texts and queries alike.
package words

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWordBytes is the length at which a word is cut, in bytes: nobody writes longer ones.
const maxWordBytes = 240

// Word is a word of a text: how it is compared, and where it stands in the text, in bytes.
// Text is valid until the next word.
type Word struct {
	Text     []byte
	From, To int
}

// Each calls yield for every word of text.
func Each(text string, yield func(Word)) {
	s := splitter{yield: yield}
	switch {
	case isASCII(text):
		s.ascii(text, 0)
	case norm.NFKC.IsNormalString(text):
		s.runes(text, 0, -1)
	default:
		var it norm.Iter
		it.InitString(norm.NFKC, text)
		for !it.Done() {
			from := it.Pos()
			piece := it.Next()
			to := it.Pos()
			if to == from { // a character that becomes several comes in pieces
				_, size := utf8.DecodeRuneInString(text[from:])
				to += size
			}
			s.runes(string(piece), from, to)
		}
	}

	s.flush()
}

// Append appends the words of text, with a space before each and one after the last. So a
// phrase is in the text if its words, written likewise, are in this.
func Append(dst []byte, text string) []byte {
	start := len(dst)
	Each(text, func(w Word) {
		dst = append(append(dst, ' '), w.Text...)
	})
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	return dst
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// splitter collects the letters of a word.
type splitter struct {
	yield    func(Word)
	word     []byte
	from, to int
	bare     bool // the last letter loses its marks

	apostrophe int // how long the word was at the last one; 0: it has none within
}

func (s *splitter) flush() {
	if len(s.word) > 0 {
		s.yield(Word{cut(s.withoutPossessive()), s.from, s.to})
		s.word = s.word[:0]
	}
	s.bare, s.apostrophe = false, 0
}

// withoutPossessive returns the word without an 's at its end.
func (s *splitter) withoutPossessive() []byte {
	stem, end := s.word[:s.apostrophe], s.word[s.apostrophe:]
	if len(stem) > 0 && string(end) == "s" {
		return stem
	}
	return s.word
}

// cut shortens a word to maxWordBytes bytes, on a rune boundary.
func cut(word []byte) []byte {
	if len(word) <= maxWordBytes {
		return word
	}
	n := maxWordBytes
	for n > 0 && !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}

// at notes where the next letter is.
func (s *splitter) at(from, to int) {
	if len(s.word) == 0 {
		s.from = from
	}
	s.to = to
}

// ascii takes ASCII text that stands at a place.
func (s *splitter) ascii(text string, at int) {
	word := s.word // in a register
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c == '\'':
			s.apostrophe = len(word)
			continue
		default:
			if len(word) > 0 {
				s.word = word
				s.flush()
				word = s.word
			}
			s.bare = false
			continue
		}

		if len(word) == 0 {
			s.from = at + i
		}
		word = append(word, c)
		s.to, s.bare = at+i+1, true
	}

	s.word = word
}

// runes takes normalised text. If to is negative, the text stands in the original at from;
// else all of it stands for what is between from and to there.
func (s *splitter) runes(text string, from, to int) {
	done := 0 // taken with what stands before it
	for i, r := range text {
		a, b := from, to
		if to < 0 {
			a = from + i
			b = a + utf8.RuneLen(r)
			if r == utf8.RuneError {
				s.flush() // bytes that are not UTF-8
				continue
			}
		}

		switch {
		case i < done:
		case r < utf8.RuneSelf && to < 0:
			for done = i + 1; done < len(text) && text[done] < utf8.RuneSelf; done++ {
			}
			s.ascii(text[i:done], a)
		case r < utf8.RuneSelf:
			s.ascii(text[i:i+1], a)
			if len(s.word) > 0 {
				s.to = b
			}
		default:
			s.rune(r, a, b)
		}
	}
}

// rune takes a character beyond ASCII.
func (s *splitter) rune(r rune, from, to int) {
	switch {
	case isAlone(r):
		s.flush()
		s.at(from, to)
		s.word = utf8.AppendRune(s.word, r)
		s.flush()
	case r == softHyphen:
	case isApostrophe(r):
		s.apostrophe = len(s.word)
	case unicode.IsLetter(r) || unicode.IsNumber(r):
		s.at(from, to)
		s.bare = losesMarks(r)
		if s.bare {
			s.letter(r)
		} else {
			s.word = utf8.AppendRune(s.word, unicode.ToLower(r))
		}
	case unicode.Is(unicode.M, r):
		if len(s.word) > 0 && !s.bare && !unicode.Is(unicode.Inherited, r) {
			s.to = to
			s.word = utf8.AppendRune(s.word, r)
		} else if len(s.word) > 0 {
			s.to = to
		}
	default:
		s.flush()
	}
}

// letter adds a letter without its marks.
func (s *splitter) letter(r rune) {
	var one [utf8.UTFMax]byte
	n := utf8.EncodeRune(one[:], r)
	parts := norm.NFD.Properties(one[:n]).Decomposition()
	if parts == nil {
		parts = one[:n]
	}
	for len(parts) > 0 {
		part, size := utf8.DecodeRune(parts)
		parts = parts[size:]
		switch {
		case unicode.Is(unicode.Mn, part):
		case part == 'ς': // the form at a word's end
			s.word = append(s.word, "σ"...)
		default:
			s.word = utf8.AppendRune(s.word, unicode.ToLower(part))
		}
	}
}

// softHyphen shows where a word may be broken.
const softHyphen = '\u00ad'

func isApostrophe(r rune) bool { return r == '’' || r == 'ʼ' }

// losesMarks reports whether a letter counts as the one that it is made from.
func losesMarks(r rune) bool { return unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) }

// isAlone reports whether a character is a word by itself.
func isAlone(r rune) bool {
	const firstThai, longVowel = 0x0e00, 'ー'
	return r >= firstThai && (r == longVowel ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// Number returns how many words a text has for somebody who counts them: those of [Each], but a
// run of Hangul, whose words have spaces between them, is one.
func Number(text string) (n int) {
	end := -1 // of the last word, if that is Hangul
	Each(text, func(w Word) {
		r, _ := utf8.DecodeRune(w.Text)
		hangul := r >= utf8.RuneSelf && unicode.Is(unicode.Hangul, r)
		if !hangul || w.From != end {
			n++
		}
		end = -1
		if hangul {
			end = w.To
		}
	})
	return n
}

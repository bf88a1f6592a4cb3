package words

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Sieve tells of most JSON strings by their bytes whether a query matches them, which takes far less
// than to decode them and to split them into words. It looks for words of ASCII letters and digits; of a
// query without any it tells nothing. It is ready for use by several goroutines at once.
type Sieve struct {
	words []asciiWord   // a text that has none of them does not match; empty: nothing is known
	plain [][]asciiWord // a text that has one of each group matches; empty: nothing is known
}

// Sieve returns the sieve of the query.
func (q *Query) Sieve() *Sieve {
	s := &Sieve{plain: q.asciiGroups()}
	for _, terms := range q.All {
		list := asciiWords(terms)
		if s.words == nil || list != nil && isStricter(list, s.words) {
			s.words = list
		}
	}
	return s
}

// asciiGroups returns the query as groups of words of ASCII, nil if it has anything else.
func (q *Query) asciiGroups() (groups [][]asciiWord) {
	if len(q.None) > 0 {
		return nil
	}
	for _, terms := range q.All {
		var group []asciiWord
		for _, t := range terms {
			if len(t.Words) != 1 || !isASCII(t.Words[0]) {
				return nil
			}
			mayBeCut := len(t.Words[0]) >= maxWordBytes
			if mayBeCut { // it stands for longer ones, too
				return nil
			}
			w := newASCIIWord(t.Words[0])
			w.prefix = t.Prefix
			group = append(group, w)
		}

		groups = append(groups, group)
	}
	return groups
}

// isStricter guesses whether fewer texts contain any word of a than any word of b: a has fewer words, or
// as many and its shortest is longer.
func isStricter(a, b []asciiWord) bool {
	shortest := func(list []asciiWord) (n int) {
		for i, w := range list {
			if i == 0 || len(w.text) < n {
				n = len(w.text)
			}
		}
		return n
	}

	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return shortest(a) > shortest(b)
}

// asciiWords returns the longest word of ASCII of each term, nil if one of them has none.
func asciiWords(terms []Term) (list []asciiWord) {
	for _, t := range terms {
		longest := ""
		for _, word := range t.Words {
			if len(word) > len(longest) && isASCII(word) {
				longest = word
			}
		}
		if longest == "" {
			return nil
		}
		list = append(list, newASCIIWord(longest))
	}
	return list
}

// Passes reports whether the query may match what is in raw: a JSON string, or a list of some.
func (s *Sieve) Passes(raw []byte) bool {
	if s.words == nil || bytes.Contains(raw, []byte(`\u`)) {
		return true
	}
	for i := range s.words {
		if s.words[i].in(raw, false) {
			return true
		}
	}
	return s.passesOddly(raw)
}

// Matches reports whether the query surely matches a JSON string; if not, it may.
func (s *Sieve) Matches(raw []byte) bool {
	if len(s.plain) == 0 || bytes.Contains(raw, []byte(`\u`)) {
		return false
	}
	return !slices.ContainsFunc(s.plain, func(group []asciiWord) bool {
		return !slices.ContainsFunc(group, func(w asciiWord) bool { return w.in(raw, true) })
	})
}

// asciiWord is a word to look for with letter case ignored.
type asciiWord struct {
	text   string
	rare   int  // the place of the letter that English texts have least
	prefix bool // it may be the beginning of a word
}

// byFrequency has the letters of English, the most frequent first. Digits come before all.
const byFrequency = "etaoinshrdlcumwfgypbvkjxqz"

func newASCIIWord(text string) asciiWord {
	rarity := func(c byte) int {
		if n := strings.IndexByte(byFrequency, c); n >= 0 {
			return n
		}
		return len(byFrequency)
	}

	w := asciiWord{text: text}
	for i := range len(text) {
		if rarity(text[i]) > rarity(text[w.rare]) {
			w.rare = i
		}
	}
	return w
}

// in reports whether the word is in raw as it is spelled, with whole surely as a word, else also within
// another one.
func (w *asciiWord) in(raw []byte, whole bool) bool {
	c := w.text[w.rare]
	upper := byte(unicode.ToUpper(rune(c)))
	return w.around(raw, c, whole) || upper != c && w.around(raw, upper, whole)
}

// around is in, with the word's rarest letter spelled so.
func (w *asciiWord) around(raw []byte, rare byte, whole bool) bool {
	for at := 0; ; at++ {
		n := bytes.IndexByte(raw[at:], rare)
		if n < 0 {
			return false
		}
		at += n
		from, to := at-w.rare, at-w.rare+len(w.text)
		if from < 0 || to > len(raw) || !strings.EqualFold(string(raw[from:to]), w.text) {
			continue
		}
		if !whole || w.isWhole(raw, from, to) {
			return true
		}
	}
}

// isWhole reports whether the word surely stands alone in raw. Its first letter may be that of an
// escape.
func (w *asciiWord) isWhole(raw []byte, from, to int) bool {
	begins := from > 0 && !isWordByte(raw[from-1]) && raw[from-1] != '\\'
	ends := w.prefix || to < len(raw) && !isWordByte(raw[to])
	return begins && ends
}

// passesOddly reports whether one of the words may be in raw in another spelling: with an apostrophe,
// a mark or a soft hyphen within, or with letters that count as those of ASCII, as é does.
func (s *Sieve) passesOddly(raw []byte) bool {
	var words []byte
	for at := nextOdd(raw, 0); at < len(raw); at = nextOdd(raw, at) {
		size, odd := s.oddAt(raw, at)
		if !odd {
			at += size
			continue
		}
		from, to := wordAround(raw, at)
		words = Append(words[:0], string(raw[from:to]))
		for i := range s.words {
			if bytes.Contains(words, []byte(s.words[i].text)) {
				return true
			}
		}
		at = to
	}
	return false
}

// nextOdd returns where the next apostrophe or byte beyond ASCII is, len(raw) if there is none.
func nextOdd(raw []byte, at int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; at+8 <= len(raw); at += 8 {
		eight := binary.LittleEndian.Uint64(raw[at:])
		apart := eight ^ ones*'\'' // 0 where an apostrophe is
		found := (eight | (apart-ones)&^apart) & highs
		if found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}

	for at < len(raw) && raw[at] != '\'' && raw[at] < utf8.RuneSelf {
		at++
	}
	return at
}

// oddAt returns the size of the character at a place, and whether a word that is looked for may lie
// around it, or end or begin with it.
func (s *Sieve) oddAt(raw []byte, at int) (size int, odd bool) {
	r, size := utf8.DecodeRune(raw[at:])
	if r == '\'' || isDropped(r) {
		before, after := byte(' '), byte(' ')
		if at > 0 {
			before = raw[at-1]
		}
		if at+size < len(raw) {
			after = raw[at+size]
		}
		return size, s.isWithin(before, after)
	}

	if isHarmless(r) {
		return size, false
	}
	letters, joins := compatible(r)
	if len(letters) != 1 {
		return size, joins || len(letters) > 1
	}
	return size, slices.ContainsFunc(s.words, func(w asciiWord) bool { return strings.Contains(w.text, letters) })
}

// isWithin reports whether a word may have two bytes with nothing but what is dropped between them.
func (s *Sieve) isWithin(before, after byte) bool {
	if !isWordByte(before) || !isWordByte(after) {
		return false
	}
	if isApart(before) || isApart(after) {
		return true
	}
	pair := strings.ToLower(string([]byte{before, after}))
	return slices.ContainsFunc(s.words, func(w asciiWord) bool { return strings.Contains(w.text, pair) })
}

// isApart reports whether a byte needs a look at its whole word.
func isApart(c byte) bool { return c == '\'' || c >= utf8.RuneSelf }

// isWordByte reports whether a byte may be part of a word.
func isWordByte(c byte) bool {
	lower := c | 0x20
	isLetter := lower >= 'a' && lower <= 'z'
	isDigit := c >= '0' && c <= '9'
	return isLetter || isDigit || isApart(c)
}

// wordAround returns where what may be a word begins and ends around a place. The letter of an escape
// may stand before it, which takes nothing away.
func wordAround(raw []byte, at int) (from, to int) {
	for from = at; from > 0 && isWordByte(raw[from-1]); from-- {
	}
	for to = at; to < len(raw) && isWordByte(raw[to]); to++ {
	}
	return from, to
}

// isDropped reports whether a character is left out of a word that has it within.
func isDropped(r rune) bool {
	return isApostrophe(r) || r == softHyphen || unicode.Is(unicode.M, r)
}

// isHarmless reports quickly of most characters that they count as no letter of ASCII, and join none:
// marks of punctuation, and the scripts of East Asia.
func isHarmless(r rune) bool {
	switch {
	case r >= 0x2010 && r <= 0x2023: // dashes and quotes; ’ was an apostrophe
	case r >= 0x3001 && r <= 0x3029, r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa:
	case r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
	default:
		return false
	}
	return true
}

// compatible returns the letters and digits of ASCII, in lower case, for which a character counts, and
// whether it counts as one that is dropped.
func compatible(r rune) (letters string, dropped bool) {
	var one [utf8.UTFMax]byte
	parts := norm.NFKD.Properties(one[:utf8.EncodeRune(one[:], r)]).Decomposition()
	first, _ := utf8.DecodeRune(parts)
	letters = strings.Map(func(part rune) rune {
		if part < utf8.RuneSelf && isWordByte(byte(part)) && part != '\'' {
			return part
		}
		return -1
	}, string(parts))
	return strings.ToLower(letters), len(parts) > 0 && (first == '\'' || isDropped(first))
}

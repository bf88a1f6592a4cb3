package edit

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// wordMatcher finds the whole words among the matches of an expression.
type wordMatcher struct {
	first    *regexp.Regexp
	longest  *regexp.Regexp // of several matches at one place the longest
	whole    *regexp.Regexp // only a match that is all of a text
	anchored bool           // the expression may ask for the beginning or the end of a text or a line
}

// newWordMatcher prepares an expression.
func newWordMatcher(match *regexp.Regexp) *wordMatcher {
	text := match.String() // which was compiled before
	m := &wordMatcher{first: match, longest: regexp.MustCompile(text), whole: regexp.MustCompile(`\A(?:` + text + `)\z`)}
	m.longest.Longest()
	tree, err := syntax.Parse(text, syntax.Perl)
	m.anchored = err != nil || isAnchored(tree)
	return m
}

// isAnchored reports whether an expression asks for the beginning or the end of a text or a line.
func isAnchored(e *syntax.Regexp) bool {
	switch e.Op {
	case syntax.OpBeginText, syntax.OpBeginLine, syntax.OpEndText, syntax.OpEndLine:
		return true
	}
	return slices.ContainsFunc(e.Sub, isAnchored)
}

// all returns the matches in a decoded text that are whole words. Where the first match is none, another one at its place
// may be, or one that begins inside it.
func (m *wordMatcher) all(text []byte) (list [][]int) {
	if m.anchored { // a part of the text has another beginning and end
		isNoWord := func(match []int) bool { return !isWord(text, match[0], match[1]) }
		return slices.DeleteFunc(m.first.FindAllSubmatchIndex(text, -1), isNoWord)
	}

	end := -1 // of the last one
	for at := 0; at <= len(text); {
		match := findFrom(m.first, text, at)
		if match == nil {
			break
		}
		from := match[0]
		if !isWord(text, from, match[1]) {
			match = m.otherAt(text, from)
		}

		isAgain := match != nil && match[1] == from && from == end // nothing, behind a match
		isFound := match != nil && !isAgain
		if isFound {
			list = append(list, match)
			end = match[1]
		}
		if isFound && end > from {
			at = end
			continue
		}
		_, size := utf8.DecodeRune(text[from:])
		at = from + max(size, 1)
	}
	return list
}

// otherAt returns the longest match at an offset that is a whole word, nil for none.
func (m *wordMatcher) otherAt(text []byte, from int) []int {
	longest := findFrom(m.longest, text, from)
	if longest == nil || longest[0] != from {
		return nil
	}
	for end := longest[1]; end > from; end-- {
		isInsideRune := end < len(text) && !utf8.RuneStart(text[end])
		if isInsideRune || !isWord(text, from, end) {
			continue
		}
		if match := findFrom(m.whole, text[:end], from); match != nil {
			return match
		}
	}
	return nil
}

// findFrom returns the first match from an offset on, nil for none.
func findFrom(re *regexp.Regexp, text []byte, from int) []int {
	match := re.FindSubmatchIndex(text[from:])
	for i := range match {
		if match[i] >= 0 { // else it is a group that took no part
			match[i] += from
		}
	}
	return match
}

// isWord reports whether neither a letter nor a digit stands before or behind a part of a text.
func isWord(text []byte, from, to int) bool {
	before, _ := utf8.DecodeLastRune(text[:from])
	behind, _ := utf8.DecodeRune(text[to:])
	touches := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
	return (from == 0 || !touches(before)) && (to == len(text) || !touches(behind))
}

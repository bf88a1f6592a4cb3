package edit

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// forWords returns what finds the whole words among the matches of an expression.
func forWords(match *regexp.Regexp) (longest *regexp.Regexp, anchored bool) {
	longest = regexp.MustCompile(match.String()) // which was compiled before
	longest.Longest()
	tree, err := syntax.Parse(match.String(), syntax.Perl)
	return longest, err != nil || asksForBeginning(tree)
}

// asksForBeginning reports whether an expression asks for the beginning of a text or a line.
func asksForBeginning(e *syntax.Regexp) bool {
	isBeginning := e.Op == syntax.OpBeginText || e.Op == syntax.OpBeginLine
	return isBeginning || slices.ContainsFunc(e.Sub, asksForBeginning)
}

// matches returns the matches in a decoded text, as [regexp.Regexp.FindAllSubmatchIndex] does: all, or those
// that are whole words.
func (s *substituting) matches(text []byte) [][]int {
	switch {
	case !s.Words:
		return s.Match.FindAllSubmatchIndex(text, -1)
	case s.anchored: // what begins in the middle cannot be looked for by itself
		isNoWord := func(match []int) bool { return !isWord(text, match[0], match[1]) }
		return slices.DeleteFunc(s.Match.FindAllSubmatchIndex(text, -1), isNoWord)
	}
	return s.wholeWords(text)
}

// wholeWords returns the matches that are whole words. Where the first match is none, a longer one at its place may
// be, or one that begins inside it.
func (s *substituting) wholeWords(text []byte) (list [][]int) {
	end := -1 // of the last one
	for at := 0; at <= len(text); {
		match := findFrom(s.Match, text, at)
		if match == nil {
			break
		}
		if !isWord(text, match[0], match[1]) {
			match = findFrom(s.longest, text, match[0])
		}

		isEmpty := match[0] == match[1]
		isFound := isWord(text, match[0], match[1]) && !(isEmpty && match[0] == end)
		if isFound {
			list = append(list, match)
			end = match[1]
		}
		if isFound && !isEmpty {
			at = end
			continue
		}
		_, size := utf8.DecodeRune(text[match[0]:])
		at = match[0] + max(size, 1)
	}
	return list
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

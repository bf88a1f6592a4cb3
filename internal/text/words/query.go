package words

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrNoWord means that a query has no word to look for.
var ErrNoWord = errors.New("there is no word to look for")

// ErrTooLong means that a query has more words than are allowed.
var ErrTooLong = errors.New("a query has at most 500 words")

// mostWords is how many words a query may have.
const mostWords = 500

// Term is a sequence of words: one word, a phrase, or what is written without spaces, such as
// "well-known" or 灯台.
type Term struct {
	Words  []string
	Prefix bool // the last one may be the beginning of a word

	find []byte // the words as Append writes them
}

// Query matches texts with a term of each group in All and no term of None.
type Query struct {
	All  [][]Term
	None []Term
}

// Parse reads a query. Terms are separated by spaces, and all must be found; "…" is a phrase,
// * after a word makes it a prefix, - before a term excludes it, and OR between two terms means
// either of them. Nothing else is special. The error is [ErrNoWord] or [ErrTooLong].
func Parse(text string) (*Query, error) {
	q := &Query{}
	n := 0      // words
	or := false // the part before is OR
	for _, p := range split(text) {
		t := newTerm(p.text, p.prefix)
		n += len(t.Words)
		switch {
		case p.or && len(q.All) > 0 && !or:
			or = true
			continue
		case len(t.Words) == 0:
			continue
		case p.not && or: // no term follows OR: it is a word
			q.All = append(q.All, []Term{newTerm("or", false)})
			q.None = append(q.None, t)
		case p.not:
			q.None = append(q.None, t)
		case or:
			last := len(q.All) - 1
			q.All[last] = append(q.All[last], t)
		default:
			q.All = append(q.All, []Term{t})
		}

		or = false
	}

	if or {
		q.All = append(q.All, []Term{newTerm("or", false)})
	}
	switch {
	case len(q.All) == 0:
		return nil, ErrNoWord
	case n > mostWords:
		return nil, ErrTooLong
	}
	return q, nil
}

// part is a piece of a query's text.
type part struct {
	text            string
	not, or, prefix bool
}

// split splits a query at spaces outside quotes. An unclosed quote is a character like others.
func split(text string) (parts []part) {
	for {
		text = strings.TrimLeft(text, spaces)
		if text == "" {
			return parts
		}
		var p part
		p, text = nextPart(text)
		parts = append(parts, p)
	}
}

// nextPart returns the piece that a text begins with, and the rest.
func nextPart(text string) (p part, rest string) {
	p.not = text[0] == '-' && len(text) > 1
	if p.not {
		text = text[1:]
	}
	if quoted, rest, ok := quotedAt(text); ok {
		p.text = quoted
		return p, rest
	}
	end := strings.IndexAny(text, spaces)
	if end < 0 {
		end = len(text)
	}
	p.text = text[:end]
	p.or = p.text == "OR" && !p.not
	p.prefix = strings.HasSuffix(p.text, "*")
	return p, text[end:]
}

const spaces = " \t\r\n\u00a0\u3000"

// quotedAt returns what is in the quotes that text begins with, and the rest.
func quotedAt(text string) (quoted, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	return strings.Cut(text[1:], `"`)
}

func newTerm(text string, prefix bool) Term {
	t := Term{Prefix: prefix}
	Each(text, func(w Word) { t.Words = append(t.Words, string(w.Text)) })
	t.find = []byte(" " + strings.Join(t.Words, " "))
	if !prefix {
		t.find = append(t.find, ' ')
	}
	return t
}

// Terms returns the terms of All.
func (q *Query) Terms() (all []*Term) {
	for i := range q.All {
		for k := range q.All[i] {
			all = append(all, &q.All[i][k])
		}
	}
	return all
}

// Match reports whether the query matches a text, given as the words that Append writes.
func (q *Query) Match(words []byte) bool {
	for i := range q.All {
		if !anyIn(q.All[i], words) {
			return false
		}
	}
	return !anyIn(q.None, words)
}

func anyIn(terms []Term, words []byte) bool {
	for i := range terms {
		if bytes.Contains(words, terms[i].find) {
			return true
		}
	}
	return false
}

// Snippet returns a part of text around the first hit, on one line, and the ranges of the hits
// in it, in characters. An ellipsis replaces what is left out.
func (q *Query) Snippet(text string) (snippet string, marks [][2]int) {
	var list []span
	var all []string
	Each(text, func(w Word) {
		list = append(list, span{w.From, w.To})
		all = append(all, string(w.Text))
	})
	hit, first := q.hits(all)
	from := max(0, min(first-leading, len(all)-snippetWords))
	to := min(len(all), from+snippetWords)

	start := 0
	end := len(text)
	if from > 0 {
		start = list[from].from
	}
	if to < len(all) {
		end = list[to-1].to
	}
	// if words are far apart, begin at the first hit
	if first < len(list) && utf8.RuneCountInString(text[start:list[first].from]) > snippetRunes/2 {
		start = list[first].from
	}
	if cut, ok := cutRunes(text[start:end], snippetRunes); ok {
		end = start + cut
	}

	const blanks = " \t\r\n"
	body := strings.TrimLeft(text[start:end], blanks)
	start = end - len(body)
	body = strings.TrimRight(body, blanks)
	end = start + len(body)
	shift := 0 // characters before body
	if start > 0 && strings.TrimSpace(text[:start]) != "" {
		snippet = "…"
		shift = 1
	}
	snippet += strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(body)
	if strings.TrimSpace(text[end:]) != "" {
		snippet += "…"
	}

	for i := from; i < to; i++ {
		isWithin := list[i].from >= start && list[i].to <= end
		if !hit[i] || !isWithin {
			continue
		}
		at := shift + utf8.RuneCountInString(text[start:list[i].from])
		mark := [2]int{at, at + utf8.RuneCountInString(text[list[i].from:list[i].to])}
		// words of a script without spaces are marked together
		if n := len(marks); n > 0 && marks[n-1][1] >= mark[0] {
			marks[n-1][1] = max(mark[1], marks[n-1][1])
			continue
		}
		marks = append(marks, mark)
	}
	return snippet, slices.Clip(marks)
}

// span is where a word stands in a text, in bytes.
type span struct{ from, to int }

// hits returns which of the words belong to a term that is found, and the first of them; 0 if none do.
func (q *Query) hits(words []string) (hit []bool, first int) {
	hit = make([]bool, len(words))
	for i := range words {
		for _, t := range q.Terms() {
			if t.startsAt(words[i:]) {
				for k := range t.Words {
					hit[i+k] = true
				}
			}
		}
	}
	return hit, max(slices.Index(hit, true), 0)
}

// startsAt reports whether words begin with the term.
func (t *Term) startsAt(words []string) bool {
	if len(words) < len(t.Words) {
		return false
	}
	last := len(t.Words) - 1
	for i, w := range t.Words {
		mayGoOn := t.Prefix && i == last
		isWord := words[i] == w || mayGoOn && strings.HasPrefix(words[i], w)
		if !isWord {
			return false
		}
	}
	return true
}

// The size of a snippet: words at most, characters at most, and the words before the first
// hit.
const (
	snippetWords = 32
	snippetRunes = 400
	leading      = 8
)

// cutRunes returns the offset after the first n characters of text, if it has more.
func cutRunes(text string, n int) (at int, more bool) {
	for i := range text {
		if n == 0 {
			return i, true
		}
		n--
	}
	return 0, false
}

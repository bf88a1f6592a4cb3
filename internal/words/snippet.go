package words

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The size of a snippet: words, characters where words lie far apart, and the words that
// come before the first hit.
const (
	snippetWords = 32
	snippetRunes = 400
	leading      = 8
)

// Snippet returns a part of text around the first hit, on one line, and where in it hits
// stand, in characters. An ellipsis stands for what is left out.
func (q *Query) Snippet(text string) (snippet string, marks [][2]int) {
	type place struct{ from, to int }
	var list []place
	var all []string
	Each(text, func(w Word) {
		list = append(list, place{w.From, w.To})
		all = append(all, string(w.Text))
	})
	hit := make([]bool, len(all))
	first := -1
	for i := range all {
		for _, t := range q.Terms() {
			if t.startsAt(all[i:]) {
				for k := range t.Words {
					hit[i+k] = true
				}
				if first < 0 {
					first = i
				}
			}
		}
	}
	if first < 0 {
		first = 0
	}
	from := max(0, min(first-leading, len(all)-snippetWords))
	to := min(len(all), from+snippetWords)
	start, end := 0, len(text)
	if from > 0 {
		start = list[from].from
	}
	if to < len(all) {
		end = list[to-1].to
	}
	// where words lie far apart, the first hit counts
	if first < len(list) && utf8.RuneCountInString(text[start:list[first].from]) > snippetRunes/2 {
		start = list[first].from
	}
	if cut, ok := cutRunes(text[start:end], snippetRunes); ok {
		end = start + cut
	}
	body := text[start:end]
	trimmed := strings.TrimLeft(body, " \t\r\n")
	start += len(body) - len(trimmed)
	body = strings.TrimRight(trimmed, " \t\r\n")
	shift := 0
	if start > 0 && strings.TrimSpace(text[:start]) != "" {
		snippet, shift = "…", 1
	}
	snippet += strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(body)
	if strings.TrimSpace(text[start+len(body):]) != "" {
		snippet += "…"
	}
	for i := from; i < to; i++ {
		if !hit[i] || list[i].from < start || list[i].to > start+len(body) {
			continue
		}
		a := shift + utf8.RuneCountInString(text[start:list[i].from])
		mark := [2]int{a, a + utf8.RuneCountInString(text[list[i].from:list[i].to])}
		// words of a script without spaces are marked together
		if n := len(marks); n > 0 && marks[n-1][1] >= mark[0] {
			marks[n-1][1] = max(mark[1], marks[n-1][1])
			continue
		}
		marks = append(marks, mark)
	}
	return snippet, slices.Clip(marks)
}

// startsAt reports whether words begin with the term.
func (t *Term) startsAt(words []string) bool {
	if len(words) < len(t.Words) {
		return false
	}
	last := len(t.Words) - 1
	for i, w := range t.Words {
		if words[i] != w && (i < last || !t.Prefix || !strings.HasPrefix(words[i], w)) {
			return false
		}
	}
	return true
}

// cutRunes returns where text has n characters, if it has more.
func cutRunes(text string, n int) (at int, more bool) {
	for i := range text {
		if n == 0 {
			return i, true
		}
		n--
	}
	return 0, false
}

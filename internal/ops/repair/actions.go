package repair

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"stchat/internal/folder/rules"
	"stchat/internal/text/visible"
)

// Action is one thing that was repaired, or would be.
type Action struct {
	Rule   string `json:"rule"`
	Line   *int   `json:"line"`
	Index  *int   `json:"index"`
	Change string `json:"change"`
}

// RuleCount is how many of a rule's findings were repaired in a file, or would be.
type RuleCount struct {
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// Diff shows one change: the text before and after, cut around the difference. Either may be
// nil.
type Diff struct {
	Action
	Before, After *string
}

// A file may have millions of actions. All are counted; only the first are listed, and fewer of
// those with their texts.
const (
	keptActions = 100
	shownDiffs  = 40
)

// actions collects what is done to one file.
type actions struct {
	first  []Action
	diffs  []Diff
	counts []RuleCount
	total  int
}

// step is where a change is made and by which rule.
type step struct {
	rule  rules.ID
	line  int // 0: the file as a whole
	index int // noMessage: not in a message
}

const noMessage = -1

// add records a change. before and after may be nil.
func (a *actions) add(at step, change string, before, after []byte) {
	one := Action{Rule: at.rule.String(), Change: change}
	i := slices.IndexFunc(a.counts, func(n RuleCount) bool { return n.Rule == one.Rule })
	if i < 0 {
		i, a.counts = len(a.counts), append(a.counts, RuleCount{Rule: one.Rule})
	}
	a.counts[i].Count++
	if a.total++; a.total > keptActions {
		return
	}
	if at.line > 0 {
		one.Line = &at.line
	}
	if at.index >= 0 {
		one.Index = &at.index
	}
	a.first = append(a.first, one)
	if len(a.diffs) < shownDiffs {
		d := Diff{Action: one}
		d.Before, d.After = cutAround(before, after)
		a.diffs = append(a.diffs, d)
	}
}

// cutAround returns both texts cut around where they differ.
func cutAround(before, after []byte) (b, a *string) {
	from, same := 0, 0
	for from < len(before) && from < len(after) && before[from] == after[from] {
		from++
	}
	for same < len(before)-from && same < len(after)-from && before[len(before)-1-same] == after[len(after)-1-same] {
		same++
	}
	return cutText(before, from, same), cutText(after, from, same)
}

// cutText returns the part of a text to show: from shortly before offset from, where the
// difference begins, to shortly after its end, same bytes before the end of the text, and at
// most what fits a screen.
func cutText(text []byte, from, same int) *string {
	const context, most = 40, 160
	if text == nil {
		return nil
	}
	start := runeStart(text, from-context)
	end := runeStart(text, min(len(text)-same+context, start+most))
	s := string(text[start:end])
	if start > 0 {
		s = "…" + s
	}
	if end < len(text) {
		s += "…"
	}
	return &s
}

// runeStart returns the last position at or before i where a rune begins.
func runeStart(text []byte, i int) int {
	i = min(max(i, 0), len(text))
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// clip shortens a foreign text for a message.
func clip(s string) string { return visible.Clip(s, 120) }

// quoteAll quotes the first few names and counts the rest.
func quoteAll(names []string) string {
	const enough = 5
	var quoted []string
	for _, name := range names[:min(len(names), enough)] {
		quoted = append(quoted, strconv.Quote(clip(name)))
	}
	list := strings.Join(quoted, ", ")
	if len(names) > enough {
		list += fmt.Sprintf(" and %d more", len(names)-enough)
	}
	return list
}

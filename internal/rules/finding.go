package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Finding is one thing that is wrong in one place.
type Finding struct {
	Rule     ID
	Severity Severity
	Path     string // the chat, group file, lorebook or sidecar; as given or found
	Line     int    // physical line, from 1; 0: the file as a whole
	Column   int    // byte in the line, from 1; 0: the line as a whole
	Index    int    // the message's index; below 0: no message
	Message  string // what is wrong here; without line numbers, so that a baseline knows it again
	More     int    // how many findings it stands for that are not listed; 0: it is one itself
	effect   string // instead of the rule's
	mend     string
}

// Count returns how many findings it is.
func (f *Finding) Count() int { return max(1, f.More) }

// Text returns what is wrong, with its number where it stands for several.
func (f *Finding) Text() string {
	if f.More > 0 {
		return fmt.Sprintf("%d %s", f.More, f.Message)
	}
	return f.Message
}

// Effect says what SillyTavern or an extension does because of it.
func (f *Finding) Effect() string { return cmp.Or(f.effect, f.Rule.Rule().Effect) }

// Mend says how it is mended, whoever does it.
func (f *Finding) Mend() string { return cmp.Or(f.mend, f.Rule.Rule().Mend) }

// ByHand reports whether repair leaves this very finding to a person, though it
// mends others of its rule.
func (f *Finding) ByHand() bool { return f.mend != "" || f.Rule.Rule().Mending == ByHand }

// perRule is how many findings of one rule and severity are kept of one file; the rest is a
// number, so that memory does not grow with what is wrong.
const perRule = 100

const more = "more of the same are not listed"

// findings collects those of one file.
type findings struct {
	list     []Finding
	counts   map[kind]int
	mendable Set    // rules of which repair can mend a finding, listed or not
	byHand   string // how a person mends them all; empty: each says for itself
}

// clone returns the findings so far, to which others can be added.
func (fs *findings) clone() findings {
	c := *fs
	c.list = slices.Clip(c.list)
	c.counts = maps.Clone(c.counts)
	return c
}

// kind is what findings are counted by.
type kind struct {
	rule     ID
	severity Severity
}

func (fs *findings) count(k kind, n int) {
	if fs.counts == nil {
		fs.counts = map[kind]int{}
	}
	fs.counts[k] += n
}

// add keeps the finding, unless there are too many of its rule. A finding
// without a severity gets its rule's.
func (fs *findings) add(f Finding) {
	if f.Severity == 0 {
		f.Severity = f.Rule.Rule().Severity
	}
	if fs.byHand != "" {
		f.mend = fs.byHand
	}
	if !f.ByHand() {
		fs.mendable |= SetOf(f.Rule)
	}
	k := kind{f.Rule, f.Severity}
	if fs.count(k, 1); fs.counts[k] <= perRule {
		fs.list = append(fs.list, f)
	}
}

// all returns the findings that were kept, and for each rule of which there are
// more one that stands for these.
func (fs *findings) all() []Finding {
	list := slices.Clip(fs.list)
	told := map[kind]bool{}
	for _, f := range fs.list {
		k := kind{f.Rule, f.Severity}
		if n := fs.counts[k]; n > perRule && !told[k] {
			told[k] = true
			list = append(list, Finding{Rule: f.Rule, Severity: f.Severity, Path: f.Path, Index: -1, Message: more, More: n - perRule, mend: fs.byHand})
		}
	}
	return list
}

// leave leaves all that is found to a person.
func (fs *findings) leave(mend string) {
	fs.mendable, fs.byHand = 0, mend
	for i := range fs.list {
		fs.list[i].mend = mend
	}
}

// Sort puts findings in the order of their places: by path as the paths first
// came, then by line, with those of the whole file first and those that stand
// for several last.
func Sort(list []Finding, order map[string]int) {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(order[a.Path], order[b.Path]),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(min(a.More, 1), min(b.More, 1)),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Column, b.Column),
		)
	})
}

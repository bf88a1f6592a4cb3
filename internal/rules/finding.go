package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Finding is one problem in one place.
type Finding struct {
	Rule     ID
	Severity Severity
	Path     string // the chat, group file, lorebook or sidecar; as given or found
	Line     int    // physical line, from 1; 0: the file as a whole
	Column   int    // byte in the line, from 1; 0: the line as a whole
	Index    int    // the message's index; below 0: no message
	Message  string // what is wrong here; without line numbers, so that a baseline recognizes it
	More     int    // number of unlisted findings that it stands for; 0: it is a finding itself
	effect   string // overrides the rule's
	mend     string // overrides the rule's: only a person can mend this finding
}

// Count returns the number of findings that it stands for, at least 1.
func (f *Finding) Count() int { return max(1, f.More) }

// Text returns the message, after the number of findings if it stands for several.
func (f *Finding) Text() string {
	if f.More > 0 {
		return fmt.Sprintf("%d %s", f.More, f.Message)
	}
	return f.Message
}

// Effect returns what SillyTavern or an extension does because of it.
func (f *Finding) Effect() string { return cmp.Or(f.effect, f.Rule.Rule().Effect) }

// Mend returns how to mend it, by repair or by hand.
func (f *Finding) Mend() string { return cmp.Or(f.mend, f.Rule.Rule().Mend) }

// ByHand reports whether repair leaves the finding to a person, even if it mends
// others of its rule.
func (f *Finding) ByHand() bool { return f.mend != "" || f.Rule.Rule().Mending == ByHand }

// perRule is the number of findings of one rule and severity that are kept for one file.
// The rest are only counted, so that memory does not grow with the damage.
const perRule = 100

const more = "more of the same are not listed"

// findings collects the findings of one file.
type findings struct {
	list     []Finding
	counts   map[kind]int
	mendable Set    // rules of which repair can mend a finding, listed or not
	byHand   string // how a person mends all of them; empty: each has its own way
}

// clone returns a copy to which findings can be added.
func (fs *findings) clone() findings {
	c := *fs
	c.list = slices.Clip(c.list)
	c.counts = maps.Clone(c.counts)
	return c
}

// kind is the key by which findings are counted.
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

// add counts the finding, and keeps it unless there are too many of its kind. A
// finding without a severity gets its rule's.
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

// all returns the kept findings, and for each kind that has more, one that stands for
// the rest.
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

// leave leaves all findings to a person; mend says how to mend them.
func (fs *findings) leave(mend string) {
	fs.mendable, fs.byHand = 0, mend
	for i := range fs.list {
		fs.list[i].mend = mend
	}
}

// Sort sorts findings by the order of their paths, then by line: those about the whole
// file come first, and those that stand for several last.
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

package rules

import (
	"cmp"
	"fmt"
	"slices"

	"stchat/internal/visible"
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
	effect   string // instead of the rule's
	mend     string
}

// Effect says what SillyTavern or an extension does because of it.
func (f *Finding) Effect() string { return cmp.Or(f.effect, f.Rule.Rule().Effect) }

// Mend says how it is mended: the act, and where repair does it, the command.
func (f *Finding) Mend() string {
	r := f.Rule.Rule()
	switch {
	case f.mend != "":
		return f.mend
	case r.Mending == ByHand:
		return r.Mend
	}
	return fmt.Sprintf("%s: stchat repair --write --rule %s %s", r.Mend, r.ID, visible.Quote(f.Path))
}

// ByHand reports whether repair leaves this very finding to a person, though it
// mends others of its rule.
func (f *Finding) ByHand() bool { return f.mend != "" || f.Rule.Rule().Mending == ByHand }

// perRule is how many findings of one rule are kept of one file: a chat with a
// hundred thousand broken dates must not take the memory of a hundred thousand
// findings. One more says that there are more.
const perRule = 1000

const more = "more of the same: only the first 1,000 are listed"

// findings collects those of one file.
type findings struct {
	list     []Finding
	counts   [ruleCount]int32
	mendable Set // rules of which repair can mend a finding, listed or not
}

// add keeps the finding, unless there are too many of its rule. A finding
// without a severity gets its rule's.
func (fs *findings) add(f Finding) {
	if f.Severity == 0 {
		f.Severity = f.Rule.Rule().Severity
	}
	if !f.ByHand() {
		fs.mendable |= SetOf(f.Rule)
	}
	n := &fs.counts[f.Rule]
	*n++
	switch {
	case *n > perRule+1:
		*n = perRule + 1
		return
	case *n == perRule+1:
		f.Line, f.Column, f.Index, f.Message = 0, 0, -1, more
	}
	fs.list = append(fs.list, f)
}

// Sort puts findings in the order of their places: by path as the paths first
// came, then by line, with those of the whole file first.
func Sort(list []Finding, order map[string]int) {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(order[a.Path], order[b.Path]),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Column, b.Column),
		)
	})
}

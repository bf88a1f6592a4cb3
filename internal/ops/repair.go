package ops

import (
	"context"
	"time"

	"stchat/internal/progress"
	"stchat/internal/rules"
)

// RepairOptions says what is mended.
type RepairOptions struct {
	Paths         []string   // chats, folders, user folders
	Rules         []rules.ID // only these; empty: all that repair mends unasked
	Write         bool       // else nothing is written
	Quarantine    string     // folder of the quarantine files; empty: beside the chat
	BumpIntegrity bool       // give every chat that is written a fresh slug
	NoSync        bool       // do not force data to disk
	Now           time.Time
	NewUUID       func() string
	Meter         *progress.Meter
}

// RepairAction is one thing that was, or would be, mended.
type RepairAction struct {
	Rule   string `json:"rule"`
	Line   *int   `json:"line"`
	Index  *int   `json:"index"`
	Change string `json:"change"`
}

// RepairResult is what repair did to one file: the document of SPEC.md section 7.
type RepairResult struct {
	Schema     int            `json:"schema"`
	Path       string         `json:"path"`
	Actions    []RepairAction `json:"actions"`
	Written    bool           `json:"written"`
	Backup     *string        `json:"backup"`
	Quarantine *string        `json:"quarantine"`

	Diffs []RepairDiff `json:"-"` // of the first actions, for a person
	Left  []string     `json:"-"` // what was asked for and could not be mended
	Chat  bool         `json:"-"` // the file is a chat
	Err   error        `json:"-"`
}

// RepairDiff shows one change: what stood there and what does now, cut around
// the difference. Either may be missing.
type RepairDiff struct {
	Rule   string
	Line   int // 0: no line
	Index  int // below 0: no message
	Change string
	Before *string
	After  *string
}

// RepairReport is what a repair gave.
type RepairReport struct {
	Chats   int             // that were read
	Results []*RepairResult // of the files with something to mend, in their order
	Errs    []error         // what could not be read
}

// repair is one run.
type repair struct {
	RepairOptions
	want   rules.Set
	report *RepairReport
	byPath map[string]*RepairResult
	swept  sweeper
}

// sweep clears what runs that died have left beside a file to be written.
func (r *repair) sweep(path string) {
	r.swept.beside(path)
	if r.Quarantine != "" {
		r.swept.in(r.Quarantine)
	}
}

// rounds is how often chats are looked at again: a header that came to light
// may have dead links of its own.
const rounds = 4

// Repair mends what can be mended without guessing, each file in one
// replacement and with the old one kept beside it. Without Write it only tells
// what it would do. An error on one file stands in its result and does not stop
// the others; the error of Repair itself is that ctx ended.
func Repair(ctx context.Context, opt RepairOptions) (*RepairReport, error) {
	r := &repair{RepairOptions: opt, want: rules.Mendable(), report: &RepairReport{}, byPath: map[string]*RepairResult{}, swept: sweeper{}}
	if len(opt.Rules) > 0 {
		r.want = rules.SetOf(opt.Rules...)
	}
	for round := range rounds {
		again, err := r.round(ctx, round == 0)
		if err != nil {
			return nil, err
		}
		if !again || !opt.Write {
			break
		}
		r.Meter = nil // counted once
	}
	return r.report, nil
}

// round surveys the chats and mends them; again says that what was mended may
// have brought more to light.
func (r *repair) round(ctx context.Context, first bool) (again bool, err error) {
	s, err := survey(ctx, r.Paths, r.Now, r.Meter)
	if err != nil {
		return false, err
	}
	if first {
		r.report.Chats, r.report.Errs = len(s.chats), s.errs
	}
	plans, err := r.plan(ctx, s)
	if err != nil {
		return false, err
	}
	for _, p := range plans {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if res := r.byPath[p.chat.Path]; res != nil && res.Err != nil {
			p.failed = true // in an earlier round
			continue
		}
		again = r.mend(ctx, p) || p.join != "" && !p.failed || again
	}
	r.mendGroups(plans)
	return again, nil
}

// result gives the result of a file, made when it is first asked for.
func (r *repair) result(path string) *RepairResult {
	res := r.byPath[path]
	if res == nil {
		res = &RepairResult{Schema: 1, Path: path, Actions: []RepairAction{}}
		r.byPath[path] = res
		r.report.Results = append(r.report.Results, res)
	}
	return res
}

// shownDiffs is how many changes of a file are kept to be shown.
const shownDiffs = 40

// act notes a change. before and after may be nil.
func (res *RepairResult) act(id rules.ID, line, index int, change string, before, after []byte) {
	a := RepairAction{Rule: id.String(), Change: change}
	if line > 0 {
		a.Line = &line
	}
	if index >= 0 {
		a.Index = &index
	}
	res.Actions = append(res.Actions, a)
	if len(res.Diffs) == shownDiffs {
		return
	}
	d := RepairDiff{Rule: a.Rule, Line: line, Index: index, Change: change}
	d.Before, d.After = cutAround(before, after)
	res.Diffs = append(res.Diffs, d)
}

// cutAround gives both texts cut around where they differ.
func cutAround(before, after []byte) (b, a *string) {
	const context, most = 40, 160
	from := 0
	for before != nil && after != nil && from < len(before) && from < len(after) && before[from] == after[from] {
		from++
	}
	same := 0
	for before != nil && after != nil && same < len(before)-from && same < len(after)-from &&
		before[len(before)-1-same] == after[len(after)-1-same] {
		same++
	}
	cut := func(text []byte) *string {
		if text == nil {
			return nil
		}
		start, end := max(0, from-context), min(len(text), len(text)-same+context)
		if before == nil || after == nil {
			start, end = 0, len(text)
		}
		for start > 0 && !runeStart(text[start]) {
			start--
		}
		tail := ""
		if end-start > most {
			end, tail = start+most, "…"
		} else if end < len(text) {
			tail = "…"
		}
		for end < len(text) && end > start && !runeStart(text[end]) {
			end--
		}
		s := string(text[start:end]) + tail
		if start > 0 {
			s = "…" + s
		}
		return &s
	}
	return cut(before), cut(after)
}

func runeStart(c byte) bool { return c&0xc0 != 0x80 }

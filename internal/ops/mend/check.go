package mend

import (
	"context"
	"errors"
	"time"

	"stchat/internal/chat"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/rules"
)

// CheckOptions says what to check.
type CheckOptions struct {
	List      ops.List
	Select    []rules.ID // only these; empty: all
	Ignore    []rules.ID
	SkipOther bool // leave a file that is not a chat alone, even if PATHs name it
	Now       time.Time
	Meter     *progress.Meter
}

// CheckResult is what a check found.
type CheckResult struct {
	Chats    []string           // the paths of the chats that were read
	Findings []rules.Finding    // by path in the order of the chats, then by line
	Others   []string           // paths of files that are not chats
	Errs     []*ops.SourceError // what could not be read; no finding is about it
}

// Check judges chats and what lies around them. Rules that need all chats of a folder see all
// of them, even if PATHs name only some. The error is ctx's.
func Check(ctx context.Context, opt CheckOptions) (*CheckResult, error) {
	s, err := survey(ctx, ops.Walk(opt.List), opt.Now, opt.Meter)
	if err != nil {
		return nil, err
	}
	res := &CheckResult{Others: s.others}
	for _, e := range s.errs {
		if opt.SkipOther && errors.Is(e, chat.ErrNotChat) {
			res.Others = append(res.Others, e.Path)
		} else {
			res.Errs = append(res.Errs, e)
		}
	}
	order := map[string]int{}
	wanted := opt.wanted()
	keep := func(list []rules.Finding) {
		for _, f := range list {
			if wanted.Has(f.Rule) {
				if _, ok := order[f.Path]; !ok {
					order[f.Path] = len(order)
				}
				res.Findings = append(res.Findings, f)
			}
		}
	}
	for _, c := range s.chats {
		res.Chats = append(res.Chats, c.Path)
		order[c.Path] = len(order)
		keep(c.Findings())
	}
	keep(s.around)
	rules.Sort(res.Findings, order)
	return res, nil
}

// wanted returns the rules that Select and Ignore leave.
func (o *CheckOptions) wanted() rules.Set {
	chosen := o.Select
	if len(chosen) == 0 {
		chosen = rules.All()
	}
	return rules.SetOf(chosen...) &^ rules.SetOf(o.Ignore...)
}

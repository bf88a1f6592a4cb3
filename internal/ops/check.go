package ops

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"stchat/internal/progress"
	"stchat/internal/rules"
	"stchat/internal/userdir"
)

// CheckOptions says what is checked.
type CheckOptions struct {
	Paths  []string   // chats, folders, user folders
	Select []rules.ID // only these; empty: all
	Ignore []rules.ID
	Now    time.Time
	Meter  *progress.Meter
}

// CheckResult is what a check found.
type CheckResult struct {
	Chats    []string        // the paths of the chats that were read
	Findings []rules.Finding // by path in the order of the chats, then by line
	Errs     []error         // what could not be read; the findings know nothing of it
}

// Check judges chats and what lies around them. Rules that need the chats of a
// folder as a whole know them, also where PATHs name only some of them. The
// error is that ctx ended.
func Check(ctx context.Context, opt CheckOptions) (*CheckResult, error) {
	s, err := survey(ctx, opt.Paths, opt.Now, opt.Meter)
	if err != nil {
		return nil, err
	}
	res := &CheckResult{Errs: s.errs}
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

// wanted is the rules that Select and Ignore leave.
func (o *CheckOptions) wanted() rules.Set {
	chosen := o.Select
	if len(chosen) == 0 {
		chosen = rules.All()
	}
	return rules.SetOf(chosen...) &^ rules.SetOf(o.Ignore...)
}

// surveyed is the chats that PATHs mean, judged.
type surveyed struct {
	checker *rules.Checker
	chats   []*rules.Chat
	around  []rules.Finding // about files that are no chats
	errs    []error
}

// largeChat is from where on a chat is worth all processors: smaller ones are
// read one a processor.
const largeChat = 16 << 20

// survey reads every chat once and judges them together.
func survey(ctx context.Context, paths []string, now time.Time, meter *progress.Meter) (*surveyed, error) {
	walked := Walk(paths)
	s := &surveyed{checker: rules.New(now), errs: walked.Errs}
	var small, large []int
	for i, t := range walked.Chats {
		meter.Expect(1, t.Size)
		if t.Size < largeChat {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	scanned := make([]*rules.Chat, len(walked.Chats))
	errs := make([]error, len(walked.Chats))
	scan := func(i, workers int) {
		opt := rules.ScanOptions{Workers: workers}
		if meter != nil {
			before := int64(0)
			opt.Progress = func(read int64) {
				meter.Read(read - before)
				before = read
			}
		}
		scanned[i], errs[i] = s.checker.Scan(ctx, walked.Chats[i].Path, opt)
		meter.Done()
	}
	each(ctx, len(small), func(i int) { scan(small[i], 1) })
	for _, i := range large {
		if ctx.Err() == nil {
			scan(i, 0)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			s.errs = append(s.errs, pathError(err))
			continue
		}
		s.chats = append(s.chats, scanned[i])
	}
	var err error
	s.around, err = s.checker.Across(ctx, s.chats, around(walked, s.chats))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.errs = append(s.errs, split(err)...)
	return s, nil
}

// split gives the errors that were joined.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}

// around gives the user folders of which a PATH covers all that is judged: a
// user folder, a folder above one, and for the groups one with group chats.
func around(w Walked, chats []*rules.Chat) rules.Around {
	a := rules.Around{Groups: slices.Clone(w.Users), Worlds: slices.Clone(w.Users)}
	from := map[string]string{}
	for _, t := range w.Chats {
		from[t.Path] = t.From
	}
	groups, worlds := map[string]bool{}, map[string]bool{}
	for _, dir := range w.Users {
		groups[dir.Root], worlds[dir.Root] = true, true
	}
	for _, c := range chats {
		folder := from[c.Path]
		if folder == "" || !c.HasDir {
			continue
		}
		rel, err := filepath.Rel(folder, c.Dir.Root)
		whole := err == nil && filepath.IsLocal(rel)
		if (whole || c.Kind == userdir.Group) && !groups[c.Dir.Root] {
			groups[c.Dir.Root] = true
			a.Groups = append(a.Groups, c.Dir)
		}
		if whole && !worlds[c.Dir.Root] {
			worlds[c.Dir.Root] = true
			a.Worlds = append(a.Worlds, c.Dir)
		}
	}
	return a
}

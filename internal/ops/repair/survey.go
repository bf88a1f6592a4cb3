package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/rules"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/progress"
)

// surveyed holds the chats that PATHs mean, judged.
type surveyed struct {
	checker *rules.Checker
	chats   []*rules.Chat
	around  []rules.Finding // about files other than chats
	walked  ops.Walked
	others  []string // .jsonl files in folders that are left alone, as their lines are not a chat's
	errs    []*ops.SourceError
}

// survey reads every chat once and judges them together.
func survey(ctx context.Context, walked ops.Walked, now time.Time, meter *progress.Meter) (*surveyed, error) {
	s := &surveyed{checker: rules.New(now), walked: walked, errs: walked.Errs}
	for _, t := range walked.Chats {
		meter.Expect(1, t.Size)
	}
	scanned := make([]*rules.Chat, len(walked.Chats))
	errs := make([]error, len(walked.Chats))
	progress.SmallFirst(ctx, len(walked.Chats), meter, func() *rules.Checker { return s.checker }, func(checker *rules.Checker, i int, small bool) bool {
		t := walked.Chats[i]
		if small && t.Size >= ops.LargeChat {
			return false
		}
		opt := rules.ScanOptions{Progress: meter.Follow()}
		if small {
			opt.Workers = 1
		}
		scanned[i], errs[i] = checker.Scan(ctx, t.Path, opt)
		return true
	})

	if err := ctx.Err(); err != nil {
		return s, err
	}
	for i, err := range errs {
		switch t := walked.Chats[i]; {
		case err == nil:
			s.chats = append(s.chats, scanned[i])
		case t.From != "" && errors.Is(err, chat.ErrNotChat):
			s.others = append(s.others, t.Path)
		default:
			s.errs = append(s.errs, &ops.SourceError{Path: t.Path, Err: ops.PathError(err)})
		}
	}

	unread, err := s.judge(ctx)
	s.errs = append(s.errs, unread...)
	return s, err
}

// judge judges the chats together. errs is what could not be read; err is ctx's.
func (s *surveyed) judge(ctx context.Context) (errs []*ops.SourceError, err error) {
	s.around, err = s.checker.Across(ctx, s.chats, around(s.walked, s.chats))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, err := range split(err) {
		errs = append(errs, &ops.SourceError{Err: err})
	}
	return append(errs, s.unfinished(ctx)...), ctx.Err()
}

// unfinished finds what interrupted runs began in the user folders, and in the folders of chats
// outside them.
func (s *surveyed) unfinished(ctx context.Context) (errs []*ops.SourceError) {
	seen := map[string]bool{}
	look := func(root string) {
		if seen[root] {
			return
		}
		seen[root] = true
		begun, err := changeset.Unfinished(ctx, root)
		if err != nil {
			errs = append(errs, &ops.SourceError{Path: root, Err: ops.PathError(err)})
		}
		for _, e := range begun {
			s.around = append(s.around, rules.Unfinished(root, e))
		}
	}

	for _, dir := range s.walked.Users {
		look(dir.Root)
	}
	for _, c := range s.chats {
		if c.HasDir {
			look(c.Dir.Root)
		} else {
			look(c.Folder)
		}
	}
	return errs
}

// split returns the errors that were joined in err.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}

// around returns the user folders of which a PATH covers all that is judged: a user folder or a
// folder above one and, for groups, one with group chats among the chats.
func around(w ops.Walked, chats []*rules.Chat) rules.Scope {
	a := rules.Scope{Groups: slices.Clone(w.Users), Worlds: slices.Clone(w.Users)}
	from := map[string]string{}
	for _, t := range w.Chats {
		from[t.Path] = t.From
	}
	for _, c := range chats {
		folder := from[c.Path]
		if folder == "" || !c.HasDir {
			continue
		}
		rel, err := filepath.Rel(folder, c.Dir.Root)
		whole := err == nil && filepath.IsLocal(rel)
		if (whole || c.Kind == userdir.Group) && !slices.Contains(a.Groups, c.Dir) {
			a.Groups = append(a.Groups, c.Dir)
		}
		if whole && !slices.Contains(a.Worlds, c.Dir) {
			a.Worlds = append(a.Worlds, c.Dir)
		}
	}
	return a
}

// openJudged opens a chat, which must be unchanged since it was judged. src is the file, read as lines.
func openJudged(c *rules.Chat) (file *os.File, src jsonl.Source, err error) {
	f, stamp, err := chat.OpenStamped(c.Path)
	if err != nil {
		return nil, src, err
	}
	if !stamp.Same(c.Stamp) {
		return nil, src, errors.Join(fmt.Errorf("%s: %w", c.Path, safefile.ErrChanged), f.Close())
	}
	return f, c.Reading.Over(jsonl.Source{R: f, Size: stamp.Size()}), nil
}

// CheckOptions says what to check.
type CheckOptions struct {
	List   ops.List
	Select []rules.ID // only these; empty: all
	Ignore []rules.ID
	Now    time.Time
	Meter  *progress.Meter
}

// CheckResult is what a check found.
type CheckResult struct {
	Chats    []string           // the paths of the chats that were read
	Folders  []string           // the folders of which all chats were read; none with Errs
	Whole    bool               // a user folder is meant, and all in it was judged
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
		isOther := errors.Is(e, chat.ErrNotChat) && strings.EqualFold(filepath.Ext(e.Path), names.Extension)
		if isOther {
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

	if len(res.Errs) == 0 {
		res.Folders = s.walked.Folders()
		res.Whole = len(s.walked.Users) > 0
	}
	for _, c := range s.chats {
		if c.Kind == userdir.File && c.Stamp.Size() == 0 { // nothing shows that it is a chat
			res.Others = append(res.Others, c.Path)
			continue
		}
		res.Chats = append(res.Chats, c.Path)
		order[c.Path] = len(order)
		keep(c.Findings())
	}

	keep(s.around)
	rules.Sort(res.Findings, order)
	return res, nil
}

// LeftOut reports whether findings of the rule with that name are not asked for.
func (o *CheckOptions) LeftOut(rule string) bool {
	id, err := rules.Find(rule)
	return err == nil && !o.wanted().Has(id)
}

// wanted returns the rules that Select and Ignore leave.
func (o *CheckOptions) wanted() rules.Set {
	chosen := o.Select
	if len(chosen) == 0 {
		chosen = rules.All()
	}
	return rules.SetOf(chosen...).Without(rules.SetOf(o.Ignore...))
}

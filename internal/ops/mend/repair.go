package mend

import (
	"context"
	"path/filepath"

	"stchat/internal/changeset"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/rules"
)

// RepairOptions says what to mend.
type RepairOptions struct {
	List          ops.List
	Rules         []rules.ID // only these; empty: all that repair mends by default
	Quarantine    string     // folder of the quarantine files; empty: beside the chat
	BumpIntegrity bool       // give every chat that is written a new slug
	Changes       changeset.Options
	NewUUID       func() string
	Meter         *progress.Meter
}

// wanted returns the rules to mend, and those asked for by name. By default that includes links
// that lead nowhere, since the chats they name may have been renamed.
func (o *RepairOptions) wanted() (want, asked rules.Set) {
	if asked = rules.SetOf(o.Rules...); asked != 0 {
		return asked, asked
	}
	return rules.Mendable() | dangling(), 0
}

// Repair mends what can be mended without guessing. A chat and what belongs to it are one
// change, made whole or not at all. A dry run drafts the same but writes nothing. An error on
// one file is in its result and does not stop the others. The error of Repair itself is ctx's;
// the report then tells what was done before it.
func Repair(ctx context.Context, opt RepairOptions) (*RepairReport, error) {
	rep := &RepairReport{byPath: map[string]*RepairResult{}}
	walked := ops.Walk(opt.List)
	if !opt.Changes.DryRun {
		rep.Ended = recoverAll(ctx, walked.Chats, opt.Changes)
	}
	s, err := survey(ctx, walked, opt.Changes.Now, opt.Meter)
	if err != nil {
		return rep, err
	}
	rep.Chats, rep.Others, rep.Errs = len(s.chats), s.others, s.errs
	plans, err := planAll(ctx, &opt, s, rep)
	if err != nil {
		return rep, err
	}
	drafts := make([]drafted, len(plans))
	units := make([]changeset.Unit, len(plans))
	files := &quarantines{folder: opt.Quarantine, taken: map[string]bool{}}
	for i, p := range plans {
		units[i] = p.unit(&opt, files, &drafts[i])
	}
	outcomes := changeset.Run(ctx, units, opt.Changes)
	for i, p := range plans {
		rep.tellChat(p, &drafts[i], outcomes[i], opt.Changes.DryRun)
	}
	rep.tellGroups(plans, outcomes, opt.Changes.DryRun)
	return rep, ctx.Err()
}

// recoverAll finishes or undoes what interrupted runs began where the chats are, so that the
// chats are judged in their final state. What cannot be recovered is reported when the folder
// is written.
func recoverAll(ctx context.Context, chats []ops.Target, opt changeset.Options) (ended []changeset.Ended) {
	folders, roots := map[string]bool{}, map[string]bool{}
	for _, t := range chats {
		folder := filepath.Dir(t.Path)
		if folders[folder] && t.From != "" {
			continue
		}
		folders[folder] = true
		root := changeset.RootOf(t.Path)
		if roots[root] {
			continue
		}
		roots[root] = true
		list, _ := changeset.Recover(ctx, root, opt)
		for _, e := range list {
			if e.Way == changeset.Forward || e.Way == changeset.Back {
				ended = append(ended, e)
			}
		}
	}
	return ended
}

// planAll turns findings into plans. If headers move to the front, all chats are judged anew,
// by what their files will be.
func planAll(ctx context.Context, opt *RepairOptions, s *surveyed, rep *RepairReport) ([]*plan, error) {
	p := newPlanner(opt, s)
	fails := func(c *rules.Chat, err error) error {
		if err != nil && ctx.Err() == nil {
			rep.result(c.Path).Err = ops.PathError(err)
		}
		return ctx.Err()
	}
	headed := false
	for i, c := range s.chats {
		again, err := p.headOf(ctx, c)
		if err := fails(c, err); err != nil {
			return nil, err
		}
		if again != nil {
			s.chats[i], headed = again, true
		}
	}
	if headed {
		if _, err := s.judge(ctx); err != nil {
			return nil, err
		}
	}
	for _, c := range s.chats {
		if rep.failed(c.Path) {
			continue
		}
		if err := fails(c, p.chat(ctx, c)); err != nil {
			return nil, err
		}
	}
	return p.plans, nil
}

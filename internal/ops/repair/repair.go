// Package repair holds check and repair: what is wrong with chats, and what of it can be repaired
// without guessing. Problems are found by internal/folder/rules and repaired here.
package repair

import (
	"bytes"
	"context"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/folder/rules"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/group"
	"stchat/internal/text/progress"
)

// Options says what to repair.
type Options struct {
	List          ops.List
	Rules         []rules.ID // only these; empty: all that repair repairs by default
	From          string     // a folder in which files of attachments are looked for before the others; "": none
	Store         string     // the file of the history; "": that of the user folder
	BumpIntegrity bool       // give every chat that is written a new slug
	Changes       changeset.Options
	Meter         *progress.Meter
}

// wanted returns the rules to repair, and those asked for by name. By default that includes links
// that lead nowhere, since the chats they name may have been renamed.
func (o *Options) wanted() (want, asked rules.Set) {
	if len(o.Rules) > 0 {
		asked = rules.SetOf(o.Rules...)
		return asked, asked
	}
	return rules.Repairable().With(rules.Dangling()), rules.Set{}
}

// Repair repairs what can be repaired without guessing. A chat and what belongs to it are one
// change, made whole or not at all. A dry run drafts the same but writes nothing. An error on
// one file is in its result and does not stop the others. The error of Repair itself is ctx's;
// the report then tells what was done before it.
func Repair(ctx context.Context, opt Options) (*Report, error) {
	rep := &Report{byPath: map[string]*Result{}}
	walked := ops.Walk(opt.List)
	if !opt.Changes.DryRun {
		rep.Ended = recoverAll(ctx, walked.Chats, opt.Changes)
	}
	s, err := survey(ctx, walked, opt.Changes.Now, opt.Meter)
	if err != nil {
		return rep, err
	}
	rep.Chats = len(s.chats)
	rep.Others = s.others
	rep.Errs = s.errs
	plans, err := planAll(ctx, &opt, s, rep)
	if err != nil {
		return rep, err
	}
	files := &quarantines{taken: map[string]bool{}}
	ops.Each(ctx, opt.Changes, plans, func(p *plan) (*plan, changeset.Unit) { return p, p.unit(&opt, files) })
	for _, p := range plans {
		rep.add(p, opt.Changes.DryRun)
	}
	rep.addGroups(plans, opt.Changes.DryRun)
	return rep, ctx.Err()
}

// recoverAll finishes or undoes what interrupted runs began where the chats are, so that the
// chats are judged in their final state. What cannot be recovered is reported when the folder
// is written.
func recoverAll(ctx context.Context, chats []ops.Target, opt changeset.Options) (ended []changeset.Ended) {
	var roots changeset.Roots
	seen := map[string]bool{}
	for _, t := range chats {
		root := roots.Of(t.Path)
		if seen[root] {
			continue
		}
		seen[root] = true
		ended = append(ended, changeset.Settle(ctx, root, opt)...)
	}
	return ended
}

// planAll turns findings into plans. If headers move to the front, all chats are judged anew,
// by what their files will be.
func planAll(ctx context.Context, opt *Options, s *surveyed, rep *Report) ([]*plan, error) {
	p := newPlanner(opt, s)
	fails := func(c *rules.Chat, err error) error {
		if err != nil && ctx.Err() == nil {
			rep.result(c.Path).Err = ops.PathError(err)
		}
		return ctx.Err()
	}

	headed := false
	for i, c := range s.chats {
		again, err := p.head(ctx, c)
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
		if r := rep.byPath[c.Path]; r != nil && r.Err != nil {
			continue // it is left alone
		}
		if err := fails(c, p.chat(ctx, c)); err != nil {
			return nil, err
		}
	}

	p.groups(s)
	return p.plans, nil
}

// Document is the JSON document about one repaired file.
type Document struct {
	Schema     int         `json:"schema"`
	Path       string      `json:"path" is:"path"`
	Actions    []Action    `json:"actions"` // the first ones
	Total      int         `json:"actions_total"`
	Counts     []RuleCount `json:"counts"`
	Done       bool        `json:"written"`
	Backup     *string     `json:"backup" is:"path"` // the file as it was, kept for undo
	Quarantine *string     `json:"quarantine" is:"path"`
	ops.Written
}

// Result is the result for one file.
type Result struct {
	ops.Result[Document]
	Diffs []Diff // of the first actions, for a person
	Chat  bool   // the file is a chat
}

// Report is the outcome of a repair.
type Report struct {
	Chats   int                // how many were read
	Ended   []changeset.Ended  // what interrupted runs had begun
	Others  []string           // .jsonl files in folders that are left alone, as their lines are not a chat's
	Results []*Result          // of the files with something to repair, in order
	Errs    []*ops.SourceError // what could not be read

	byPath map[string]*Result
}

// result returns the result of a file, created on first use.
func (r *Report) result(path string) *Result {
	res := r.byPath[path]
	if res == nil {
		res = &Result{}
		res.Doc = Document{Schema: 1, Path: path}
		r.byPath[path] = res
		r.Results = append(r.Results, res)
	}
	return res
}

// add puts the outcome of a plan into the result of its file. If that could not be written, that is only
// the reason and what could not be repaired.
func (r *Report) add(p *plan, dryRun bool) {
	var warnings []string
	for _, left := range p.left {
		warnings = append(warnings, p.path+": "+left)
	}
	out := p.outcome
	changed := out.Err == nil && p.done.total > 0
	if out.Err == nil && !changed && len(warnings)+len(out.Ended)+len(out.Dropped) == 0 {
		return
	}
	res := r.result(p.path)
	res.Chat = p.chat != nil
	res.Outcome = out
	res.Warnings = warnings
	res.Err = ops.PathError(out.Err)
	if changed {
		res.fill(&p.done, dryRun)
		if !dryRun && p.quarantine != "" {
			res.Doc.Quarantine = &p.quarantine
		}
	}
}

// addGroups puts the outcomes for group files into results of their own, with the edits of all
// chats together.
func (r *Report) addGroups(plans []*plan, dryRun bool) {
	var all groupEdits
	by := map[string]changeset.Outcome{}
	for _, p := range plans {
		if p.outcome.Err != nil {
			continue
		}
		for _, e := range p.groups {
			one := all.editOf(e.Path, e.was)
			one.Unlist = append(one.Unlist, e.Unlist...)
			one.List = append(one.List, e.List...)
			one.Forget = append(one.Forget, e.Forget...)
			by[e.Path] = p.outcome
		}
	}

	for _, e := range all {
		done := e.actions()
		if done.total == 0 {
			continue
		}
		out := by[e.Path]
		out.Ended, out.Dropped = nil, nil
		out.Steps = slices.DeleteFunc(slices.Clone(out.Steps), func(s changeset.Step) bool { return s.Path != e.Path })
		res := r.result(e.Path)
		res.Outcome = out
		res.fill(done, dryRun)
	}
}

// fill puts what was done, or would be, into the document.
func (r *Result) fill(done *actions, dryRun bool) {
	r.Doc.Actions = done.first
	r.Doc.Counts = done.counts
	r.Doc.Total = done.total
	r.Diffs = done.diffs
	r.Doc.Written, r.Doc.Done = ops.WrittenBy(r.Outcome), !dryRun
	for _, s := range r.Steps {
		if s.Path == r.Doc.Path && s.Kept != "" {
			r.Doc.Backup = &s.Kept
		}
	}
}

// groupEdit is what chats ask of one group file.
type groupEdit struct {
	group.Edit
	was []byte // the file as it was judged
}

// groupEdits are edits of group files, one of each.
type groupEdits []*groupEdit

// editOf returns the edit of a group file, created on first use.
func (l *groupEdits) editOf(path string, was []byte) *groupEdit {
	for _, e := range *l {
		if e.Path == path {
			return e
		}
	}
	e := &groupEdit{group.Edit{Path: path}, was}
	*l = append(*l, e)
	return e
}

// actions returns what the edit does.
func (e *groupEdit) actions() *actions {
	done := &actions{}
	after, err := e.Apply(e.was)
	if err != nil {
		return done // the edit was not made either
	}
	add := func(id rules.ID, change string, before, after []byte) {
		if !bytes.Equal(before, after) {
			done.add(step{id, 0, noMessage}, change, before, after)
		}
	}

	add(rules.GroupMissingChat, "took off the group's list: "+quoteAll(e.Unlist), e.was, after.Unlisted)
	add(rules.GroupUnlisted, "added to the group's chats: "+quoteAll(e.List), after.Unlisted, after.Listed)
	add(rules.GroupOldLayout, "took out the metadata of "+quoteAll(e.Forget), after.Listed, after.Forgotten)
	return done
}

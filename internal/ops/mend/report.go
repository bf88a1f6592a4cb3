package mend

import (
	"stchat/internal/changeset"
	"stchat/internal/group"
	"stchat/internal/ops"
)

// RepairDocument is the JSON document about one repaired file (SPEC.md section 7).
type RepairDocument struct {
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

// RepairResult is the result for one file.
type RepairResult struct {
	ops.Result[RepairDocument]
	Diffs []Diff // of the first actions, for a person
	Chat  bool   // the file is a chat
}

// RepairReport is the outcome of a repair.
type RepairReport struct {
	Chats   int                // how many were read
	Ended   []changeset.Ended  // what interrupted runs had begun
	Others  []string           // .jsonl files in folders that are left alone, as their lines are not a chat's
	Results []*RepairResult    // of the files with something to mend, in order
	Errs    []*ops.SourceError // what could not be read

	byPath map[string]*RepairResult
}

// result returns the result of a file, created on first use.
func (r *RepairReport) result(path string) *RepairResult {
	res := r.byPath[path]
	if res == nil {
		res = &RepairResult{}
		res.Doc = RepairDocument{Schema: 1, Path: path}
		r.byPath[path] = res
		r.Results = append(r.Results, res)
	}
	return res
}

// failed reports whether a file has an error and is left alone.
func (r *RepairReport) failed(path string) bool {
	res := r.byPath[path]
	return res != nil && res.Err != nil
}

// tellChat puts the outcome for a chat into its result. If the chat could not be written, that
// is only the reason and what could not be mended.
func (r *RepairReport) tellChat(p *plan, d *drafted, out changeset.Outcome, dryRun bool) {
	var warnings []string
	for _, left := range append(p.left, d.left...) {
		warnings = append(warnings, p.chat.Path+": "+left)
	}
	changed := out.Err == nil && d.told.total > 0
	if out.Err == nil && !changed && len(warnings)+len(out.Ended)+len(out.Dropped) == 0 {
		return
	}
	res := r.result(p.chat.Path)
	res.Chat, res.Outcome, res.Warnings = true, out, warnings
	if out.Err != nil {
		res.Err = ops.PathError(out.Err)
	}
	if changed {
		res.tell(&d.told, out, dryRun)
		res.Doc.Written = ops.WrittenBy(out)
		if !dryRun && d.quarantine != "" {
			res.Doc.Quarantine = &d.quarantine
		}
	}
}

// tellGroups puts the outcomes for group files into results of their own, with the edits of all
// chats together.
func (r *RepairReport) tellGroups(plans []*plan, outcomes []changeset.Outcome, dryRun bool) {
	all := map[string]*groupEdit{}
	var order []string
	by := map[string]changeset.Outcome{}
	for i, p := range plans {
		for _, e := range p.groups {
			if outcomes[i].Err != nil {
				continue
			}
			if all[e.Path] == nil {
				all[e.Path] = &groupEdit{group.Edit{Path: e.Path}, e.was}
				order = append(order, e.Path)
			}
			one := all[e.Path]
			one.List, one.Forget = append(one.List, e.List...), append(one.Forget, e.Forget...)
			by[e.Path] = outcomes[i]
		}
	}
	for _, path := range order {
		t := all[path].tell()
		if t.total == 0 {
			continue
		}
		out := by[path]
		out.Ended, out.Dropped = nil, nil
		out.Steps = stepsOf(path, out.Steps)
		res := r.result(path)
		res.Outcome = out
		res.tell(t, out, dryRun)
		res.Doc.Written = ops.WrittenBy(out)
	}
}

// tell puts what was done, or would be, into the result.
func (r *RepairResult) tell(t *told, out changeset.Outcome, dryRun bool) {
	r.Doc.Actions, r.Doc.Counts, r.Doc.Total, r.Diffs = t.actions, t.counts, t.total, t.diffs
	r.Doc.Done = !dryRun
	for _, s := range stepsOf(r.Doc.Path, out.Steps) {
		if s.Kept != "" {
			r.Doc.Backup = &s.Kept
		}
	}
}

// stepsOf returns the steps on one file.
func stepsOf(path string, steps []changeset.Step) []changeset.Step {
	var own []changeset.Step
	for _, s := range steps {
		if s.Path == path {
			own = append(own, s)
		}
	}
	return own
}

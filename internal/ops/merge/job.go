package merge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
)

// job is one row and what is written for it.
type job struct {
	row     *Row
	needs   []string                                          // what must not be missing when it is there
	draft   func(ctx context.Context, s *changeset.Set) error // nil: nothing is to do
	outcome changeset.Outcome

	// What is asked once everything in a user folder has its name in INTO; nil: nothing.
	look    func(ctx context.Context) error // meets what must not be missing when it is there
	needed  func() bool                     // whether it comes though it was deleted in INTO since the base
	compare func()                          // tells how it differs from what stays
}

// newJob returns what is to be done about a thing of FROM: as yet nothing.
func newJob(kind Kind, from, path string) *job {
	return &job{row: &Row{Schema: 1, Kind: kind, Path: path, From: from, Renamed: []Rename{}, Told: []string{}}}
}

// creates says that a job makes a new file.
func (j *job) creates(path string, draft func(ctx context.Context, s *changeset.Set) error) {
	j.row.Path, j.row.To, j.draft = path, &path, draft
}

// path returns the path of what a job writes.
func (j *job) path() string { return ops.Or(j.row.To, j.row.Path) }

// Complete notes what became of the files.
func (j *job) Complete(out changeset.Outcome, _ bool) {
	if j.outcome = out; out.Err != nil {
		j.row.refuse(out.Err)
	}
}

func (r *Row) refuse(err error) {
	text := ops.PathError(err).Error()
	r.Sign, r.Err, r.Error, r.To = Refused, err, &text, nil
}

// run makes the changes in the user folder root, or that of each path if that is "": first what others need, then of the others what needs one another together, else each for
// itself. What needs something that does not come is refused: a later run would not ask for it again.
func (r *Result) run(ctx context.Context, opt *Options, root string, first, others []*job) {
	opt.Changes.Precious = true
	tried := map[string]error{} // what others need; nil: it is there
	commit := func(jobs []*job) {
		for _, j := range jobs {
			for _, path := range j.needs {
				if err := tried[path]; err != nil && j.row.Err == nil {
					j.row.refuse(fmt.Errorf("what it names does not come: %w", err))
				}
			}
		}
		jobs = slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.row.Err != nil || j.draft == nil })
		ops.Each(ctx, opt.Changes, jobs, func(j *job) (*job, changeset.Unit) {
			needs := slices.DeleteFunc(j.needs, func(path string) bool { _, made := tried[path]; return made })
			return j, changeset.Unit{Root: cmp.Or(root, changeset.RootOf(j.path())), Shares: append(needs, j.path()), Draft: j.draft}
		})
	}
	commit(first)
	for _, j := range first {
		tried[j.path()] = j.row.Err
	}
	commit(others)
	seen := map[changeset.Step]bool{} // only what is done, and to which path
	for _, j := range slices.Concat(first, others) {
		o := j.outcome
		r.ID, r.NoRecord = cmp.Or(o.ID, r.ID), cmp.Or(r.NoRecord, o.NoRecord)
		r.Ended, r.Dropped = append(r.Ended, o.Ended...), append(r.Dropped, o.Dropped...)
		for _, s := range o.Steps {
			if key := (changeset.Step{Do: s.Do, Path: s.Path}); !seen[key] {
				seen[key] = true
				r.Steps = append(r.Steps, s)
			}
		}
		r.Rows = append(r.Rows, j.row)
		switch {
		case j.row.Sign == Refused:
			r.Doc.Refused++
		case j.draft != nil:
			r.Doc.Done++
		case j.row.Sign == Same:
			r.Doc.Same++
		default:
			r.Doc.Ahead++
		}
	}
	r.Doc.DryRun = opt.Changes.DryRun
	r.Complete(r.Outcome, opt.Changes.DryRun)
}

// jobs returns what is to be done about the chats.
func (o *owner) jobs() (list []*job) {
	for _, w := range o.works {
		list = append(list, &w.job)
	}
	return list
}

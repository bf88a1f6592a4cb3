package merge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
)

// run makes the changes in the user folder root; "" means the user folder around each path. What the other jobs need
// goes first. Of these others, those that need one another change together, and each of the rest for itself.
//
// A job that needs something that does not come is refused: a later run would not ask for that again.
func (r *Result) run(ctx context.Context, opt *Options, root string, needed, jobs []*job) {
	opt.Changes.Precious = true

	came := map[string]error{} // by path, why something that others need is not there; nil: it is
	commit(ctx, opt.Changes, root, needed, came)
	for _, j := range needed {
		came[j.path()] = j.row.Err
	}
	commit(ctx, opt.Changes, root, jobs, came)

	all := slices.Concat(needed, jobs)
	r.joinOutcomes(all)
	for _, j := range all {
		r.Rows = append(r.Rows, j.row)
		r.Doc.count(j)
	}

	r.Doc.DryRun = opt.Changes.DryRun
	r.Complete(r.Outcome, opt.Changes.DryRun)
}

// commit makes the changes of jobs. came holds what was tried before them, with the reason where it is not there.
func commit(ctx context.Context, opt changeset.Options, root string, jobs []*job, came map[string]error) {
	for _, j := range jobs {
		for _, path := range j.needs {
			if err := came[path]; err != nil && j.row.Err == nil {
				j.row.refuse(fmt.Errorf("what it names does not come: %w", err))
			}
		}
	}

	isIdle := func(j *job) bool { return j.row.Err != nil || j.draft == nil }
	busy := slices.DeleteFunc(slices.Clone(jobs), isIdle)

	wasTried := func(path string) bool {
		_, tried := came[path]
		return tried
	}
	ops.Each(ctx, opt, busy, func(j *job) (*job, changeset.Unit) {
		shares := append(slices.DeleteFunc(slices.Clone(j.needs), wasTried), j.path())
		return j, changeset.Unit{Root: cmp.Or(root, changeset.RootOf(j.path())), Shares: shares, Draft: j.draft}
	})
}

// joinOutcomes makes one outcome of those of all jobs. A step of several is listed once.
func (r *Result) joinOutcomes(jobs []*job) {
	seen := map[changeset.Step]bool{} // only what is done, and to which path
	for _, j := range jobs {
		out := j.outcome
		r.ID = cmp.Or(out.ID, r.ID)
		r.NoRecord = cmp.Or(r.NoRecord, out.NoRecord)
		r.Ended = append(r.Ended, out.Ended...)
		r.Dropped = append(r.Dropped, out.Dropped...)
		for _, step := range out.Steps {
			key := changeset.Step{Do: step.Do, Path: step.Path}
			if !seen[key] {
				seen[key] = true
				r.Steps = append(r.Steps, step)
			}
		}
	}
}

// count counts what became of a job.
func (s *Summary) count(j *job) {
	switch {
	case j.row.Sign == Refused:
		s.Refused++
	case j.draft != nil:
		s.Done++
	case j.row.Sign == Same:
		s.Same++
	default:
		s.Ahead++
	}
}

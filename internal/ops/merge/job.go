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
	j.row.Path = path
	j.row.To = &path
	j.draft = draft
}

// path returns the path of what a job writes.
func (j *job) path() string { return ops.Or(j.row.To, j.row.Path) }

// Complete notes what became of the files.
func (j *job) Complete(out changeset.Outcome, _ bool) {
	j.outcome = out
	if out.Err != nil {
		j.row.refuse(out.Err)
	}
}

func (r *Row) refuse(err error) {
	text := ops.PathError(err).Error()
	r.Sign = Refused
	r.Err = err
	r.Error = &text
	r.To = nil
}

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
		shares := append(slices.DeleteFunc(j.needs, wasTried), j.path())
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

// jobs returns what is to be done about the chats.
func (o *owner) jobs() (list []*job) {
	for _, w := range o.works {
		list = append(list, &w.job)
	}
	return list
}

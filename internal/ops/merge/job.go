package merge

import (
	"context"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/group"
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

// work is one chat of FROM and what becomes of it.
type work struct {
	*owner
	*match
	job
	name   string
	groups []*group.File  // of INTO, that list it if it is new
	parent string         // main_chat of what is written; "": none
	links  map[int][]link // to put, by message of what is written
	slug   string         // of what is written
}

// takesLines reports whether INTO's chat gets the lines of FROM's.
func (w *work) takesLines() bool { return takesLines(w.row.Sign, w.kept) }

// writes reports whether a file of FROM comes.
func (w *work) writes() bool { return w.isNew() || w.takesLines() }

// isNew reports whether a new file comes to be.
func (w *work) isNew() bool { return w.row.Sign == New || w.row.Sign == Parted || w.row.Sign == Other }

// changes reports whether anything is to be written.
func (w *work) changes() bool {
	return w.writes() || w.row.Sign == Ahead || len(w.links) > 0
}

// listIn says that a group of INTO lists the chat, if it is new there. Others come to that group, too.
func (w *work) listIn(g *group.File) {
	if w.isNew() && !slices.Contains(w.groups, g) {
		w.groups = append(w.groups, g)
		w.needs = append(w.needs, g.Path)
	}
}

// dropLinks puts no links after all.
func (w *work) dropLinks() {
	w.links = nil
	w.row.Noted = nil
	w.row.Links = 0
}

// isLuker reports whether one of the two chats is Luker's.
func (w *work) isLuker() bool {
	return len(w.from.sidecars) > 0 || w.into != nil && len(w.into.sidecars) > 0
}

// takesLines reports whether INTO's chat gets the lines and the header of FROM's. Else, if FROM's is ahead, its lines stay,
// and only the messages of which FROM's have more swipes take the place of those here.
func takesLines(sign Sign, kept int) bool { return sign == Ahead && kept == 0 }

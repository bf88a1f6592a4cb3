package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/message"
)

// version is what a conflict file is.
type version struct {
	chat  string // the name of the chat of which it is a version
	label string
}

// conflicts merges the conflict files of a user folder into the chats that they are versions of,
// and removes each once nothing is lost with it.
func (r *Result) conflicts(ctx context.Context, opt *Options) error {
	dir, err := userdir.Open(opt.Into)
	if err != nil {
		return err
	}
	lib := new(library.Library)
	if err := ops.InFiles(lib, dir, dir.Root); err != nil {
		return err
	}
	var jobs []*job
	for _, path := range slices.Sorted(slices.Values(append(dir.Folders(), dir.Chats()))) {
		folder := lib.Folder(path)
		if err := folder.Err; err != nil && !errors.Is(err, fs.ErrNotExist) {
			return ops.PathError(err)
		}
		if folder.Kind == userdir.File {
			r.tellOthers(path)
			continue
		}
		some, err := opt.conflictsIn(ctx, lib, folder)
		if err != nil {
			return err
		}
		jobs = append(jobs, some...)
	}

	r.run(ctx, opt, userdir.RealPath(dir.Root), nil, jobs)
	return nil
}

// tellOthers tells of conflict files in a folder that are no chats.
func (r *Result) tellOthers(folder string) {
	entries, _ := safefile.ReadDir(folder) // a folder that is missing has none
	for _, name := range namesOf(entries) {
		if _, _, ok := names.ConflictOf(strings.TrimSuffix(name, filepath.Ext(name))); ok {
			r.Warn("%s: a conflict file, and no chat: compare it with the other one", filepath.Join(folder, name))
		}
	}
}

// conflictsIn merges the conflict files in a folder of chats.
func (opt *Options) conflictsIn(ctx context.Context, lib *library.Library, folder *library.Folder) (jobs []*job, err error) {
	found, graph, err := versionsIn(ctx, lib, folder)
	if err != nil {
		return nil, err
	}
	byChat := map[string][]string{} // by the chat's name, as it is compared
	for _, name := range slices.Sorted(maps.Keys(found)) {
		key := names.FoldNFC(found[name].chat)
		byChat[key] = append(byChat[key], name)
	}

	for _, key := range slices.Sorted(maps.Keys(byChat)) {
		v, err := opt.openVersions(ctx, lib, folder.Path, found, byChat[key])
		if err != nil {
			return nil, err
		}
		v.graph = graph
		some, err := v.mergeAll(ctx)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, some...)
	}
	return jobs, nil
}

// versionsIn returns the conflict files among the chats of a folder by their names, and how the chats are
// related if there are any, or if that had to be known to tell.
func versionsIn(ctx context.Context, lib *library.Library, folder *library.Folder) (found map[string]version, g *family.Graph, err error) {
	found = map[string]version{}
	isUnsure := false
	for _, name := range folder.Chats {
		chat, label, isConflict := names.ConflictOf(name)
		if isConflict {
			found[name] = version{chat, label}
			continue
		}
		isUnsure = isUnsure || slices.ContainsFunc(names.MayBeConflictOf(name), folder.Has)
	}

	if len(found) == 0 && !isUnsure {
		return nil, nil, nil
	}

	graphs, err := family.Read(ctx, lib, []string{folder.Path}, family.Options{})
	if err != nil {
		return nil, nil, ops.PathError(err)
	}
	g = graphs[0]
	for _, sharing := range sharingSlugs(g) {
		chat, areConflicts := names.ConflictsAmong(sharing)
		if !areConflicts {
			continue
		}
		for _, name := range sharing {
			_, known := found[name]
			if name != chat && !known {
				found[name] = version{chat, "conflict"}
			}
		}
	}
	return found, g, nil
}

// sharingSlugs returns the names of the chats that share an integrity slug, each slug's together, unless
// their parents differ.
func sharingSlugs(g *family.Graph) (list [][]string) {
	bySlug := map[string][]*family.Chat{}
	for _, c := range g.Chats {
		if c.Integrity != "" {
			bySlug[c.Integrity] = append(bySlug[c.Integrity], c)
		}
	}

	for _, chats := range bySlug {
		if slices.ContainsFunc(chats, func(c *family.Chat) bool { return c.MainChat != chats[0].MainChat }) {
			continue
		}
		var sharing []string
		for _, c := range chats {
			sharing = append(sharing, c.Name)
		}
		list = append(list, sharing)
	}
	return list
}

// versions are the conflict files of one chat. They are merged one after the other into what is there then.
type versions struct {
	opt   *Options
	lib   *library.Library
	seed  message.Seed
	graph *family.Graph

	found  map[string]version // all conflict files in the folder
	ours   *side              // the other chats in the folder, and those that come
	theirs *side              // the conflict files of this chat
	given  map[string]bool    // folded paths of chats that come
	edited bool               // the chat gets the lines of one
}

// openVersions reads the conflict files of one chat.
func (opt *Options) openVersions(ctx context.Context, lib *library.Library, folder string, found map[string]version, list []string) (*versions, error) {
	isOurs := func(name string) bool { return found[name] == version{} }
	ours, err := openSide(lib, folder, isOurs)
	if err != nil {
		return nil, err
	}
	theirs, err := openSide(lib, folder, func(name string) bool { return slices.Contains(list, name) })
	if err != nil {
		return nil, err
	}
	v := &versions{opt: opt, lib: lib, seed: message.NewSeed(), found: found, ours: ours, theirs: theirs, given: map[string]bool{}}
	for _, c := range theirs.files {
		c.read(ctx, v.seed)
	}
	return v, nil
}

// mergeAll merges the conflict files, the longest first: if INTO's chat gets its lines, the others are compared with these.
func (v *versions) mergeAll(ctx context.Context) (jobs []*job, err error) {
	slices.SortStableFunc(v.theirs.files, func(a, b *file) int { return len(b.prints) - len(a.prints) })
	for _, c := range v.theirs.files {
		of := v.found[c.name]
		why := needed(v.graph, c.name)
		c.name = of.chat // it is a version of that chat
		c.key = names.FoldNFC(of.chat)

		namesakes := exactFirst(byName(v.ours.files)[c.key], c.name)
		if len(namesakes) == 0 {
			path := filepath.Join(v.ours.folder.Path, c.name+names.Extension)
			return append(jobs, renamed(c, path, len(v.theirs.files))), nil
		}
		j := v.merge(ctx, c, namesakes[0], of.label, why)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// merge merges a conflict file into the chat, and removes it unless there is a reason why it stays.
func (v *versions) merge(ctx context.Context, c, p *file, label, why string) *job {
	o := &owner{
		opt: v.opt, label: label, seed: v.seed, inFolder: newInFolder(), given: v.given,
		ours: v.ours, theirs: &side{v.lib, v.theirs.folder, []*file{c}}, group: listing(v.lib, v.ours.folder, c.name),
	}
	o.noteNames()

	p.read(ctx, v.seed)
	r := relateFiles(c, p, judging{})
	isEdited := v.edited
	lacksSomething := r.keptFrom > 0
	if !r.holds() {
		branch := o.brought(ctx, c, p)
		if branch != nil {
			p = branch
			isEdited = false
			lacksSomething = false
		}
	}

	o.decide([]*match{o.comparePair(ctx, c, p)})
	decideLinks(ctx, o)

	w := o.works[0]
	comesLater := false // what is edited is not edited as well
	if isEdited {
		comesLater = w.row.Sign == Ahead || w.row.Sign == Behind && len(w.links) > 0
		w.dropLinks()
	}
	switch {
	case w.row.Err != nil:
		return &w.job
	case comesLater:
		w.job.draft = nil
		w.row.Sign = Behind
		w.row.tell("there is more in it than in another conflict file: merge --conflicts again")
		return &w.job
	case why == "" && !w.writes() && lacksSomething:
		why = "the conflict file stays: the chat lacks a text or a value of it"
	}

	removing(&w.job, c, p, why)
	v.note(w)
	return &w.job
}

// note notes what the chat has, or which one comes, once a conflict file is merged: the next is compared with that.
func (v *versions) note(w *work) {
	c, p := w.from, w.into
	if w.row.Sign == Ahead {
		v.edited = true
	}
	if w.takesLines() {
		p.prints = c.prints
		p.messages = c.messages
		return
	}

	if w.row.To != nil {
		comes := &file{name: w.name, key: names.FoldNFC(w.name), path: *w.row.To, header: c.header, prints: c.prints, comes: true}
		v.ours.files = append(v.ours.files, comes)
	}
}

// brought returns a chat beside p that has all of a version of it: another version that comes there, or this one, which
// an earlier run has brought and something keeps. nil: there is none.
func (o *owner) brought(ctx context.Context, c, p *file) *file {
	for _, f := range o.ours.files {
		if f == p || !strings.HasPrefix(f.key, p.key) {
			continue
		}
		if o.holds(ctx, f, c) {
			return f
		}
	}
	return nil
}

// removing adds to a job that the conflict file goes, once the chat that has all of it is there. why says why it stays;
// "": it need not.
func removing(j *job, c, in *file, why string) {
	if why != "" {
		j.row.tell(why)
		return
	}
	draft := j.draft
	j.needs = append(j.needs, in.path)
	j.draft = func(ctx context.Context, s *changeset.Set) error {
		s.Rely(in.path, in.stamp)
		if draft != nil {
			if err := draft(ctx, s); err != nil {
				return err
			}
		}
		return s.Remove(c.path, c.stamp, "a conflict file that is merged")
	}
}

// renamed gives a conflict file the name of the chat that is not there.
func renamed(c *file, path string, versions int) *job {
	j := newJob(SoloChat, c.path, path)
	j.row.Sign, j.row.OwnFrom = New, c.messages
	j.creates(path, func(_ context.Context, s *changeset.Set) error {
		return s.Move(c.path, path, c.stamp, "the chat's own name")
	})
	j.row.tell("there is no other version: it gets that name")
	if versions > 1 {
		j.row.tell("there are other versions of it: merge --conflicts again")
	}
	if c.err != nil {
		j.row.refuse(c.err)
	}
	return j
}

// needed returns why a conflict file stays: something names it. "" if nothing does.
func needed(g *family.Graph, name string) string {
	c := g.Find(name) // nil: it cannot be read, and nothing is found to name it
	for _, ref := range g.ReferencesTo(func(other *family.Chat) bool { return other == c })[c] {
		if ref.From != c {
			return fmt.Sprintf("the conflict file stays: %s in %s names it", ref.Kind.Key(), ref.Path)
		}
	}
	return ""
}

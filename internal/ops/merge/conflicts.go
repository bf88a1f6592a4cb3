package merge

import (
	"cmp"
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
type version struct{ of, label string }

// versionsIn returns the conflict files among the chats of a folder by their names, and how the chats are
// related if there are any, or if that had to be known to tell.
func versionsIn(ctx context.Context, lib *library.Library, folder *library.Folder) (found map[string]version, g *family.Graph, err error) {
	found = map[string]version{}
	unsure := false
	for _, name := range folder.Chats {
		of, label, ok := names.ConflictOf(name)
		if ok {
			found[name] = version{of, label}
			continue
		}
		unsure = unsure || slices.ContainsFunc(names.MayBeConflictOf(name), folder.Has)
	}
	if len(found) == 0 && !unsure {
		return nil, nil, nil
	}
	graphs, err := family.Read(ctx, lib, []string{folder.Path}, family.Options{})
	if err != nil {
		return nil, nil, ops.PathError(err)
	}
	g = graphs[0]
	for _, sharing := range sharingSlugs(g) {
		of, ok := names.ConflictsAmong(sharing)
		for _, name := range sharing {
			if _, known := found[name]; ok && name != of && !known {
				found[name] = version{of, "conflict"}
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
		found, g, err := versionsIn(ctx, lib, folder)
		if err != nil {
			return err
		}
		versions := map[string][]string{} // by the chat's name, as it is compared
		for _, name := range slices.Sorted(maps.Keys(found)) {
			of := names.FoldNFC(found[name].of)
			versions[of] = append(versions[of], name)
		}
		for _, of := range slices.Sorted(maps.Keys(versions)) {
			some, err := opt.conflict(ctx, lib, g, path, found, versions[of])
			if err != nil {
				return err
			}
			jobs = append(jobs, some...)
		}
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

// conflict merges the conflict files of one chat, the longest first: if INTO's chat gets its lines,
// the others are compared with these. found are all conflict files in the folder.
func (opt *Options) conflict(ctx context.Context, lib *library.Library, g *family.Graph, folder string, found map[string]version, versions []string) (jobs []*job, err error) {
	seed, given := message.NewSeed(), map[string]bool{}
	ours, err := openSide(lib, folder, func(s string) bool { return found[s] == version{} })
	theirs, errTheirs := openSide(lib, folder, func(s string) bool { return slices.Contains(versions, s) })
	if err := cmp.Or(err, errTheirs); err != nil {
		return nil, err
	}
	for _, c := range theirs.files {
		c.read(ctx, seed)
	}
	slices.SortStableFunc(theirs.files, func(a, b *file) int { return len(b.prints) - len(a.prints) })
	edited := false // the chat gets the lines of one
	for _, c := range theirs.files {
		why := needed(g, c.name)
		of, label := found[c.name].of, found[c.name].label
		c.name, c.key = of, names.FoldNFC(of) // it is a version of that chat
		o := &owner{opt: opt, label: label, seed: seed, inFolder: newInFolder(), given: given, ours: ours, theirs: &side{lib, theirs.folder, []*file{c}}}
		o.group = listing(lib, ours.folder, of)
		named := exactFirst(byName(ours.files)[c.key], of)
		if len(named) == 0 {
			return append(jobs, renamed(c, filepath.Join(folder, of+names.Extension), len(versions))), nil
		}
		p := named[0]
		p.read(ctx, seed)

		again := edited
		r := relateFiles(c, p, judging{})
		lacksSomething := r.keptFrom > 0
		if !r.holds() {
			if branch := o.brought(ctx, c, p); branch != nil {
				p = branch
				again = false
				lacksSomething = false
			}
		}
		if err := o.mergePair(ctx, c, p); err != nil {
			return nil, err
		}
		finish(ctx, o)

		w := o.works[0]
		jobs = append(jobs, &w.job)
		if again { // what is edited is not edited as well
			again = w.row.Sign == Ahead || w.row.Sign == Behind && len(w.links) > 0
			w.dropLinks()
		}
		switch {
		case w.row.Err != nil:
			continue
		case again:
			w.job.draft = nil
			w.row.Sign = Behind
			w.row.tell("there is more in it than in another conflict file: merge --conflicts again")
			continue
		case why == "" && !w.writes() && lacksSomething:
			why = "the conflict file stays: the chat lacks a text or a value of it"
		}
		removing(&w.job, c, p, why)

		edited = edited || w.row.Sign == Ahead
		if w.takesLines() {
			p.prints, p.messages = c.prints, c.messages
		} else if w.row.To != nil {
			ours.files = append(ours.files, &file{name: w.name, key: names.FoldNFC(w.name), path: *w.row.To, header: c.header, prints: c.prints, comes: true})
		}
	}
	return jobs, nil
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

// holds reports whether a chat has all that another one says, values included.
func (o *owner) holds(ctx context.Context, f, c *file) bool {
	c.read(ctx, o.seed)
	f.read(ctx, o.seed)
	if f.err != nil {
		return false
	}
	r := relateFiles(c, f, judging{})
	return r.isWhollyHere()
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

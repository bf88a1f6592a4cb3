package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/group"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// user is two user folders that are merged.
type user struct {
	opt        *Options
	lib        *library.Library
	references *references
	cards      []*job
	stems      map[string]string          // the folder of a character's chats in INTO by that in FROM
	owners     map[string]*owner          // by the folder in FROM
	given      map[string]map[string]bool // by folder of INTO: folded names that come
	r          *Result
}

// user merges a user folder into another: lorebooks, attachments, cards, groups and chats.
func (r *Result) user(ctx context.Context, opt *Options) error {
	into, err := userdir.Open(opt.Into)
	if err != nil {
		return err
	}
	from, err := userdir.Open(opt.From)
	if err != nil {
		return err
	}
	u := &user{opt: opt, lib: new(library.Library), stems: map[string]string{}, owners: map[string]*owner{}, given: map[string]map[string]bool{}, r: r}
	for _, dir := range []userdir.Dir{into, from} {
		if err := ops.InFiles(u.lib, dir, dir.Root); err != nil {
			return err
		}
	}
	if opt.Base != "" {
		if _, err := userdir.Open(opt.Base); err != nil {
			return err
		}
	}
	u.references = &references{into: into, from: from, wanted: opt.wanted, books: map[string]*book{}, files: map[string]*attachment{}, stems: u.stems}
	return u.merge(ctx)
}

// merge settles lorebooks and cards, then each owner's chats.
func (u *user) merge(ctx context.Context) error {
	if err := u.references.readBooks(); err != nil {
		return err
	}
	if err := u.readCards(); err != nil {
		return err
	}
	for stem, to := range u.stems {
		u.references.renames = u.references.renames || stem != to
	}
	solo, err := u.solo(ctx)
	if err != nil {
		return err
	}
	groups, err := u.groups(ctx)
	if err != nil {
		return err
	}
	u.references.planned = true
	u.r.root = userdir.RealPath(u.references.into.Root)
	u.r.Doc.Left = leftOut(func(name string) bool {
		_, err := os.Stat(filepath.Join(u.references.from.Root, name))
		return err == nil
	})
	u.r.run(ctx, u.opt, slices.Concat(u.references.jobs, u.cards, solo, groups))
	return nil
}

// wanted reports whether a path in FROM, with slashes, or a folder that it is in, is meant.
func (opt *Options) wanted(place string) bool {
	if len(opt.Only) == 0 {
		return true
	}
	for ; place != "." && place != "/"; place = path.Dir(place) {
		if slices.ContainsFunc(opt.Only, func(glob string) bool { ok, _ := path.Match(strings.TrimSuffix(glob, "/"), place); return ok }) {
			return true
		}
	}
	return false
}

// solo merges the chats of characters.
func (u *user) solo(ctx context.Context) (jobs []*job, err error) {
	folders, err := safefile.ReadDir(u.references.from.Chats())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, ops.PathError(err)
	}
	for _, e := range folders {
		if !e.IsDir() {
			continue
		}
		stem, ok := u.stems[e.Name()]
		if !ok {
			if stem = u.opt.Owners[e.Name()]; stem == "" {
				stem = e.Name()
			}
		}
		theirs := filepath.Join(u.references.from.Chats(), e.Name())
		o, err := u.owner(ctx, filepath.Join(u.references.into.Chats(), stem), theirs, everything, func(name string) bool { return u.opt.wanted("chats/" + e.Name() + "/" + name + ".jsonl") })
		if err != nil {
			return nil, err
		}
		u.owners[e.Name()] = o
		if err := o.mergeAll(ctx); err != nil {
			return nil, err
		}
		jobs = append(jobs, o.jobs()...)
	}
	return jobs, nil
}

// owner opens the chats of an owner on both sides.
func (u *user) owner(ctx context.Context, into, from string, here, there func(name string) bool) (*owner, error) {
	opt := *u.opt
	if opt.Base != "" { // a user folder, too
		rel, err := filepath.Rel(u.references.from.Root, from)
		if err != nil {
			return nil, err
		}
		opt.Base = filepath.Join(opt.Base, rel)
		if _, err := os.Stat(opt.Base); errors.Is(err, fs.ErrNotExist) {
			opt.Base = ""
		}
	}
	o, err := opt.owner(ctx, u.lib, into, from, here, there)
	if err != nil {
		return nil, err
	}
	if u.given[into] == nil {
		u.given[into] = map[string]bool{}
	}
	o.references, o.given = u.references, u.given[into]
	return o, nil
}

// groups merges the chats of groups, which are the same by their file's name.
func (u *user) groups(ctx context.Context) (jobs []*job, err error) {
	theirs, err := u.lib.In(u.references.from)
	if err != nil {
		return nil, ops.PathError(err)
	}
	ours, err := u.lib.In(u.references.into)
	if err != nil {
		return nil, ops.PathError(err)
	}
	if _, err := os.Stat(u.references.from.GroupChats()); err != nil {
		return nil, nil
	}
	for _, bad := range theirs.Bad {
		j := newJob(GroupKind, u.references.from.Groups(), u.references.into.Groups())
		j.row.refuse(bad)
		jobs = append(jobs, j)
	}
	merge := func(own *job, here, there *group.File) (*owner, error) {
		is := func(g *group.File, set *group.Set) func(string) bool {
			return func(name string) bool {
				return g != nil && g.Lists(name) || g == nil && own == nil && len(set.Listing(name)) == 0
			}
		}
		listed := is(there, theirs)
		o, err := u.owner(ctx, u.references.into.GroupChats(), u.references.from.GroupChats(), is(here, ours), func(name string) bool { return listed(name) && u.opt.wanted("group chats/"+name+".jsonl") })
		if err != nil {
			return nil, err
		}
		o.group = here
		return o, o.mergeAll(ctx)
	}
	for _, there := range theirs.Files {
		own := newJob(GroupKind, there.Path, filepath.Join(u.references.into.Groups(), filepath.Base(there.Path)))
		var here *group.File
		if i := slices.IndexFunc(ours.Files, func(g *group.File) bool { return filepath.Base(g.Path) == filepath.Base(there.Path) }); i >= 0 {
			here = ours.Files[i]
		}
		o, err := merge(own, here, there)
		if err != nil {
			return nil, err
		}
		if here != nil {
			own.row.Sign = Same
			if !bytes.Equal(here.Raw(), there.Raw()) {
				own.row.Sign = Behind
				if keys := groupsDiffer(here, there); len(keys) > 0 {
					own.row.tell("the groups differ; INTO's stays but for its list of chats: " + keysTold(keys))
				}
			}
		} else {
			u.createGroup(own, o, there)
		}
		if u.opt.wanted("groups/"+filepath.Base(there.Path)) || own.draft != nil && len(o.works) > 0 {
			jobs = append(jobs, own)
		}
		jobs = append(jobs, o.jobs()...)
	}
	o, err := merge(nil, nil, nil)
	if err != nil {
		return nil, err
	}
	for _, w := range o.works {
		if w.isNew() {
			w.row.tell("no group of FROM lists it")
		}
	}
	return append(jobs, o.jobs()...), nil
}

// groupsDiffer returns the keys of a group's file that differ, apart from chats.
func groupsDiffer(here, there *group.File) []string {
	a, errA := rawjson.ParseObject(here.Raw())
	b, errB := rawjson.ParseObject(there.Raw())
	if errA != nil || errB != nil {
		return nil
	}
	return differing(a, b, true, "chats", "date_last_chat")
}

// createGroup drafts a group that INTO lacks, with the names of INTO.
func (u *user) createGroup(j *job, o *owner, there *group.File) {
	j.row.Sign, j.row.To = New, &j.path
	j.draft = func(_ context.Context, s *changeset.Set) error {
		data, err := there.WithNames(func(name string) (string, bool) { return o.now(name), true }, "")
		if err != nil {
			return err
		}
		data = rawjson.Edit(data, func(g *rawjson.Object) {
			for _, key := range []string{"members", "disabled_members"} {
				g.EditList(key, func(_ int, raw []byte) ([]byte, bool) {
					member, _ := rawjson.Unquote(raw)
					stem := strings.TrimSuffix(member, userdir.CardExtension)
					if to, ok := u.stems[stem]; ok && to != stem {
						raw = rawjson.Quote(to + userdir.CardExtension)
					}
					return raw, true
				})
			}
		})
		return ops.Create(s, j.path, fmt.Sprintf("the group %q", there.Name), data, changeset.InFolder())
	}
	for _, w := range o.works {
		w.needs = append(w.needs, j.path)
	}
}

// leftOut returns what FROM has and is never merged; has says whether something is in its user
// folder.
func leftOut(has func(name string) bool) []string {
	found := []string{}
	for _, never := range []struct {
		what string
		at   []string
	}{
		{"settings, personas, tags", []string{"settings.json"}},
		{"secrets", []string{"secrets.json"}},
		{"presets", []string{"OpenAI Settings", "TextGen Settings", "KoboldAI Settings", "NovelAI Settings", "instruct", "context", "sysprompt", "QuickReplies"}},
		{"vectors", []string{"vectors"}},
		{"extensions", []string{"extensions"}},
		{"backups", []string{"backups"}},
	} {
		if slices.ContainsFunc(never.at, has) {
			found = append(found, strings.Split(never.what, ", ")...)
		}
	}
	return found
}

package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/chat"
	"stchat/internal/group"
	"stchat/internal/luker"
	"stchat/internal/names"
	"stchat/internal/userdir"
)

// folder is what is known of the names in a folder.
type folder struct {
	taken map[string]bool // folded names of its chats, and of those to come
	given map[string]bool // those to come
	luker []string        // file names of Luker sidecars
	chats int
}

// folderOf reads a folder's names once a call, by whatever path it is reached.
func (c *cut) folderOf(dir string) (*folder, error) {
	if f := c.folders[dir]; f != nil {
		return f, nil
	}
	real := realPath(dir)
	f := c.folders[real]
	if f == nil {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		f = &folder{taken: map[string]bool{}, given: map[string]bool{}}
		for _, e := range entries {
			if name, ok := cutSuffixFold(e.Name(), ".jsonl"); ok {
				f.taken[names.Fold(name)] = true
				f.chats++
			}
			if e.Type().IsRegular() && luker.IsSidecar(e.Name()) {
				f.luker = append(f.luker, e.Name())
			}
		}
	}
	c.folders[dir], c.folders[real] = f, f
	return f, nil
}

// cutSuffixFold cuts an ASCII suffix in any letter case: on a disk that
// ignores case, X.JSONL is in the way of X.jsonl.
func cutSuffixFold(s, suffix string) (string, bool) {
	n := len(s) - len(suffix)
	if n < 0 || !strings.EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}

// plan gives every source the name of its new chat, in the order of the
// sources, before any work starts: so the names do not depend on which source
// is done first.
func (c *cut) plan(ctx context.Context) {
	if c.nameNeedsAt() {
		each(ctx, len(c.jobs), func(i int) {
			j := c.jobs[i]
			j.fail(j.count(ctx))
		})
	}
	for _, j := range c.jobs {
		if j.res.Err == nil {
			j.fail(j.place())
		}
		if j.res.Err == nil && c.clones() {
			j.fail(j.nameClone(ctx))
		}
	}
}

// nameNeedsAt tells whether the names hold the index of the last message, and
// that index must be counted.
func (c *cut) nameNeedsAt() bool {
	timed := c.Style == names.Suffix || c.Style == names.Classic
	return c.At < 0 && c.Output == "" && c.Name == "" && c.Kind == names.Branch && timed
}

func (j *cutJob) fail(err error) {
	switch {
	case err == nil:
	case j.res.Err == nil:
		j.res.Err = err
	default:
		j.res.More = append(j.res.More, err)
	}
}

// place decides what the new chat is called and where it goes.
func (j *cutJob) place() error {
	if j.path != chat.Stdin {
		info, err := os.Stat(j.path)
		if err != nil {
			return pathError(err)
		}
		if !info.Mode().IsRegular() {
			f, err := chat.OpenRegular(j.path) // it knows what to say
			if err == nil {
				_ = f.Close()
				err = fmt.Errorf("%s: %w", j.path, chat.ErrNotRegular)
			}
			return err
		}
		j.Meter.Expect(1, info.Size())
	}
	if j.Output != "" {
		return j.placeOutput()
	}
	return j.placeBeside()
}

// placeOutput takes the path that was asked for.
func (j *cutJob) placeOutput() error {
	j.target, j.res.Path = j.Output, j.Output
	if j.Output == Stdout {
		j.name = names.Name{File: j.Name, Label: j.Name}
		return nil
	}
	name := userdir.ChatName(j.Output)
	j.name = names.Name{File: name, Label: cmp.Or(j.Name, name)}
	j.res.Name = &j.name.File
	if !names.Safe(filepath.Base(j.Output)) {
		j.res.warn("%s: SillyTavern cannot open a chat of this name: it takes some of it out first", j.Output)
	}
	if j.path == chat.Stdin {
		return nil
	}
	if err := j.notTheSource(j.Output); err != nil {
		return err
	}
	beside, err := sameFolder(filepath.Dir(j.path), filepath.Dir(j.Output))
	j.beside = beside
	return pathError(err)
}

// placeBeside derives the name (SPEC.md 2.1).
func (j *cutJob) placeBeside() error {
	dir := filepath.Dir(j.path)
	f, err := j.folderOf(dir)
	if err != nil {
		return pathError(err)
	}
	j.beside = true
	groups := j.listing()
	source := userdir.ChatName(j.path)
	listed := map[string]bool{}
	for _, g := range groups {
		for _, name := range g.Chats {
			listed[names.Fold(name)] = true
		}
	}
	count := f.chats
	if len(groups) > 0 {
		count = len(groups[0].Chats) // the new name goes to this one
	}
	r := names.Request{
		Kind: j.Kind, Style: j.Style, Chat: source, Name: j.Name, At: j.at, Now: j.Now, Chats: count,
		Taken: func(name string) bool {
			folded := names.Fold(name)
			return f.taken[folded] || listed[folded]
		},
	}
	if r.At < 0 {
		r.At = j.At
	}
	if len(luker.Among(f.luker, dir, source)) > 0 {
		r.Max = names.MaxLuker
	}
	name, err := names.Make(r)
	prefix, _ := filepath.Split(j.path)
	target := prefix + name.File + ".jsonl"
	folded := names.Fold(name.File)
	taken := errors.Is(err, names.ErrTaken)
	again := taken && j.Force && !f.given[folded] && called(name.File, target, groups)
	switch {
	case taken && f.given[folded]:
		return fmt.Errorf("%s: %q: an earlier CHAT of this call has this name already; choose another name or --naming", j.path, name.File)
	case err != nil && !again:
		return fmt.Errorf("%s: %w", j.path, err)
	}
	j.name, j.target = name, target
	j.res.Path, j.res.Name = j.target, &j.name.File
	if again {
		// a name that is free cannot be a source's
		if err := j.notTheSource(j.target); err != nil {
			return err
		}
	}
	f.taken[folded], f.given[folded] = true, true
	f.chats++
	return nil
}

// called tells whether a chat of just this name is there, or is listed by a
// group: one that differs in letter case is another chat, beside which a disk
// that ignores case could not hold this one.
func called(name, target string, groups []*group.File) bool {
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		return true // trouble, too: whoever takes the name meets it again and says so
	}
	return slices.ContainsFunc(groups, func(g *group.File) bool { return slices.Contains(g.Chats, name) })
}

// listing gives the groups that list the source.
func (j *cutJob) listing() []*group.File {
	if kind, _ := userdir.KindOf(j.path); kind != userdir.Group {
		return nil
	}
	dir, ok := userdir.Find(j.path)
	if j.Data != "" {
		var err error
		if dir, err = userdir.Open(j.Data); err != nil {
			return nil // opening the chat says so
		}
	} else if !ok {
		return nil
	}
	set, err := j.groups.In(dir)
	if err != nil {
		return nil // as above
	}
	return set.Listing(userdir.ChatName(j.path))
}

// notTheSource refuses a target that is one of the sources, by whatever path,
// link or letter case.
func (j *cutJob) notTheSource(target string) error {
	info, _ := os.Stat(target)
	folded := names.Fold(realPath(target))
	for i, source := range j.sources() {
		if source.folded == folded || info != nil && source.info != nil && os.SameFile(source.info, info) {
			return fmt.Errorf("%s: the output is the source %s itself; choose another name", target, j.Sources[i])
		}
	}
	return nil
}

// sourceID is what tells whether another path is the same source.
type sourceID struct {
	folded string // its real path
	info   fs.FileInfo
}

// sources identifies the sources once a call.
func (c *cut) sources() []sourceID {
	if c.ids == nil {
		c.ids = make([]sourceID, len(c.Sources))
		for i, source := range c.Sources {
			if source != chat.Stdin {
				info, _ := os.Stat(source)
				c.ids[i] = sourceID{names.Fold(realPath(source)), info}
			}
		}
	}
	return c.ids
}

// removeStale clears what runs that died have left in the folders that this
// one writes to.
func (c *cut) removeStale() {
	if c.DryRun {
		return
	}
	swept := sweeper{}
	for _, j := range c.jobs {
		if j.res.Err != nil || j.target == Stdout {
			continue
		}
		swept.beside(j.target)
		if c.Link {
			swept.beside(j.path)
		}
		if j.book != nil {
			swept.beside(j.book.path)
		}
		if c.NoGroup || !j.beside {
			continue
		}
		for _, g := range j.listing() {
			swept.beside(g.Path)
		}
	}
}

package changeset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"stchat/internal/change/safefile"
)

// state is what a record did to one file.
type state struct {
	path, about   string
	before, after *safefile.Ident // nil: no file
	kept          string          // the name of the old content in .stchat
	moved         *state          // where it was moved to
	came          *state          // where it was moved from
	folders       int             // how many of the folders above it came, or went, with it
	between       bool            // somebody changed it between two sets of the record
}

// states returns what all sets of a record together did to each file.
func states(r *root, sets []*journal, loose bool) (list []*state) {
	byPath := map[string]*state{}
	for _, j := range sets {
		for _, c := range changesOf(r, j.Steps) {
			if c.Left {
				continue
			}
			s := byPath[c.name]
			if s == nil {
				s = &state{path: c.name, about: c.About, before: c.before}
				byPath[c.name] = s
				list = append(list, s)
			} else if !isLeft(c.before, s.after, loose) {
				s.between = true
			}

			s.after = c.after
			s.kept = cmp.Or(s.kept, c.Kept)
			s.folders = cmp.Or(s.folders, c.Folders)

			losesName := c.To != "" && c.after == nil
			if !losesName {
				continue
			}
			s.moved = byPath[c.To]
			if s.moved != nil {
				s.moved.came = s
			}
		}
	}
	return list
}

// isLeft reports whether a file that a set found is the one that an earlier set left there.
func isLeft(found, left *safefile.Ident, loose bool) bool {
	switch {
	case found == nil || left == nil:
		return found == left
	case found.Hash != "" && left.Hash != "":
		return found.Hash == left.Hash
	}
	a, b := *found, *left
	a.Hash, b.Hash = "", ""
	return sameIdent(a, b, loose)
}

// inverse drafts what takes a record back.
type inverse struct {
	*Undoing
	set *Set
	judge
	went map[string]bool // folders that went with the last of their files
}

// reversible returns the files that can be taken back, and notes those that stay. Files that somebody has
// changed since are a [*SinceError], but with force they stay. What is assumed of a file counts, whatever
// stands there.
func (i inverse) reversible(ctx context.Context, as *Assumed) ([]*state, error) {
	root := i.set.root
	var changed []string
	var todo []*state
	for _, st := range states(root, i.Record.sets, i.loose) {
		path := root.show(st.path)
		for n, dir := 0, filepath.Dir(path); n < st.folders; n, dir = n+1, filepath.Dir(dir) {
			i.went[dir] = true
		}
		if i.Since != nil {
			since := i.Since(path, st.about)
			gone := func(path string) bool { return as.isGone(root, path) }
			changed = append(changed, slices.DeleteFunc(since, gone)...)
		}

		if st.before == nil && st.after == nil {
			continue
		}
		stands, err := i.standsAs(ctx, st, as)
		switch {
		case st.between, st.changedWhenMoved():
			changed = append(changed, path)
		case stands:
			todo = append(todo, st)
		case err != nil && !i.force:
			return nil, fmt.Errorf("%s: %w", path, err)
		default:
			changed = append(changed, path)
		}
	}

	if len(changed) > 0 && !i.force {
		return nil, &SinceError{ID: i.Record.ID, Files: changed}
	}
	i.Left = changed
	i.Needed = nil
	todo = slices.DeleteFunc(todo, func(st *state) bool {
		path := root.show(st.path)
		stays := st.before == nil && st.came == nil && i.Needs != nil && i.Needs(ctx, path, changed)
		if stays {
			i.Needed = append(i.Needed, path)
		}
		return stays
	})

	var whole []*state // without those of which the other half of a move has been changed
	for _, st := range todo {
		if st.moved != nil && !slices.Contains(todo, st.moved) {
			i.Left = append(i.Left, root.show(st.path))
			continue
		}
		whole = append(whole, st)
	}
	return whole, nil
}

// changedWhenMoved reports whether a file was moved to a name under which it is another now: no command
// changes what it moves.
func (st *state) changedWhenMoved() bool {
	to := st.moved
	return to != nil && (to.after == nil || *to.after != *st.before)
}

// standsAs reports whether a file is as the record left it, or is assumed to be. A file that was only
// saved again since is, too. The error is that it cannot be read.
func (i inverse) standsAs(ctx context.Context, st *state, as *Assumed) (bool, error) {
	if holds, ok := as.identOf(st.path); ok {
		return isLeft(holds, st.after, i.loose), nil
	}
	stands, err := i.stands(st)
	if stands || err != nil {
		return stands, err
	}
	return st.before == nil && i.savedAgain(ctx, st), nil
}

// stands reports whether a file is as the record left it. A file listed under another
// spelling of the name counts as absent. The error is that it cannot be read.
func (i inverse) stands(st *state) (bool, error) {
	path := i.set.root.at(st.path)
	if st.after == nil && st.moved != nil && sameButCase(i.set.root.at(st.moved.path), path) {
		return true, nil
	}
	if st.after != nil && st.before != nil {
		path = realOf(path)
	}
	return i.unchanged(path, st.after)
}

// unchanged reports whether the file at path is as the record knows it; a nil id means that there is
// none. The content decides, if its hash was recorded: another inode or time does not make it
// another file, and the same ones prove nothing, since a file system gives an inode again and a
// coarse clock a time. Of a file that is too large for that, inode and size decide, and its new
// content is kept by the undo. The error is that the file cannot be read.
func (i inverse) unchanged(path string, id *safefile.Ident) (bool, error) {
	if id == nil {
		return absent(path), nil
	}
	now, err := safefile.IdentOf(path, hashedIf(id.Hash != ""))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, safefile.ErrNotRegular), errors.Is(err, syscall.ENOTDIR):
		return false, nil
	case err != nil:
		return false, err
	case id.Hash != "":
		return now.Hash == id.Hash, nil
	}

	same := sameIdent(now, *id, i.loose)
	if !same && !i.loose && id.Size > hashed {
		same = now.Ino == id.Ino && now.Size == id.Size
	}
	return same, nil
}

// savedAgain reports whether a file that the record created was only saved again since, and takes
// it for the one that the record created.
func (i inverse) savedAgain(ctx context.Context, st *state) bool {
	path := i.set.root.at(st.path)
	now, err := safefile.IdentOf(path, -1)
	if err != nil || i.SavedAgain == nil || !i.SavedAgain(ctx, path) {
		return false
	}
	st.after = &now
	return true
}

// stamp returns the stamp of a file that is as the record left it. It is taken before the
// file is judged, so that a save in between is noticed.
func (i inverse) stamp(path string, id *safefile.Ident) (safefile.Stamp, error) {
	was, err := safefile.StampPath(path)
	if err != nil {
		return was, err
	}
	same, err := i.unchanged(realOf(path), id)
	if err == nil && !same {
		err = fmt.Errorf("%s: %w", path, safefile.ErrChanged)
	}
	return was, err
}

// invert drafts what restores one file.
func (i inverse) invert(st *state) error {
	path := i.set.root.show(st.path)
	if st.came != nil {
		return nil // undoing the move at the old name restores both
	}
	var was safefile.Stamp
	if st.after != nil {
		var err error
		was, err = i.stamp(path, st.after)
		if err != nil {
			return err
		}
	}

	switch {
	case st.before == nil:
		err := i.set.Remove(path, was, st.about)
		if err == nil {
			i.set.plans[len(i.set.plans)-1].folders = st.folders
		}
		return err
	case st.moved != nil:
		from := i.set.root.show(st.moved.path)
		now, err := i.stamp(from, st.moved.after)
		if err != nil {
			return err
		}
		return i.set.Move(from, path, now, st.about)
	}

	kept := i.set.root.own(st.kept)
	if !i.isKept(kept, st.before) {
		return &LostError{path, kept}
	}
	return i.restore(path, was, kept, st)
}

// restore drafts an old file under its old name, unchanged, or with what is kept in it. A file that holds all
// of that already stays as it is.
func (i inverse) restore(path string, was safefile.Stamp, source string, st *state) error {
	step := Step{Do: Create, Path: path, About: st.about, Bytes: st.before.Size}
	check := free
	if st.after != nil {
		step.Do, check = Replace, i.set.edits
	}
	if err := check(path); err != nil {
		return err
	}
	var edit func([]byte) ([]byte, error)
	if step.Do == Replace && i.Keep != nil && len(i.Left) > 0 {
		edit = i.Keep(path, i.Left)
	}
	if edit != nil {
		old, err := safefile.ReadPlain(source, hashed)
		if err == nil {
			old, err = edit(old)
		}
		if err != nil {
			return err
		}
		now, err := safefile.ReadPlain(realOf(path), hashed)
		if err != nil {
			return err
		}
		if bytes.Equal(old, now) {
			i.Needed = append(i.Needed, path)
			return nil
		}
		d, err := i.set.Replace(path, was, st.about)
		if err == nil {
			_, err = d.Write(old)
		}
		return err
	}

	target := realOf(path)
	folders := 0
	creatable := target
	if i.went[filepath.Dir(path)] {
		var err error
		folders, creatable, err = makeFolder(target, i.set.opt)
		if err != nil {
			return err
		}
	}

	d, err := i.again(source, creatable)
	if err != nil {
		return err
	}
	i.set.plans = append(i.set.plans, &plan{Step: step, real: target, was: was, draft: d, folders: folders})
	return nil
}

// again drafts a file that exists: as a link beside its target, otherwise as a copy. A large
// kept file is its own draft where there are no links.
func (i inverse) again(source, target string) (*Draft, error) {
	info, err := safefile.StampPath(source)
	if err != nil {
		return nil, err
	}
	d := &Draft{size: info.Size()}
	if i.set.opt.DryRun {
		return d, safefile.CanCreate(target)
	}
	disk := i.set.opt.system()
	d.path, d.disk = filepath.Join(filepath.Dir(target), safefile.TempName()), disk
	if disk.Link(source, d.path) == nil {
		return d, nil
	}
	if d.size > copied && isKept(filepath.Base(source)) && sameDisk(source, target) {
		d.path = source
		return d, nil
	}
	return d, copyFile(disk, !i.set.opt.NoSync, source, d.path)
}

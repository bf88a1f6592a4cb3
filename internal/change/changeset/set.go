package changeset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stchat/internal/change/safefile"
)

// ErrOtherRoot means that one set would edit files of two roots, which no journal and no
// undo could keep together.
var ErrOtherRoot = errors.New("is in another folder than the rest of what is changed together")

// Set is what one unit does to one root, a user folder or else the chat's own folder.
// Outside the root it only creates. It is for one goroutine.
type Set struct {
	opt    Options
	root   *root
	plans  []*plan
	relied []reliance
	// undoing is set when a record is taken back: then files outside the root, which it
	// created, may be removed.
	undoing bool
}

// reliance is a file that the unit relied on.
type reliance struct {
	unit int
	path string
	was  safefile.Stamp
}

// Create drafts a new file. Its name must be free now and at the commit; otherwise the
// error is a [*safefile.ExistsError].
func (s *Set) Create(path, about string, how ...DraftOption) (*Draft, error) {
	if err := free(path); err != nil {
		return nil, err
	}
	return s.draft(&plan{Step: Step{Do: Create, Path: path, About: about}, real: s.root.real.Path(path)}, how)
}

// Replace drafts the replacement of a file, which must still have the stamp was at the
// commit.
func (s *Set) Replace(path string, was safefile.Stamp, about string, how ...DraftOption) (*Draft, error) {
	if err := s.edits(path); err != nil {
		return nil, err
	}
	return s.draft(&plan{Step: Step{Do: Replace, Path: path, About: about}, real: s.root.real.Path(path), was: was}, how)
}

// Drop takes back a draft that turned out to change nothing.
func (s *Set) Drop(d *Draft) {
	d.discard()
	s.plans = slices.DeleteFunc(s.plans, func(p *plan) bool { return p.draft == d })
}

// Edit changes an existing file. With the zero stamp the edit is made to whatever the file
// holds at the commit; otherwise the file must still have the stamp was.
func (s *Set) Edit(path string, was safefile.Stamp, e Edit, about string) error {
	if err := s.edits(path); err != nil {
		return err
	}
	s.plans = append(s.plans, &plan{
		Step: Step{Do: Replace, Path: path, About: about}, real: s.root.real.Path(path),
		was: was, edit: e, byMeaning: was == safefile.Stamp{},
	})
	return nil
}

// Move gives a file another name, in any folder of the same disk.
func (s *Set) Move(from, to string, was safefile.Stamp, about string) error {
	if err := s.goes(from); err != nil {
		return err
	}
	real, dest := s.root.real.Path(from), realName(to)
	if !sameButCase(real, dest) {
		if err := free(to); err != nil {
			return err
		}
	}
	if err := cmp.Or(s.inside(to), safefile.CanCreate(to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // a folder that is not there may be made by another step
	}
	s.plans = append(s.plans, &plan{Step: Step{Do: Move, Path: from, To: to, About: about, Bytes: was.Size()}, real: real, to: dest, was: was})
	return nil
}

// Remove removes a file; it is kept for undo.
func (s *Set) Remove(path string, was safefile.Stamp, about string) error {
	if err := s.goes(path); err != nil {
		return err
	}
	s.plans = append(s.plans, &plan{Step: Step{Do: Remove, Path: path, About: about, Bytes: was.Size()}, real: s.root.real.Path(path), was: was})
	return nil
}

// Rely notes that the unit relied on the file at path: the set is not committed if the
// file no longer has the stamp was. The zero stamp means that there was no file.
func (s *Set) Rely(path string, was safefile.Stamp) {
	s.relied = append(s.relied, reliance{path: path, was: was})
}

func (s *Set) draft(p *plan, how []DraftOption) (*Draft, error) {
	var o draftOptions
	for _, h := range how {
		h(&o)
	}
	target := p.Path
	if o.folder {
		var err error
		p.folders, target, err = makeFolder(target, s.opt)
		if err != nil {
			return nil, err
		}
	}

	if !s.opt.DryRun {
		s.root.sweep(filepath.Dir(p.real))
	}
	d, err := newDraft(target, s.root.self, s.opt, o)
	if err != nil {
		return nil, err
	}
	p.draft = d
	s.plans = append(s.plans, p)
	return d, nil
}

// hash finds the hashes of the files that go or are replaced. That is slow, so it is not left
// for the commit, which keeps other runs out. A file that cannot be read is reported there.
func (s *Set) hash() {
	for _, p := range s.plans {
		if p.Do == Create || p.edit != nil {
			continue
		}
		most := int64(hashedKept)
		if p.Do == Move {
			most = hashed
		}
		if id, err := safefile.IdentOf(p.real, most); err == nil {
			p.hash = id.Hash
		}
	}
}

// isRecorded reports whether what a unit drafted is committed with a journal.
func (s *Set) isRecorded(u *Unit) bool {
	return !s.opt.DryRun && len(s.plans) > 0 && (len(s.plans) > 1 || needsRecord(s.opt, s.root, u, s.plans[0]))
}

// needsRecord reports whether a step that is all of a set is recorded.
func needsRecord(opt Options, r *root, u *Unit, p *plan) bool {
	keeps := opt.KeepBytes >= 0 || opt.Precious
	switch {
	case u.undoes != "":
		return true
	case p.Do == Create:
		return keeps && r.keeps
	case p.Do == Replace:
		return keeps && !u.Unrecorded
	}
	return true
}

// free returns an error if there is a file at path already.
func free(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return &safefile.ExistsError{Path: path}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// edits returns an error if a file cannot be replaced, or lies outside the root.
func (s *Set) edits(path string) error {
	if err := safefile.CanReplace(path); err != nil {
		return err
	}
	return s.inside(path)
}

// goes returns an error if a file cannot be moved or removed, or lies outside the root.
func (s *Set) goes(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w", path, safefile.ErrNotRegular)
	}
	return cmp.Or(s.inside(path), safefile.CanCreate(path)) // what may make names in the folder may take them away
}

func (s *Set) inside(path string) error {
	if _, ok := s.root.rel(path); !ok && !s.undoing {
		return fmt.Errorf("%s: %w", path, ErrOtherRoot)
	}
	return nil
}

// discard removes the drafts that were not published or released.
func (s *Set) discard() {
	for _, p := range s.plans {
		p.draft.discard()
	}
}

// Edit changes an existing file. All edits of a path become one draft, in the order of
// the units.
type Edit interface {
	// Join returns the edit that makes this one and then next, which must be of the same
	// type.
	Join(next Edit) (Edit, error)
	// Render writes the edited form of old, which has size bytes, to dst. It may be
	// called again if somebody else saved the file meanwhile.
	Render(ctx context.Context, dst io.Writer, old io.ReaderAt, size int64) error
}

// ErrUnchanged is what Render returns when there is nothing to edit: the file stays as it
// is, and the step is dropped.
var ErrUnchanged = errors.New("nothing to change")

// Bytes edits a small file by its meaning. It works on any state of the file, so the
// stamp in [Set.Edit] may be zero. It returns equal bytes when there is nothing to do.
type Bytes func(old []byte) ([]byte, error)

// Join implements Edit.
func (b Bytes) Join(next Edit) (Edit, error) {
	n, ok := next.(Bytes)
	if !ok {
		return nil, errMixed
	}
	return Bytes(func(old []byte) ([]byte, error) {
		data, err := b(old)
		if err != nil {
			return nil, err
		}
		return n(data)
	}), nil
}

var errMixed = errors.New("two edits of one file do not fit together")

// Render implements Edit.
func (b Bytes) Render(_ context.Context, dst io.Writer, old io.ReaderAt, size int64) error {
	data := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(old, 0, size), data); err != nil {
		return err
	}
	edited, err := b(bytes.Clone(data))
	if err != nil {
		return err
	}
	if bytes.Equal(edited, data) {
		return ErrUnchanged
	}
	_, err = dst.Write(edited)
	return err
}

// Joined returns an Edit of the file at path for a type that has its own Join and Render, such as
// chat.Lines, whose errors it puts the path in front of.
func Joined[E joiner[E]](path string, e E) Edit { return joined[E]{path, e} }

type joiner[E any] interface {
	Join(next E) E
	Render(ctx context.Context, dst io.Writer, old io.ReaderAt, size int64) error
}

type joined[E joiner[E]] struct {
	path string
	edit E
}

func (j joined[E]) Join(next Edit) (Edit, error) {
	n, ok := next.(joined[E])
	if !ok {
		return nil, errMixed
	}
	return joined[E]{j.path, j.edit.Join(n.edit)}, nil
}

func (j joined[E]) Render(ctx context.Context, dst io.Writer, old io.ReaderAt, size int64) error {
	if err := j.edit.Render(ctx, dst, old, size); err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	return nil
}

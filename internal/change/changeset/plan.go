package changeset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"stchat/internal/change/safefile"
)

// coarsest is the tick of the coarsest clock of a disk (FAT's): a file that was changed less than
// a tick ago may change again and keep its size and time.
const coarsest = 2 * time.Second

// plan is one step to be made.
type plan struct {
	Step
	unit  int
	real  string // Path, with links followed
	to    string // To, with the links among its folders followed
	was   safefile.Stamp
	hash  string         // of the file as it was, up to hashedKept, or hashed if it moves; "" if it is not known
	read  bool           // the stamp may not show a change, so the content is compared as well
	seen  safefile.Stamp // what look found
	draft *Draft
	edit  Edit
	// byMeaning says that the edit works on any state of the file.
	byMeaning bool
	edits     []*plan // of an edited file: all edits of it, which this results in
	rendered  bool    // the draft is that of these edits
	// folders is how many of the folders above a new file were made for it; of one that is removed,
	// how many go with it if they are empty by then.
	folders int
}

// look returns an error if the file is not as it was, or the new name is taken.
func (p *plan) look() error {
	name := p.real
	switch p.Do {
	case Create:
		if _, err := os.Lstat(p.real); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, &safefile.ExistsError{Path: p.Path})
		}
		return nil
	case Replace:
		if err := safefile.CanReplace(p.Path); err != nil {
			return err
		}
		name = p.Path // through a symlink, which may lead elsewhere by now
	case Move:
		if _, err := os.Lstat(p.to); !errors.Is(err, fs.ErrNotExist) && !sameButCase(p.real, p.to) {
			return errors.Join(err, &safefile.ExistsError{Path: p.To})
		}
	}

	now, err := safefile.StampPath(name)
	if err != nil {
		return err
	}
	same := now.Same(p.was)
	if same && p.read {
		id, err := safefile.IdentOf(p.real, hashedKept)
		if err != nil {
			return err
		}
		same = id.Hash == p.hash
	}

	if !same {
		return fmt.Errorf("%s: %w", p.Path, safefile.ErrChanged)
	}
	p.seen = now
	return nil
}

// ident returns the identity of the file as look found it. If read is true, it was read just
// now, so it has to be looked at again.
func (p *plan) ident() (id safefile.Ident, read bool, err error) {
	if p.hash == "" && p.seen.Size() <= hashedKept {
		id, err = safefile.IdentOf(p.real, hashedKept)
		return id, true, err
	}
	id, err = p.seen.Ident(p.real, p.hash)
	return id, false, err
}

// render joins the edits of a file and drafts it as they make it.
func (t *commitment) render(ctx context.Context, p *plan) error {
	p.rendered = false
	edit := p.edits[0].edit
	for _, next := range p.edits[1:] {
		var err error
		edit, err = edit.Join(next.edit)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
	}

	p.draft.discard()
	p.draft = nil
	f, err := safefile.Open(p.real)
	if err != nil {
		return err
	}
	defer f.Close()
	now, err := safefile.StampOf(f)
	if err != nil {
		return err
	}
	for _, e := range p.edits {
		if !e.byMeaning && !now.Same(e.was) {
			return fmt.Errorf("%s: %w", p.Path, safefile.ErrChanged)
		}
	}

	old := io.ReaderAt(f)
	p.was = now
	p.hash = ""
	p.read = false
	isFresh := time.Since(now.ModTime()) < coarsest // another save may have the same time
	if isFresh && now.Size() <= hashedKept {
		data := make([]byte, now.Size())
		if _, err := io.ReadFull(io.NewSectionReader(f, 0, now.Size()), data); err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		p.hash = hex.EncodeToString(sum[:])
		p.read = true
		old = bytes.NewReader(data)
	}

	d, err := newDraft(p.Path, t.root.self, t.call.Options, draftOptions{})
	if err != nil {
		return err
	}
	if now.Size() > hashed {
		d.hashed = nil // it will hardly be so much smaller
	}
	err = edit.Render(ctx, d, old, now.Size())
	if err == nil {
		err = d.finish()
	}
	if err != nil {
		d.discard()
		p.rendered = errors.Is(err, ErrUnchanged)
		if p.rendered {
			return nil
		}
		return err
	}

	p.draft = d
	p.Bytes = d.Size()
	p.rendered = true
	return nil
}

// errTwice means that one set would do two things to one file.
var errTwice = errors.New("one call would change this file in two ways")

// conflicts returns an error if two steps are for one file, or one is for a file that another batch
// relies on or edits as well.
func (t *commitment) conflicts() error {
	seen := map[string]*plan{}
	for _, p := range t.plans {
		for _, path := range []string{p.real, p.to} {
			if path == "" {
				continue
			}
			if seen[path] != nil {
				return fmt.Errorf("%s: %w", p.Path, errTwice)
			}
			seen[path] = p
		}
	}

	for _, p := range t.edits {
		for _, e := range p.edits {
			if t.batch(e) != t.batch(p) {
				return fmt.Errorf("%s: %w", p.Path, errTwice)
			}
		}
	}

	for _, r := range t.relied {
		if p := seen[t.root.real.Path(r.path)]; p != nil && t.batch(p) != t.call.batchOf[r.unit] {
			return fmt.Errorf("%s: %w", p.Path, errTwice)
		}
	}
	return nil
}

// at names path in an error instead of a draft or kept file, whose path means nothing to
// people.
func at(path string, err error) error {
	switch e := err.(type) { //nolint:errorlint // only the outermost: below it the path may matter
	case *fs.PathError:
		return fmt.Errorf("%s: %w", path, e.Err)
	case *os.LinkError:
		return fmt.Errorf("%s: %w", path, e.Err)
	}
	return err
}

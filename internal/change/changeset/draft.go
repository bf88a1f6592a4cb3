package changeset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"os"
	"path/filepath"
	"slices"

	"stchat/internal/change/safefile"
	"stchat/internal/place/userdir"
)

// Draft is a file that has no name yet, beside its target; [Run] gives it one, or removes
// it. In a dry run it only counts.
type Draft struct {
	temp *safefile.Temp // nil in a dry run
	size int64          // what a dry run has counted
	path string         // of a link to a kept file, or of the kept file itself
	disk *safefile.Disk // what made the link

	hashed hash.Hash // SHA-256 of what was written; nil if it is not known
	hash   string    // the same, when the file is complete; "" if it is too large
}

// DraftOption changes how a draft is made.
type DraftOption func(*draftOptions)

type draftOptions struct {
	like   safefile.Stamp
	folder bool
}

// InFolder creates the folder of a new file if it is missing, and undo removes it again if nothing
// else is in it. A dry run does not.
func InFolder() DraftOption { return func(o *draftOptions) { o.folder = true } }

// Like gives a new file the privacy and the owner of the file that it is made from.
func Like(was safefile.Stamp) DraftOption { return func(o *draftOptions) { o.like = was } }

func newDraft(target string, self *safefile.Self, opt Options, o draftOptions) (*Draft, error) {
	if !opt.DryRun {
		t, err := safefile.New(target, safefile.Options{NoSync: opt.NoSync, Like: o.like.Info(), Home: homeOf(target), Disk: opt.disk, Self: self})
		if err != nil {
			return nil, err
		}
		return &Draft{temp: t, hashed: sha256.New()}, nil
	}
	if err := safefile.CanCreate(target); err != nil {
		return nil, err
	}
	return &Draft{}, nil
}

// homeOf returns the user's folder in which a file is made. Only for root, who works in the folders of
// others, it is looked for.
func homeOf(target string) string {
	if !safefile.WorksForOthers() {
		return ""
	}
	home, _ := userdir.Above(target)
	return home
}

// makeFolder makes the missing folders above target, forces them to disk and counts them. creatable is
// what may be created now: target, or in a dry run, which makes no folder and counts none, the topmost
// missing folder.
func makeFolder(target string, opt Options) (folders int, creatable string, err error) {
	topmost := topmostMissing(target)
	if opt.DryRun {
		return 0, topmost, nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return 0, "", err
	}
	var made []string
	for dir := filepath.Dir(target); dir != filepath.Dir(topmost); dir = filepath.Dir(dir) {
		made = append(made, dir)
	}
	if homeOf(target) != "" {
		for _, dir := range slices.Backward(made) { // each gets the owner of the one above
			safefile.AdoptFolderOwner(dir)
		}
	}

	for _, dir := range made {
		folders++
		if opt.NoSync {
			continue
		}
		if err := opt.system().SyncDir(filepath.Dir(dir)); err != nil {
			return 0, "", at(filepath.Dir(dir), err)
		}
	}
	return folders, target, nil
}

// topmostMissing returns the topmost part of a path that is not there though its folder is: the whole
// path if its folder exists, else the first folder that would have to be made.
func topmostMissing(path string) string {
	for {
		dir := filepath.Dir(path)
		if _, err := os.Lstat(dir); err == nil || dir == path {
			return path
		}
		path = dir
	}
}

// Write appends p, without buffering: callers write big blocks.
func (d *Draft) Write(p []byte) (int, error) {
	if d.temp != nil {
		n, err := d.temp.Write(p)
		if d.hashed != nil {
			d.hashed.Write(p[:n])
			if d.temp.Offset() > hashed {
				d.hashed = nil
			}
		}
		return n, err
	}

	d.size += int64(len(p))
	return len(p), nil
}

// Size returns how many bytes the draft holds.
func (d *Draft) Size() int64 {
	if d.temp != nil {
		return d.temp.Offset()
	}
	return d.size
}

// Truncate cuts the draft back to its first size bytes; writing continues there. A size
// beyond what was written is an error.
func (d *Draft) Truncate(size int64) error {
	if d.temp != nil {
		d.hashed = nil
		return d.temp.Truncate(size)
	}
	if size < 0 || size > d.size {
		return errors.New("a draft is cut to more than it holds")
	}
	d.size = size
	return nil
}

// at returns the path of the draft itself.
func (d *Draft) at() string {
	if d.temp != nil {
		return d.temp.Path()
	}
	return d.path
}

// ident returns the identity of the draft.
func (d *Draft) ident() (safefile.Ident, error) {
	id, err := safefile.IdentOf(d.at(), -1)
	id.Hash = d.hash
	return id, err
}

// release leaves the file to the journal.
func (d *Draft) release() {
	if d != nil {
		d.temp, d.path = nil, ""
	}
}

// finish completes the file, so that it lacks only its name.
func (d *Draft) finish() error {
	if d.temp != nil {
		if err := d.temp.Prepare(); err != nil {
			return err
		}
	}

	switch {
	case d.hashed != nil:
		d.hash = hex.EncodeToString(d.hashed.Sum(nil))
	case d.at() != "":
		id, err := safefile.IdentOf(d.at(), hashed)
		d.hash = id.Hash
		return err
	}
	return nil
}

// discard removes the file unless it was published or released.
func (d *Draft) discard() {
	switch {
	case d == nil:
	case d.temp != nil:
		d.temp.Discard()
	case safefile.IsTemp(filepath.Base(d.path)):
		_ = d.disk.Remove(d.path)
	}
}

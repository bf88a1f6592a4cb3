package changeset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stchat/internal/safefile"
)

// folder is the name of the folder, in a root, for journals, records and kept files.
const folder = ".stchat"

// store is the folder .stchat of a root, with its journals, records and kept files.
type store struct{ dir string } // the root's

// own returns the path of one of its files.
func (s store) own(name string) string { return filepath.Join(s.dir, folder, name) }

// MakeFolder creates the folder .stchat of a root, if it is missing, and returns its path.
func MakeFolder(root string) (string, error) {
	s, d := store{realOf(root)}, safefile.System()
	return s.own(""), s.make(&d, true)
}

// make creates the folder with a .gitignore, private and with the root's owner. It
// completes what a killed run, or one at work, has created only in part.
func (s store) make(d *safefile.Disk, sync bool) error {
	dir, ignore := s.own(""), s.own(".gitignore")
	if ok, err := s.has(); err != nil || ok && !absent(ignore) {
		return err
	}
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = safefile.AdoptOwner(dir, s.dir)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := safefile.CreateNew(ignore, 0o600)
	if err == nil {
		_, err = f.WriteString("*\n")
		err = errors.Join(err, f.Close())
	}
	if errors.Is(err, fs.ErrExist) { // another run was faster
		return nil
	}
	if err != nil {
		return err
	}
	if err := safefile.AdoptOwner(ignore, s.dir); err != nil || !sync {
		return err
	}
	return d.SyncDir(s.dir)
}

// has reports whether the folder exists; anything else under its name is an error.
func (s store) has() (bool, error) {
	info, err := os.Lstat(s.own(""))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, fmt.Errorf("%s: is not a folder, so changes cannot be recorded there; rename it", s.own(""))
	}
	return true, nil
}

// list returns the names in .stchat, sorted; none if there is no such folder.
func (s store) list() ([]string, error) {
	if ok, err := s.has(); !ok || err != nil {
		return nil, err
	}
	f, err := os.Open(s.own(""))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

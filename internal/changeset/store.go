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

// folder is where a root keeps journals, records and what is kept for undo.
const folder = ".stchat"

// store is the folder .stchat of a root: its journals, its records, and what is kept
// for them.
type store struct{ dir string } // the root's

// own returns the path of one of its files.
func (s store) own(name string) string { return filepath.Join(s.dir, folder, name) }

// MakeFolder makes the folder .stchat of a root, and returns its path.
func MakeFolder(root string) (string, error) {
	s, d := store{realOf(root)}, safefile.System()
	return s.own(""), s.make(&d, true)
}

// make makes the folder, for its owner alone, and belonging to whom the root belongs, with
// a .gitignore. What a killed run made of it, or another run is about to, is made whole.
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
	if err := os.WriteFile(ignore, []byte("*\n"), 0o600); err != nil {
		return err
	}
	if err := safefile.AdoptOwner(ignore, s.dir); err != nil || !sync {
		return err
	}
	return d.SyncDir(s.dir)
}

// has reports whether there is the folder; something else under its name is an error.
func (s store) has() (bool, error) {
	info, err := os.Lstat(s.own(""))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, fmt.Errorf("%s: is no folder, so what is changed cannot be noted there; give it another name", s.own(""))
	}
	return true, nil
}

// list returns the names in .stchat in their order, none where there is no such folder.
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

package safefile

import (
	"os"
)

// disk is what a Temp asks of the system, as functions so that tests of this package
// can let any of them fail.
type disk struct {
	write     func(f *os.File, p []byte) (int, error) // all of p, or an error
	writeBack func(f *os.File, from, n int64)         // starts writing this range to disk; only a hint
	sync      func(f *os.File) error                  // forces content to disk
	closeFile func(f *os.File) error
	link      func(old, new string) error            // a second name, fs.ErrExist if taken
	renameNew func(old, new string, sync bool) error // rename, fs.ErrExist if new is taken
	rename    func(old, new string, sync bool) error // rename that replaces
	syncDir   func(dir string) error                 // forces a folder's names to disk
	remove    func(path string) error
}

func realDisk() disk {
	return disk{
		write:     (*os.File).Write,
		writeBack: startWriteBack,
		sync:      syncFile,
		closeFile: (*os.File).Close,
		link:      linkFile,
		renameNew: renameNew,
		rename:    renameOver,
		syncDir:   syncDir,
		remove:    removeFile,
	}
}

// syncFile forces a file to disk, where the file system knows how to.
func syncFile(f *os.File) error {
	if err := f.Sync(); err != nil && !cannotSync(err) {
		return err
	}
	return nil
}

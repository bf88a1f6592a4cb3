package safefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Spool copies r, which can be read only once, to a private file (mode 0600) in dir, or
// in the system's folder for temporary files if dir is empty. It returns the file, open
// for reading from its first byte. cleanup closes and removes it, and may be called
// more than once. Except on Windows the file loses its name at once, so that nobody
// else can open it and a crash leaves nothing; there RemoveStale recognises the name.
func Spool(r io.Reader, dir string) (f *os.File, cleanup func(), err error) {
	return SpoolFrom(func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}, dir)
}

// SpoolFrom is [Spool] for what write writes.
func SpoolFrom(write func(io.Writer) error, dir string) (f *os.File, cleanup func(), err error) {
	if f, cleanup, err = Scratch(dir); err != nil {
		return nil, nil, err
	}
	// not by the file's own ReadFrom, whose errors do not tell reading from writing
	if err = write(struct{ io.Writer }{f}); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		cleanup()
		return nil, nil, err
	}
	return f, cleanup, nil
}

// Scratch creates an empty file for writing and reading, as private and as nameless as
// that of [Spool].
func Scratch(dir string) (f *os.File, cleanup func(), err error) {
	if dir == "" {
		dir = os.TempDir()
	}
	tag, _ := hostTag()
	for range 100 {
		f, err = CreateNew(filepath.Join(dir, tempName(tag)), 0o600)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, nil, &fs.PathError{Op: "create a file in", Path: dir, Err: cause(err)}
	}
	named := true
	if runtime.GOOS != "windows" {
		named = os.Remove(f.Name()) != nil
	}
	cleanup = func() {
		_ = f.Close()
		if named {
			_ = removeFile(f.Name())
			named = false
		}
	}
	return f, cleanup, nil
}

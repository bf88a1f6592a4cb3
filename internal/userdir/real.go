package userdir

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Real is [RealPath] for many paths in few folders: it follows the links among a folder's own
// folders only once, so neither they nor the working folder may change meanwhile. The zero Real
// is ready for use, by several goroutines at once.
type Real struct {
	mu      sync.Mutex
	folders map[string]string // as given and absolute, to real
	here    string            // the working folder; "" if it is not known yet
}

// Abs returns path made absolute, or as it is if the working folder is unknown.
func (r *Real) Abs(path string) string {
	if filepath.IsAbs(path) || runtime.GOOS == "windows" { // which has a working folder for each drive
		return absolute(path)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.here == "" {
		here, err := os.Getwd()
		if err != nil {
			return path
		}
		r.here = here
	}
	return filepath.Join(r.here, path)
}

// Path returns what RealPath does.
func (r *Real) Path(path string) string {
	if runtime.GOOS == "windows" { // where the file's own name has more than one spelling
		return RealPath(path)
	}
	path = r.Abs(path)
	folder, ok := r.folder(filepath.Dir(path))
	if !ok {
		return path
	}
	real := filepath.Join(folder, filepath.Base(path))
	if info, err := os.Lstat(real); err == nil && info.Mode().Type() == os.ModeSymlink {
		return RealPath(real)
	}
	return real
}

// folder returns the real path of an absolute one, and false if there is no such folder.
func (r *Real) folder(path string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if real, ok := r.folders[path]; ok {
		return real, true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	if r.folders == nil {
		r.folders = map[string]string{}
	}
	r.folders[path] = real
	return real, true
}

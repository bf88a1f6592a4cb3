package userdir

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReal: what is remembered of folders changes no path, however they are linked, and a file
// that becomes a link is followed.
func TestReal(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "c/file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"a/c": "../c", "a/b/file": "../c/file", "a/dangling": "nowhere", "a/loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	var real Real
	see := func() {
		t.Helper()
		for _, name := range []string{"a/b/x", "a/c/file", "a/c/../c/file", "a/b/file", "a/c/new", "a/dangling", "a/loop", "none/x", "a/b", ".", "c/file"} {
			path := filepath.Join(dir, name)
			if got, want := real.Path(path), RealPath(path); got != want {
				t.Errorf("%s: %s, not %s", name, got, want)
			}
		}
	}
	see()
	if err := os.Symlink(filepath.Join(dir, "c/file"), filepath.Join(dir, "c/new")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "none"), 0o777); err != nil {
		t.Fatal(err)
	}
	see()
	t.Chdir(dir)
	for _, name := range []string{"a/c/file", "c/file", ".", "../x", ""} {
		if got, want := real.Path(name), RealPath(name); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
}

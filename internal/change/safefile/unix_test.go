//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func TestModeOfNew(t *testing.T) {
	for _, umask := range []int{0o000, 0o022, 0o027, 0o077} {
		for way, d := range ways() {
			dir := t.TempDir()
			old := syscall.Umask(umask)
			tmp := begin(t, filepath.Join(dir, "a"), "x", d)
			err := tmp.Create()
			syscall.Umask(old)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := mode(t, filepath.Join(dir, "a")), fs.FileMode(0o666&^umask); got != want {
				t.Errorf("umask %03o, %s: mode %v, want %v", umask, way, got, want)
			}
		}
	}
}

func TestModeKept(t *testing.T) {
	for _, want := range []fs.FileMode{0o600, 0o640, 0o644, 0o666, 0o777, 0o200, 0o606} {
		// The file appears, or gets its mode, before New, before Prepare, or after it.
		for _, when := range []string{"new", "prepare", "late"} {
			path := filepath.Join(t.TempDir(), "a")
			set := func(now string) {
				if now == when {
					put(t, path, "old")
					chmod(t, path, want)
				}
			}
			set("new")
			tmp := begin(t, path, "new", System())
			if when == "new" {
				if m := mode(t, tmp.path); m&^want&0o077 != 0 {
					t.Errorf("while it is written, the temporary file of a %v file is %v", want, m)
				}
			}
			set("prepare")
			if err := tmp.Prepare(); err != nil {
				t.Fatal(err)
			}
			set("late")
			if err := tmp.Replace(stamp(t, path)); err != nil {
				t.Errorf("%v, %s: %v", want, when, err)
				continue
			}
			if got := mode(t, path); got != want {
				t.Errorf("%s: mode %v, want %v", when, got, want)
			}
		}
	}
}

func TestFIFO(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := unix.Mkfifo(path, 0o644); err != nil {
		t.Skipf("no FIFOs here: %v", err)
	}
	if err := CanReplace(path); !errors.Is(err, ErrNotRegular) {
		t.Errorf("CanReplace = %v", err)
	}
	was := stamp(t, path)
	if was.Regular() {
		t.Error("a FIFO is a regular file")
	}
	if err := begin(t, path, "new", System()).Replace(was); !errors.Is(err, ErrNotRegular) {
		t.Errorf("Replace = %v", err)
	}
	if err := begin(t, path, "new", System()).Create(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create = %v", err)
	}
	if m := mode(t, path); m.Type() != fs.ModeNamedPipe {
		t.Errorf("the FIFO became %v", m)
	}
	if left := temps(t, dir); left != nil {
		t.Errorf("left over: %q", left)
	}
}

// A chmod or a new link after the file was read is a change, too: the inode's own time tells.
func TestStampChangeTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	was := put(t, path, "old")
	if was.ctime == 0 {
		t.Skip("no change time here")
	}
	old := was
	old.ctime--
	if was.Same(old) {
		t.Error("the change time is not compared")
	}
}

func TestSpoolPrivate(t *testing.T) {
	dir := t.TempDir()
	old := syscall.Umask(0)
	f, cleanup, err := Spool(strings.NewReader("x"), dir)
	syscall.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	info, err := f.Stat()
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left := temps(t, dir); left != nil {
		t.Errorf("it has a name: %q", left)
	}
}

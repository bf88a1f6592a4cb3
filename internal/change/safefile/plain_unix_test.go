//go:build unix

package safefile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// What is opened plainly is a regular file under that very name; nothing else is waited for,
// followed or read.
func TestPlain(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadPlain(at("file"), 5); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := ReadPlain(at("file"), 4); err == nil {
		t.Error("more is read than is allowed")
	}
	sparse, err := os.Create(at("sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sparse.Truncate(3<<30), sparse.Close()); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ReadPlain(at("sparse"), 256<<20); !errors.Is(err, ErrTooLarge) {
		t.Errorf("3 GB: %v", err)
	}
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 1<<20 {
		t.Errorf("3 GB that are not read cost %d bytes", cost)
	}
	if err := CheckDatabase(at("file")); err != nil {
		t.Error(err)
	}
	if _, err := OpenPlain(at("none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "file", "dangling": "nowhere", "zero": "/dev/zero", "linked fifo": "fifo"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"fifo", "link", "dangling", "zero", "linked fifo", "."} {
		if f, err := OpenPlain(at(name)); !errors.Is(err, ErrNotRegular) {
			f.Close()
			t.Errorf("%s: %v", name, err)
		}
		if err := CheckPlain(at(name)); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, beside := range []string{"-journal", "-wal", "-shm"} {
		if err := os.Rename(at("fifo"), at("file"+beside)); err != nil {
			t.Fatal(err)
		}
		if err := CheckDatabase(at("file")); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", beside, err)
		}
		if err := os.Rename(at("file"+beside), at("fifo")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, at(".stchat")); err != nil {
		t.Fatal(err)
	}
	if err := CheckDatabase(filepath.Join(at(".stchat"), "file")); !errors.Is(err, ErrLink) {
		t.Error(err)
	}
}

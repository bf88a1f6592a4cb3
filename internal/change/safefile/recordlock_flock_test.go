//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safefile

import (
	"os"
	"path/filepath"
	"testing"
)

// A disk has locks if one can be had; a file that is not open for reading cannot have a
// shared one, as no file can on a disk without locks.
func TestRecordLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := RecordLocks(f); err == nil {
		t.Error("there is a lock that cannot be had")
	}
	g, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := RecordLocks(g); err != nil {
		t.Error(err)
	}
}

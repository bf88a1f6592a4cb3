package safefile

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What a run that was killed has unpacked is removed by the next; what is another's, or may be in use,
// stays.
func TestUnpackedIsSwept(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // Windows
	self := ThisProcess()
	if !self.sure {
		t.Skip("here nothing proves that a run is gone")
	}
	name := func(tag string, pid int) string {
		return unpackedPrefix + tempPrefix + tag + "-" + strconv.Itoa(pid) + "-00000000" + tempSuffix
	}
	goes := name(self.tag, 10)
	stays := []string{name(self.tag, 11), name("ba9876543210", 10), unpackedPrefix + "-123", "other"}
	for _, folder := range append(stays, goes) {
		if err := os.MkdirAll(filepath.Join(temporary, folder, "chats"), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(temporary, folder, "chats", "a.jsonl"), "x")
	}
	put(t, filepath.Join(temporary, name(self.tag, 12)), "a file")

	mine := filepath.Join(temporary, name(self.tag, 13))
	if err := os.Mkdir(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	sweepUnpacked(mine, self, func(pid int) bool { return pid != 11 && pid != 13 })
	for _, folder := range append(stays, name(self.tag, 12), filepath.Base(mine)) {
		if _, err := os.Lstat(filepath.Join(temporary, folder)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(filepath.Join(temporary, goes)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", goes, err)
	}

	// as it is made, its name is one that the next run understands
	u, err := Unpack()
	if err != nil {
		t.Fatal(err)
	}
	tag, pid, ok := parseTempName(strings.TrimPrefix(filepath.Base(u.Dir), unpackedPrefix))
	if filepath.Dir(u.Dir) != temporary || tag != self.tag || pid != os.Getpid() || !ok {
		t.Error(u.Dir)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
}

// An error names the folder for temporary files, whose disk may be full, and not what is private in it.
func TestUnpackedError(t *testing.T) {
	u, err := Unpack()
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if err := u.Add("a", strings.NewReader("x"), 1); err != nil {
		t.Fatal(err)
	}
	err = u.Add(filepath.Join("a", "b"), strings.NewReader("x"), 1)
	if err == nil || strings.Contains(err.Error(), u.Dir) || !strings.Contains(err.Error(), filepath.Dir(u.Dir)) {
		t.Errorf("%v", err)
	}
}

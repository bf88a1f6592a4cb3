package safefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errDisk = errors.New("the disk says no")

func put(t *testing.T, path, content string) Stamp {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return stamp(t, path)
}

func stamp(t *testing.T, path string) Stamp {
	t.Helper()
	s, err := StampPath(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// begin makes a Temp with content; it is discarded when the test ends.
func begin(t *testing.T, target, content string, d Disk) *Temp {
	t.Helper()
	tmp, err := New(target, Options{Disk: &d})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tmp.Discard)
	if _, err := tmp.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	return tmp
}

// wantFiles fails unless dir holds exactly these regular files; so it also proves that
// no temporary file is left.
// files returns what is in the regular files of dir.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(data)
	}
	return got
}

func wantFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func temps(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), tempSuffix) {
			names = append(names, e.Name())
		}
	}
	return names
}

func symlink(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Skipf("no symlinks here: %v", err) // Wine makes none, and says nothing
	}
}

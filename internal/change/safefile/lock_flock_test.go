//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Of edits that several make at once, each of what it has read, none is lost:
// one is made and the others hear that the file changed.
func TestReplaceLosesNoEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	const writers, edits = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for e := range edits {
				for {
					err := appendLine(path, fmt.Sprintf("%d.%d\n", w, e))
					if err == nil {
						break
					}
					if !errors.Is(err, ErrChanged) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(data), "\n"); got != writers*edits {
		t.Errorf("%d edits of %d are there", got, writers*edits)
	}
}

func appendLine(path, line string) error {
	was, err := StampPath(path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	t, err := New(path, Options{NoSync: true})
	if err != nil {
		return err
	}
	defer t.Discard()
	if _, err := t.Write(append(data, line...)); err != nil {
		return err
	}
	return t.Replace(was)
}

// A lock that somebody holds for good does not stop a replacement for good.
func TestLockIsNotWaitedForForever(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a second")
	}
	path := filepath.Join(t.TempDir(), "c")
	if err := os.WriteFile(path, []byte("a"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Skip(err)
	}
	if err := appendLine(path, "b"); err != nil {
		t.Error(err)
	}
}

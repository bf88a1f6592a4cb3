package safefile

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// A file that others link meanwhile, as they do to keep it, can be read all the same.
func TestReadWhileLinked(t *testing.T) {
	if testing.Short() {
		t.Skip("with the race detector a read takes longer than the file keeps its links")
	}
	dir := t.TempDir()
	path, kept := filepath.Join(dir, "list"), filepath.Join(dir, "kept")
	if err := os.WriteFile(path, make([]byte, 64<<10), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, kept); err != nil {
		t.Skip(err)
	}
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			_ = os.Remove(kept)
			_ = os.Link(path, kept)
			time.Sleep(100 * time.Microsecond)
		}
	}()
	failed := 0
	for range 1000 {
		if _, _, err := Read(path); err != nil {
			failed++
		}
	}
	stop.Store(true)
	<-done
	if failed > 0 {
		t.Errorf("%d of 1000 reads failed", failed)
	}
}

package safefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// openAlone opens a file so that nobody else can.
func openAlone(t *testing.T, path string) windows.Handle {
	t.Helper()
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	const sharesNothing = 0
	h, err := windows.CreateFile(name, windows.GENERIC_READ, sharesNothing, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(path); err == nil {
		f.Close()
		_ = windows.CloseHandle(h)
		t.Skip("files are shared here, whoever asks for them alone")
	}
	return h
}

// TestLockOpenElsewhere: a lock that another program has open for itself alone is not taken for
// none.
func TestLockOpenElsewhere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".stchat", "lock")
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	h := openAlone(t, path)
	if _, held, err := Lock(t.Context(), dir); err == nil {
		t.Error("locked, although another has it:", held)
	}
	closed := make(chan error)
	go func() {
		time.Sleep(100 * time.Millisecond)
		closed <- windows.CloseHandle(h)
	}()
	unlock, held, err := Lock(t.Context(), dir)
	if !held || err != nil {
		t.Errorf("%v, %v", held, err)
	}
	unlock()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestOpenWaits: a file that another program has for itself alone for a moment is
// read all the same; one that it keeps is not.
func TestOpenWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	h := openAlone(t, path)
	if f, err := Open(path); err == nil {
		f.Close()
		t.Error("opened while another has it for itself")
	}
	closed := make(chan error)
	go func() {
		time.Sleep(100 * time.Millisecond)
		closed <- windows.CloseHandle(h)
	}()
	if data, _, err := Read(path); err != nil || string(data) != "{}" {
		t.Errorf("%q, %v", data, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

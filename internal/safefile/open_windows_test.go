package safefile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// TestOpenWaits: a file that another program has for itself alone for a moment is
// read all the same; one that it keeps is not.
func TestOpenWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
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

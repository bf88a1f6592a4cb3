package safefile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNewNoFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	_, err := New(filepath.Join(dir, "a"), Options{})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), tempSuffix) {
		t.Errorf("New = %v", err)
	}
}

func TestDiscard(t *testing.T) {
	var none *Temp
	none.Discard()

	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, prepared := range []bool{false, true} {
		tmp := begin(t, path, "new", System())
		for i := 0; prepared && i < 2; i++ {
			if err := tmp.Prepare(); err != nil {
				t.Fatal(err)
			}
		}
		tmp.Discard()
		tmp.Discard()
		wantFiles(t, dir, map[string]string{})
		if err := tmp.Create(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Create = %v", err)
		}
		if _, err := tmp.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Write = %v", err)
		}
		wantFiles(t, dir, map[string]string{})
	}
}

// A write that failed or fell short is never published.
func TestWriteFails(t *testing.T) {
	for name, tc := range map[string]struct {
		write func(*os.File, []byte) (int, error)
		want  error
	}{
		"error": {func(*os.File, []byte) (int, error) { return 0, errDisk }, errDisk},
		"part and error": {func(f *os.File, p []byte) (int, error) {
			n, _ := f.Write(p[:1])
			return n, errDisk
		}, errDisk},
		"part": {func(f *os.File, p []byte) (int, error) { return f.Write(p[:1]) }, io.ErrShortWrite},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a")
			d := System()
			tmp := begin(t, path, "good", d)
			tmp.disk.Write = tc.write
			if _, err := tmp.Write([]byte("bad")); !errors.Is(err, tc.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("Write = %v", err)
			}
			tmp.disk.Write = d.Write
			if _, err := tmp.Write([]byte("good again")); !errors.Is(err, tc.want) {
				t.Errorf("the next Write = %v", err)
			}
			if err := tmp.Truncate(0); !errors.Is(err, tc.want) {
				t.Errorf("Truncate = %v", err)
			}
			if err := tmp.Create(); !errors.Is(err, tc.want) {
				t.Errorf("Create = %v", err)
			}
			wantFiles(t, dir, map[string]string{})
		})
	}
}

func TestTruncate(t *testing.T) {
	dir := t.TempDir()
	tmp := begin(t, filepath.Join(dir, "a"), "header\nfirst\nsecond", System())
	if tmp.Offset() != 19 {
		t.Errorf("Offset = %d", tmp.Offset())
	}
	if err := tmp.Truncate(12); err != nil {
		t.Fatal(err)
	}
	if err := tmp.Truncate(12); err != nil {
		t.Fatal(err)
	}
	if tmp.Offset() != 12 {
		t.Errorf("Offset = %d", tmp.Offset())
	}
	if _, err := tmp.Write([]byte("\nother")); err != nil {
		t.Fatal(err)
	}
	if err := tmp.Create(); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, map[string]string{"a": "header\nfirst\nother"})

	for _, size := range []int64{-1, 4} {
		tmp := begin(t, filepath.Join(dir, "b"), "abc", System())
		if err := tmp.Truncate(size); err == nil {
			t.Errorf("Truncate(%d) of 3 bytes went through", size)
		}
		tmp.Discard()
	}
}

// The disk is told to begin every 8 MiB, with ranges that join up, also after a cut.
func TestWriteBack(t *testing.T) {
	type span struct{ From, N int64 }
	var got []span
	d := System()
	d.WriteBack = func(_ *os.File, from, n int64) { got = append(got, span{from, n}) }
	tmp := begin(t, filepath.Join(t.TempDir(), "a"), "", d)
	write := func(n int) {
		t.Helper()
		if _, err := tmp.Write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	const mb = 1 << 20
	write(5 * mb)
	write(5 * mb)
	write(7 * mb)
	if err := tmp.Truncate(1 * mb); err != nil {
		t.Fatal(err)
	}
	write(8 * mb)
	want := []span{{0, 10 * mb}, {1 * mb, 8 * mb}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ranges (-want +got):\n%s", diff)
	}

	// The real one harms nothing.
	dir := t.TempDir()
	big := strings.Repeat("0123456789abcdef", writeBackStep/16+1)
	if err := begin(t, filepath.Join(dir, "a"), big, System()).Create(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(got) != big {
		t.Errorf("%d bytes of %d, %v", len(got), len(big), err)
	}
}

func TestStamp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	was := put(t, path, "one")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	open, err := StampOf(f)
	if err != nil {
		t.Fatal(err)
	}
	if !open.Same(was) || !was.Same(open) || !open.Regular() || open.Size() != 3 || open.ModTime().IsZero() {
		t.Errorf("of the open file %+v, of its path %+v", open, was)
	}
	if (Stamp{}).Same(Stamp{}) || (Stamp{}).Same(was) || was.Same(Stamp{}) || (Stamp{}).SameFile(was) {
		t.Error("the zero Stamp is the same as something")
	}
	if z := (Stamp{}); z.Size() != 0 || !z.ModTime().IsZero() || z.Regular() {
		t.Error("the zero Stamp is not zero")
	}
	other := put(t, path+"2", "one")
	if other.SameFile(was) || other.Same(was) {
		t.Error("two files have one stamp")
	}
	if stamp(t, dir).Regular() {
		t.Error("a folder is a regular file")
	}
	if now := put(t, path, "two!"); now.Same(was) || !now.SameFile(was) {
		t.Error("written to: the stamp must differ, the file be the same")
	}
	// Where there is no change time, size and time tell it alone.
	bare := func() Stamp { s := stamp(t, path); s.ctime = 0; return s }
	was = bare()
	setTime(t, path, was.ModTime().Add(time.Second))
	if bare().Same(was) {
		t.Error("the time is not compared")
	}
	setTime(t, path, was.ModTime())
	if !bare().Same(was) {
		t.Error("neither size nor time differs")
	}
	put(t, path, "three")
	setTime(t, path, was.ModTime())
	if bare().Same(was) {
		t.Error("the size is not compared")
	}
	if _, err := StampPath(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("StampPath of nothing = %v", err)
	}
	f.Close()
	if _, err := StampOf(f); err == nil {
		t.Error("StampOf of a closed file went through")
	}
}

func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := writeNew(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := writeNew(path, []byte("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the second WriteNew = %v", err)
	}
	wantFiles(t, dir, map[string]string{"a": "new"})
}

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	f, cleanup, err := Spool(strings.NewReader("piped"), dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if data, err := io.ReadAll(f); err != nil || string(data) != "piped" {
			t.Errorf("read %q, %v", data, err)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
	}
	cleanup()
	cleanup()
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after cleanup: %v", err)
	}
	wantFiles(t, dir, map[string]string{})

	broken := io.MultiReader(strings.NewReader("pip"), errReader{})
	if _, _, err := Spool(broken, dir); !errors.Is(err, errDisk) {
		t.Errorf("Spool of a broken pipe = %v", err)
	}
	wantFiles(t, dir, map[string]string{})
	if _, _, err := Spool(strings.NewReader(""), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Spool into nowhere = %v", err)
	}

	t.Setenv("TMPDIR", dir) // Unix
	t.Setenv("TMP", dir)    // Windows
	if f, cleanup, err = Spool(strings.NewReader("x"), ""); err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	if filepath.Dir(f.Name()) != dir {
		t.Errorf("spooled to %s", f.Name())
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errDisk }

// writeNew creates target with data as its content; see Temp.Create.
func writeNew(target string, data []byte) error {
	t, err := New(target, Options{})
	if err != nil {
		return err
	}
	defer t.Discard()
	if _, err := t.Write(data); err != nil {
		return err
	}
	return t.Create()
}

// Whatever is written in whatever pieces, and cut, is what the file holds.
func TestPages(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 30 {
		path := filepath.Join(t.TempDir(), "a")
		tmp := begin(t, path, "", System())
		var want []byte
		for range 2 + r.IntN(12) {
			size := []int{r.IntN(300), page, bigWrite - 1, bigWrite, bigWrite + r.IntN(3*page), 4 * bigWrite}[r.IntN(6)]
			if round == 0 {
				size = reservePays/2 + r.IntN(page)
			}
			p := make([]byte, size)
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			want = append(want, p...)
			if n, err := tmp.Write(p); n != size || err != nil {
				t.Fatal(n, err)
			}
			if r.IntN(5) == 0 {
				want = want[:r.IntN(len(want)+1)]
				if err := tmp.Truncate(int64(len(want))); err != nil {
					t.Fatal(err)
				}
			}
			if tmp.Offset() != int64(len(want)) {
				t.Fatal(tmp.Offset(), len(want))
			}
		}
		if err := tmp.Create(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d bytes, want %d: %v", round, len(got), len(want), err)
		}
	}
}

package safefile

import (
	"io"
	"os"
)

const (
	page = 4 << 10
	// bigWrite is the length from which on a write is cut into pages. Only callers that
	// write much write often, and they write big blocks.
	bigWrite = 64 << 10
	// reserved is how much room is reserved at once, from reservePays bytes on.
	reserved    = 64 << 20
	reservePays = 8 << 20
)

// pages writes big blocks in whole pages, and keeps the rest for the next write: a page
// that two writes share costs the system twice. It reserves room on the disk ahead of
// them, which spares the file system a search for every block.
type pages struct {
	tail    []byte // comes after what was written
	written int64
	ahead   int64 // up to here room is reserved on the disk
}

// write takes p, and returns how much of it was taken; part of that may be kept until
// the flush.
func (w *pages) write(f *os.File, d *Disk, p []byte) (int, error) {
	if len(p) < bigWrite {
		if err := w.flushTail(f, d); err != nil {
			return 0, err
		}
		return w.put(f, d, p)
	}

	if end := w.written + int64(len(w.tail)+len(p)); end > max(w.ahead, reservePays) {
		w.ahead = end + reserved
		d.Reserve(f, end-int64(len(p)), int64(len(p))+reserved)
	}
	done := 0
	if odd := int((w.written + int64(len(w.tail))) % page); odd > 0 {
		done = page - odd
		w.tail = append(w.tail, p[:done]...)
	}
	if err := w.flushTail(f, d); err != nil {
		return 0, err
	}
	whole := (len(p) - done) &^ (page - 1)
	if n, err := w.put(f, d, p[done:done+whole]); err != nil {
		return done + n, err
	}
	if w.tail == nil {
		w.tail = make([]byte, 0, page)
	}
	w.tail = append(w.tail, p[done+whole:]...)
	return len(p), nil
}

func (w *pages) put(f *os.File, d *Disk, p []byte) (int, error) {
	n, err := d.Write(f, p)
	w.written += int64(max(n, 0))
	if err == nil && n != len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

func (w *pages) flushTail(f *os.File, d *Disk) error {
	if len(w.tail) == 0 {
		return nil
	}
	_, err := w.put(f, d, w.tail)
	w.tail = w.tail[:0]
	return err
}

// flush writes what was kept, and frees the room that was not needed.
func (w *pages) flush(f *os.File, d *Disk) error {
	if err := w.flushTail(f, d); err != nil {
		return err
	}
	if w.ahead > w.written {
		w.ahead = 0
		return f.Truncate(w.written)
	}
	return nil
}

// cut continues after the first size bytes; flush must be called first.
func (w *pages) cut(size int64) { w.written, w.ahead = size, 0 }

package safefile

import (
	"io"
	"os"
)

const (
	page = 4 << 10
	// bigWrite is from which length on a write is cut into pages: only who writes much
	// writes often.
	bigWrite = 64 << 10
	// reserved is how much room is set aside at once, once there are reservePays bytes.
	reserved    = 64 << 20
	reservePays = 8 << 20
)

// pages writes big blocks in whole pages, and keeps what is less than one for the next
// write: a page that two writes share costs the system twice. Room on the disk is set
// aside ahead of them, which spares it the search for every block.
type pages struct {
	tail    []byte // belongs behind what was written
	written int64
	ahead   int64 // up to here there is room on the disk
}

// write takes p; what it gives as written may be kept until the flush.
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

// flush writes what was kept, and gives back the room that was not needed.
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

// cut goes on behind the first size bytes, after a flush.
func (w *pages) cut(size int64) { w.written, w.ahead = size, 0 }

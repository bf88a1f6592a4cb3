package safefile

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// restless is how often a file that keeps changing is read.
const restless = 16

// Read returns a regular file's content, and the stamp that belongs to exactly these
// bytes. A file that changes while it is read, if only because another run links it to
// keep it, is read again. The error wraps [ErrNotRegular], or [ErrChanged] if the file
// keeps changing.
func Read(path string) (data []byte, stamp Stamp, err error) {
	for try := range restless {
		if data, stamp, err = readOnce(path); !errors.Is(err, ErrChanged) {
			break
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
	return data, stamp, err
}

func readOnce(path string) ([]byte, Stamp, error) {
	// Before opening it: opening a FIFO would wait for a writer.
	if seen, err := StampPath(path); err != nil {
		return nil, Stamp{}, err
	} else if !seen.Regular() {
		return nil, Stamp{}, fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	f, err := Open(path)
	if err != nil {
		return nil, Stamp{}, err
	}
	defer f.Close()
	was, err := StampOf(f)
	if err != nil {
		return nil, Stamp{}, err
	}
	data := make([]byte, 0, was.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, Stamp{}, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
	now, err := StampOf(f)
	if err != nil {
		return nil, Stamp{}, err
	}
	if !now.Same(was) || int64(len(data)) != now.Size() {
		return nil, Stamp{}, fmt.Errorf("%s: %w", path, ErrChanged)
	}
	return data, now, nil
}

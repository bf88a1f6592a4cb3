package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Rewrite makes data the content of target, which must still be as was says; see
// Temp.Replace. A file that holds just these bytes is left alone: changed is false.
// With an *UnsyncedError changed is true.
func Rewrite(target string, data []byte, was Stamp, opt Options) (changed bool, err error) {
	now, err := StampPath(target)
	if err != nil {
		return false, err
	}
	if !now.Same(was) {
		return false, fmt.Errorf("%s: %w", target, ErrChanged)
	}
	if now.Regular() && now.Size() == int64(len(data)) {
		same, err := holds(target, data)
		if err != nil || same {
			return false, err
		}
	}
	t, err := filled(target, data, opt)
	if err != nil {
		return false, err
	}
	err = t.Replace(was)
	_, inPlace := errors.AsType[*UnsyncedError](err)
	return err == nil || inPlace, err
}

func filled(target string, data []byte, opt Options) (*Temp, error) {
	t, err := New(target, opt)
	if err != nil {
		return nil, err
	}
	if _, err := t.Write(data); err != nil {
		t.Discard()
		return nil, err
	}
	return t, nil
}

// holds says whether the file's content is data.
func holds(path string, data []byte) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		if n > len(data) || !bytes.Equal(buf[:n], data[:n]) {
			return false, nil
		}
		data = data[n:]
		if errors.Is(err, io.EOF) {
			return len(data) == 0, nil
		}
		if err != nil {
			return false, err
		}
	}
}

package keep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"stchat/internal/chat"
	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/safefile"
)

const (
	// racy is how old a file's time must be when it is read: a later change might otherwise
	// leave the same time, as FAT counts in steps of two seconds.
	racy = 2 * time.Second
	// readTries is how often a file is read if it changes meanwhile.
	readTries = 3
)

// unreadError means that a file could not be read and must be left out.
type unreadError struct{ err error }

func (e *unreadError) Error() string { return e.err.Error() }
func (e *unreadError) Unwrap() error { return e.err }

// readFile takes a file's content into a store. It tries again if the file changes
// meanwhile. An error is an [*unreadError], or else the store's.
func readFile(w *history.Writer, path string, isChat bool) (*history.Content, safefile.Stamp, error) {
	for range readTries {
		f, err := chat.OpenRegular(path)
		if err != nil {
			return nil, safefile.Stamp{}, &unreadError{ops.PathError(err)}
		}
		content, stamp, err := readOnce(w, f, isChat)
		_ = f.Close()
		now, statErr := safefile.StampPath(path)
		switch {
		case errors.Is(err, jsonl.ErrChanged), errors.Is(err, history.ErrAgain), err == nil && (statErr != nil || !now.Same(stamp)):
			continue
		case isRead(err):
			return nil, stamp, &unreadError{ops.PathError(err)}
		case err != nil:
			return nil, stamp, err
		}
		return content, stamp, nil
	}
	return nil, safefile.Stamp{}, &unreadError{fmt.Errorf("%s: %w", path, jsonl.ErrChanged)}
}

func readOnce(w *history.Writer, f *os.File, isChat bool) (*history.Content, safefile.Stamp, error) {
	before, err := safefile.StampOf(f)
	if err != nil {
		return nil, before, err
	}
	content, err := w.Read(f, isChat)
	if err != nil {
		return nil, before, err
	}
	after, err := safefile.StampOf(f)
	if err == nil && (!after.Same(before) || content.Size != after.Size()) {
		err = jsonl.ErrChanged
	}
	return content, before, err
}

// isRead reports whether an error comes from reading a file.
func isRead(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}

// see describes a file as the store notes it.
func see(path string, stamp safefile.Stamp) history.Seen {
	_, inode, err := stamp.FileID(path)
	if err != nil {
		inode = 0
	}
	return history.Seen{Size: stamp.Size(), Mtime: stamp.ModTime().UnixNano(), Ctime: stamp.ChangeTime(), Inode: int64(inode)}
}

// same reports whether a file looks unchanged and could not have changed unnoticed.
func same(was, now history.Seen) bool {
	return !was.Racy && was.Size == now.Size && was.Mtime == now.Mtime && was.Ctime == now.Ctime && was.Inode == now.Inode
}

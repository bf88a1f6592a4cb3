package keep

import (
	"context"
	"io"
	"os"
	"time"

	"stchat/internal/safefile"
)

// Versioned is a version of a chat that can be read as a file. It must be closed.
type Versioned struct {
	Path     string // of the chat
	Rev      *int64 // null for a backup that is not in the history
	At       time.Time
	Messages int
	Live     bool   // the chat is there now
	Note     string // which chat it is, if not the one that has the name now
	Content  *os.File
	cleanup  func()
}

// Close closes and removes the file.
func (v *Versioned) Close() { v.cleanup() }

// Version reads a version of a chat into a temporary file. The errors are those of [Restore].
func Version(ctx context.Context, where Where, which Pick) (*Versioned, error) {
	s, v, err := openPicked(ctx, where, which, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	res := &Versioned{Path: s.path, At: v.At, Messages: v.Messages, Live: isFile(s.path), Note: s.note}
	if v.file == "" {
		res.Rev = &v.Rev
	}
	res.Content, res.cleanup, err = safefile.SpoolFrom(func(w io.Writer) error { return s.write(ctx, v, w) }, "")
	return res, err
}

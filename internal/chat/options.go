package chat

import (
	"errors"
	"io"
	"os"

	"stchat/internal/group"
	"stchat/internal/jsonl"
	"stchat/internal/userdir"
)

// Options says how a chat is opened.
type Options struct {
	Data   string    // the user folder; empty: found from the chat's own path
	Groups Groups    // where groups are looked up; nil: read at each call
	Stdin  io.Reader // what the path "-" reads

	// Content is read in place of what the path leads to, which need not be there. It
	// stays open.
	Content *os.File

	// Regular says that the path has just been listed as a regular file, so
	// that it need not be looked at before it is opened.
	Regular bool

	// Buffer is memory to read the head with, for who opens many chats; nil: its own.
	Buffer *jsonl.Buffer

	// View is what is read in place of the file's bytes, as one who is about to
	// change the file sees it; nil: the file. The places are those in the view.
	View func(file jsonl.Source) jsonl.Source

	// Any says that the chat is only looked at, so that a file whose lines do
	// not look like a chat's may be opened too.
	Any bool
}

// Groups looks up the group files of a user folder, once a folder.
type Groups interface {
	In(dir userdir.Dir) (*group.Set, error)
}

// ErrNotRegular means that a path is no file that can be read twice.
var ErrNotRegular = errors.New("not a regular file; to read a pipe, give - and feed it to standard input")

package chat

import (
	"errors"
	"io"
	"os"

	"stchat/internal/group"
	"stchat/internal/jsonl"
	"stchat/internal/userdir"
)

// Options control how a chat is opened.
type Options struct {
	Data   string    // the user folder; empty: found from the chat's path
	Groups Groups    // where groups are looked up; nil: read anew by each Open
	Stdin  io.Reader // what the path "-" reads

	// Content, unless nil, is read instead of the file at the path, which need not
	// exist. It stays open.
	Content *os.File

	// Regular means that the path has just been listed as a regular file, so that it
	// need not be checked before it is opened.
	Regular bool

	// Buffer is memory for reading the head, to reuse when opening many chats; nil:
	// allocated anew.
	Buffer *jsonl.Buffer

	// View, unless nil, returns what to read instead of the file's bytes, such as the
	// file with pending changes. All places are those in the view.
	View func(file jsonl.Source) jsonl.Source

	// Any means that the chat is only looked at, so that a file whose lines do not
	// look like a chat's may be opened, too.
	Any bool
}

// Groups looks up the group files of a user folder, once per folder.
type Groups interface {
	In(dir userdir.Dir) (*group.Set, error)
}

// ErrNotRegular means that a path leads to something that cannot be read twice, such
// as a pipe.
var ErrNotRegular = errors.New("not a regular file; to read a pipe, give - and feed it to standard input")

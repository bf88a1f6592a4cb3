// Package chat opens a SillyTavern chat: one JSONL file whose first surviving
// line is the header and whose further lines are messages, in the folder that
// says whose chat it is.
//
// It joins what the packages below it know one by one: the file's bytes and
// lines (jsonl), the header (meta), the place in the user folder (userdir) and
// the groups that list the chat (group). It only reads. What is damaged at the
// head of the file is kept beside the chat for the caller to judge; the lines
// behind the header are the caller's to read, with the jsonl package, from
// Body on.
package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"stchat/internal/group"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Chat is an open chat file. Close it.
type Chat struct {
	Path string // as given
	Name string // the file's name without .jsonl; empty for standard input

	Source jsonl.Source
	Stamp  safefile.Stamp // the file as it was when it was opened

	Kind   userdir.Kind  // solo, group or file
	Owner  string        // the character's folder or the group's name
	Dir    userdir.Dir   // the user folder
	HasDir bool          // whether there is one
	Groups []*group.File // the groups that list the chat, where it is a group chat

	HeaderKind  HeaderKind
	Header      *meta.Header  // nil where the file has none
	HeaderPlace jsonl.Place   // where its line is in the file, without BOM and line end
	HeaderLine  int           // its physical line, from 1; 0 where there is none
	Damage      jsonl.Damages // damaged lines up to and with the header
	BadUTF8     bool          // the header has invalid UTF-8

	Body     int64 // the place in the file where the messages begin
	BodyLine int   // physical lines before it

	file  *os.File
	close func()
}

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

// Open opens a chat and reads it up to its header. Damage there is no error:
// see Damage and HeaderKind. What is no chat is [ErrNotChat]. Errors name the
// path.
func Open(ctx context.Context, path string, opt Options) (*Chat, error) {
	c := &Chat{Path: path, Kind: userdir.File, HeaderKind: None}
	var err error
	if opt.Data != "" {
		c.Dir, err = userdir.Open(opt.Data)
		c.HasDir = err == nil
	}
	switch {
	case err != nil:
	case path == Stdin:
		if c.file, c.close, err = openStdin(ctx, opt.Stdin); err == nil {
			err = c.stamp()
		}
	default:
		err = c.openFile(path, opt)
	}
	if err == nil {
		err = c.readHead(ctx)
	}
	if err == nil && !opt.Any {
		err = CheckShape(ctx, path, c.Source, c.Header != nil)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Chat) openFile(path string, opt Options) error {
	open := OpenRegular
	if opt.Regular {
		open = os.Open
	}
	c.file, c.close = opt.Content, func() {}
	if opt.Content == nil {
		f, err := open(path)
		if err != nil {
			return err
		}
		c.file, c.close = f, func() { _ = f.Close() } // only read from
	}
	if err := CheckName(path); err != nil {
		return err
	}
	if err := c.stamp(); err != nil {
		return err
	}
	if opt.View != nil {
		c.Source = opt.View(c.Source)
	}
	c.Name = userdir.ChatName(path)
	c.Kind, c.Owner = userdir.KindOf(path)
	if !c.HasDir {
		c.Dir, c.HasDir = userdir.Find(path)
	}
	if c.Kind != userdir.Group || !c.HasDir {
		return nil
	}
	c.Owner = ""
	set, err := lookUp(opt.Groups, c.Dir)
	if err != nil {
		return err
	}
	c.Groups = set.Listing(c.Name)
	if len(c.Groups) > 0 {
		c.Owner = c.Groups[0].Name
	}
	return nil
}

func lookUp(g Groups, dir userdir.Dir) (*group.Set, error) {
	if g != nil {
		return g.In(dir)
	}
	return group.LoadAll(dir.Groups())
}

// OpenRegular opens a file for reading, and refuses what is not a regular one
// before opening it: a FIFO would wait for its writer.
func OpenRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: a folder, not a chat", path)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	return safefile.Open(path)
}

func (c *Chat) stamp() (err error) {
	if c.Stamp, err = safefile.StampOf(c.file); err != nil {
		return err
	}
	c.Source = jsonl.Source{R: c.file, Size: c.Stamp.Size()}
	return nil
}

// Unchanged is jsonl.ErrChanged when the file is not as it was opened.
func (c *Chat) Unchanged() error {
	now, err := safefile.StampOf(c.file)
	if err == nil && !now.Same(c.Stamp) {
		err = jsonl.ErrChanged
	}
	if err != nil {
		return c.Errorf("%w", err)
	}
	return nil
}

// Errorf makes an error about the chat, with its path in front.
func (c *Chat) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", c.Label(), fmt.Errorf(format, args...))
}

// Label is the path as a person knows it.
func (c *Chat) Label() string {
	if c.Path == Stdin {
		return "standard input"
	}
	return c.Path
}

// Close lets go of the file.
func (c *Chat) Close() {
	if c != nil && c.close != nil {
		c.close()
		c.close = nil
	}
}

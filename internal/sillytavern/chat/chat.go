// Package chat opens a SillyTavern chat: one JSONL file whose first surviving
// line is the header and whose other lines are messages, in a folder that shows
// whose chat it is.
//
// It brings together what the packages below it provide: the file's bytes and
// lines (jsonl), the header (meta), the place in the user folder (userdir) and
// the groups that list the chat (group). It opens a chat without changing it,
// and renders edited ones ([Lines]). Damage at the head of the file is returned
// with the chat for the caller to judge. The caller reads the lines after the
// header itself, with the jsonl package, from Body on.
package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"stchat/internal/change/safefile"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/group"
	"stchat/internal/sillytavern/reline"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// ErrStdin means that a chat must be a file.
var ErrStdin = errors.New("standard input cannot be this chat; name a file")

// Chat is an open chat file. It must be closed.
type Chat struct {
	Path string // as given
	Name string // the file's name without .jsonl; empty for standard input

	Source jsonl.Source
	Stamp  safefile.Stamp // the file as it was when it was opened

	Kind   userdir.Kind  // solo, group or file
	Owner  string        // the character's folder or the group's name
	Dir    userdir.Dir   // the user folder
	HasDir bool          // whether there is one
	Groups []*group.File // the groups that list the chat, if it is a group chat

	HeaderKind  HeaderKind
	Header      *meta.Header  // nil if the file has none
	HeaderPlace jsonl.Place   // where its line is in the file, without BOM and line end
	HeaderLine  int           // its physical line, from 1; 0 if there is none
	Damage      jsonl.Damages // damaged lines up to and including the header
	BadUTF8     bool          // the header has invalid UTF-8

	Body     int64 // the byte offset in the file where the messages begin
	BodyLine int   // physical lines before it

	hasMetadata bool // the header has chat_metadata, which no other file's first line has

	file  *os.File
	close func()
}

// Open opens a chat and reads it up to its header. Damage there is no error: see
// Damage and HeaderKind. The error wraps [ErrNotChat] for what is no chat.
// Errors name the path.
func Open(ctx context.Context, path string, opt Options) (*Chat, error) {
	c := &Chat{Path: path, Kind: userdir.File, HeaderKind: None}
	var err error
	if opt.Data != "" {
		c.Dir, err = userdir.Open(opt.Data)
		c.HasDir = err == nil
	}
	switch {
	case err != nil:
	case path == Stdin && opt.Stdin == nil:
		err = ErrStdin
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
	if err == nil && !opt.Any && !c.hasMetadata {
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
		open = safefile.Open
	}
	c.file, c.close = opt.Content, func() {}
	if opt.Content == nil {
		f, err := open(path)
		if err != nil {
			return err
		}
		c.file, c.close = f, func() { _ = f.Close() } // only read from
	}

	if !opt.AnyName {
		if err := CheckName(path); err != nil {
			return err
		}
	}
	if err := c.stamp(); err != nil {
		return err
	}
	if opt.View != nil {
		c.Source = opt.View(c.Source)
	}
	c.Name = userdir.ChatName(path)
	dir, kind, owner := userdir.Place(path)
	if c.Kind, c.Owner = kind, owner; !c.HasDir {
		c.Dir, c.HasDir = dir, kind != userdir.File
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
		return g.Groups(dir)
	}
	return group.LoadAll(dir.Groups())
}

// OpenRegular opens a file for reading, and refuses one that is not regular
// before opening it, since opening a FIFO would wait for a writer. The error
// wraps [ErrNotRegular], except for a folder.
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

// OpenStamped is [OpenRegular] with what the file is when it was opened.
func OpenStamped(path string) (*os.File, safefile.Stamp, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, safefile.Stamp{}, err
	}
	stamp, err := safefile.StampOf(f)
	if err != nil {
		_ = f.Close() // only read from
		return nil, stamp, err
	}
	return f, stamp, nil
}

func (c *Chat) stamp() (err error) {
	if c.Stamp, err = safefile.StampOf(c.file); err != nil {
		return err
	}
	c.Source = jsonl.Source{R: c.file, Size: c.Stamp.Size()}
	return nil
}

// Unchanged returns an error that wraps [jsonl.ErrChanged] if the file is not as
// it was when it was opened.
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

// Errorf returns an error about the chat, with its path in front.
func (c *Chat) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", c.Label(), fmt.Errorf(format, args...))
}

// Label returns the path for people; see [Label].
func (c *Chat) Label() string { return Label(c.Path) }

// Label returns a path for people: "standard input" instead of "-".
func Label(path string) string {
	if path == Stdin {
		return "standard input"
	}
	return path
}

// Close closes the file, unless it is the caller's. It may be called more than
// once, and on nil.
func (c *Chat) Close() {
	if c != nil && c.close != nil {
		c.close()
		c.close = nil
	}
}

// DamageError returns an error for a damaged line of the chat. It wraps [ErrDamaged], and [ErrEncoding] if
// the line is damaged only by how the file is encoded.
func (c *Chat) DamageError(d jsonl.Damage) error {
	line := damageError{jsonl.LineError{Path: c.Label(), Damage: d}}
	encoding, err := reline.EncodingOf(c.Source)
	switch {
	case err == nil && encoding != reline.UTF8:
		text := fmt.Sprintf("%s: the file is %s, and SillyTavern reads UTF-8", c.Label(), encoding)
		return &encodingError{line, text}
	case d.Code == jsonl.BOM:
		return &encodingError{line, line.Error()}
	default:
		return &line
	}
}

// readHead reads the header, if there is one.
func (c *Chat) readHead(ctx context.Context) error {
	head, err := jsonl.ReadHead(ctx, c.Source)
	if err != nil {
		return c.Errorf("%w", err)
	}
	c.Damage = head.Skipped
	for _, d := range head.Skipped.First {
		if d.Code != jsonl.BOM {
			c.HeaderKind = Damaged // the first line, perhaps the header, is damaged
		}
	}

	if head.Line == nil {
		c.Body, c.BodyLine = c.Source.Size, 0
		return nil
	}
	if !meta.IsHeader(head.Line) {
		c.Body, c.BodyLine = head.Off, head.Number-1
		return nil
	}
	c.HeaderPlace = jsonl.Place{Off: head.Off, Len: int64(len(head.Line))}
	c.HeaderLine, c.BadUTF8 = head.Number, head.BadUTF8
	c.Body, c.BodyLine = head.Next, head.Number
	_, c.hasMetadata = rawjson.Lookup(head.Line, "chat_metadata")
	c.Header, err = meta.Parse(head.Line)
	if bad, ok := errors.AsType[*meta.BadMetadataError](err); ok {
		c.HeaderKind = Damaged
		c.Header = meta.ParseLenient(head.Line)
		c.Damage.Add(jsonl.Damage{Line: head.Number, Column: bad.Offset + 1, Code: jsonl.NotObject, Reason: bad.Error()})
		return nil
	}
	if err != nil {
		return c.Errorf("%w", err)
	}
	c.HeaderKind = Modern
	if isLegacy(head.Line) {
		c.HeaderKind = Legacy
	}
	return nil
}

// OutputHeader returns a header to edit and write: the chat's own, or, if it has
// none, a complete one with the metadata that an old group file keeps for it.
func (c *Chat) OutputHeader() *meta.Header {
	if c.Header != nil {
		return c.Header
	}
	h := meta.New()
	if old, ok := c.GroupMetadata(); ok {
		// it was read as an object, so Merge cannot fail
		_ = h.Change(func(metadata []byte) ([]byte, error) { return patch.Merge(metadata, old) })
	}
	return h
}

// Metadata returns the chat's metadata as SillyTavern would load it: the
// header's, or what an old group file keeps for the chat, or {}.
func (c *Chat) Metadata() *rawjson.Object { return c.OutputHeader().Metadata() }

// GroupMetadata returns the raw metadata that a group keeps for the chat in the
// layout up to 1.14: that of the first group listing the chat
// that has any.
func (c *Chat) GroupMetadata() (raw []byte, ok bool) {
	for _, g := range c.Groups {
		if raw, ok := g.OldMetadata(c.Name); ok {
			return raw, true
		}
	}
	return nil, false
}

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

	// View, unless nil, returns what to read instead of the file's bytes, such as the
	// file with pending changes. All places are those in the view.
	View func(file jsonl.Source) jsonl.Source

	// AnyName means that the file's name need not end in .jsonl: its content is judged alone.
	AnyName bool

	// Any means that the chat is only looked at, so that a file whose lines do not
	// look like a chat's may be opened, too.
	Any bool
}

// Groups looks up the group files of a user folder, once per folder.
type Groups interface {
	Groups(dir userdir.Dir) (*group.Set, error)
}

// ErrNotRegular means that a path leads to something that cannot be read twice, such
// as a pipe.
var ErrNotRegular = errors.New("not a regular file; to read a pipe, give - and feed it to standard input")

// HeaderKind is the kind of header that a chat file has.
type HeaderKind string

// The kinds of header.
const (
	Modern  HeaderKind = "modern"  // SillyTavern 1.16 and later, Luker: names are "unused"
	Legacy  HeaderKind = "legacy"  // up to 1.14: create_date, real names
	None    HeaderKind = "none"    // a group chat up to 1.14, or a file that lost its header
	Damaged HeaderKind = "damaged" // the header's line or its chat_metadata cannot be read
)

// isLegacy reports whether a header is one of SillyTavern up to 1.14, by what
// later ones never have: a create_date, or a user's real name.
func isLegacy(line []byte) bool {
	if _, ok := rawjson.Lookup(line, "create_date"); ok {
		return true
	}
	name, isText := rawjson.Unquote(rawjson.Value(line, "user_name"))
	return isText && name != "unused"
}

// ErrDamaged is wrapped by the errors that [Chat.DamageError] returns.
var ErrDamaged = errors.New("damaged")

// damageError formats as its line's error does, PATH:LINE:COLUMN: reason.
type damageError struct{ line jsonl.LineError }

func (e *damageError) Error() string   { return e.line.Error() }
func (e *damageError) Unwrap() []error { return []error{&e.line, ErrDamaged} }

// ErrEncoding means that a file is not in plain UTF-8, but a chat all the same.
var ErrEncoding = errors.New("not in plain UTF-8")

// encodingError is of a chat in UTF-16, no line of which can be read, or with a byte order mark.
type encodingError struct {
	damageError
	text string
}

func (e *encodingError) Error() string   { return e.text }
func (e *encodingError) Unwrap() []error { return append(e.damageError.Unwrap(), ErrEncoding) }

// openStdin copies standard input to a temporary file. It returns as soon as ctx
// ends, since input may take any time to arrive.
func openStdin(ctx context.Context, in io.Reader) (f *os.File, cleanup func(), err error) {
	type spooled struct {
		f       *os.File
		cleanup func()
		err     error
	}

	done := make(chan spooled, 1)
	go func() {
		f, cleanup, err := safefile.Spool(in, "")
		done <- spooled{f, cleanup, err}
	}()
	select {
	case s := <-done:
		if s.err != nil {
			return nil, nil, stdinError(s.err)
		}
		return s.f, s.cleanup, nil
	case <-ctx.Done():
		go func() {
			if s := <-done; s.err == nil {
				s.cleanup()
			}
		}()
		return nil, nil, fmt.Errorf("standard input: %w", ctx.Err())
	}
}

// stdinError returns an error for standard input that could not be read, or not
// be copied to a file.
func stdinError(err error) error {
	pe, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok:
		return fmt.Errorf("standard input: %w", err)
	case pe.Op == "read":
		return fmt.Errorf("standard input: %w", pe.Err)
	default:
		return fmt.Errorf("standard input: it cannot be kept meanwhile: %s: %w", pe.Path, pe.Err)
	}
}

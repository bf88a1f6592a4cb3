package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stchat/internal/chat"
	"stchat/internal/extension/luker"
	"stchat/internal/group"
	"stchat/internal/jsonl"
	"stchat/internal/library"
	"stchat/internal/message"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// side is the chats of one owner on one side.
type side struct {
	lib    *library.Library
	folder *library.Folder
	files  []*file
}

// file is one chat of a side.
type file struct {
	lib      *library.Library
	name     string
	path     string
	slug     string // integrity; "": none
	prints   []chat.Print
	settled  *match // step 1 of matching was made when both were read
	stamp    safefile.Stamp
	mainChat string
	header   []byte // its metadata
	sidecars []luker.Sidecar
	messages int
	err      error // why it cannot be read: it has a name, and is nobody's copy
}

// openSide lists the chats of a folder that are wanted.
func openSide(ctx context.Context, lib *library.Library, folder string, wanted func(name string) bool) (*side, error) {
	s := &side{lib: lib, folder: lib.Folder(folder)}
	if err := s.folder.Err; err != nil && (!errors.Is(err, fs.ErrNotExist) || !s.folder.HasDir) { // the first chat makes the folder
		return nil, ops.PathError(err)
	}
	for _, name := range s.folder.Chats {
		if wanted(name) {
			s.files = append(s.files, &file{lib: lib, name: name, path: s.folder.File(name), sidecars: s.folder.Sidecars(name)})
		}
	}
	progress.Each(ctx, len(s.files), func(i int) { s.files[i].head(ctx) })
	return s, ctx.Err()
}

// listing returns the group that lists a chat; nil: none does.
func (s *side) listing(name string) *group.File {
	set, err := s.lib.In(s.folder.Dir)
	if err != nil || s.folder.Kind != userdir.Group || len(set.Listing(name)) == 0 {
		return nil
	}
	return set.Listing(name)[0]
}

// head reads a chat up to its header.
func (f *file) head(ctx context.Context) {
	c, err := f.open(ctx)
	if err == nil && c.Damage.Total > 0 {
		err = c.DamageError(c.Damage.First[0])
	}
	defer c.Close()
	if f.err = ops.PathError(err); err != nil {
		return
	}
	md := c.Metadata()
	f.stamp, f.header = c.Stamp, bytes.Clone(md.Bytes())
	f.slug, _ = rawjson.Unquote(md.Value("integrity"))
	f.mainChat, _ = rawjson.Unquote(md.Value("main_chat"))
}

// metadata returns the metadata of a chat, to be edited.
func (f *file) metadata() *rawjson.Object {
	md, err := rawjson.ParseObject(f.header)
	if err != nil {
		return rawjson.NewObject() // of a chat that cannot be read
	}
	return md
}

// open opens a chat, which must be as it was when it was first opened.
func (f *file) open(ctx context.Context) (*chat.Chat, error) {
	c, err := chat.Open(ctx, f.path, chat.Options{Groups: f.lib})
	if err == nil && f.stamp != (safefile.Stamp{}) && !c.Stamp.Same(f.stamp) {
		c.Close()
		return nil, c.Errorf("%w", jsonl.ErrChanged)
	}
	return c, err
}

// read reads the prints of a chat, once.
func (f *file) read(ctx context.Context, seed message.Seed) {
	if f.err != nil || f.prints != nil {
		return
	}
	c, err := f.open(ctx)
	if err == nil {
		defer c.Close()
		f.prints, err = chat.ReadPrints(ctx, c, seed)
	}
	f.messages = len(f.prints)
	if err == nil && slices.ContainsFunc(f.prints, func(p chat.Print) bool { return p.Damaged }) {
		_, err = jsonl.Copy(ctx, nil, c.Source, jsonl.CopyOptions{From: c.Body, Line: c.BodyLine, Limit: -1})
		if d, ok := errors.AsType[*jsonl.Damage](err); ok {
			err = c.DamageError(*d)
		}
	}
	f.err = ops.PathError(err)
}

// readBoth reads the prints of all chats, but forgets those of chats with one name of which one
// holds the other: these are one. So memory follows the largest such pair, and the others.
func (o *owner) readBoth(ctx context.Context) error {
	named := map[string]*file{}
	for _, p := range o.ours.files {
		if key := folded(p.name); named[key] == nil {
			named[key] = p
		}
	}
	namesakes := map[*file]*file{} // of chats of FROM
	for _, c := range o.theirs.files {
		key := folded(c.name)
		namesakes[c] = named[key]
		delete(named, key)
	}
	o.opt.Meter.Expect(len(o.ours.files)+len(o.theirs.files), 0)
	progress.Each(ctx, len(o.theirs.files), func(i int) {
		defer o.opt.Meter.Done()
		c := o.theirs.files[i]
		p := namesakes[c]
		switch {
		case p == nil || c.err != nil || p.err != nil:
			c.read(ctx, o.seed)
		case isTwin(c, p):
			c.settled = &match{from: c, into: p, by: ByName, twin: true}
			p.settled = c.settled
		default:
			c.read(ctx, o.seed)
			p.read(ctx, o.seed)
			if c.err != nil || p.err != nil {
				return
			}
			if r := relate(c.prints, p.prints, o.judging(ctx, c)); r.holds() { // else they are compared with others, too
				c.settled = &match{c, p, ByName, false, r}
				p.settled, c.prints, p.prints = c.settled, nil, nil
			}
		}
	})
	progress.Each(ctx, len(o.ours.files), func(i int) {
		if p := o.ours.files[i]; p.settled == nil {
			p.read(ctx, o.seed)
		}
		o.opt.Meter.Done()
	})
	return ctx.Err()
}

// isTwin reports whether two chats hold the same bytes.
func isTwin(a, b *file) bool {
	same, err := sameFile(a.path, b.path)
	return err == nil && same
}

// sameFile reports whether two files hold the same.
func sameFile(from, into string) (bool, error) {
	a, errA := os.Stat(from)
	b, errB := os.Stat(into)
	if err := errors.Join(errA, errB); err != nil || a.Size() != b.Size() {
		return false, ops.PathError(err)
	}
	x, err := safefile.Open(from)
	if err != nil {
		return false, ops.PathError(err)
	}
	defer x.Close()
	y, err := safefile.Open(into)
	if err != nil {
		return false, ops.PathError(err)
	}
	defer y.Close()
	block := min(a.Size(), 32<<10) + 1 // the end shows with the last byte
	p, q := make([]byte, block), make([]byte, block)
	for {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		if !bytes.Equal(p[:n], q[:m]) {
			return false, nil
		}
		for _, err := range []error{errX, errY} {
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
				return true, nil
			case err != nil:
				return false, ops.PathError(err)
			}
		}
	}
}

// eachLine goes through the messages of a chat, and says of each whether it may name a chat.
func eachLine(ctx context.Context, c *chat.Chat, do func(at int, l *jsonl.Line, links bool) error) error {
	return jsonl.Each(ctx, c.Source, jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Keys: jsonl.NewKeys("extra", "swipe_info")}, func(l *jsonl.Line, base jsonl.Base) error {
		extra, _ := l.Value(0)
		info, _ := l.Value(1)
		return do(base.Index+l.Index, l, message.MayLink(extra, l.Plain) || message.MayLink(info, l.Plain))
	})
}

// links returns the links of a chat by message.
func (f *file) links(ctx context.Context) (map[int][]link, error) {
	c, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	found := map[int][]link{}
	err = eachLine(ctx, c, func(at int, l *jsonl.Line, links bool) error {
		if l.Damage == nil && links {
			message.EditLinks(l.Raw, func(checkpoint bool, name string) (string, bool) {
				if one := (link{checkpoint, name}); !slices.Contains(found[at], one) {
					found[at] = append(found[at], one)
				}
				return name, true
			})
		}
		return nil
	})
	return found, err
}

// link is the name of a checkpoint or branch on a message.
type link struct {
	checkpoint bool
	name       string
}

// label returns what tells the other side's chats apart: the nearest folder of FROM that INTO
// is not in as well.
func label(into, from string) string {
	known := map[string]bool{"chats": true, "group chats": true, "groups": true, "data": true, "default-user": true, ".": true, "": true}
	for path := userdir.RealPath(into); ; path = filepath.Dir(path) {
		known[userdir.ChatName(filepath.Base(path))] = true
		if path == filepath.Dir(path) {
			break
		}
	}
	for path := userdir.RealPath(from); path != filepath.Dir(path); path = filepath.Dir(path) {
		name := filepath.Base(path)
		if !known[name] && !userdir.HasExtension(name) && filepath.Ext(name) != ".json" {
			return labelOf(name)
		}
	}
	return "theirs"
}

// labelOf makes a label of a folder's name.
func labelOf(name string) string {
	if safe, err := names.Sanitize(name); err == nil {
		return safe
	}
	return "theirs"
}

// told joins what is to be said of a header's keys.
func keysTold(keys []string) string {
	const shown = 6
	if more := len(keys) - shown; more > 0 {
		keys = append(slices.Clone(keys[:shown]), fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%q", keys)
}

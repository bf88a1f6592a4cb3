package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

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
	name     string
	path     string
	slug     string // integrity; "": none
	prints   []chat.Print
	settled  *match // of FROM: step 1 was made when both were read
	stamp    safefile.Stamp
	mainChat string
	metadata []byte
	sidecars []luker.Sidecar
	messages int
	fragment bool  // it lacks most of what the base has
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
			s.files = append(s.files, &file{name: name, path: s.folder.File(name), sidecars: s.folder.Sidecars(name)})
		}
	}
	progress.Each(ctx, len(s.files), func(i int) { s.files[i].head(ctx, lib) })
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
func (f *file) head(ctx context.Context, lib *library.Library) {
	c, err := f.open(ctx, lib)
	if err != nil {
		f.fail(err)
		return
	}
	defer c.Close()
	if c.Damage.Total > 0 {
		f.fail(c.DamageError(c.Damage.First[0]))
		return
	}
	md := c.Metadata()
	f.stamp, f.metadata = c.Stamp, bytes.Clone(md.Bytes())
	f.slug, _ = rawjson.Unquote(md.Value("integrity"))
	f.mainChat, _ = rawjson.Unquote(md.Value("main_chat"))
}

func (f *file) fail(err error) { f.err = ops.PathError(err) }

func (f *file) open(ctx context.Context, lib *library.Library) (*chat.Chat, error) {
	return chat.Open(ctx, f.path, chat.Options{Groups: lib})
}

// read reads the prints of a chat.
func (f *file) read(ctx context.Context, lib *library.Library, seed message.Seed) {
	f.readBehind(ctx, lib, seed, beginning{})
}

// readBehind reads the prints of what comes behind a beginning.
func (f *file) readBehind(ctx context.Context, lib *library.Library, seed message.Seed, head beginning) {
	if f.err != nil {
		return
	}
	c, err := f.open(ctx, lib)
	if err != nil {
		f.fail(err)
		return
	}
	defer c.Close()
	if !c.Stamp.Same(f.stamp) {
		f.fail(c.Errorf("%w", jsonl.ErrChanged))
		return
	}
	c.Body, c.BodyLine = c.Body+head.bytes, c.BodyLine+head.lines
	f.prints, err = chat.ReadPrints(ctx, c, seed)
	f.messages = head.messages + len(f.prints)
	if err == nil && slices.ContainsFunc(f.prints, func(p chat.Print) bool { return p.Damaged }) {
		_, err = jsonl.Copy(ctx, nil, c.Source, jsonl.CopyOptions{From: c.Body, Line: c.BodyLine, Limit: -1})
		if d, ok := errors.AsType[*jsonl.Damage](err); ok {
			err = c.DamageError(*d)
		}
	}
	if err != nil {
		f.fail(err)
	}
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
	var mu sync.Mutex
	claimed := map[*file]bool{} // by one chat of FROM
	settled := map[*file]bool{}
	o.opt.Meter.Expect(len(o.ours.files)+len(o.theirs.files), 0)
	progress.Each(ctx, len(o.theirs.files), func(i int) {
		defer o.opt.Meter.Done()
		c := o.theirs.files[i]
		p := named[folded(c.name)]
		mu.Lock()
		mine := p != nil && !claimed[p]
		if mine {
			claimed[p] = true
		}
		mu.Unlock()
		if !mine || c.err != nil || p.err != nil {
			c.read(ctx, o.theirs.lib, o.seed)
			return
		}
		if sameBytes(c, p) {
			c.settled = &match{from: c, into: p, by: ByName, twin: true}
		} else {
			mu.Lock()
			by := o.judging(ctx, c)
			mu.Unlock()
			r := o.relateFiles(ctx, c, p, by)
			if c.err != nil || p.err != nil {
				return
			}
			if !r.holds() { // they are compared with others, too
				c.read(ctx, o.theirs.lib, o.seed)
				p.read(ctx, o.ours.lib, o.seed)
				return
			}
			c.settled, c.fragment = &match{c, p, ByName, false, r}, by.base.lacksMost(c.prints)
			c.prints, p.prints = nil, nil
		}
		mu.Lock()
		settled[p] = true
		mu.Unlock()
	})
	progress.Each(ctx, len(o.ours.files), func(i int) {
		if p := o.ours.files[i]; !settled[p] && p.prints == nil {
			p.read(ctx, o.ours.lib, o.seed)
		}
		o.opt.Meter.Done()
	})
	return ctx.Err()
}

// relateFiles compares two chats, and reads of the messages that both begin with, line for line,
// only how many there are. A chat that cannot be read has an err.
func (o *owner) relateFiles(ctx context.Context, c, p *file, by judging) relation {
	head := beginning{}
	if c.err == nil && p.err == nil && by.base == nil {
		var err error
		if head, err = o.beginning(ctx, c, p); err != nil {
			head = beginning{} // reading finds out why
		}
	}
	c.readBehind(ctx, o.theirs.lib, o.seed, head)
	p.readBehind(ctx, o.ours.lib, o.seed, head)
	return relateBehind(head, c.prints, p.prints, by)
}

// beginning returns what two chats begin with behind their headers, in whole lines.
func (o *owner) beginning(ctx context.Context, c, p *file) (head beginning, err error) {
	x, err := c.open(ctx, o.theirs.lib)
	if err != nil {
		return head, err
	}
	defer x.Close()
	y, err := p.open(ctx, o.ours.lib)
	if err != nil {
		return head, err
	}
	defer y.Close()
	const block = 256 << 10
	a, b := make([]byte, block), make([]byte, block)
	for at := int64(0); ; at += block {
		n, errX := x.Source.R.ReadAt(a, x.Body+at)
		m, errY := y.Source.R.ReadAt(b, y.Body+at)
		same := 0
		for end := min(n, m); same < end && a[same] == b[same]; same++ {
		}
		if i := bytes.LastIndexByte(a[:same], '\n'); i >= 0 {
			head.bytes, head.lines = at+int64(i)+1, head.lines+bytes.Count(a[:same], []byte{'\n'})
		}
		if same < block || errX != nil || errY != nil {
			break
		}
	}
	lines := x.Source
	lines.Size = x.Body + head.bytes
	err = jsonl.Map(ctx, lines, jsonl.MapOptions{From: x.Body, Line: x.BodyLine, Limit: -1, Keys: jsonl.NewKeys("is_user")},
		func(l *jsonl.Line, b *beginning) {
			if l.Damage == nil {
				isUser, _ := l.Value(0)
				b.messages, b.user = b.messages+1, b.user || rawjson.Truthy(isUser)
			}
		},
		func(b *beginning, _ jsonl.Base, damage jsonl.Damages) error {
			head.messages, head.user = head.messages+b.messages, head.user || b.user
			if damage.Total > 0 {
				return x.DamageError(damage.First[0])
			}
			return nil
		}, func(b *beginning) { *b = beginning{} })
	return head, err
}

// sameBytes reports whether two files hold the same.
func sameBytes(a, b *file) bool {
	if a.stamp.Size() != b.stamp.Size() {
		return false
	}
	same, err := equalFiles(a.path, b.path)
	return err == nil && same
}

// equalFiles compares two files byte by byte.
func equalFiles(a, b string) (bool, error) {
	x, err := safefile.Open(a)
	if err != nil {
		return false, ops.PathError(err)
	}
	defer x.Close()
	y, err := safefile.Open(b)
	if err != nil {
		return false, ops.PathError(err)
	}
	defer y.Close()
	const block = 256 << 10
	p, q := make([]byte, block), make([]byte, block)
	for {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		if !bytes.Equal(p[:n], q[:m]) {
			return false, nil
		}
		if errX != nil || errY != nil {
			for _, err := range []error{errX, errY} {
				if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					return false, ops.PathError(err)
				}
			}
			return errX != nil && errY != nil, nil
		}
	}
}

// links returns the links of a chat by message.
func (f *file) links(ctx context.Context, lib *library.Library) (map[int][]link, error) {
	c, err := f.open(ctx, lib)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	found := map[int][]link{}
	err = jsonl.Each(ctx, c.Source, jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Limit: -1, Keys: jsonl.NewKeys("extra", "swipe_info")}, func(l *jsonl.Line, base jsonl.Base) error {
		if l.Damage != nil {
			return nil
		}
		extra, _ := l.Value(0)
		info, _ := l.Value(1)
		if !message.MayLink(extra, l.Plain) && !message.MayLink(info, l.Plain) {
			return nil
		}
		at := base.Index + l.Index
		message.EditLinks(l.Raw, func(checkpoint bool, name string) (string, bool) {
			if one := (link{checkpoint, name}); !slices.Contains(found[at], one) {
				found[at] = append(found[at], one)
			}
			return name, true
		})
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

package merge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/progress"
)

// side is the chats of one owner on one side.
type side struct {
	lib    *library.Library
	folder *library.Folder
	files  []*file
}

// file is one chat of a side.
type file struct {
	lib        *library.Library
	name       string
	key        string // the name as it is compared
	path       string
	slug       string // integrity; "": none
	prints     []chat.Print
	settled    *match         // step 1 of matching was made when both were read
	stamp      safefile.Stamp // when it was first opened
	mainChat   string
	header     []byte // its metadata; nil: not read
	sidecars   []luker.Sidecar
	messages   int
	isMisnamed bool  // the file's name does not end as a chat's
	headless   bool  // no header is in it, nor kept for it by a group
	comes      bool  // it is not there yet
	err        error // why it cannot be read: it has a name, and is nobody's copy
}

// openSide lists the chats of a folder that are wanted.
func openSide(lib *library.Library, folder string, wanted func(name string) bool) (*side, error) {
	s := &side{lib: lib, folder: lib.Folder(folder)}
	if err := s.folder.Err; err != nil && (!errors.Is(err, fs.ErrNotExist) || !s.folder.HasDir) { // the first chat makes the folder
		return nil, ops.PathError(err)
	}
	for _, name := range s.folder.Chats {
		if wanted(name) {
			s.files = append(s.files, &file{lib: lib, name: name, key: names.FoldNFC(name), path: s.folder.File(name), sidecars: s.folder.Sidecars(name)})
		}
	}
	return s, nil
}

// addLinks lists the links that are called as chats, which are wanted and not read.
func (s *side) addLinks(wanted func(name string) bool) {
	entries, _ := safefile.ReadDir(s.folder.Path) // it was listed before
	for _, e := range entries {
		name, path := userdir.ChatName(e.Name()), filepath.Join(s.folder.Path, e.Name())
		if !userdir.HasExtension(e.Name()) || s.folder.Has(name) || !wanted(name) {
			continue
		}
		if err := followed(path); err != nil {
			s.files = append(s.files, &file{lib: s.lib, name: name, key: names.FoldNFC(name), path: path, err: err})
		}
	}
}

// keys returns the names of all chats in the folder, as they are compared.
func (s *side) keys() map[string]bool {
	keys := make(map[string]bool, len(s.folder.Chats))
	for _, name := range s.folder.Chats {
		keys[names.FoldNFC(name)] = true
	}
	return keys
}

// listing returns the group that lists a chat of a folder; nil: none does.
func listing(lib *library.Library, folder *library.Folder, name string) *group.File {
	set, err := lib.Groups(folder.Dir)
	if err != nil || folder.Kind != userdir.Group || len(set.Listing(name)) == 0 {
		return nil
	}
	return set.Listing(name)[0]
}

// metadata returns the metadata of a chat, to be edited; of one that cannot be read there is none.
func (f *file) metadata() *rawjson.Object { return object(f.header) }

// object returns a JSON object, to be edited: an empty one if raw is none.
func object(raw []byte) *rawjson.Object {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return rawjson.NewObject()
	}
	return o
}

// open opens a chat, which must be as it was when it was first opened. The first time it notes what the
// header says.
func (f *file) open(ctx context.Context) (*chat.Chat, error) {
	c, err := chat.Open(ctx, f.path, chat.Options{Groups: f.lib, AnyName: f.isMisnamed})
	switch {
	case err != nil:
		return nil, err
	case f.stamp != (safefile.Stamp{}) && !c.Stamp.Same(f.stamp):
		err = c.Errorf("%w", jsonl.ErrChanged)
	case c.Damage.Total > 0:
		err = c.DamageError(c.Damage.First[0])
	case f.header == nil:
		md := c.Metadata()
		f.stamp, f.header = c.Stamp, bytes.Clone(md.Bytes())
		f.slug, _ = rawjson.Unquote(md.Value("integrity"))
		f.mainChat, _ = rawjson.Unquote(md.Value("main_chat"))
		_, isKept := c.GroupMetadata()
		f.headless = c.Header == nil && !isKept
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// head reads a chat up to its header, once.
func (f *file) head(ctx context.Context) {
	if f.err != nil || f.header != nil {
		return
	}
	c, err := f.open(ctx)
	f.err = ops.PathError(err)
	c.Close()
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
	f.messages, f.err = len(f.prints), ops.PathError(err)
}

// readBoth compares the chats with one name: first their bytes, of which nothing else is read if they
// are the same, then their prints, which are forgotten where one chat holds the other: these are one.
// So memory follows the largest such pair, and the others.
func (o *owner) readBoth(ctx context.Context, into []*file) error {
	ours, theirs := byName(into), byName(o.theirs.files)
	o.each(ctx, o.theirs.files, func(c *file) {
		var p *file // with the very name, or the only one of each side
		if list := exactFirst(ours[c.key], c.name); len(list) > 0 && (list[0].name == c.name || len(list)+len(theirs[c.key]) == 2) {
			p = list[0]
		}
		if p != nil && isTwin(c, p) {
			c.settled = &match{c: c, p: p, by: ByName, twin: true}
			p.settled = c.settled
			return
		}

		c.read(ctx, o.seed)
		if p == nil || c.err != nil {
			return
		}
		p.read(ctx, o.seed)
		if p.err != nil {
			return
		}

		r := relateFiles(c, p, o.judging(ctx, c))
		if !r.holds() { // they are compared with others, too
			return
		}
		c.settled = &match{c: c, p: p, by: ByName, relation: r}
		p.settled = c.settled
		c.prints, p.prints = nil, nil
	})
	if slices.ContainsFunc(o.theirs.files, func(c *file) bool { return c.settled == nil || !c.settled.twin }) {
		homeless := slices.ContainsFunc(o.theirs.files, func(c *file) bool { return c.settled == nil && c.err == nil })
		o.each(ctx, slices.Concat(o.theirs.files, into), func(f *file) {
			f.head(ctx)
			if homeless && f.settled == nil {
				f.read(ctx, o.seed)
			}
		})
	}
	return ctx.Err()
}

// each does something about chats, several at once.
func (o *owner) each(ctx context.Context, files []*file, do func(f *file)) {
	o.opt.Meter.Expect(len(files), 0)
	progress.Each(ctx, len(files), func(i int) {
		defer o.opt.Meter.Done()
		do(files[i])
	})
}

// withPrints does something about a chat with its prints, which are read if they were forgotten, and then are again.
func (o *owner) withPrints(ctx context.Context, f *file, do func(f *file)) {
	known := f.prints != nil
	f.read(ctx, o.seed)
	if f.err == nil {
		do(f)
	}
	if !known {
		f.prints = nil
	}
}

// isTwin reports whether two chats hold the same bytes.
func isTwin(a, b *file) bool {
	stamps, same, err := compare(a.path, b.path)
	if err != nil || !same {
		return false
	}
	for i, f := range []*file{a, b} {
		f.stamp = cmp.Or(f.stamp, stamps[i])
	}
	return true
}

// compare reports whether two files hold the same, and what they were then.
func compare(from, into string) (stamps [2]safefile.Stamp, same bool, err error) {
	var files [2]*os.File
	for i, path := range []string{from, into} {
		if files[i], err = safefile.Open(path); err != nil {
			return stamps, false, err
		}
		defer func() { _ = files[i].Close() }() // only read from
		if stamps[i], err = safefile.StampOf(files[i]); err != nil {
			return stamps, false, err
		}
	}
	left, room := stamps[0].Size(), new([2][16 << 10]byte) // larger room is cleared anew for each pair
	for same = left == stamps[1].Size(); same && left > 0; left -= int64(len(room[0])) {
		n := min(left, int64(len(room[0])))
		for i, f := range files {
			if _, err = io.ReadFull(f, room[i][:n]); err != nil {
				return stamps, false, err
			}
		}
		same = bytes.Equal(room[0][:n], room[1][:n])
	}
	return stamps, same, nil
}

// lines opens a chat and goes through its messages; see [eachLine].
func (f *file) lines(ctx context.Context, do func(at int, l *jsonl.Line, links bool) error) error {
	c, err := f.open(ctx)
	if err != nil {
		return ops.PathError(err)
	}
	defer c.Close()
	return eachLine(ctx, c, do)
}

// carrying are the keys of a message that hold addresses of attachments; the first two hold links, too.
var carrying = [...]string{"extra", "swipe_info", "force_avatar"}

// eachLine goes through the messages of a chat, and says of each whether it may name a chat.
func eachLine(ctx context.Context, c *chat.Chat, do func(at int, l *jsonl.Line, links bool) error) error {
	return jsonl.Each(ctx, c.Source, jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Keys: jsonl.NewKeys(carrying[:]...)}, func(l *jsonl.Line, base jsonl.Base) error {
		extra, _ := l.Value(0)
		info, _ := l.Value(1)
		return do(base.Index+l.Index, l, l.Damage == nil && (message.MayLink(extra, l.Plain) || message.MayLink(info, l.Plain)))
	})
}

// links returns the links of a chat by message.
func (f *file) links(ctx context.Context) (map[int][]link, error) {
	found := map[int][]link{}
	return found, f.lines(ctx, func(at int, l *jsonl.Line, links bool) error {
		if links {
			message.EditLinks(l.Raw, func(checkpoint bool, name string) (string, bool) {
				if one := (link{checkpoint, name}); !slices.Contains(found[at], one) {
					found[at] = append(found[at], one)
				}
				return name, true
			})
		}
		return nil
	})
}

// link is the name of a checkpoint or branch on a message.
type link struct {
	checkpoint bool
	name       string
}

// ErrLink means that something in FROM is a link, which may lead anywhere.
var ErrLink = error(&ops.Kind{Code: "refused", Text: "is a link, and no link in FROM is followed; merge what it leads to by itself"})

// followed returns why something in FROM is not read: it is a link.
func followed(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return fmt.Errorf("%s: %w", path, ErrLink)
	}
	return nil
}

// followedBelow returns why something below a folder in FROM is not read: it, or a folder on the way, is a link.
func followedBelow(root, place string) error {
	path := root
	for part := range strings.SplitSeq(place, "/") {
		path = filepath.Join(path, part)
		if err := followed(path); err != nil {
			return err
		}
	}
	return nil
}

// label returns what tells the other side's chats apart: the nearest folder of FROM that INTO
// is not in as well.
func label(into, from string) string {
	known := map[string]bool{"chats": true, "group chats": true, "groups": true, "data": true, "default-user": true, ".": true, "": true}
	for path := userdir.RealPath(into); path != filepath.Dir(path); path = filepath.Dir(path) {
		known[userdir.ChatName(filepath.Base(path))] = true
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
	safe, _ := names.Sanitize(name) // "" if it cannot be made safe
	return cmp.Or(safe, "theirs")
}

// keysTold joins keys for people, the first few of many.
func keysTold(keys []string) string {
	const shown = 6
	if more := len(keys) - shown; more > 0 {
		keys = append(slices.Clone(keys[:shown]), fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%q", keys)
}

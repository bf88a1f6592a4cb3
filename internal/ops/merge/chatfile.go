package merge

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
)

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
		f.stamp = c.Stamp
		f.header = bytes.Clone(md.Bytes())
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

// lines opens a chat and goes through its messages; see [eachLine].
func (f *file) lines(ctx context.Context, do func(at int, l *jsonl.Line, links bool) error) error {
	c, err := f.open(ctx)
	if err != nil {
		return ops.PathError(err)
	}
	defer c.Close()
	return eachLine(ctx, c, do)
}

// attachmentKeys are the keys of a message that hold addresses of attachments; the first two hold links, too.
var attachmentKeys = [...]string{"extra", "swipe_info", "force_avatar"}

// eachLine goes through the messages of a chat, and says of each whether it may name a chat.
func eachLine(ctx context.Context, c *chat.Chat, do func(at int, l *jsonl.Line, links bool) error) error {
	return jsonl.Each(ctx, c.Source, jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Keys: jsonl.NewKeys(attachmentKeys[:]...)}, func(l *jsonl.Line, base jsonl.Base) error {
		extra, _ := l.Value(0)
		info, _ := l.Value(1)
		return do(base.Index+l.Index, l, l.Damage == nil && (message.MayLink(extra, l.Plain) || message.MayLink(info, l.Plain)))
	})
}

// links returns the links of a chat by message.
func (f *file) links(ctx context.Context) (map[int][]link, error) {
	found := map[int][]link{}
	err := f.lines(ctx, func(at int, line *jsonl.Line, mayLink bool) error {
		if mayLink {
			message.EditLinks(line.Raw, func(checkpoint bool, name string) (string, bool) {
				l := link{checkpoint, name}
				if !slices.Contains(found[at], l) {
					found[at] = append(found[at], l)
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

package family

import (
	"context"
	"slices"

	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/sendate"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/progress"
)

// Options says how kinship is judged.
type Options struct {
	By      Evidence
	Meter   *progress.Meter
	Preview func(path string) *Preview // what a chat is about to become; nil, or if it returns nil: it stays as it is
}

// Preview describes a chat as it will be after a change.
type Preview struct {
	View   func(file jsonl.Source) jsonl.Source // with its header in front; nil: the file
	Line   LineEdit                             // nil: every line stays as it is
	Groups []string                             // files of the groups that will list it, too
}

// LineEdit returns the message in a line, and false where there will be none.
// header is the chat's.
type LineEdit func(header []byte, l *jsonl.Line) (message []byte, ok bool)

// Read reads every chat in the folders once and judges each folder. A chat that cannot be
// read has an Err. The error is that of a folder, or that ctx ended.
func Read(ctx context.Context, lib *library.Library, folders []string, opt Options) ([]*Graph, error) {
	var chats []*Chat
	ends := make([]int, len(folders))
	for i, path := range folders {
		f := lib.Folder(path)
		if f.Err != nil {
			return nil, f.Err
		}
		for _, name := range f.Chats {
			chats = append(chats, &Chat{Path: f.File(name), Name: name})
		}
		ends[i] = len(chats)
	}

	opt.Meter.Expect(len(chats), 0)
	newReader := readers(lib, opt.Preview)
	progress.SmallFirst(ctx, len(chats), opt.Meter, newReader, func(r *reader, i int, small bool) bool {
		return r.fill(ctx, chats[i], small)
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	graphs := make([]*Graph, len(folders))
	from := 0
	for i, path := range folders {
		f := lib.Folder(path)
		graphs[i] = New(f, slices.Clip(chats[from:ends[i]]), opt.By)
		lookAround(graphs[i], lib, f)
		from = ends[i]
	}
	return graphs, nil
}

// lookAround looks up what else names the chats of the folder.
func lookAround(g *Graph, lib *library.Library, f *library.Folder) {
	g.Folder = f
	switch f.Kind {
	case userdir.Group:
		if set, err := lib.Groups(f.Dir); err == nil {
			g.Groups = set.Files
		}
	case userdir.Solo:
		g.Card, g.NoCard = card.Of(f.Dir, f.Owner)
	}
}

// readers returns a function that makes readers which agree on the IDs of messages.
func readers(lib *library.Library, preview func(path string) *Preview) func() *reader {
	if preview == nil {
		preview = func(string) *Preview { return nil }
	}
	seed := message.NewSeed()
	return func() *reader {
		return &reader{
			lib:     lib,
			preview: preview,
			keys:    lineKeys(),
			seed:    seed,
			all:     said{ids: message.NewIdentifier(seed)},
		}
	}
}

// reader reads one chat after another and reuses its memory.
type reader struct {
	lib     *library.Library
	preview func(path string) *Preview
	keys    *jsonl.Keys
	seed    message.Seed
	buf     jsonl.Buffer
	all     said // of the chat that is read
}

// fill reads a chat and fills in what it says. With small it returns false for a large one: those
// are read one by one, each by all processors.
func (r *reader) fill(ctx context.Context, c *Chat, small bool) bool {
	preview := r.preview(c.Path)
	if preview == nil {
		preview = new(Preview)
	}
	open, err := chat.Open(ctx, c.Path, chat.Options{Groups: r.lib, Regular: true, View: preview.View})
	if err != nil {
		c.Err = err
		return true
	}
	defer open.Close()
	src := open.Source
	if small && src.Size > jsonl.Small {
		return false
	}

	c.Stamp = open.Stamp
	c.Bytes = src.Size
	c.Damaged = open.Damage.Total
	for _, g := range open.Groups {
		c.Groups = append(c.Groups, g.Path)
	}
	c.Groups = append(c.Groups, preview.Groups...)
	c.head(open)

	r.all.reset()
	r.all.become = nil
	if preview.Line != nil {
		header, err := src.Section(open.HeaderPlace.Off, open.HeaderPlace.Len)
		if err != nil {
			c.Err = open.Errorf("%w", err)
			return true
		}
		r.all.become = func(l *jsonl.Line) ([]byte, bool) { return preview.Line(header, l) }
	}

	lines := jsonl.MapOptions{From: open.Body, Line: open.BodyLine, Limit: -1, Keys: r.keys}
	if small {
		err = r.fillSmall(src, lines, c)
	} else {
		err = r.fillLarge(ctx, src, lines, c)
	}

	c.Links = slices.Clone(r.all.links)
	if err != nil {
		c.Err = open.Errorf("%w", err)
	}
	return true
}

// fillSmall fills in the messages of a small chat.
func (r *reader) fillSmall(src jsonl.Source, lines jsonl.MapOptions, c *Chat) error {
	damage, err := r.buf.Each(src, lines, r.all.line)
	c.Damaged += damage.Total
	c.Messages = slices.Clone(r.all.messages)
	return err
}

// fillLarge fills in the messages of a large chat, read by all processors.
func (r *reader) fillLarge(ctx context.Context, src jsonl.Source, lines jsonl.MapOptions, c *Chat) error {
	work := func(l *jsonl.Line, part *said) {
		if part.ids == nil {
			part.ids = message.NewIdentifier(r.seed)
		}
		part.become = r.all.become
		part.line(l)
	}

	fold := func(part *said, _ jsonl.Base, damage jsonl.Damages) error {
		for _, l := range part.links {
			l.Index += len(c.Messages)
			if len(r.all.links) < maxLinks {
				r.all.links = append(r.all.links, l)
			}
		}

		if c.Messages == nil {
			c.Messages = make([]Message, 0, expected(part.messages, src.Size-lines.From))
		}
		c.Messages = append(c.Messages, part.messages...)
		c.Damaged += damage.Total
		return nil
	}
	return jsonl.Map(ctx, src, lines, work, fold, (*said).reset)
}

// expected estimates from the first messages of a chat how many there are in size bytes, so
// that they need not be moved as their list grows. A line counts as at least shortest bytes,
// so that a few short ones cannot inflate the estimate.
func expected(first []Message, size int64) int {
	const shortest = 256
	if len(first) < 2 {
		return len(first)
	}
	length := max((first[len(first)-1].Off-first[0].Off)/int64(len(first)-1), shortest)
	return len(first) + int(size/length+size/length/16)
}

// The keys of a message that are looked at, by their place in keyNames.
const (
	keyName = iota
	keyIsUser
	keyText
	keyDate
	keyExtra
	keySwipeInfo
)

func keyNames() []string {
	return []string{"name", "is_user", "mes", "send_date", "extra", "swipe_info"}
}

func lineKeys() *jsonl.Keys { return jsonl.NewKeys(keyNames()...) }

// maxLinks is how many links of a chat are kept.
const maxLinks = 100_000

// said is what a stretch of a chat says.
type said struct {
	messages []Message
	links    []Link        // their indexes are those in the stretch
	seen     map[Link]bool // on the line
	ids      *message.Identifier
	become   func(l *jsonl.Line) (message []byte, ok bool) // nil: lines stay as they are
}

func (t *said) reset() {
	t.messages = t.messages[:0]
	t.links = t.links[:0]
}

// line reads one line.
func (t *said) line(l *jsonl.Line) {
	raw, ok := l.Raw, l.Damage == nil
	if t.become != nil {
		raw, ok = t.become(l)
	}
	if !ok {
		return
	}
	value := func(key int) (value []byte) {
		if l.Damage == nil {
			value, _ = l.Value(key)
		} else {
			value = rawjson.Value(raw, keyNames()[key])
		}
		return value
	}

	date := value(keyDate)
	m := Message{
		ID:  t.ids.Identity(value(keyName), value(keyIsUser), value(keyText), date, l.Plain),
		Off: l.Off,
	}
	if at, ok := sendate.ParseRaw(date); ok {
		m.Date = at.UnixMilli()
	}
	t.messages = append(t.messages, m)

	t.seen = nil
	index := len(t.messages) - 1
	t.linksIn(value(keyExtra), l.Plain, index)
	if infos := value(keySwipeInfo); message.MayLink(infos, l.Plain) {
		for info := range rawjson.Elements(infos) {
			t.linksIn(rawjson.Value(info, "extra"), l.Plain, index)
		}
	}
}

// linksIn collects the links in an extra, each once a message.
func (t *said) linksIn(extra []byte, plain bool, index int) {
	if !message.MayLink(extra, plain) {
		return
	}
	add := func(kind Kind, raw []byte) {
		name, ok := rawjson.Unquote(raw)
		if !ok || name == "" {
			return
		}
		l := Link{kind, name, index}
		if len(t.links) < maxLinks && !t.seen[l] {
			t.links = append(t.links, l)
			if t.seen == nil {
				t.seen = map[Link]bool{}
			}
			t.seen[l] = true
		}
	}

	add(Checkpoint, rawjson.Value(extra, "bookmark_link"))
	for raw := range rawjson.Elements(rawjson.Value(extra, "branches")) {
		add(Branch, raw)
	}
}

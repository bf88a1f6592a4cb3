package merge

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/family"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
)

// changes reports whether anything is to be written.
func (w *work) changes() bool { return w.writes() || w.row.Sign == Ahead || len(w.links) > 0 }

// draft drafts what becomes of the chat.
func (w *work) draft(ctx context.Context, s *changeset.Set) error {
	if w.p != nil && w.row.Sign != Other { // another chat comes whatever becomes of that one, to which one of FROM may go
		s.Rely(w.p.path, w.p.stamp)
	}
	if w.writes() {
		var d *changeset.Draft
		var err error
		if w.isNew() {
			d, err = s.Create(*w.row.To, fmt.Sprintf("the chat %q", w.name), changeset.Like(w.c.stamp), changeset.InFolder())
		} else {
			d, err = s.Replace(w.p.path, w.p.stamp, plural.S(w.row.OwnFrom, "message")+" more")
		}
		if err == nil {
			err = w.copy(ctx, d)
		}
		if err == nil {
			err = w.copySidecars(s)
		}
		for _, g := range w.groups {
			if err == nil {
				err = group.List(s, g.Path, "its name in the group's list", false, w.name)
			}
		}
		if err != nil || w.row.Noted == nil {
			return err
		}
	}
	if w.row.Sign == Ahead {
		return w.putFuller(ctx, s)
	}
	return w.putLinks(s)
}

// putFuller drafts that messages of FROM with more swipes take the place of those of INTO's chat, and the links on those of
// both.
func (w *work) putFuller(ctx context.Context, s *changeset.Set) error {
	p, err := w.p.open(ctx)
	if err != nil {
		return ops.PathError(err)
	}
	defer p.Close()
	places := map[int]int{}
	for _, pair := range w.fullerFrom {
		places[pair.A] = pair.B
	}
	come, err := linesOf(ctx, w.c, places)
	if err != nil {
		return err
	}
	defer come.chat.Close()

	changed := map[int]bool{}
	for at := range w.links {
		changed[at] = true
	}
	for at := range come.places {
		changed[at] = true
	}
	var lines chat.Lines
	for _, at := range slices.Sorted(maps.Keys(changed)) {
		lines = append(lines, chat.LineEdit{Index: at, Do: func(line []byte) ([]byte, error) {
			if fuller, is, err := come.line(at); err != nil {
				return nil, err
			} else if is {
				line = w.renamed(fuller)
			}
			return withLinks(line, w.links[at])
		}})
	}
	lines, err = ops.FreshSlug(s, lines, w.p.sidecars, w.opt.BumpIntegrity, w.opt.Changes)
	if err != nil {
		return err
	}
	d, err := s.Replace(w.p.path, w.p.stamp, plural.S(len(w.fullerFrom), "message")+" with more swipes")
	if err == nil {
		err = lines.Render(ctx, d, p.Source.R, p.Source.Size)
	}
	if err != nil {
		return err
	}
	return cmp.Or(come.chat.Unchanged(), p.Unchanged())
}

// someLines are lines of a chat that go to messages of another one.
type someLines struct {
	chat   *chat.Chat
	places map[int]jsonl.Picked // by the message of the other chat
}

// linesOf finds lines of a chat: to gives for their messages those of another chat.
func linesOf(ctx context.Context, f *file, to map[int]int) (*someLines, error) {
	c, err := f.open(ctx)
	if err != nil {
		return nil, ops.PathError(err)
	}
	lines := &someLines{c, make(map[int]jsonl.Picked, len(to))}
	err = eachLine(ctx, c, func(at int, l *jsonl.Line, _ bool) error {
		if other, is := to[at]; is {
			lines.places[other] = jsonl.Picked{Off: l.Off, Len: int64(len(l.Raw))}
		}
		return nil
	})
	if err != nil {
		c.Close()
		return nil, c.Errorf("%w", err)
	}
	return lines, nil
}

// line reads the line that goes to a message, if there is one.
func (l *someLines) line(at int) (line []byte, is bool, err error) {
	place, is := l.places[at]
	if !is {
		return nil, false, nil
	}
	line, err = l.chat.Source.Section(place.Off, place.Len)
	if err != nil {
		err = l.chat.Errorf("%w", err)
	}
	return line, true, err
}

// putLinks drafts the links on the messages of INTO's chat.
func (w *work) putLinks(s *changeset.Set) error {
	var lines chat.Lines
	count := 0
	for _, at := range slices.Sorted(maps.Keys(w.links)) {
		count += len(w.links[at])
		lines = append(lines, chat.LineEdit{Index: at, Do: func(line []byte) ([]byte, error) { return withLinks(line, w.links[at]) }})
	}
	lines, err := ops.FreshSlug(s, lines, w.p.sidecars, w.opt.BumpIntegrity, w.opt.Changes)
	if err != nil {
		return err
	}
	return s.Edit(w.p.path, w.p.stamp, changeset.Joined(w.p.path, lines), plural.S(count, "link"))
}

// withLinks returns a message with more links.
func withLinks(line []byte, links []link) ([]byte, error) {
	for _, l := range links {
		splice, _, err := message.LinkSplice(line, l.checkpoint, l.name)
		if err != nil {
			return nil, err
		}
		line = splice.Apply(line)
	}
	return line, nil
}

// copy writes FROM's chat with the names changed that changed, and with the links of INTO's. Its lines end
// as SillyTavern's do, whatever they end in there. One without a header gets one.
func (w *work) copy(ctx context.Context, d *changeset.Draft) error {
	c, err := w.c.open(ctx)
	if err != nil {
		return ops.PathError(err)
	}
	defer c.Close()
	places := map[int]int{}
	if w.takesLines() {
		for _, pair := range w.fuller {
			places[pair.B] = pair.A
		}
	}
	var stay *someLines // of INTO's chat, which have more swipes
	if len(places) > 0 {
		if stay, err = linesOf(ctx, w.p, places); err != nil {
			return err
		}
		defer stay.chat.Close()
	}
	out := bufio.NewWriterSize(d, room)
	h := c.OutputHeader()
	w.header(h.Metadata())
	_, _ = out.Write(h.Bytes()) // an error stays until Flush
	err = eachLine(ctx, c, func(at int, l *jsonl.Line, links bool) error {
		line, err := w.lineAt(at, l.Raw, links, stay)
		if err != nil {
			return err
		}
		_ = out.WriteByte('\n')
		_, err = out.Write(line)
		return err
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return ops.PathError(err)
	}
	return c.Unchanged()
}

// room is how much of a chat is collected before it is written.
const room = 256 << 10

// lineAt returns the message that comes for a line of FROM's, which may have links: that itself with the names of INTO, or
// INTO's that has more swipes; in INTO's chat with the links of both.
func (w *work) lineAt(at int, line []byte, mayLink bool, stay *someLines) ([]byte, error) {
	if stay != nil {
		fuller, is, err := stay.line(at)
		if err != nil {
			return nil, err
		}
		if is {
			return withLinks(fuller, w.links[at])
		}
	}
	if mayLink || w.user != nil && w.user.renames {
		line = w.renamed(line)
	}
	if w.takesLines() {
		return withLinks(line, w.links[at])
	}
	return line, nil
}

// renamed returns a message of FROM with the names of INTO.
func (w *work) renamed(line []byte) []byte {
	line = message.EditLinks(line, func(_ bool, name string) (string, bool) { return w.now(name), true })
	return w.user.message(line)
}

// header edits the metadata of a chat that comes beside INTO's, or with its lines: then INTO's slug and the keys
// that only INTO has stay.
func (w *work) header(md *rawjson.Object) {
	w.rename(md)
	fresh := w.row.Sign == Parted || w.c.slug == "" && md.Has("integrity")
	if w.slug = w.c.slug; w.takesLines() {
		for key, value := range w.p.metadata().All() {
			if key != "main_chat" && !md.Has(key) {
				md.Set(key, value)
			}
		}
		w.slug, fresh = w.p.slug, w.opt.BumpIntegrity || w.isLuker()
	}
	if fresh {
		w.slug = w.opt.Changes.NewUUID()
	}
	switch was, _ := rawjson.Unquote(md.Value("integrity")); w.slug {
	case was: // in whatever spelling
	case "":
		md.Unset("integrity")
	default:
		md.Set("integrity", rawjson.Quote(w.slug))
	}
}

// isLuker reports whether one of the two chats is Luker's.
func (w *work) isLuker() bool { return len(w.c.sidecars) > 0 || w.p != nil && len(w.p.sidecars) > 0 }

// rename gives the metadata the names of INTO.
func (w *work) rename(md *rawjson.Object) {
	if was, _ := rawjson.Unquote(md.Value("main_chat")); w.parent != was {
		family.SetParent(md, w.parent, w.name)
	}
	w.renameOwn(md, w.name)
	w.user.metadata(md)
}

// renameOwn gives what extensions keep under the chat's own name another one.
func (w *work) renameOwn(md *rawjson.Object, to string) {
	all.Table().Replace(md, extension.Metadata, extension.OwnChat, w.c.name, to)
}

// copySidecars drafts Luker's files beside the chat that comes. Its slug is its own.
func (w *work) copySidecars(s *changeset.Set) error {
	for _, from := range w.c.sidecars {
		if from.Kind == luker.Orphans {
			continue
		}
		raw, stamp, err := safefile.Read(from.Path)
		if err != nil {
			return ops.PathError(err)
		}
		if from.Kind == luker.ChatSync {
			raw = luker.SyncData(w.slug, w.opt.Changes.Now.UnixMilli())
		}
		path := filepath.Join(w.ours.folder.Path, luker.SidecarName(w.name, from.Namespace))
		about := fmt.Sprintf("Luker's %s of it", from.Namespace)
		if w.takesLines() && slices.ContainsFunc(w.p.sidecars, func(p luker.Sidecar) bool { return p.Namespace == from.Namespace }) {
			err = s.Edit(path, safefile.Stamp{}, changeset.Bytes(func([]byte) ([]byte, error) { return raw, nil }), about)
		} else {
			err = ops.Create(s, path, about, raw, changeset.Like(stamp), changeset.InFolder())
		}
		if err != nil {
			return err
		}
	}
	if w.takesLines() && w.isLuker() && !slices.ContainsFunc(w.c.sidecars, func(c luker.Sidecar) bool { return c.Kind == luker.ChatSync }) {
		return ops.SyncSlugs(s, w.p.sidecars, w.slug, w.opt.Changes.Now, ops.NewSlug)
	}
	return nil
}

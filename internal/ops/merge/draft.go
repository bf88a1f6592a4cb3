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
	"stchat/internal/extension/luker"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
)

// draft drafts what becomes of the chat.
func (w *work) draft(ctx context.Context, s *changeset.Set) error {
	if w.into != nil && w.row.Sign != Other { // another chat comes whatever becomes of that one, to which one of FROM may go
		s.Rely(w.into.path, w.into.stamp)
	}
	if w.writes() {
		if err := w.draftChat(ctx, s); err != nil {
			return err
		}
		if w.row.Noted == nil {
			return nil
		}
		return w.putLinks(s)
	}

	if w.row.Sign == Ahead {
		return w.putFuller(ctx, s)
	}
	return w.putLinks(s)
}

// draftChat drafts the chat that comes, or that gets FROM's lines, what lies beside it, and its name in the lists of groups.
func (w *work) draftChat(ctx context.Context, s *changeset.Set) error {
	d, err := w.fileFor(s)
	if err != nil {
		return err
	}
	if err := w.copy(ctx, d); err != nil {
		return err
	}
	if err := w.copySidecars(s); err != nil {
		return err
	}
	for _, g := range w.groups {
		if err := group.List(s, g.Path, "its name in the group's list", false, w.name); err != nil {
			return err
		}
	}
	return nil
}

// fileFor drafts the file into which the chat is written.
func (w *work) fileFor(s *changeset.Set) (*changeset.Draft, error) {
	if w.isNew() {
		return s.Create(*w.row.To, fmt.Sprintf("the chat %q", w.name), changeset.Like(w.from.stamp), changeset.InFolder())
	}
	return s.Replace(w.into.path, w.into.stamp, plural.S(w.row.OwnFrom, "message")+" more")
}

// putFuller drafts that messages of FROM with more swipes take the place of those of INTO's chat, and the links on those of
// both.
func (w *work) putFuller(ctx context.Context, s *changeset.Set) error {
	p, err := w.into.open(ctx)
	if err != nil {
		return ops.PathError(err)
	}
	defer p.Close()
	places := map[int]int{}
	for _, pair := range w.fullerFrom {
		places[pair.A] = pair.B
	}
	come, err := linesOf(ctx, w.from, places)
	if err != nil {
		return err
	}
	defer come.close()

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
			fuller, isFuller, err := come.line(at)
			if err != nil {
				return nil, err
			}
			if isFuller {
				line = w.renamed(fuller)
			}
			return withLinks(line, w.links[at])
		}})
	}

	lines, err = ops.FreshSlug(s, lines, w.into.sidecars, w.opt.BumpIntegrity, w.opt.Changes)
	if err != nil {
		return err
	}
	d, err := s.Replace(w.into.path, w.into.stamp, plural.S(len(w.fullerFrom), "message")+" with more swipes")
	if err != nil {
		return err
	}
	if err := lines.Render(ctx, d, p.Source.R, p.Source.Size); err != nil {
		return err
	}
	return cmp.Or(come.chat.Unchanged(), p.Unchanged())
}

// someLines are lines of a chat that go to messages of another one. The zero value has none.
type someLines struct {
	chat   *chat.Chat
	places map[int]jsonl.Picked // by the message of the other chat
}

// close closes the chat, if there is one.
func (l *someLines) close() { l.chat.Close() }

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
		return nil, true, l.chat.Errorf("%w", err)
	}
	return line, true, nil
}

// putLinks drafts the links on the messages of INTO's chat.
func (w *work) putLinks(s *changeset.Set) error {
	var lines chat.Lines
	count := 0
	for _, at := range slices.Sorted(maps.Keys(w.links)) {
		count += len(w.links[at])
		lines = append(lines, chat.LineEdit{Index: at, Do: func(line []byte) ([]byte, error) { return withLinks(line, w.links[at]) }})
	}
	lines, err := ops.FreshSlug(s, lines, w.into.sidecars, w.opt.BumpIntegrity, w.opt.Changes)
	if err != nil {
		return err
	}
	return s.Edit(w.into.path, w.into.stamp, changeset.Joined(w.into.path, lines), plural.S(count, "link"))
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
	c, err := w.from.open(ctx)
	if err != nil {
		return ops.PathError(err)
	}
	defer c.Close()
	stay, err := w.stayingLines(ctx)
	if err != nil {
		return err
	}
	defer stay.close()

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

// stayingLines returns the lines of INTO's chat that stay where it gets the lines of FROM's: they have more swipes.
func (w *work) stayingLines(ctx context.Context) (*someLines, error) {
	if !w.takesLines() || len(w.fuller) == 0 {
		return new(someLines), nil
	}
	places := map[int]int{}
	for _, pair := range w.fuller {
		places[pair.B] = pair.A
	}
	return linesOf(ctx, w.into, places)
}

// room is how much of a chat is collected before it is written.
const room = 256 << 10

// lineAt returns the message that comes for a line of FROM's, which may have links: that itself with the names of INTO, or
// INTO's that has more swipes; in INTO's chat with the links of both.
func (w *work) lineAt(at int, line []byte, mayLink bool, stay *someLines) ([]byte, error) {
	fuller, stays, err := stay.line(at)
	if err != nil {
		return nil, err
	}
	if stays {
		return withLinks(fuller, w.links[at])
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
	line = message.EditLinks(line, func(_ bool, name string) (string, bool) { return w.nameHere(name), true })
	return w.user.message(line)
}

// copySidecars drafts Luker's files beside the chat that comes. Its slug is its own.
func (w *work) copySidecars(s *changeset.Set) error {
	for _, from := range w.from.sidecars {
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
		if w.takesLines() && slices.ContainsFunc(w.into.sidecars, func(p luker.Sidecar) bool { return p.Namespace == from.Namespace }) {
			err = s.Edit(path, safefile.Stamp{}, changeset.Bytes(func([]byte) ([]byte, error) { return raw, nil }), about)
		} else {
			err = ops.Create(s, path, about, raw, changeset.Like(stamp), changeset.InFolder())
		}
		if err != nil {
			return err
		}
	}

	if w.takesLines() && w.isLuker() && !slices.ContainsFunc(w.from.sidecars, func(c luker.Sidecar) bool { return c.Kind == luker.ChatSync }) {
		return ops.SyncSlugs(s, w.into.sidecars, w.slug, w.opt.Changes.Now, ops.NewSlug)
	}
	return nil
}

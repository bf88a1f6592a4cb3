package move

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"stchat/internal/autorecap"
	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/isolate"
	"stchat/internal/library"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// bookNames is what becomes of the places that name a lorebook.
type bookNames struct {
	from, clone *lorebook.Book
	r           *Result
	s           *changeset.Set
	opt         *Options
	lib         *library.Library
	dir         userdir.Dir
}

// rename drafts the book under its new name, and what names it. Chats of which mine
// reports that somebody else drafts them are left to that: see metadata.
func (b *bookNames) rename(ctx context.Context, name string, mine func(path string) bool) (err error) {
	if b.clone, err = renamedBook(b.dir, b.from, name, b.r); err != nil {
		return err
	}
	from := b.r.Doc.From
	to := filepath.Join(filepath.Dir(from), b.clone.Name+lorebook.Extension)
	b.r.Doc.To = &to
	if bytes.Equal(b.clone.Raw, b.from.Raw) {
		err = b.s.Move(from, to, b.from.Stamp, fmt.Sprintf("the lorebook %q", b.from.Name))
	} else if err = createBook(b.s, to, b.clone.Raw, b.from); err == nil {
		err = b.s.Remove(from, b.from.Stamp, "its old name")
	}
	if err != nil {
		return err
	}
	if err := b.chats(ctx, mine); err != nil {
		return err
	}
	if err := b.cards(); err != nil {
		return err
	}
	return editSettings(b.s, b.r, b.dir, "lorebooks", "the lorebook where it is chosen", func(old []byte) ([]byte, int, error) {
		edited, err := b.inSettings(old)
		return edited, 1, err
	})
}

func (b *bookNames) edited(path, what string) {
	b.r.Doc.Edits = append(b.r.Doc.Edits, Edited{path, what, 1})
}

// chats edits the metadata of every chat that names the book.
func (b *bookNames) chats(ctx context.Context, mine func(path string) bool) error {
	walked := ops.Walk(ops.List{Paths: []string{b.dir.Root}, AllowEmpty: true})
	if len(walked.Errs) > 0 {
		return walked.Errs[0]
	}
	for _, t := range walked.Chats {
		c, err := chat.Open(ctx, t.Path, chat.Options{Groups: b.lib})
		if err != nil {
			return err
		}
		names, lost := false, 0
		if c.Header != nil {
			names, lost = b.inMetadata(c.Metadata().Bytes())
		}
		damaged, name := c.HeaderKind == chat.Damaged, c.Name
		c.Close()
		switch {
		case damaged:
			return fmt.Errorf("%s: the header is damaged, so nobody knows whether it names the lorebook", t.Path)
		case !names:
			continue
		}
		b.edited(t.Path, "chat_metadata")
		if lost > 0 {
			b.r.Warn("%s: %s dropped: the lorebook has no entry that fits", t.Path, plural.S(lost, "timed effect"))
		}
		if mine(t.Path) {
			continue
		}
		lines, err := withNewSlug(chat.Lines{{Index: chat.HeaderIndex, Do: headerDo(b.metadata)}}, b.opt, b.lib.Folder(filepath.Dir(t.Path)), name, b.s)
		if err != nil {
			return err
		}
		if err := b.s.Edit(t.Path, safefile.Stamp{}, changeset.Joined(lines), "the lorebook it names"); err != nil {
			return err
		}
	}
	return nil
}

// inMetadata reports whether metadata names the book, and how many timed effects of core
// are lost when it is renamed.
func (b *bookNames) inMetadata(metadata []byte) (names bool, lost int) {
	md, err := rawjson.ParseObject(bytes.Clone(metadata))
	if err != nil {
		return false, 0
	}
	before, effects := string(md.Bytes()), timedEffects(md)
	b.metadata(md)
	return string(md.Bytes()) != before, effects - timedEffects(md)
}

// timedEffects counts the timed effects in metadata.
func timedEffects(md *rawjson.Object) (n int) {
	timed, _ := md.Get("timedWorldInfo")
	for _, effects := range rawjson.Members(timed) {
		for range rawjson.Members(effects) {
			n++
		}
	}
	return n
}

// metadata points what names the book at its new name.
func (b *bookNames) metadata(md *rawjson.Object) {
	world, had := md.Get("world_info")
	name, _ := rawjson.Unquote(world)
	auto := autorecap.BookName(md)
	isolate.Follow(md, isolate.Rebinding{From: b.from, Clone: b.clone})
	switch { // Follow takes it for granted that the chat names the book
	case name == b.from.Name:
	case had:
		md.Set("world_info", world)
	default:
		md.Unset("world_info")
	}
	if auto != "" && auto != b.from.Name {
		autorecap.FollowBook(md, auto, func(string) bool { return false })
	}
	autorecap.RenameBook(md, b.from.Name, b.clone.Name)
}

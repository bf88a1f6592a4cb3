package repair

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"stchat/internal/folder/rules"
	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/chat"
)

// tornHeader is a chat whose first line was its header, and is damaged.
type tornHeader struct {
	chat  *rules.Chat
	slug  string // the integrity slug, if the damaged line still has it whole
	first []byte // the first message
}

// wholeHeader is a header that an older version of a chat has.
type wholeHeader struct {
	line  []byte
	slug  string
	main  string    // the parent
	at    time.Time // of the version
	where string    // it is from, for a person
}

// wholeHeaderOf looks for the header of a chat whose own is damaged: in the history, and among
// SillyTavern's backups. It returns nil if the first line was no header, or there is none. The newest
// is taken. store is the file of the history, "" for that of the user folder.
func wholeHeaderOf(ctx context.Context, src jsonl.Source, c *rules.Chat, store string) (*wholeHeader, error) {
	if !c.HasDir || c.Kind == userdir.File {
		return nil, nil
	}
	torn, err := tornHeaderOf(ctx, src, c)
	if err != nil || torn == nil {
		return nil, err
	}
	newest := torn.inHistory(ctx, store)
	if backup := torn.inBackups(); backup != nil && (newest == nil || backup.at.After(newest.at)) {
		newest = backup
	}
	return newest, ctx.Err()
}

// tornHeaderOf reads a chat up to its first message. It returns nil if its first line cannot have been a
// header, or no message follows.
func tornHeaderOf(ctx context.Context, src jsonl.Source, c *rules.Chat) (*tornHeader, error) {
	torn := &tornHeader{chat: c}
	isFirst, isHeader := true, false
	err := jsonl.Each(ctx, src, jsonl.MapOptions{Keys: jsonl.NewKeys()}, func(line *jsonl.Line, _ jsonl.Base) error {
		if isFirst && line.Damage != nil {
			isHeader = beginsHeader(line.Raw)
			torn.slug = slugIn(line.Raw)
		}
		isFirst = false
		if line.Damage == nil {
			torn.first = bytes.Clone(line.Raw)
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err != nil || !isHeader || torn.first == nil {
		return nil, err
	}
	return torn, nil
}

// beginsHeader reports whether a damaged line begins as headers do.
func beginsHeader(raw []byte) bool {
	raw = bytes.TrimLeft(raw, "\x00 \t\ufeff")
	return slices.ContainsFunc([]string{`{"chat_metadata"`, `{"user_name"`, `{"character_name"`}, func(begin string) bool {
		return bytes.HasPrefix(raw, []byte(begin))
	})
}

// slugIn returns the integrity slug in a damaged header, "" if it is not there whole.
func slugIn(raw []byte) string {
	_, rest, _ := bytes.Cut(raw, []byte(`"integrity":"`))
	slug, _, whole := bytes.Cut(rest, []byte(`"`))
	if !whole {
		return ""
	}
	return string(slug)
}

// isOf reports whether a version with this header and this first message is one of the chat.
func (t *tornHeader) isOf(h *wholeHeader, first []byte) bool {
	if t.slug != "" {
		return h.slug == t.slug
	}
	for _, key := range []string{"name", "is_user", "mes"} {
		if !bytes.Equal(rawjson.Value(t.first, key), rawjson.Value(first, key)) {
			return false
		}
	}
	return true
}

// headerIn returns the header that begins a version; nil if there is none that can be read.
func headerIn(line []byte) *wholeHeader {
	if !meta.IsHeader(line) {
		return nil
	}
	if _, err := meta.Parse(line); err != nil {
		return nil
	}
	slug, parent := meta.Identity(line)
	return &wholeHeader{line: bytes.Clone(line), slug: slug, main: parent}
}

// inHistory returns the header of the newest version at the chat's path that has one. A history that
// cannot be read has none, nor has one of another user folder. file is where it is, "" in the user folder.
func (t *tornHeader) inHistory(ctx context.Context, file string) *wholeHeader {
	root := userdir.RealPath(t.chat.Dir.Root)
	rel, err := filepath.Rel(root, userdir.RealPath(t.chat.Path))
	if err != nil {
		return nil
	}
	isNamed := file != ""
	if !isNamed {
		file = filepath.Join(root, userdir.Own, "history.db")
	}
	store, err := history.OpenRead(ctx, file)
	if err != nil {
		return nil
	}
	defer store.Close()
	if isNamed {
		of, err := store.Root(ctx)
		if err != nil || userdir.RealPath(of) != root {
			return nil
		}
	}
	places, err := store.Places(ctx)
	if err != nil {
		return nil
	}
	for _, place := range slices.Backward(places) {
		if place.Path != filepath.ToSlash(rel) {
			continue
		}
		versions, err := store.Versions(ctx, place.Chat)
		if err != nil {
			return nil
		}
		for _, v := range slices.Backward(versions) {
			if h := t.ofVersion(ctx, store, &v); h != nil {
				return h
			}
		}
	}
	return nil
}

// ofVersion returns the header of a version of the chat, nil if it has none.
func (t *tornHeader) ofVersion(ctx context.Context, store *history.Store, v *history.Version) *wholeHeader {
	runs, err := v.Runs()
	if err != nil {
		return nil
	}
	var h *wholeHeader
	for line, err := range store.Lines(ctx, runs) {
		switch {
		case err != nil:
			return nil
		case h == nil:
			if h = headerIn(line.Data); h == nil {
				return nil
			}
			continue
		case !t.isOf(h, line.Data):
			return nil
		}
		h.at, h.where = v.At, fmt.Sprintf("version %d of the history", v.Rev)
		return h
	}
	return nil
}

// inBackups returns the header of the newest of SillyTavern's backups of the chat. Chats of one
// character have their backups under one key, and a chat may share its slug, or at least its first
// message, with its branches: where it may be one of several chats, none is taken.
func (t *tornHeader) inBackups() *wholeHeader {
	folder, err := backups.Read(t.chat.Dir)
	if err != nil {
		return nil
	}
	of := filepath.Base(filepath.Dir(t.chat.Path))
	if t.chat.Kind == userdir.Group {
		of = t.chat.Name
	}
	keys := backups.Keys(of)
	var newest *wholeHeader
	for _, b := range slices.Backward(folder.Backups) {
		if !slices.Contains(keys, b.Key) {
			continue
		}
		h, first := topOf(b.Path)
		if h == nil || !t.isOf(h, first) {
			continue
		}
		if newest == nil {
			h.at, h.where = b.At, filepath.Base(folder.Path)+"/"+filepath.Base(b.Path)
			newest = h
		}
		if h.slug != newest.slug || h.main != newest.main {
			return nil
		}
	}
	return newest
}

// topOf reads the header and the first message of a file, nil if it has no header.
func topOf(path string) (h *wholeHeader, first []byte) {
	const most = 16 << 20
	file, err := chat.OpenRegular(path)
	if err != nil {
		return nil, nil
	}
	defer file.Close()
	lines := bufio.NewReader(io.LimitReader(file, most))
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return nil, nil
	}
	if h = headerIn(bytes.TrimRight(line, "\r\n")); h == nil {
		return nil, nil
	}
	first, err = lines.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil
	}
	return h, bytes.TrimRight(first, "\r\n")
}

package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"stchat/internal/folder/library"
	"stchat/internal/folder/rules"
	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
)

// tornHeader is a chat whose first line was its header, and is damaged.
type tornHeader struct {
	chat *rules.Chat
	beginning
	others []*otherChat // of the folder
}

// otherChat is a chat beside the damaged one.
type otherChat struct {
	backups.Facts
	says func() []message.ID
}

// beginning is what a chat, or an older version of one, begins with. A damaged header tells only what
// is left of it.
type beginning struct {
	backups.Facts
	ids    *message.Identifier
	header *wholeHeader // nil: it has none that can be read
	isTorn bool         // the first line was a header, and is damaged
	begun  bool         // the first line was read
	says   []message.ID // up to the first message that is damaged
	dated  bool         // the first message has a date
}

// wholeHeader is a header that an older version of a chat has.
type wholeHeader struct {
	line  []byte
	at    time.Time // of the version
	where string    // it is from, for a person
}

// wholeHeaderOf looks for the header of a chat whose own is damaged: in the history, and among
// SillyTavern's backups. It returns nil if the first line was no header, or there is none that is surely
// the chat's. The newest is taken. store is the file of the history, "" for that of the user folder.
func wholeHeaderOf(ctx context.Context, src jsonl.Source, c *rules.Chat, folder *library.Folder, store string) (*wholeHeader, error) {
	if !c.HasDir || c.Kind == userdir.File || c.Messages == 0 {
		return nil, nil
	}
	torn := &tornHeader{chat: c}
	torn.Name = c.Name
	torn.ids = message.NewIdentifier(message.NewSeed())
	if err := torn.read(ctx, src, nil); err != nil || !torn.isTorn {
		return nil, err
	}
	for _, name := range folder.Chats {
		if name != c.Name {
			torn.others = append(torn.others, torn.newOther(ctx, folder.File(name), name))
		}
	}

	newest := torn.inHistory(ctx, store)
	if backup := torn.inBackups(ctx); backup != nil && (newest == nil || backup.at.After(newest.at)) {
		newest = backup
	}
	return newest, ctx.Err()
}

// newOther reads the header of another chat; what it says is read when it is asked for.
func (t *tornHeader) newOther(ctx context.Context, path, name string) *otherChat {
	head := t.beginningOf(ctx, path, func(*beginning) bool { return false })
	head.Name = name
	says := func() []message.ID { return t.beginningOf(ctx, path, nil).says }
	return &otherChat{head.Facts, sync.OnceValue(says)}
}

// beginningOf reads the beginning of a file; of one that cannot be read, nothing. goesOn is as in
// [beginning.read].
func (t *tornHeader) beginningOf(ctx context.Context, path string, goesOn func(head *beginning) bool) *beginning {
	b := &beginning{ids: t.ids}
	file, stamp, err := chat.OpenStamped(path)
	if err != nil {
		return b
	}
	defer file.Close()
	if b.read(ctx, jsonl.Source{R: file, Size: stamp.Size()}, goesOn) != nil {
		return &beginning{}
	}
	return b
}

// read reads the beginning of a file. goesOn is asked after the first line whether to read what follows;
// nil: it is read.
func (b *beginning) read(ctx context.Context, src jsonl.Source, goesOn func(head *beginning) bool) error {
	err := jsonl.Each(ctx, src, jsonl.MapOptions{Keys: jsonl.NewKeys()}, func(line *jsonl.Line, _ jsonl.Base) error {
		isFirst := !b.begun
		isEnough := !b.add(line.Raw, line.Damage != nil) || line.Off > mostCompared
		if isEnough || isFirst && goesOn != nil && !goesOn(b) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// mostCompared is how many bytes of a chat are compared, about.
const mostCompared = 16 << 20

// add takes the next line. It reports whether the one after it counts, too.
func (b *beginning) add(line []byte, damaged bool) bool {
	isFirst := !b.begun
	b.begun = true
	switch {
	case isFirst && damaged:
		b.isTorn = beginsHeader(line)
		b.Slug = textIn(line, "integrity")
		b.Parent = textIn(line, "main_chat")
		return true
	case damaged:
		return false
	case isFirst && meta.IsHeader(line):
		b.Slug, b.Parent = meta.Identity(line)
		if _, err := meta.Parse(line); err == nil {
			b.header = &wholeHeader{line: bytes.Clone(line)}
		}
		return true
	}
	if len(b.says) == 0 {
		b.dated = len(rawjson.Value(line, "send_date")) > 0
	}
	b.says = append(b.says, b.idOf(line))
	return true
}

// idOf returns the ID of a message. All chats of a character have the same greeting, but at different times.
func (b *beginning) idOf(line []byte) message.ID {
	var name, isUser, text, date []byte
	rawjson.Into(line, []string{"name", "is_user", "mes", "send_date"}, &name, &isUser, &text, &date)
	return b.ids.Identity(name, isUser, text, date, false)
}

// common returns how many messages two chats begin with alike.
func common(a, b []message.ID) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// beginsHeader reports whether a damaged line begins as headers do.
func beginsHeader(raw []byte) bool {
	raw = bytes.TrimLeft(raw, "\x00 \t\ufeff")
	return slices.ContainsFunc([]string{`{"chat_metadata"`, `{"user_name"`, `{"character_name"`}, func(begin string) bool {
		return bytes.HasPrefix(raw, []byte(begin))
	})
}

// textIn returns the text under a key in a damaged header, "" if it is not there whole.
func textIn(raw []byte, key string) string {
	_, rest, _ := bytes.Cut(raw, []byte(`"`+key+`":`))
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			text, _ := rawjson.Unquote(rest[:i+1])
			return text
		}
	}
	return ""
}

// mayHave reports whether a version with this header may be one of the chat. wasHere: it was at the chat's
// path.
func (t *tornHeader) mayHave(version *beginning, wasHere bool) bool {
	chat := t.Facts
	// The damaged header may have named a parent that is not in what is left of it. Only the path then
	// shows that a version which names one is not a branch of the chat.
	chat.Begins = wasHere
	otherSlug := t.Slug != "" && version.Slug != t.Slug
	return version.header != nil && !otherSlug && !chat.Excludes(&version.Facts)
}

// isOf reports whether a version that the chat may have is surely its own: both begin alike, and no other
// chat may have it. One that was at the chat's path and has its slug need not begin alike.
func (t *tornHeader) isOf(version *beginning, wasHere bool, others []*otherChat) bool {
	shared := common(t.says, version.says)
	partsFrom := shared < min(len(t.says), len(version.says))
	isAlike := shared > 0 && !partsFrom
	hasSlug := t.Slug != ""
	isKnown := wasHere && hasSlug
	if !isAlike && !isKnown {
		return false
	}
	tellsNothing := !hasSlug && !t.dated // all chats of a character begin with its greeting
	if tellsNothing && !wasHere {
		return false
	}

	for _, other := range others {
		sameSlug := version.Slug != "" && other.Slug == version.Slug
		if hasSlug && !sameSlug || other.Excludes(&version.Facts) {
			continue
		}
		theirs := common(other.says(), version.says)
		isTheirs := theirs > shared
		if !wasHere {
			isTheirs = sameSlug || theirs >= shared
		}
		if isTheirs {
			return false
		}
	}
	return true
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
	version := &beginning{ids: t.ids}
	size := 0
	for line, err := range store.Lines(ctx, runs) {
		if err != nil {
			return nil
		}
		version.add(line.Data, false)
		if !t.mayHave(version, true) {
			return nil
		}
		if size += len(line.Data); size > mostCompared {
			break
		}
	}

	if !t.mayHave(version, true) || !t.isOf(version, true, t.others) {
		return nil
	}
	h := version.header
	h.at = v.At
	h.where = fmt.Sprintf("version %d of the history", v.Rev)
	return h
}

// inBackups returns the header of the newest of SillyTavern's backups of the chat. Chats of one
// character have their backups under one key, and up to SillyTavern 1.18 a chat shares its slug with its
// branches: where a backup may be of several chats, none is taken.
func (t *tornHeader) inBackups(ctx context.Context) *wholeHeader {
	folder, err := backups.Read(t.chat.Dir)
	if err != nil {
		return nil
	}
	of := filepath.Base(filepath.Dir(t.chat.Path))
	if t.chat.Kind == userdir.Group {
		of = t.chat.Name
	}
	keys := backups.Keys(of)
	var newest *beginning
	for _, b := range slices.Backward(folder.Backups) {
		if !slices.Contains(keys, b.Key) {
			continue
		}
		version := t.beginningOf(ctx, b.Path, func(head *beginning) bool { return t.mayHave(head, false) })
		if !t.mayHave(version, false) || !t.isOf(version, false, t.withBackups(b.Key)) {
			continue
		}
		if newest == nil {
			newest = version
			newest.header.at = b.At
			newest.header.where = filepath.Base(folder.Path) + "/" + filepath.Base(b.Path)
		}
		if version.Slug != newest.Slug || version.Parent != newest.Parent {
			return nil
		}
	}

	if newest == nil {
		return nil
	}
	return newest.header
}

// withBackups returns the other chats whose backups have a key, too.
func (t *tornHeader) withBackups(key string) []*otherChat {
	if t.chat.Kind == userdir.Solo { // the key is the character's
		return t.others
	}
	return slices.DeleteFunc(slices.Clone(t.others), func(other *otherChat) bool {
		return !slices.Contains(backups.Keys(other.Name), key)
	})
}

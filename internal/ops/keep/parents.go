package keep

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"stchat/internal/chat"
	"stchat/internal/family"
	"stchat/internal/jsonl"
	"stchat/internal/library"
	"stchat/internal/message"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
)

// freshChat is a chat that the store did not know.
type freshChat struct {
	path   string
	id     int64
	parent int64 // by its main_chat, among the chats then in the store; 0: none
}

// parents notes which chats the new ones come from, as tree finds it. For this it reads the
// folders that have a new chat without a known main_chat, and chats that may be kin.
func (s *snapshot) parents(ctx context.Context) error {
	var folders []string
	byPath := map[string]*freshChat{}
	lib := new(library.Library)
	for i := range s.fresh {
		f := &s.fresh[i]
		byPath[f.path] = f
		if folder := filepath.Dir(f.path); f.parent == 0 && len(lib.Folder(folder).Chats) > 1 {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		if f := lib.Folder(folder); !mayBeKin(f) && !s.mayLink(f) {
			continue
		}
		graphs, err := family.Read(ctx, lib, []string{folder}, family.Options{})
		if err != nil {
			return err
		}
		for _, c := range graphs[0].Chats {
			f := byPath[c.Path]
			if f == nil || c.Parent == nil && !c.Cycle {
				continue // keep what main_chat says: that chat may be gone
			}
			parent, err := s.idOf(ctx, c.Parent)
			if err != nil {
				return err
			}
			if parent == f.id || parent == f.parent {
				continue
			}
			if err := s.w.Parent(f.id, parent); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayLink reports whether a message in a folder may name a chat. It reads only the chats that
// this snapshot did not.
func (s *snapshot) mayLink(f *library.Folder) bool {
	return slices.ContainsFunc(f.Chats, func(name string) bool {
		path := f.File(name)
		found, read := s.links[path]
		if read {
			return found
		}
		file, err := chat.OpenRegular(path)
		if err != nil {
			return false // reported when it is read for its content
		}
		defer file.Close()
		found, err = s.w.MayLink(file)
		return found || err != nil // comparing the chats reports the error
	})
}

// headSize is how much of a chat is read to see whether it may be kin.
const headSize = 16 << 10

// mayBeKin reports whether a folder's chats need to be compared: two begin with the same
// message, or the header or name of one may name another. Most folders hold unrelated chats,
// and comparing all of them would take a fifth of the snapshot's time.
func mayBeKin(f *library.Folder) bool {
	ids := message.NewIdentifier(message.NewSeed())
	first := map[message.ID]bool{}
	buf := make([]byte, headSize)
	for _, name := range f.Chats {
		file, err := chat.OpenRegular(f.File(name))
		if err != nil {
			continue // reported when it is read for its content
		}
		n, err := io.ReadFull(file, buf)
		_ = file.Close()
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			continue
		}
		head, rest, _ := bytes.Cut(buf[:n], []byte{'\n'})
		line, _, whole := bytes.Cut(rest, []byte{'\n'})
		if whole = whole || n < len(buf); !whole || !meta.IsHeader(head) || !jsonl.Valid(line) || family.ParentInName(name) != "" {
			return true
		}
		for _, key := range []string{"main_chat", "parent_uuid"} {
			if _, ok := rawjson.Lookup(head, "chat_metadata", key); ok {
				return true
			}
		}
		id := ids.Identity(field(line, "name"), field(line, "is_user"), field(line, "mes"), field(line, "send_date"), false)
		if first[id] {
			return true
		}
		first[id] = true
	}
	return false
}

// idOf returns the ID of a chat, 0 if the store does not have it.
func (s *snapshot) idOf(ctx context.Context, c *family.Chat) (int64, error) {
	if c == nil {
		return 0, nil
	}
	rel, err := s.there.relative(c.Path)
	if err != nil {
		return 0, nil //nolint:nilerr // a chat elsewhere is none of the store's
	}
	known, err := s.store.At(ctx, rel)
	if err != nil || len(known) == 0 {
		return 0, err
	}
	return known[0].ID, nil
}

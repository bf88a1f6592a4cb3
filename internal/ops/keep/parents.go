package keep

import (
	"context"
	"path/filepath"
	"slices"

	"stchat/internal/family"
	"stchat/internal/library"
)

// freshChat is a chat that the store did not know.
type freshChat struct {
	path   string
	id     int64
	parent int64 // by its main_chat, among those that the store knew then; 0: none
}

// parents notes from which chats the new ones come, as tree finds it. A folder is read for
// that where it has other chats, and a new one whose main_chat does not tell.
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
		graphs, err := family.Read(ctx, lib, []string{folder}, family.Options{})
		if err != nil {
			return err
		}
		for _, c := range graphs[0].Chats {
			f := byPath[c.Path]
			if f == nil || c.Parent == nil && !c.Cycle {
				continue // what main_chat said stays: its chat may be gone
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

// idOf returns the number of a chat, 0 where the store does not know it.
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

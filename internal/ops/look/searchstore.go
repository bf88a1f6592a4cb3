package look

import (
	"context"
	"errors"
	"path/filepath"

	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// ErrNoHistory means that what is gone was asked for where no history is kept.
var ErrNoHistory = errors.New("no history is kept here, so nothing is known of what is gone")

// searchStore is the history of a user's folder.
type searchStore struct {
	store *history.Store
	root  *ops.Root

	versions []history.Version // of all chats, in the order of archiving
}

// open opens the histories of the folders in which the chats lie. What no present chat has
// is judged by all chats of such a folder: so the others are read too.
func (s *searcher) open(ctx context.Context, walked ops.Walked) (err error) {
	for _, root := range ops.Roots(walked, s.List.Shard) {
		if !root.User {
			continue
		}
		store, err := history.OpenRead(ctx, s.Store(root.Path))
		switch {
		case err == nil:
			s.stores = append(s.stores, &searchStore{store: store, root: root})
		case !errors.Is(err, history.ErrNoStore):
			s.errs = append(s.errs, ops.PathError(err))
		}
	}
	if s.Gone && len(s.stores)+len(s.errs) == 0 {
		return ErrNoHistory
	}
	s.folders = map[string]string{}
	asked := map[string]bool{}
	for _, t := range s.chats {
		asked[s.real(t)] = true
	}
	for _, st := range s.stores {
		if st.root.Whole && s.List.Shard.Whole() {
			continue
		}
		rest := ops.WalkNames(ops.List{Paths: []string{st.root.Path}, AllowEmpty: true})
		for _, t := range rest.Chats {
			if !asked[s.real(t)] {
				s.chats = append(s.chats, t)
			}
		}
	}
	for _, st := range s.stores {
		if s.id, err = st.store.ID(ctx); err != nil {
			return err
		}
		if st.versions, err = st.store.VersionsSince(ctx, 0); err != nil {
			return err
		}
	}
	return s.ask(ctx)
}

func (s *searcher) close() {
	if s.index != nil {
		_ = s.matches.Close() // only read from
		_ = s.index.Close()
	}
	for _, st := range s.stores {
		_ = st.store.Close() // only read from
	}
}

// real is the path of a chat without links. A folder is looked at once.
func (s *searcher) real(t ops.Target) string {
	if t.From == "" { // it was not listed as a regular file
		return userdir.RealPath(t.Path)
	}
	dir, file := filepath.Split(t.Path)
	folder, ok := s.folders[dir]
	if !ok {
		folder = userdir.RealPath(dir)
		s.folders[dir] = folder
	}
	return filepath.Join(folder, file)
}

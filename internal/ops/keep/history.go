package keep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"stchat/internal/backups"
	"stchat/internal/chat"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/userdir"
	"stchat/internal/wordindex"
)

// HistoryOptions says which store is meant.
type HistoryOptions struct {
	Root   string // the user's folder
	Store  string // a file; empty: the user folder's own
	Now    time.Time
	DryRun bool
}

// History is what a store holds: the document of history.
type History struct {
	Schema     int    `json:"schema"`
	Store      string `json:"store" is:"path"`
	Bytes      int64  `json:"bytes"`
	IndexBytes int64  `json:"index_bytes"`
	history.State
	Stored   int64             `json:"stored"`
	Indexed  bool              `json:"indexed"` // there is a word index
	Problems []history.Problem `json:"problems"`
	Freed    *history.Freed    `json:"freed"`  // or would be in a dry run
	Mended   *int              `json:"mended"` // pieces
	DryRun   bool              `json:"dry_run"`

	Others []string `json:"-"` // chats that once had the name of one that was forgotten, and stay
}

// Describe returns what a store holds.
func Describe(ctx context.Context, opt HistoryOptions) (*History, error) {
	s, err := openExisting(ctx, opt, false)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return describe(ctx, s, opt)
}

func describe(ctx context.Context, s *history.Store, opt HistoryOptions) (*History, error) {
	st, err := s.State(ctx)
	if err != nil {
		return nil, err
	}
	d := &History{Schema: 1, Store: s.Path(), State: st, DryRun: opt.DryRun}
	if info, err := os.Stat(s.Path()); err == nil {
		d.Bytes, d.Stored = info.Size(), info.Size()
	}
	if info, err := os.Stat(filepath.Join(filepath.Dir(s.Path()), wordindex.File)); err == nil {
		d.IndexBytes, d.Indexed = info.Size(), true
	}
	return d, nil
}

// Verify reads all of a store and returns what is damaged in Problems. With mend, damaged
// pieces are stored again from files that still have them, unless it is a dry run; Problems
// is then what remains.
func Verify(ctx context.Context, opt HistoryOptions, mend bool) (*History, error) {
	s, err := openExisting(ctx, opt, mend)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	d, err := describe(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	note := func(p history.Problem) error {
		d.Problems = append(d.Problems, p)
		return nil
	}
	wrong, err := wordindex.Verify(ctx, s)
	if err == nil && wrong != "" {
		d.Problems = append(d.Problems, history.Problem{Rule: history.Search, Text: wrong + "; the next search makes it anew"})
		if !opt.DryRun {
			err = wordindex.Remove(s.Path())
		}
	}
	if err != nil {
		return d, err
	}
	if !mend {
		return d, history.Verify(ctx, s, note)
	}
	m, err := history.NewMender(ctx, s, note)
	if err != nil || !m.Damaged() || opt.DryRun {
		return d, err
	}
	if err := lookEverywhere(ctx, s, m, opt.Root); err != nil {
		return d, err
	}
	pieces, err := m.Mend(ctx)
	if err != nil {
		return d, err
	}
	d.Mended, d.Problems = &pieces, nil
	return d, history.Verify(ctx, s, note)
}

// lookEverywhere passes every file in the store that still exists to the mender, and the backups.
func lookEverywhere(ctx context.Context, s *history.Store, m *history.Mender, root string) error {
	chats, err := s.Chats(ctx)
	if err != nil {
		return err
	}
	files := map[string]bool{} // whether each is a chat
	for _, c := range chats {
		files[filepath.Join(root, filepath.FromSlash(c.Path))] = history.KindOf(c.Path).IsChat()
	}
	folder, _ := backups.Read(userdir.Dir{Root: root}) // what cannot be read cannot help
	for _, b := range folder.Backups {
		files[b.Path] = true
	}
	for path, isChat := range files {
		f, err := chat.OpenRegular(path)
		if err != nil {
			continue // likewise
		}
		err = m.Look(f, isChat)
		_ = f.Close()
		if err != nil && !isRead(err) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// openExisting opens a store that must exist, for writing if it is to change and this is no dry
// run.
func openExisting(ctx context.Context, opt HistoryOptions, change bool) (*history.Store, error) {
	path := StoreOf(opt.Root, opt.Store)
	s, err := history.OpenRead(ctx, path)
	if err == nil && change && !opt.DryRun {
		_ = s.Close()
		s, err = history.OpenWrite(ctx, path, opt.Root, opt.Now)
	}
	return s, ops.PathError(err)
}

// withStore opens a store, calls do to change it, and returns what it holds afterwards.
func withStore(ctx context.Context, opt HistoryOptions, do func(*history.Store) (history.Freed, error)) (*History, error) {
	s, err := openExisting(ctx, opt, true)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	freed, err := do(s)
	if err != nil {
		return nil, err
	}
	d, err := describe(ctx, s, opt)
	if err == nil {
		d.Freed = &freed
	}
	return d, err
}

// Prune drops the versions that the rules do not keep.
func Prune(ctx context.Context, opt HistoryOptions, rules history.Rules) (*History, error) {
	return withStore(ctx, opt, func(s *history.Store) (history.Freed, error) { return history.Prune(ctx, s, rules) })
}

// Compact returns the free pages of a store to the disk.
func Compact(ctx context.Context, opt HistoryOptions) (*History, error) {
	return withStore(ctx, opt, func(s *history.Store) (history.Freed, error) { return history.Freed{}, history.Compact(ctx, s) })
}

// Forget drops all that a store has of some chats, and the word index, which the next search
// rebuilds. The error wraps [ErrUnknown] if the store does not have one of them.
func Forget(ctx context.Context, opt HistoryOptions, chats []string) (*History, error) {
	var ids []int64
	var others []string
	for _, name := range chats {
		s, err := openSubject(ctx, Where{Chat: name, Store: opt.Store, Data: opt.Root, Now: opt.Now})
		s.close()
		if err == nil && s.id == 0 {
			err = fmt.Errorf("%s: %w", name, ErrUnknown)
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, s.id)
		for _, list := range s.others {
			others = append(others, s.full(s.lastPath(list[0].Chat)))
		}
	}
	d, err := withStore(ctx, opt, func(s *history.Store) (history.Freed, error) {
		if !opt.DryRun {
			if err := wordindex.Remove(s.Path()); err != nil {
				return history.Freed{}, err
			}
		}
		return history.Forget(ctx, s, ids)
	})
	if err == nil {
		d.Others = others
	}
	return d, err
}

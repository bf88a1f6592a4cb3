package keep

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/chat"
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
	Schema int    `json:"schema"`
	Store  string `json:"store" is:"path"`
	Bytes  int64  `json:"bytes"`
	history.State
	Stored   int64             `json:"stored"`
	Problems []history.Problem `json:"problems"`
	Freed    *history.Freed    `json:"freed"`  // or would be in a dry run
	Mended   *int              `json:"mended"` // pieces
	DryRun   bool              `json:"dry_run"`

	Forgot []string `json:"-"` // the paths of the chats that were forgotten, or would be
	Others []string `json:"-"` // chats that once had the name of one that was forgotten, and stay
}

// Describe returns what a store holds.
func Describe(ctx context.Context, opt HistoryOptions) (*History, error) {
	return withStore(ctx, opt, false, func(*history.Store, *History) error { return nil })
}

// Verify reads all of a store and returns what is damaged in Problems. With mend, damaged
// pieces are stored again from files that still have them, unless it is a dry run; Problems
// is then what remains.
func Verify(ctx context.Context, opt HistoryOptions, mend bool) (*History, error) {
	return withStore(ctx, opt, mend, func(s *history.Store, d *History) error {
		return verifyStore(ctx, opt, mend, s, d)
	})
}

func verifyStore(ctx context.Context, opt HistoryOptions, mend bool, s *history.Store, d *History) error {
	note := func(p history.Problem) error {
		d.Problems = append(d.Problems, p)
		return nil
	}
	if !mend {
		return history.Verify(ctx, s, note)
	}
	m, err := history.NewMender(ctx, s, note)
	if err != nil || !m.Damaged() || opt.DryRun {
		return err
	}
	if err := lookEverywhere(ctx, s, m, opt.Root); err != nil {
		return err
	}
	pieces, err := m.Mend(ctx)
	if err != nil {
		return err
	}
	d.Mended, d.Problems = &pieces, nil
	return history.Verify(ctx, s, note)
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

// withStore opens a store that must exist, for writing if it is to change and this is no dry run,
// calls do, and describes it.
func withStore(ctx context.Context, opt HistoryOptions, change bool, do func(*history.Store, *History) error) (*History, error) {
	path := StoreOf(opt.Root, opt.Store)
	s, err := history.OpenRead(ctx, path)
	if err == nil && change && !opt.DryRun {
		_ = s.Close()
		s, err = history.OpenWrite(ctx, path, opt.Root, opt.Now)
	}
	if err != nil {
		return nil, ops.PathError(err)
	}
	defer s.Close()
	d := &History{Schema: 1, Store: path, DryRun: opt.DryRun}
	if err := do(s, d); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil {
		d.Bytes, d.Stored = info.Size(), info.Size()
	}
	d.State, err = s.State(ctx)
	if len(d.Problems) > 0 {
		err = nil // the damage that is told may keep it from being counted
	}
	return d, err
}

// Prune drops the versions that the rules do not keep.
func Prune(ctx context.Context, opt HistoryOptions, rules history.Rules) (*History, error) {
	return withStore(ctx, opt, true, func(s *history.Store, d *History) error {
		freed, err := history.Prune(ctx, s, rules)
		d.Freed = &freed
		return err
	})
}

// Compact returns the free pages of a store to the disk.
func Compact(ctx context.Context, opt HistoryOptions) (*History, error) {
	return withStore(ctx, opt, true, func(s *history.Store, d *History) error {
		d.Freed = &history.Freed{}
		return history.Compact(ctx, s)
	})
}

// Forget drops all that a store has of some chats, which are named whole, whatever they are named by. The error wraps [ErrUnknown] if the
// store does not have one of them.
func Forget(ctx context.Context, opt HistoryOptions, chats []string) (*History, error) {
	var ids []int64
	var forgot, others []string
	for _, name := range chats {
		s, err := openSubject(ctx, Where{Chat: name, Store: opt.Store, Data: opt.Root, Now: opt.Now, Whole: true})
		s.close()
		if err == nil && s.id == 0 {
			err = ops.AtPath(name, ErrUnknown)
		}
		if err != nil {
			return nil, err
		}
		if slices.Contains(ids, s.id) {
			continue
		}
		ids = append(ids, s.id)
		forgot = append(forgot, s.path)
		for _, list := range s.others {
			others = append(others, s.full(s.lastPath(list[0].Chat)))
		}
	}
	return withStore(ctx, opt, true, func(s *history.Store, d *History) (err error) {
		d.Forgot = forgot
		d.Others = others
		freed, err := history.Forget(ctx, s, ids)
		d.Freed = &freed
		return err
	})
}

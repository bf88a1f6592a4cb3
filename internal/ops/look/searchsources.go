package look

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"stchat/internal/change/safefile"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
)

// source is what is searched line by line: a chat as it is now, or an old version of one.
type source struct {
	ops.Target
	old   bool
	owner *string // the character's folder or the group's name; of a chat as it is now once it was opened

	store   *searchStore     // of an old version
	version *history.Version // the old version
	runs    []history.Run

	judged bool
	others []int // once it is judged: the numbers of the lines that are no messages, ascending
}

// line returns the number of the line that a piece is, or is part of.
func (src *source) line(piece int64) (n int64) {
	for _, r := range src.runs {
		if piece >= r.First && piece < r.First+r.Count {
			if r.Part == history.Whole {
				n += piece - r.First
			}
			return n
		}
		n += r.Lines()
	}
	return n
}

// stored returns where the line with a number is stored.
func (src *source) stored(number int64) []history.Run {
	from := 0
	for i, r := range src.runs {
		switch n := r.Lines(); {
		case n == 0: // a part of a line, but not its last
		case number >= n:
			number, from = number-n, i+1
		case r.Part == history.Whole:
			return []history.Run{{First: r.First + number, Count: 1, Part: history.Whole}}
		default:
			return src.runs[from : i+1]
		}
	}
	return nil
}

// addChats adds chats that are not there yet.
func (s *searcher) addChats(chats []ops.Target) {
	there := map[string]bool{}
	for _, src := range s.sources {
		there[s.reals.Path(src.Path)] = true
	}
	for _, t := range chats {
		if len(there) == 0 || !there[s.reals.Path(t.Path)] {
			s.sources = append(s.sources, &source{Target: t})
		}
	}
}

// open opens the histories of the chats' folders. One that cannot be read is noted in errs, and the
// others are searched.
func (s *searcher) open(ctx context.Context, walked ops.Walked) error {
	for _, root := range ops.Roots(walked) {
		if !root.User {
			continue
		}
		st, err := openSearchStore(ctx, s.Store(root.Path), root)
		switch {
		case err == nil:
			s.stores = append(s.stores, st)
		case errors.Is(err, history.ErrNoStore):
		case ctx.Err() != nil:
			return err
		default:
			s.errs = append(s.errs, ops.PathError(err))
		}
	}

	if s.Gone && len(s.stores)+len(s.errs) == 0 {
		return ErrNoHistory
	}
	return nil
}

// openSearchStore opens the history of a user's folder, and reads which versions it has.
func openSearchStore(ctx context.Context, path string, root *ops.Root) (*searchStore, error) {
	store, err := history.OpenRead(ctx, path)
	if err != nil {
		return nil, err
	}
	versions, err := store.VersionsSince(ctx, 0)
	if err != nil {
		_ = store.Close() // nothing was written to it
		return nil, err
	}
	return &searchStore{store: store, root: root, versions: versions}, nil
}

// unchanged returns the whole lines of a history that chats have which were read, and which are as the
// last snapshot found them.
func (s *searcher) unchanged(ctx context.Context, st *searchStore) (lines []history.Run, err error) {
	seen, err := st.store.Seen(ctx)
	if err != nil {
		return nil, err
	}
	versions := make(map[int64]*history.Version, len(st.versions))
	for i := range st.versions {
		versions[st.versions[i].Rev] = &st.versions[i]
	}
	root := userdir.RealPath(st.root.Path)
	for _, src := range s.sources[:s.asked] {
		rel, err := filepath.Rel(root, s.reals.Path(src.Path))
		if err != nil {
			continue
		}
		was := seen[filepath.ToSlash(rel)]
		v := versions[was.Rev]
		stamp, err := safefile.StampPath(src.Path)
		if err != nil || !stamp.Regular() || v == nil || !was.Is(src.Path, stamp) {
			continue
		}
		runs, err := v.Runs()
		if err != nil {
			continue // it is told where the version is read
		}
		for _, r := range runs {
			if r.Part == history.Whole {
				lines = append(lines, r)
			}
		}
	}
	return history.Ranges(lines), nil
}

func (s *searcher) close() {
	for _, st := range s.stores {
		_ = st.store.Close() // only read from
	}
}

// searchStore is the history of a user's folder.
type searchStore struct {
	store *history.Store
	root  *ops.Root

	versions []history.Version // of all chats, in the order of archiving
}

// line reads a line by where it is stored.
func (st *searchStore) line(ctx context.Context, stored ...history.Run) ([]byte, error) {
	for line, err := range st.store.Lines(ctx, stored) {
		return slices.Clone(line.Data), err
	}
	return nil, history.ErrRewritten
}

// message returns the line of the source's version with a number, and the index of its message.
func (src *source) message(ctx context.Context, number int) (line []byte, index int, err error) {
	read := func(n int) ([]byte, error) { return src.store.line(ctx, src.stored(int64(n))...) }
	if !src.judged {
		lines := int64(0)
		for _, r := range src.runs {
			lines += r.Lines()
		}
		src.others, err = history.Others(int(lines), src.version.Messages, read, src.store.store.Lines(ctx, src.runs))
		if err != nil {
			return nil, 0, err
		}
		src.judged = true
	}

	before, _ := slices.BinarySearch(src.others, number)
	line, err = read(number)
	return line, number - before, err
}

// around calls each with the messages of the source's version before and after the line with a number,
// at most so many on either side, in their order.
func (src *source) around(ctx context.Context, number, most int, each func(line []byte, index int)) error {
	before := src.numbers(number, -1, most)
	slices.Reverse(before)
	for _, n := range append(before, src.numbers(number, 1, most)...) {
		line, index, err := src.message(ctx, n)
		if err != nil {
			return err
		}
		each(line, index)
	}
	return nil
}

// numbers returns the numbers of the lines that are messages, at most so many from a number on, which
// is not among them, in steps of 1 or -1. The version must be judged.
func (src *source) numbers(from, step, most int) (list []int) {
	lines := int64(0)
	for _, r := range src.runs {
		lines += r.Lines()
	}
	for n := from + step; n >= 0 && int64(n) < lines && len(list) < most; n += step {
		if _, isOther := slices.BinarySearch(src.others, n); !isOther {
			list = append(list, n)
		}
	}
	return list
}

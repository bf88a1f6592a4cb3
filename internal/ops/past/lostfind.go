package past

import (
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"time"

	"stchat/internal/backups"
	"stchat/internal/group"
	"stchat/internal/lost"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/userdir"
)

// stock is what there is in one root: its chats, older versions of chats, and whose the
// backups are.
type stock struct {
	root   *ops.Root
	folder *backups.Folder
	owners backups.Owners
	groups *group.Set

	chats    []*lostChat // live ones, and then those that were deleted on purpose
	versions []*lostVersion
	errs     []error
}

// finder looks for what is lost in one root.
type finder struct {
	stock
	opt  LostOptions
	seed maphash.Seed

	byPath  map[string]int // of chats that are live
	byOwner map[backups.Owner][]int
	slugs   []string // of chats
}

// lostChat is a live chat, or one that was deleted on purpose.
type lostChat struct {
	path    string
	read    string // the file that is read: another one where it was deleted
	deleted bool
	changed time.Time
	of      backups.Owner // without the group's name
	said    *lost.Version
}

// lostVersion is an older version of some chat.
type lostVersion struct {
	path string // empty: it is in the history
	rev  int    // there
	at   time.Time
	key  string // of a backup
	chat string // the path of the chat that it is of, where that is known
	said *lost.Version

	match
	lost, reworded int
	skip           bool // nothing to be told of
}

func newFinder(root *ops.Root, opt LostOptions) *finder {
	return &finder{stock: stock{root: root}, opt: opt, seed: maphash.MakeSeed(), byPath: map[string]int{}, byOwner: map[backups.Owner][]int{}}
}

// find reads all that there is and compares it. The error is that ctx ended.
func (f *finder) find(ctx context.Context, copies []ops.Target) error {
	f.list(copies, f.opt.Since)
	f.opt.Meter.Expect(len(f.chats)+len(f.versions), 0)
	readChat := func(r *lost.Reader, i int, small bool) (bool, error) {
		v, err := r.Read(ctx, f.chats[i].read, small)
		f.chats[i].said = v
		return v != nil, err
	}
	if err := f.each(ctx, len(f.chats), nil, readChat); err != nil {
		return err
	}
	var texts [][]lost.Text
	for i, c := range f.chats {
		if c.said == nil {
			c.said = new(lost.Version) // it cannot be read, which is told
		}
		f.slugs = append(f.slugs, c.said.Slug)
		f.byOwner[c.of] = append(f.byOwner[c.of], i)
		if !c.deleted {
			f.byPath[userdir.RealPath(c.path)] = i
			texts = append(texts, c.said.Texts)
		}
	}
	live := lost.NewSet(texts...)
	readVersion := func(r *lost.Reader, i int, small bool) (bool, error) {
		v := f.versions[i]
		read, err := r.Read(ctx, v.path, small)
		if v.said = read; read != nil {
			f.judge(v)
		}
		return read != nil, err
	}
	if err := f.each(ctx, len(f.versions), live, readVersion); err != nil {
		return err
	}
	return f.readStore(ctx, live)
}

// each calls read for 0 to n-1: of small files several at once, of large ones one after
// another, each by all processors. What is not there any more is passed over.
func (f *finder) each(ctx context.Context, n int, live *lost.Set, read func(r *lost.Reader, i int, small bool) (bool, error)) error {
	errs := make([]error, n)
	newReader := func() *lost.Reader { return lost.NewReader(f.seed, live) }
	progress.SmallFirst(ctx, n, f.opt.Meter, newReader, func(r *lost.Reader, i int, small bool) bool {
		done, err := read(r, i, small)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs[i] = ops.PathError(err)
		}
		return done || err != nil
	})
	for _, err := range errs {
		if err != nil {
			f.errs = append(f.errs, err)
		}
	}
	return ctx.Err()
}

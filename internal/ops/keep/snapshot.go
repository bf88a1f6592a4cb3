package keep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/chat"
	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

const (
	// racy is how long before it is read a file must have changed last so that its time
	// proves that it did not change since: FAT counts in two seconds.
	racy = 2 * time.Second
	// readTries is how often a file is read that changes meanwhile.
	readTries = 3
)

// SnapshotOptions says what a snapshot takes.
type SnapshotOptions struct {
	List    ops.List
	Store   string // a file; empty: the user folder's own
	Backups bool   // SillyTavern's backups, too
	Note    string
	Rescan  bool // also read files that look unchanged
	DryRun  bool
	Now     time.Time
	Meter   *progress.Meter
	Root    string            // the folder that Store belongs to; empty: by the paths
	Source  history.Source    // empty: [history.FromSnapshot]
	Each    func(Taken) error // is called once a version is safe
}

// Taken is one new version: the document of snapshot.
type Taken struct {
	Schema    int            `json:"schema"`
	Path      string         `json:"path" is:"path"`
	Chat      string         `json:"chat"`
	Rev       int64          `json:"rev"`
	At        string         `json:"at"` // RFC 3339
	Source    history.Source `json:"source"`
	Messages  *int           `json:"messages"` // null for what is no chat
	Bytes     int64          `json:"bytes"`
	NewPieces int            `json:"new_pieces"`
	Stored    int64          `json:"stored"` // bytes on disk, about
}

// Snapshotted sums up a snapshot.
type Snapshotted struct {
	Schema    int   `json:"schema"`
	Summary   bool  `json:"summary"`
	Files     int   `json:"files"`
	Unchanged int   `json:"unchanged"` // files without a new version
	Versions  int   `json:"versions"`
	Bytes     int64 `json:"bytes"`  // of all files
	Stored    int64 `json:"stored"` // bytes that the new versions take, about
	LeftOut   int   `json:"left_out"`
	DryRun    bool  `json:"dry_run"`

	Stores []string           `json:"-"`
	Errs   []*ops.SourceError `json:"-"`
}

// Snapshot takes what changed into the store of each user's folder. A file that cannot be
// read is left out, and in Errs; the error is about a store, which then holds what was
// told by Each and no more.
func Snapshot(ctx context.Context, opt SnapshotOptions) (*Snapshotted, error) {
	list, errs := scopes(ops.Walk(opt.List), opt.Store, opt.Root)
	sum := &Snapshotted{Schema: 1, Summary: true, DryRun: opt.DryRun, Errs: errs}
	for _, s := range list {
		opt.Meter.Expect(len(s.files), s.bytes)
	}
	for _, s := range list {
		if err := snapshotScope(ctx, &opt, s, sum); err != nil {
			return sum, err
		}
	}
	sum.LeftOut = len(sum.Errs)
	return sum, nil
}

// snapshot is the taking of one folder.
type snapshot struct {
	opt   *SnapshotOptions
	scope *scope
	sum   *Snapshotted
	store *history.Store
	w     *history.Writer
	seen  map[string]history.Seen
	lost  []history.Chat  // chats of the store whose files are not there
	found map[string]bool // paths of files that are there
	dirs  map[string]string
	told  []pending // versions that wait for the commit
}

type pending struct {
	taken   Taken
	content *history.Content
}

func snapshotScope(ctx context.Context, opt *SnapshotOptions, sc *scope, sum *Snapshotted) error {
	store, err := openToWrite(ctx, sc.root, opt.Store, opt.Now, opt.DryRun)
	if err != nil {
		return err
	}
	defer store.Close()
	sum.Stores = append(sum.Stores, store.Path())
	s := &snapshot{opt: opt, scope: sc, sum: sum, store: store, found: map[string]bool{}, dirs: map[string]string{}}
	if s.seen, err = store.Seen(ctx); err != nil {
		return err
	}
	if s.w, err = store.Writer(ctx); err != nil {
		return err
	}
	err = s.takeAll(ctx)
	if closed := s.w.Close(err != nil); err == nil {
		err = closed
	}
	if err == nil {
		err = s.tell()
	}
	return err
}

func (s *snapshot) takeAll(ctx context.Context) error {
	if err := s.findLost(ctx); err != nil {
		return err
	}
	for _, path := range s.scope.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.take(ctx, path); err != nil {
			return err
		}
		if err := s.commitFull(); err != nil {
			return err
		}
		s.opt.Meter.Done()
	}
	if err := s.missing(ctx); err != nil {
		return err
	}
	if s.opt.Backups && s.scope.whole {
		return s.takeBackups(ctx)
	}
	return nil
}

// commitFull commits when there is much to commit.
func (s *snapshot) commitFull() error {
	if !s.w.Full() {
		return nil
	}
	if err := s.w.Commit(); err != nil {
		return err
	}
	return s.tell()
}

// tell tells of the versions that are safe now.
func (s *snapshot) tell() error {
	for _, p := range s.told {
		p.taken.Stored = p.content.Stored
		s.sum.Stored += p.content.Stored
		s.sum.Versions++
		if err := s.opt.Each(p.taken); err != nil {
			return err
		}
	}
	s.told = s.told[:0]
	return nil
}

// fail leaves a file out. An error of the store is none of the file's.
func (s *snapshot) fail(path string, err error) {
	s.sum.Errs = append(s.sum.Errs, &ops.SourceError{Path: path, Err: err})
}

// take takes one file, unless it looks as it did.
func (s *snapshot) take(ctx context.Context, path string) error {
	s.sum.Files++
	stamp, err := safefile.StampPath(path)
	if err != nil {
		s.fail(path, ops.PathError(err))
		return nil
	}
	rel, err := s.relative(path)
	if err != nil {
		s.fail(path, err)
		return nil
	}
	s.found[rel] = true
	s.sum.Bytes += stamp.Size()
	defer s.opt.Meter.Read(stamp.Size())
	if was, ok := s.seen[rel]; ok && !s.opt.Rescan && same(was, see(path, stamp)) {
		s.sum.Unchanged++
		return nil
	}
	kind, owner, name := history.Place(rel)
	content, stamp, err := s.read(path, kind.IsChat())
	if content == nil || err != nil {
		return err
	}
	known, err := s.w.Identify(history.Candidate{
		Kind: kind, Owner: owner, Name: name, Parent: parentOf(content), Missing: s.lost, Now: s.opt.Now,
	}, content)
	if err != nil {
		return err
	}
	s.lost = slices.DeleteFunc(s.lost, func(c history.Chat) bool { return c.ID == known.ID })
	content.Head = nil // what waits for the commit need not hold it
	version, err := s.keep(ctx, &known, path, content, history.NewVersion{
		At: s.opt.Now.UnixMilli(), Mtime: stamp.ModTime().UnixNano(), Source: cmp.Or(s.opt.Source, history.FromSnapshot), Note: s.opt.Note,
	})
	if err != nil {
		return err
	}
	seen := see(path, stamp)
	seen.Version, seen.Racy = version, s.opt.Now.Sub(stamp.ModTime()) < racy
	return s.w.See(rel, seen)
}

// keep adds a version, unless the content is that of the last one, and gives its ID.
func (s *snapshot) keep(ctx context.Context, of *history.Chat, path string, c *history.Content, v history.NewVersion) (int64, error) {
	if of.ID != 0 {
		last, ok, err := s.w.Last(ctx, of.ID)
		if err != nil {
			return 0, err
		}
		if ok && last.Sum == string(c.Sum[:]) {
			s.sum.Unchanged++
			return last.ID, nil
		}
	}
	v.Chat = of.ID
	added, err := s.w.Add(v, c)
	if err != nil {
		return 0, err
	}
	taken := Taken{
		Schema: 1, Path: path, Chat: of.Label(), Rev: added.Rev, At: stamp(added.At), Source: added.Source,
		Bytes: c.Size, NewPieces: c.NewPieces,
	}
	if of.Kind.IsChat() {
		taken.Messages = &c.Messages
	}
	s.told = append(s.told, pending{taken, c})
	return added.ID, nil
}

// read reads a file, again where it changes meanwhile. What cannot be read gives no
// content and stands in Errs; an error is the store's.
func (s *snapshot) read(path string, isChat bool) (*history.Content, safefile.Stamp, error) {
	for range readTries {
		f, err := chat.OpenRegular(path)
		if err != nil {
			s.fail(path, ops.PathError(err))
			return nil, safefile.Stamp{}, nil
		}
		content, stamp, err := s.readOnce(f, isChat)
		_ = f.Close()
		now, statErr := safefile.StampPath(path)
		switch {
		case errors.Is(err, jsonl.ErrChanged), errors.Is(err, history.ErrAgain), err == nil && (statErr != nil || !now.Same(stamp)):
			continue
		case isRead(err):
			s.fail(path, ops.PathError(err))
			return nil, stamp, nil
		case err != nil:
			return nil, stamp, err
		}
		return content, stamp, nil
	}
	s.fail(path, fmt.Errorf("%s: %w", path, jsonl.ErrChanged))
	return nil, safefile.Stamp{}, nil
}

func (s *snapshot) readOnce(f *os.File, isChat bool) (*history.Content, safefile.Stamp, error) {
	before, err := safefile.StampOf(f)
	if err != nil {
		return nil, before, err
	}
	content, err := s.w.Read(f, isChat)
	if err != nil {
		return nil, before, err
	}
	after, err := safefile.StampOf(f)
	if err == nil && (!after.Same(before) || content.Size != after.Size()) {
		err = jsonl.ErrChanged
	}
	return content, before, err
}

// isRead says whether an error is that of reading a file.
func isRead(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}

// gone says whether a chat's file is not there.
func (s *snapshot) gone(of *history.Chat) bool {
	if of.Gone() {
		return true
	}
	_, err := os.Lstat(filepath.Join(s.scope.root, filepath.FromSlash(of.Path())))
	return errors.Is(err, fs.ErrNotExist)
}

// findLost finds the chats whose files are not there.
func (s *snapshot) findLost(ctx context.Context) error {
	all, err := s.store.Chats(ctx)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, path := range s.scope.files {
		if rel, err := s.relative(path); err == nil {
			there[rel] = true
		}
	}
	for i := range all {
		if c := &all[i]; c.Kind.IsChat() && c.Kind != history.Backup && (c.Gone() || !there[c.Path()] && s.gone(c)) {
			s.lost = append(s.lost, *c)
		}
	}
	return nil
}

// relative is [relative], which looks at each folder once.
func (s *snapshot) relative(path string) (string, error) {
	dir, file := filepath.Split(path)
	rel, ok := s.dirs[dir]
	if !ok {
		full, err := relative(s.scope.root, filepath.Join(dir, "x"))
		if err != nil {
			return "", err
		}
		rel = strings.TrimSuffix(full, "x")
		s.dirs[dir] = rel
	}
	return rel + file, nil
}

// missing notes which files are gone, among those that a snapshot of this scope takes.
func (s *snapshot) missing(ctx context.Context) error {
	folders := map[string]bool{}
	for folder := range s.scope.folders {
		if rel, err := relative(s.scope.root, filepath.Join(folder, "x")); err == nil {
			folders[filepath.ToSlash(filepath.Dir(filepath.FromSlash(rel)))] = true
		}
	}
	all, err := s.store.Chats(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		c := &all[i]
		if c.Gone() || s.found[c.Path()] || c.Kind == history.Backup || !s.scope.whole && !folders[c.Owner] || !s.gone(c) {
			continue
		}
		if err := s.w.Gone(c.ID, s.opt.Now.UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}

// see describes a file as the store notes it.
func see(path string, stamp safefile.Stamp) history.Seen {
	_, inode, err := stamp.FileID(path)
	if err != nil {
		inode = 0
	}
	return history.Seen{Size: stamp.Size(), Mtime: stamp.ModTime().UnixNano(), Ctime: stamp.ChangeTime(), Inode: int64(inode)}
}

// same says whether a file looks as it did, and could not have changed unseen.
func same(was, now history.Seen) bool {
	return !was.Racy && was.Size == now.Size && was.Mtime == now.Mtime && was.Ctime == now.Ctime && was.Inode == now.Inode
}

// parentOf gives the name of the chat that a chat says it was made from.
func parentOf(c *history.Content) string {
	value, _ := rawjson.Lookup(c.Head, "chat_metadata", "main_chat")
	name, _ := rawjson.Unquote(value)
	return name
}

// stamp is a time as documents have it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

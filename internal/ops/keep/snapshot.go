package keep

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
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
	there *present
	lost  []history.Chat // chats of the store whose files are not there
	told  []pending      // versions that wait for the commit
	fresh []freshChat
	last  int64 // the ID of the chat that was added last before
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
	s := &snapshot{opt: opt, scope: sc, sum: sum, store: store, there: newPresent(sc)}
	if s.seen, err = store.Seen(ctx); err != nil {
		return err
	}
	if s.w, err = history.NewWriter(ctx, store); err != nil {
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
	known, err := s.store.Chats(ctx)
	if err != nil {
		return err
	}
	s.lost = s.there.lost(known)
	for i := range known {
		s.last = max(s.last, known[i].ID)
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
	if err := s.parents(ctx); err != nil {
		return err
	}
	if known, err = s.store.Chats(ctx); err != nil {
		return err
	}
	for _, id := range s.there.missing(known) {
		if err := s.w.Gone(id, s.opt.Now.UnixMilli()); err != nil {
			return err
		}
	}
	if s.opt.Backups && s.scope.whole {
		return backupTaking{s}.takeAll(ctx)
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

// leave leaves a file out that could not be read. Any other error it returns.
func (s *snapshot) leave(path string, err error) error {
	if unread, ok := errors.AsType[*unreadError](err); ok {
		s.fail(path, unread.err)
		return nil
	}
	return err
}

// take takes one file, unless it looks as it did.
func (s *snapshot) take(ctx context.Context, path string) error {
	s.sum.Files++
	stamp, err := safefile.StampPath(path)
	if err != nil {
		s.fail(path, ops.PathError(err))
		return nil
	}
	rel, err := s.there.relative(path)
	if err != nil {
		s.fail(path, err)
		return nil
	}
	s.there.found[rel] = true
	s.sum.Bytes += stamp.Size()
	defer s.opt.Meter.Read(stamp.Size())
	if was, ok := s.seen[rel]; ok && !s.opt.Rescan && same(was, see(path, stamp)) {
		s.sum.Unchanged++
		return nil
	}
	kind, owner, name := history.Place(rel)
	content, stamp, err := readFile(s.w, path, kind.IsChat())
	if err != nil {
		return s.leave(path, err)
	}
	known, err := s.w.Identify(history.Candidate{
		Kind: kind, Owner: owner, Name: name, Parent: parentOf(content), Missing: s.lost, Now: s.opt.Now,
	}, content)
	if err != nil {
		return err
	}
	s.lost = slices.DeleteFunc(s.lost, func(c history.Chat) bool { return c.ID == known.ID })
	if kind.IsChat() && known.ID > s.last {
		s.fresh = append(s.fresh, freshChat{path, known.ID, known.Parent})
	}
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
		last, ok, err := s.store.Last(ctx, of.ID)
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

// parentOf returns the name of the chat that a chat says it was made from.
func parentOf(c *history.Content) string {
	value, _ := rawjson.Lookup(c.Head, "chat_metadata", "main_chat")
	name, _ := rawjson.Unquote(value)
	return name
}

// stamp is a time as documents have it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

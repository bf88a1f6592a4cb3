// Package keep holds the verbs of the history: snapshot, log, restore, and those for the
// store itself. A verb that archives commits to the store before anything else, and writes
// the user's files through change sets.
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
	Backups bool   // take SillyTavern's backups, too
	Note    string
	Rescan  bool // also read files that look unchanged
	DryRun  bool
	Now     time.Time
	Meter   *progress.Meter
	Root    string            // the folder that Store belongs to; empty: found from the paths
	Source  history.Source    // empty: [history.FromSnapshot]
	Each    func(Taken) error // called for each version once it is safe
}

// Taken is one new version: the document of snapshot.
type Taken struct {
	Schema    int            `json:"schema"`
	Path      string         `json:"path" is:"path"`
	Chat      string         `json:"chat"`
	Rev       int64          `json:"rev"`
	At        string         `json:"at"` // RFC 3339
	Source    history.Source `json:"source"`
	Messages  *int           `json:"messages"` // null if the file is not a chat
	Bytes     int64          `json:"bytes"`
	NewPieces int            `json:"new_pieces"`
	Stored    int64          `json:"stored"` // approximate bytes on disk
}

// Snapshotted sums up a snapshot.
type Snapshotted struct {
	Schema    int   `json:"schema"`
	Summary   bool  `json:"summary"`
	Files     int   `json:"files"`
	Unchanged int   `json:"unchanged"` // files without a new version
	Versions  int   `json:"versions"`
	Bytes     int64 `json:"bytes"`  // of all files
	Stored    int64 `json:"stored"` // approximate bytes on disk of the new versions
	LeftOut   int   `json:"left_out"`
	DryRun    bool  `json:"dry_run"`

	Stores []string           `json:"-"`
	Errs   []*ops.SourceError `json:"-"`
}

// Snapshot takes what changed into the store of each user's folder. A file that cannot be
// read is left out and listed in Errs. An error is about a store, which then holds the
// versions that Each was called for and no others.
func Snapshot(ctx context.Context, opt SnapshotOptions) (*Snapshotted, error) {
	list, errs := scopes(ops.Walk(opt.List), opt.List.Shard, opt.Store, opt.Root)
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

// snapshot is the snapshot of one folder.
type snapshot struct {
	opt     *SnapshotOptions
	scope   *scope
	sum     *Snapshotted
	store   *history.Store
	w       *history.Writer
	seen    map[string]history.Seen
	there   *existingFiles
	lost    []history.Chat   // chats in the store whose files are missing
	pending []pendingVersion // versions to report after the commit
	fresh   []freshChat
	links   map[string]bool // whether a message of a chat may name another, by the path of each that was read
	last    int64           // the highest ID of the chats known before
}

type pendingVersion struct {
	taken   Taken
	content *history.Content
	commits int // made before it was added
}

func snapshotScope(ctx context.Context, opt *SnapshotOptions, sc *scope, sum *Snapshotted) error {
	store, err := openToWrite(ctx, sc.root, opt.Store, opt.Now, opt.DryRun)
	if err != nil {
		return err
	}
	defer store.Close()
	sum.Stores = append(sum.Stores, store.Path())
	s := &snapshot{opt: opt, scope: sc, sum: sum, store: store, there: newExistingFiles(sc), links: map[string]bool{}}
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
	if told := s.report(); err == nil {
		err = told
	}
	return err
}

func (s *snapshot) takeAll(ctx context.Context) error {
	known, err := s.store.Chats(ctx)
	if err != nil {
		return err
	}
	var files []string
	s.lost, files = s.there.split(known)
	for i := range known {
		s.last = max(s.last, known[i].ID)
	}
	if err := s.each(ctx, len(files), func(i int) error { return s.take(ctx, files[i]) }); err != nil {
		return err
	}
	if err := s.parents(ctx); err != nil {
		return err
	}
	if known, err = s.store.Chats(ctx); err != nil {
		return err
	}
	for _, id := range s.there.vanished(known) {
		if err := s.w.Gone(id, s.opt.Now.UnixMilli()); err != nil {
			return err
		}
	}
	if s.opt.Backups && s.scope.whole {
		return s.takeBackups(ctx)
	}
	return nil
}

// commitFull commits if much is waiting for it.
func (s *snapshot) commitFull() error {
	if !s.w.Full() {
		return nil
	}
	if err := s.w.Commit(); err != nil {
		return err
	}
	return s.report()
}

// report reports the versions that are safe now.
func (s *snapshot) report() error {
	for len(s.pending) > 0 && s.pending[0].commits < s.w.Commits() {
		p := s.pending[0]
		s.pending = s.pending[1:]
		p.taken.Stored = p.content.Stored
		s.sum.Stored += p.content.Stored
		s.sum.Versions++
		if err := s.opt.Each(p.taken); err != nil {
			return err
		}
	}
	return nil
}

// fail leaves a file out. It is not for errors of the store.
func (s *snapshot) fail(path string, err error) {
	s.sum.Errs = append(s.sum.Errs, &ops.SourceError{Path: path, Err: err})
}

// each takes n files, and commits whenever much is waiting for it.
func (s *snapshot) each(ctx context.Context, n int, take func(i int) error) error {
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := take(i); err != nil {
			return err
		}
		if err := s.commitFull(); err != nil {
			return err
		}
		s.opt.Meter.Done()
	}
	return nil
}

// takeFile reads one file, unless it looks unchanged. add adds the content and returns the ID of
// its version.
func (s *snapshot) takeFile(path string, isBackup bool, add func(rel string, c *history.Content, stamp safefile.Stamp) (int64, error)) error {
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
	kind, _, _ := history.Place(rel)
	content, stamp, err := readFile(s.w, path, isBackup || kind.IsChat())
	if unread, ok := errors.AsType[*unreadError](err); ok {
		s.fail(path, unread.err)
		return nil
	}
	if err != nil {
		return err
	}
	version, err := add(rel, content, stamp)
	if err != nil {
		return err
	}
	seen := see(path, stamp)
	seen.Version, seen.Racy = version, s.opt.Now.Sub(stamp.ModTime()) < racy
	return s.w.See(rel, seen)
}

// take takes one file.
func (s *snapshot) take(ctx context.Context, path string) error {
	return s.takeFile(path, false, func(rel string, content *history.Content, stamp safefile.Stamp) (int64, error) {
		kind, owner, name := history.Place(rel)
		known, err := s.w.Identify(history.Candidate{
			Kind: kind, Owner: owner, Name: name, Parent: parentOf(content), Missing: &s.lost, Now: s.opt.Now,
		}, content)
		if err != nil {
			return 0, err
		}
		if kind.IsChat() && known.ID > s.last {
			s.fresh = append(s.fresh, freshChat{path, known.ID, known.Parent})
		}
		s.links[path] = content.Links
		content.Head = nil // not needed any more, and the content is held until the commit
		return s.keep(ctx, &known, path, content, history.NewVersion{
			At: s.opt.Now.UnixMilli(), Mtime: stamp.ModTime().UnixNano(), Source: cmp.Or(s.opt.Source, history.FromSnapshot), Note: s.opt.Note,
		})
	})
}

// keep adds a version, unless the content equals the last one's, and returns the ID of the
// version with this content.
func (s *snapshot) keep(ctx context.Context, of *history.Chat, path string, c *history.Content, v history.NewVersion) (int64, error) {
	if of.ID != 0 {
		last, ok, err := s.store.Last(ctx, of.ID)
		if err != nil {
			return 0, err
		}
		// the sum of a version whose list of pieces is damaged says nothing about what comes back
		if runs, err := last.Runs(); ok && err == nil && last.Sum == string(c.Sum[:]) && slices.Equal(runs, c.Runs) {
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
	s.pending = append(s.pending, pendingVersion{taken, c, s.w.Commits()})
	return added.ID, nil
}

// parentOf returns a chat's main_chat: the name of the chat that it was made from.
func parentOf(c *history.Content) string {
	name, _ := rawjson.Unquote(rawjson.Value(c.Head, "chat_metadata", "main_chat"))
	return name
}

// stamp formats a time for documents: RFC 3339 in UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

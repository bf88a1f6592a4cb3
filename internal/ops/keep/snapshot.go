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
	"sync"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/library"
	"stchat/internal/history"
	"stchat/internal/history/lost"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/place/sendate"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/progress"
)

// SnapshotOptions says what a snapshot takes.
type SnapshotOptions struct {
	List    ops.List
	Store   string // a file; empty: the user folder's own
	Backups bool   // take SillyTavern's backups, too
	Note    string
	Rescan  bool // also read files that look unchanged: of tests alone, whose clock is not that of the files
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

	content *history.Content
	commits int // made before it was added
}

// Snapshotted sums up a snapshot.
type Snapshotted struct {
	Schema    int   `json:"schema"`
	Summary   bool  `json:"summary"`
	Files     int   `json:"files"`
	Unchanged int   `json:"unchanged"` // files without a new version
	Versions  int   `json:"versions"`
	Gone      int   `json:"gone"`   // chats that were there at the last one, and that stchat did not delete
	Bytes     int64 `json:"bytes"`  // of all files
	Stored    int64 `json:"stored"` // approximate bytes on disk of the new versions
	LeftOut   int   `json:"left_out"`
	DryRun    bool  `json:"dry_run"`

	Part bool               `json:"-"` // it did not look at the whole of a user's folder
	Errs []*ops.SourceError `json:"-"`
}

// Snapshot takes what changed into the store of each user's folder. All files of a folder are
// read first, and then told apart; what the snapshot found is written at once. A file that
// cannot be read is left out and listed in Errs, and so is a store that cannot be written: it
// then holds the versions that Each was called for and no others. The error is that of Each, or
// that ctx ended.
func Snapshot(ctx context.Context, opt SnapshotOptions) (*Snapshotted, error) {
	list, errs := scopes(ctx, ops.Walk(opt.List), opt.Store, opt.Root)
	sum := &Snapshotted{Schema: 1, Summary: true, DryRun: opt.DryRun, Errs: errs}
	for _, s := range list {
		opt.Meter.Expect(len(s.files), s.bytes)
	}

	var stopped error
	each := opt.Each
	opt.Each = func(t Taken) error {
		stopped = each(t)
		return stopped
	}

	for _, s := range list {
		before := *sum
		err := snapshotScope(ctx, &opt, s, sum)
		isOver := stopped != nil || ctx.Err() != nil
		if err != nil && isOver {
			return sum, err
		}
		if err != nil {
			sum.fail(before, storeError(StoreOf(s.root, opt.Store), err))
		}
	}

	sum.LeftOut = len(sum.Errs)
	return sum, nil
}

// fail notes that the store of one folder failed, before which the sums were as given: of the files
// of that folder only those of which a version is safe count. Those of other folders are not its matter.
func (s *Snapshotted) fail(before Snapshotted, err *ops.SourceError) {
	before.Files += s.Versions - before.Versions
	before.Versions = s.Versions
	before.Stored = s.Stored
	before.Errs = append(s.Errs, err)
	*s = before
}

// storeError returns the error of a store as that of one among several: with its path, which errors
// of what is in it do not name.
func storeError(store string, err error) *ops.SourceError {
	err = ops.PathError(err)
	_, located := errors.AsType[*ops.SourceError](err)
	if !located && !strings.HasPrefix(err.Error(), store) {
		err = fmt.Errorf("%s: %w", store, err)
	}
	return &ops.SourceError{Path: store, Err: err}
}

func snapshotScope(ctx context.Context, opt *SnapshotOptions, sc *scope, sum *Snapshotted) error {
	if len(sc.files) == 0 && !opt.Backups {
		if _, err := os.Stat(StoreOf(sc.root, opt.Store)); errors.Is(err, fs.ErrNotExist) {
			return nil // no history of nothing
		}
	}

	store, err := openToWrite(ctx, sc.root, opt.Store, opt.Now, opt.DryRun)
	if err != nil {
		return err
	}
	defer store.Close()
	sum.Part = sum.Part || !sc.whole
	s := &snapshot{scope: sc, now: &present{store: store, root: sc.root}, opt: opt, sum: sum}
	if s.w, err = history.NewWriter(ctx, store); err != nil {
		return err
	}
	err = s.take(ctx)
	return cmp.Or(err, s.w.Close(err != nil), s.report())
}

// snapshot compares one folder with its store.
type snapshot struct {
	*scope
	w   *history.Writer
	opt *SnapshotOptions
	sum *Snapshotted

	seen    map[string]history.Seen
	now     *present                 // what is known before it
	places  map[string]history.Place // those that hold
	files   []*foundFile             // new and changed ones
	held    map[string]bool          // paths of files that look unchanged
	pending []Taken                  // versions to report after the commit

	claims *claims // of backups
}

// foundFile is a file that is new or looks changed, as it was read.
type foundFile struct {
	facts
	file    string // its path as it was found
	content *history.Content
	stamp   safefile.Stamp
	rev     int64 // of the version that it still is; 0: it is a new one
}

// readTwice is how often all files are read again because another run pruned the store.
const readTwice = 3

// take reads all files, finds out which is which, and writes that down.
func (s *snapshot) take(ctx context.Context) error {
	before := *s.sum
	for try := 0; ; try++ {
		generation := s.now.store.Generation()
		if err := s.know(ctx); err != nil {
			return err
		}
		commits := s.w.Commits()
		if err := s.read(ctx); err != nil {
			return err
		}
		if s.w.Commits() != commits { // another run may have written between two transactions
			if err := s.know(ctx); err != nil {
				return err
			}
		}
		if s.now.store.Generation() == generation {
			break
		}
		if try == readTwice {
			return history.ErrRewritten
		}
		*s.sum = before
	}
	if err := s.judge(ctx); err != nil {
		return err
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	if !s.opt.Backups || !s.whole {
		return nil
	}
	if err := s.w.Commit(); err != nil {
		return err
	}
	return s.takeBackups(ctx)
}

// know reads what the history knows now.
func (s *snapshot) know(ctx context.Context) error {
	if err := s.now.read(ctx); err != nil {
		return err
	}
	return s.recall(ctx)
}

// recall finds out what the last snapshots found.
func (s *snapshot) recall(ctx context.Context) (err error) {
	s.places = map[string]history.Place{}
	for _, p := range s.now.places {
		if p.Until == 0 {
			s.places[p.Path] = p
		}
	}
	s.seen, err = s.now.store.Seen(ctx)
	return err
}

// isUnchanged reports whether a file looks as a snapshot found it.
func (s *snapshot) isUnchanged(path, rel string, stamp safefile.Stamp, backup bool) bool {
	was, seen := s.seen[rel]
	_, known := s.places[rel]
	return seen && (known || backup) && !s.opt.Rescan && was.Is(path, stamp)
}

// read reads the files that do not look as a snapshot found them.
func (s *snapshot) read(ctx context.Context) (err error) {
	s.files, s.held = nil, map[string]bool{}
	return s.each(ctx, len(s.scope.files), func(i int) error {
		f, err := s.readFile(s.scope.files[i], false)
		if f != nil {
			s.files = append(s.files, f)
		}
		return err
	})
}

// each takes n files.
func (s *snapshot) each(ctx context.Context, n int, take func(i int) error) error {
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := take(i); err != nil {
			return err
		}
		if s.w.Full() {
			if err := s.w.Commit(); err != nil && !errors.Is(err, history.ErrRewritten) {
				return err
			}
			if err := s.report(); err != nil {
				return err
			}
		}

		s.opt.Meter.Done()
	}
	return nil
}

// readFile counts a file and takes its content in, again if the file changes meanwhile. It returns
// nil for one that looks as a snapshot found it, and for one that cannot be read: that is left out.
func (s *snapshot) readFile(path string, backup bool) (*foundFile, error) {
	s.sum.Files++
	rel := ""
	stamp, err := safefile.StampPath(path)
	if err == nil {
		rel, err = s.relative(path)
	}
	if err != nil {
		s.fail(path, err)
		return nil, nil
	}
	s.sum.Bytes += stamp.Size()
	s.opt.Meter.Read(stamp.Size())
	if s.isUnchanged(path, rel, stamp, backup) {
		s.sum.Unchanged++
		s.held[rel] = true
		return nil, nil
	}

	for range readTries {
		f, stamp, err := chat.OpenStamped(path)
		if err != nil {
			s.fail(path, err)
			return nil, nil
		}
		c, err := s.w.Read(f, history.KindOf(rel).IsChat())
		_ = f.Close()
		now, statErr := safefile.StampPath(path)
		switch {
		case errors.Is(err, history.ErrRewritten), err == nil && (statErr != nil || !now.Same(stamp) || c.Size != stamp.Size()):
			continue
		case isRead(err):
			s.fail(path, err)
			return nil, nil
		case err != nil:
			return nil, err
		}
		return &foundFile{facts: facts{Chat: history.Chat{Slug: c.Slug, Main: c.Main, Path: rel}}, file: path, content: c, stamp: stamp}, nil
	}

	s.fail(path, fmt.Errorf("%s: %w", path, jsonl.ErrChanged))
	return nil, nil
}

// fail leaves a file out. It is not for errors of the store.
func (s *snapshot) fail(path string, err error) {
	s.sum.Errs = append(s.sum.Errs, &ops.SourceError{Path: path, Err: ops.PathError(err)})
}

// judge finds out which chat each file is.
func (s *snapshot) judge(ctx context.Context) (err error) {
	if len(s.files) == 0 {
		return nil
	}
	r, lib := newStoreReader(s.now.store), new(library.Library)
	found := map[string]bool{}
	var files, chats []*facts
	for _, f := range s.files {
		found[f.Path] = true
		folder, name := filepath.Dir(f.file), userdir.ChatName(f.file)
		if !history.KindOf(f.Path).IsChat() {
			f.ID = s.now.last(f.Path)
			continue
		}
		if len(lib.Folder(folder).Sidecars(name)) > 0 {
			f.Slug = "" // Luker changes it at every save
		}
		files = append(files, &f.facts)
		f.said = sync.OnceValue(func() *lost.Speech {
			v, readErr := r.Read(ctx, f.file, false)
			if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
				err = cmp.Or(err, ctx.Err()) // else it says nothing
			}
			return lost.NewSpeech(v)
		})
	}

	for _, c := range s.now.list {
		if !isChat(c.Path) {
			continue
		}
		k := &facts{Chat: c}
		switch {
		case c.Gone != 0:
			k.state = before
		case found[c.Path]:
			k.state = changed
		case !s.held[c.Path] && s.misses(c.Path):
			k.state = missing
		}

		k.said = sync.OnceValue(func() *lost.Speech {
			said, readErr := s.saidLast(ctx, r, c.ID)
			if readErr != nil && !errors.Is(readErr, history.ErrBroken) {
				err = cmp.Or(err, readErr) // what is damaged is no evidence, and verify names it
			}
			return said
		})

		chats = append(chats, k)
	}

	judge(files, chats)
	return err
}

// saidLast returns what a chat of the history says in its last version, and where that has nothing
// but greetings, which may have been written over it, what it said before.
func (s *snapshot) saidLast(ctx context.Context, r *lost.StoreReader, id int64) (*lost.Speech, error) {
	versions, err := s.now.store.Versions(ctx, id)
	if err != nil {
		return lost.NewSpeech(), err
	}
	var last *lost.Version
	for i := range slices.Backward(versions) {
		v, err := r.Version(ctx, &versions[i])
		if err != nil {
			return lost.NewSpeech(last), err
		}
		if !v.Begins {
			return lost.NewSpeech(v, last), nil
		}
		if last == nil {
			last = v
		}
	}
	return lost.NewSpeech(last), nil
}

// newest is after all snapshots.
const newest = int64(1) << 62

// write writes what the snapshot found, at once: first what has left its place, then what is
// where now, and each new version. A snapshot that found nothing is not noted.
func (s *snapshot) write(ctx context.Context) error {
	now, found := map[int64]string{}, map[string]bool{}
	changed := s.opt.Note != ""
	for _, f := range s.files {
		found[f.Path] = true
		if f.ID != 0 {
			now[f.ID] = f.Path
		}
		rev, err := s.lastRev(ctx, f)
		if err != nil {
			return err
		}
		f.rev, changed = rev, changed || rev == 0 || s.places[f.Path].Chat != f.ID
	}

	var left, gone []history.Place
	for _, p := range s.places {
		to, moved := now[p.Chat]
		switch {
		case moved && to == p.Path, !moved && (s.held[p.Path] || !found[p.Path] && !s.misses(p.Path)):
			continue
		case !moved && history.KindOf(p.Path).IsChat():
			gone = append(gone, p)
		}
		left = append(left, p)
	}

	lost, err := s.countLost(ctx, gone)
	if err != nil {
		return err
	}
	s.sum.Gone += lost // to those of other users
	run := history.Snapshot{At: s.opt.Now, Whole: s.whole, Note: s.opt.Note}
	if changed || len(left) > 0 {
		if run, err = s.w.Take(run); err != nil {
			return err
		}
	}

	for _, p := range left {
		if err := s.w.Leave(p, run.ID); err != nil {
			return err
		}
	}

	for _, f := range s.files {
		if err := s.writeFile(run, f); err != nil {
			return err
		}
	}
	return nil
}

// countLost counts the chats that left their places as [Lost] does: without those that stchat deleted.
func (s *snapshot) countLost(ctx context.Context, gone []history.Place) (n int, err error) {
	if len(gone) == 0 {
		return 0, nil
	}
	kept, _, err := changeset.KeptFiles(s.root)
	if err != nil {
		return len(gone), nil // nothing tells of deletions
	}
	r := newStoreReader(s.now.store)
	var list []*deletion
	for _, k := range kept {
		if !userdir.HasExtension(k.Path) || !isDeletion(&k) {
			continue
		}
		if said, err := r.Read(ctx, k.File, false); err == nil {
			list = append(list, &deletion{k.Path, said})
		}
	}

	for _, p := range gone {
		last, ok, err := s.now.store.Last(ctx, p.Chat, newest)
		if err != nil {
			return n, err
		}
		said := new(lost.Version)
		if ok {
			if v, err := r.Version(ctx, &last); err == nil { // what is damaged says nothing
				said = v
			}
		}

		isIt := func(d *deletion) bool { return d.is(s.full(p.Path), said) }
		if !slices.ContainsFunc(list, isIt) {
			n++
		}
	}
	return n, ctx.Err()
}

// lastRev returns the version that a file still is, 0 if it is a new one.
func (s *snapshot) lastRev(ctx context.Context, f *foundFile) (int64, error) {
	if f.ID == 0 {
		return 0, nil
	}
	last, ok, err := s.now.store.Last(ctx, f.ID, newest)
	if err != nil || !ok || last.Sum != string(f.content.Sum[:]) {
		return 0, err
	}
	// the sum of a version whose list of pieces is damaged says nothing about what comes back
	if runs, err := last.Runs(); err != nil || !slices.Equal(runs, f.content.Runs) {
		return 0, nil
	}
	return last.Rev, nil
}

// writeFile writes where a file is and, if it is new, its version.
func (s *snapshot) writeFile(run history.Snapshot, f *foundFile) (err error) {
	at := s.places[f.Path].Chat
	stays := at != 0 && at == f.ID
	if f.ID == 0 {
		f.Chat, err = s.w.Found(f.Chat)
	} else if f.rev == 0 {
		err = s.w.Know(f.Chat)
	}
	if err == nil && !stays {
		err = s.w.Enter(history.Place{Chat: f.ID, Path: f.Path, First: run.ID})
	}
	if err != nil {
		return err
	}
	if f.rev != 0 {
		s.sum.Unchanged++
	} else {
		err = s.add(f, f.Path, history.Version{
			Chat: f.ID, Snapshot: run.ID, Path: f.Path, At: run.At, Mtime: f.stamp.ModTime().UnixNano(), Source: cmp.Or(s.opt.Source, history.FromSnapshot), Note: s.opt.Note,
		})
		if err != nil {
			return err
		}
	}
	return s.see(f)
}

// add adds a version of a file that is in the store under a path.
func (s *snapshot) add(f *foundFile, of string, v history.Version) error {
	v, err := s.w.Add(v, f.content)
	if err != nil {
		return err
	}
	f.rev = v.Rev
	taken := Taken{
		Schema: 1, Path: f.file, Chat: history.Label(of), Rev: v.Rev, At: sendate.Format(v.At), Source: v.Source,
		Bytes: f.content.Size, NewPieces: f.content.NewPieces, content: f.content, commits: s.w.Commits(),
	}
	if history.KindOf(v.Path).IsChat() {
		taken.Messages = &f.content.Messages
	}
	s.pending = append(s.pending, taken)
	return nil
}

// see records how a file was found.
func (s *snapshot) see(f *foundFile) error {
	seen := history.SeenAs(f.file, f.stamp)
	seen.Rev, seen.Racy = f.rev, s.opt.Now.Sub(f.stamp.ModTime()) < racy
	return s.w.See(f.Path, seen)
}

// report reports the versions that are safe now.
func (s *snapshot) report() error {
	for len(s.pending) > 0 && s.pending[0].commits < s.w.Commits() {
		taken := s.pending[0]
		s.pending = s.pending[1:]
		taken.Stored = taken.content.Stored
		s.sum.Stored += taken.Stored
		s.sum.Versions++
		if err := s.opt.Each(taken); err != nil {
			return err
		}
	}
	return nil
}

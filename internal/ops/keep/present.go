package keep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// scope is what a snapshot takes of one folder.
type scope struct {
	root  string
	whole bool     // a user's whole folder
	files []string // in the order in which they are taken: chats first
	bytes int64
	below map[string]bool // folders that are taken with all that is in them, as the store has them
	seen  map[string]bool
	real  userdir.Real
}

func newScope(root string) *scope {
	return &scope{root: root, below: map[string]bool{}, seen: map[string]bool{}}
}

// scopes groups what PATHs name by the folders whose stores keep it. What has no store is
// in the errors.
func scopes(ctx context.Context, w ops.Walked, store, root string) ([]*scope, []*ops.SourceError) {
	errs := slices.Clone(w.Errs)
	var list []*scope
	var reals userdir.Real
	byRoot := map[string]*scope{}
	of := func(root string) *scope {
		real := reals.Path(root)
		s := byRoot[real]
		if s == nil {
			s = newScope(root)
			byRoot[real] = s
			list = append(list, s)
		}
		return s
	}

	for _, dir := range w.Users {
		of(dir.Root).whole = true
	}
	for _, t := range w.Chats {
		dir, ok := userdir.Find(t.Path)
		if !ok {
			stray, isStray := userdir.AroundStray(t.Path)
			if isStray {
				err := chat.CheckFile(ctx, t.Path)
				if err != nil && t.From != "" && errors.Is(err, chat.ErrNotChat) {
					continue // it was not named
				}
				if err != nil {
					errs = append(errs, &ops.SourceError{Path: t.Path, Err: ops.PathError(err)})
					continue
				}
			}
			dir, ok = stray, isStray
		}

		switch {
		case root != "":
			dir.Root = root
		case ok:
		case store == "":
			errs = append(errs, &ops.SourceError{Path: t.Path, Err: fmt.Errorf("%s: %w", t.Path, ErrLoose)})
			continue
		case t.From != "":
			dir.Root = t.From
		default:
			dir.Root = filepath.Dir(t.Path)
		}

		s := of(dir.Root)
		s.add(t.Path)
		s.bytes += t.Size
		if t.From == "" {
			continue
		}
		if rel, err := s.relative(filepath.Join(t.From, "x")); err == nil {
			s.below[strings.TrimSuffix(rel, "x")] = true
		}
	}

	for _, s := range list {
		s.around(ctx)
	}
	if store != "" && len(list) > 1 {
		errs = append(errs, &ops.SourceError{Path: store, Err: fmt.Errorf("%s: %w: %s and %s are two", store, ErrSeveral, list[0].root, list[1].root)})
		return nil, errs
	}
	return list, errs
}

func (s *scope) add(path string) {
	if !s.seen[path] {
		s.seen[path] = true
		s.files = append(s.files, path)
	}
}

// around adds what belongs to the chats: Luker's sidecars beside them and, for a user's folder,
// the group files, the lorebooks, the cards and the chats where SillyTavern looks for none.
func (s *scope) around(ctx context.Context) {
	folders := map[string]bool{}
	for _, chat := range s.files {
		folders[filepath.Dir(chat)] = true
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		s.addFiles(folder, luker.IsSidecar)
	}
	if !s.whole {
		return
	}
	isJSON := func(name string) bool { return strings.EqualFold(filepath.Ext(name), ".json") }
	isCard := func(name string) bool { return isJSON(name) || strings.EqualFold(filepath.Ext(name), ".png") }
	dir := userdir.Dir{Root: s.root}
	s.addFiles(dir.Groups(), isJSON)
	s.addFiles(dir.Worlds(), isJSON)
	s.addFiles(dir.Characters(), isCard)
	for _, path := range dir.StrayChats() {
		if chat.CheckFile(ctx, path) == nil {
			s.add(path)
		}
	}
}

// addFiles adds the wanted regular files of a folder; of one that cannot be listed, none.
func (s *scope) addFiles(folder string, wanted func(name string) bool) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if e.Type().IsRegular() && wanted(e.Name()) {
			s.add(filepath.Join(folder, e.Name()))
		}
	}
}

const (
	// racy is how old a file's time must be when it is read: a later change might otherwise
	// leave the same time, as FAT counts in steps of two seconds.
	racy = 2 * time.Second
	// readTries is how often a file is read if it changes meanwhile.
	readTries = 3
)

// isRead reports whether an error comes from reading a file.
func isRead(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}

// relative returns a path as the store has it: relative to the root, with slashes. It is an error if
// the path is outside of that.
func (s *scope) relative(path string) (string, error) {
	for _, of := range []func(string) string{s.real.Abs, s.real.Path} {
		folder := of(filepath.Dir(path)) // alone: the file may be a link, or gone
		rel, err := filepath.Rel(of(s.root), filepath.Join(folder, filepath.Base(path)))
		if err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", fmt.Errorf("%s: lies outside of %s", path, s.root)
}

// relative is [scope.relative] for one path.
func relative(root, path string) (string, error) { return newScope(root).relative(path) }

// full returns the path of a file that the store names.
func (s *scope) full(rel string) string { return filepath.Join(s.root, filepath.FromSlash(rel)) }

// misses reports whether a file that the store knows is within the scope, and does not exist.
func (s *scope) misses(rel string) bool {
	within := false
	for folder := range s.below {
		within = within || strings.HasPrefix(rel, folder)
	}
	if !s.whole && !within {
		return false
	}
	_, err := os.Lstat(s.full(rel))
	return errors.Is(err, fs.ErrNotExist)
}

// present knows which files of a history are where: at each of its snapshots, and on the disk
// now, where it judges as the next snapshot will.
type present struct {
	store   *history.Store // nil: there is none
	root    string         // the user's folder, or that of loose chats
	runs    []history.Snapshot
	places  []history.Place
	list    []history.Chat // by path, older ones first
	chats   map[int64]history.Chat
	backups map[string]history.TakenBackup // by the paths that they had

	listers  map[string][]string            // as listersOf returns them; nil: not yet asked
	listings map[int64]map[string]time.Time // as listed returns them, as far as that was asked

	ids   map[string]int64  // the file at each path now; 0: a new one
	paths map[int64]string  // where each file is now
	sums  map[string]string // of the files that were read, by path

	kept map[string]string // by real path: the newest file that undo keeps; nil: not yet asked
}

// keptOf returns the newest file that undo keeps of what was at a path, "" for none.
func (p *present) keptOf(path string) string {
	if p.kept == nil {
		p.kept = map[string]string{}
		files, _, _ := changeset.KeptFiles(p.root) // what cannot be read says nothing
		for _, k := range slices.Backward(files) {
			p.kept[userdir.RealPath(k.Path)] = k.File
		}
	}
	return p.kept[userdir.RealPath(path)]
}

// read reads what the history knows of places.
func (p *present) read(ctx context.Context) (err error) {
	p.chats = map[int64]history.Chat{}
	p.ids = map[string]int64{}
	p.paths = map[int64]string{}
	p.sums = map[string]string{}
	if p.runs, err = p.store.Snapshots(ctx); err != nil {
		return err
	}
	if p.places, err = p.store.Places(ctx); err != nil {
		return err
	}
	if p.backups, err = p.store.Backups(ctx); err != nil {
		return err
	}
	p.list, err = p.store.Chats(ctx)
	for _, c := range p.list {
		p.chats[c.ID] = c
	}
	return err
}

// close closes the history, of which nothing was written. It may be called more than once.
func (p *present) close() {
	if p.store != nil {
		_ = p.store.Close()
	}
	p.store = nil
}

// full returns a path as the user's folder was named.
func (p *present) full(rel string) string { return filepath.Join(p.root, filepath.FromSlash(rel)) }

// isChat reports whether a file that a history names is a chat, and no backup.
func isChat(rel string) bool {
	kind := history.KindOf(rel)
	return kind.IsChat() && kind != history.Backup
}

// look judges the files that are at the places of the history now, another one if rel is not "", and
// all chats in folders where chats are or were. If that one alone is asked for and is as the last
// snapshot found it, the others are taken for what they were.
func (p *present) look(ctx context.Context, now time.Time, rel string, alone bool) error {
	if len(p.chats) == 0 {
		return nil
	}
	w, err := history.NewWriter(ctx, p.store)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close(true) }() // nothing was written
	s := &snapshot{scope: newScope(p.root), w: w, opt: &SnapshotOptions{Now: now}, sum: &Snapshotted{}, now: p}
	if err := s.recall(ctx); err != nil {
		return err
	}
	one := p.full(rel)
	stamp, err := safefile.StampPath(one)
	unchanged := alone && err == nil && s.isUnchanged(one, rel, stamp, false)
	for _, place := range p.places {
		switch path := p.full(place.Path); {
		case place.Until != 0 || !isFile(path):
		case unchanged:
			p.put(place.Path, place.Chat)
		default:
			s.scope.add(path)
		}
	}

	if unchanged {
		return nil
	}
	s.whole = true
	if rel != "" && history.KindOf(rel) != history.Backup && isFile(one) {
		s.scope.add(one)
	}
	for _, folder := range p.folders(rel) {
		s.addFiles(folder, userdir.HasExtension)
	}
	if err := s.read(ctx); err != nil {
		return err
	}
	for _, err := range s.sum.Errs {
		if rel != "" && err.Path == one { // whose versions are wanted cannot be told
			return err
		}
	}
	if err := s.judge(ctx); err != nil {
		return err
	}
	for rel := range s.held {
		p.put(rel, s.places[rel].Chat)
	}
	for _, f := range s.files {
		p.put(f.Path, f.ID)
		p.sums[f.Path] = string(f.content.Sum[:])
	}
	return nil
}

func (p *present) put(rel string, id int64) {
	p.ids[rel] = id
	if id != 0 {
		p.paths[id] = rel
	}
}

// folders returns the folders in which chats are or were, and that of another file.
func (p *present) folders(rel string) (list []string) {
	user := userdir.Dir{Root: p.root}
	for _, folder := range user.Folders() {
		if folder == user.GroupChats() || filepath.Dir(folder) == user.Chats() {
			list = append(list, folder)
		}
	}

	if rel != "" && history.KindOf(rel) != history.Backup {
		list = append(list, filepath.Dir(p.full(rel)))
	}
	for _, c := range p.list {
		if isChat(c.Path) {
			list = append(list, filepath.Dir(p.full(c.Path)))
		}
	}

	slices.Sort(list)
	return slices.Compact(list)
}

// namesIn returns the names of the chats that were in a folder once.
func (p *present) namesIn(folder string) (list []string) {
	for _, place := range p.places {
		if dir, file := path.Split(place.Path); path.Clean(dir) == folder && userdir.HasExtension(file) {
			list = append(list, userdir.ChatName(file))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// last returns the file that is at a path or was there last, 0 for none.
func (p *present) last(rel string) int64 {
	var found history.Place
	for _, place := range p.places {
		if place.Path != rel {
			continue
		}
		stillThere := place.Until == 0
		later := found.Until != 0 && place.Until >= found.Until
		if found.ID == 0 || stillThere || later {
			found = place
		}
	}
	return found.Chat
}

// wasAt reports whether a file that the history knows was at a path.
func (p *present) wasAt(path string) bool {
	for rel := range p.backups {
		if p.full(rel) == path {
			return true
		}
	}
	return slices.ContainsFunc(p.places, func(place history.Place) bool { return p.full(place.Path) == path })
}

// lastPath returns where a file is, or was last.
func (p *present) lastPath(id int64) string { return cmp.Or(p.paths[id], p.chats[id].Path) }

// aside returns the name of a new chat beside a path, under which a chat that is gone comes back if
// another one has its path, or had it since and is gone too; else "".
func (p *present) aside(path string, v *history.Version, given places) string {
	last := p.last(p.chats[v.Chat].Path)
	if !given.taken(path) && (last == v.Chat || p.paths[last] != "") {
		return ""
	}
	return freeName(path, fmt.Sprint("rev ", v.Rev), given)
}

// runAt returns the last snapshot not later than a time, 0 for none.
func (p *present) runAt(at time.Time) (id int64) {
	for _, r := range p.runs {
		if !r.At.After(at) {
			id = r.ID
		}
	}
	return id
}

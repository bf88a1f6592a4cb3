package keep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/folder/library"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// Where says which file or folder is meant, which version of it, and which store to look in.
type Where struct {
	Chat    string // a path, even of a file that is gone, or OWNER/NAME; or a folder
	Store   string
	Data    string // the user's folder; empty: found from the path, else the one around the working folder
	Backups bool   // include SillyTavern's own backups
	Whole   bool   // a part of a name is not enough
	Now     time.Time
	Pick
}

// Pick says which version is meant.
type Pick struct {
	Rev  int64     // as listed, or below 0 counted from the newest, -1; 0: AsOf decides
	AsOf time.Time // the last one not later than this, of the file that was there then; zero: the newest
}

// version is a version of a chat: one in the store, or a backup that is not in it.
type version struct {
	history.Version
	file string        // the path of a backup that is not in the store; empty for the store's own
	runs []history.Run // of a backup only
	ends []int64       // likewise, of its lines
	lone bool          // a backup of a chat that is not known
}

// subject is a file and its versions.
type subject struct {
	*present
	rel      string      // where the file is or was; relative to root, with slashes
	path     string      // likewise, as it was named
	asked    string      // the path that was asked for; where the file is now may be another
	id       int64       // of the file in the store; 0: it is not known there
	versions []version   // the newest first
	others   [][]version // likewise of other files that once had the path asked for
	note     string      // which file it is, if not the one that has exactly this name now
	group    string      // the file of the group by whose name it was asked for; "": none
	none     error       // why it is none by OWNER/NAME; nil: it is, or is named as a path
}

// openSubject opens the store and finds a file's versions. The error wraps [ErrUnknown] if there
// are none. The subject must be closed, with an error too.
func openSubject(ctx context.Context, where Where) (*subject, error) {
	s, err := locate(ctx, where)
	if err == nil {
		s.versions, err = s.stored(ctx, s.id)
	}
	if err != nil {
		return s, err
	}
	of := map[int64]bool{s.id: true}
	backup := history.KindOf(s.rel) == history.Backup
	if backup {
		last := s.backups[s.rel].Rev
		s.versions = slices.DeleteFunc(s.versions, func(v version) bool { return v.Path != s.rel && v.Rev != last })
	}
	for _, p := range s.places {
		if backup || p.Path != s.asked || of[p.Chat] {
			continue
		}
		of[p.Chat] = true
		list, err := s.stored(ctx, p.Chat)
		if err != nil {
			return s, err
		}
		if len(list) > 0 {
			s.others = append(s.others, list)
		}
	}

	if where.Backups {
		if err := s.addBackups(ctx); err != nil {
			return s, err
		}
	}

	switch {
	case len(s.versions)+len(s.others) > 0:
		return s, nil
	case s.none != nil:
		return s, s.none
	}
	return s, ops.AtPath(where.Chat, ErrUnknown)
}

// unknown is [ErrUnknown] of an OWNER/NAME that nothing has.
type unknown struct{ *address.NoneError }

func (u unknown) Unwrap() []error { return []error{u.NoneError, ErrUnknown} }

// stored returns the versions of a file in the store, the newest first.
func (s *subject) stored(ctx context.Context, id int64) (list []version, err error) {
	all, err := s.store.Versions(ctx, id)
	for _, v := range slices.Backward(all) {
		list = append(list, version{Version: v})
	}
	return list, err
}

// locate finds the folder, opens the store, and finds which file is meant.
func locate(ctx context.Context, where Where) (*subject, error) {
	s := &subject{present: &present{}}
	root, inUser, users := rootOf(where.Chat, where.Data)
	switch {
	case users > 1 && where.Store == "":
		return s, ErrUsers
	case where.Store == "" && root == "":
		return s, fmt.Errorf("%s: %w", where.Chat, ErrLoose)
	}

	store, err := history.OpenLook(ctx, StoreOf(root, where.Store), where.Now)
	if err != nil {
		return s, ops.PathError(err)
	}
	s.store = store
	if !inUser && where.Store != "" {
		of, err := store.Root(ctx)
		if err != nil {
			return s, err
		}
		if _, err := relative(of, withExtension(where.Chat)); err == nil || root == "" {
			root = of
		}
	}

	s.root = root
	if err := s.read(ctx); err != nil {
		return s, err
	}
	if err := s.name(ctx, where.Chat, where.Whole); err != nil {
		return s, err
	}
	if err := s.look(ctx, where.Now, s.rel, where.Rev <= 0 && where.AsOf.IsZero()); err != nil {
		return s, err
	}
	return s, s.identify(ctx, where)
}

// rootOf returns the user's folder of a chat, which may be gone: the one that it lies in, else data
// if that is not "", else the one around the working folder; users is how many there are, and unless
// it is 1, root is "".
func rootOf(chat, data string) (root string, inUser bool, users int) {
	root, users = data, 1
	path := withExtension(chat)
	dir, ok := userdir.Enclosing(path)
	if !ok {
		dir, ok = userdir.AroundStray(path)
	}
	if ok {
		return dir.Root, true, users
	}
	if data == "" {
		root, users = userdir.UserAround()
	}
	return root, false, users
}

// withExtension returns the path of a chat that may be named without its extension.
func withExtension(path string) string {
	if userdir.HasExtension(path) {
		return path
	}
	return path + names.Extension
}

// name finds the path that is meant: the first that exists or that the store knows; else that of the
// chat that has the name as OWNER/NAME, or had it; else the one that such a chat would have. The error
// is that of several that are there, or with whole that of a part of a name.
func (s *subject) name(ctx context.Context, given string, whole bool) error {
	isThere := func(rel string) bool { return s.backups[rel].Rev != 0 || s.last(rel) != 0 || isFile(s.full(rel)) }
	plain := plainPaths(s.root, given)
	inRoot := filepath.ToSlash(withExtension(given)) // a backup is named so from any folder
	if s.backups[inRoot].Rev != 0 {
		plain = append(plain, inRoot)
	}
	if i := slices.IndexFunc(plain, isThere); i >= 0 { // no card or group has to be read
		s.goTo(plain[i])
		return nil
	}

	f := s.finder(ctx)
	f.Whole = whole
	found, err := f.Find(given)
	none, isNone := errors.AsType[*address.NoneError](err)
	switch {
	case isNone:
		s.none = unknown{none}
	case err != nil && found.Gone:
		s.none = err // a new chat may be named so even if several that are gone were
	case err != nil:
		return err
	}

	if found.Of != nil && found.Of.Group != nil {
		s.group = found.Of.Group.Path
	}
	if len(found.Paths) == 1 {
		rel, err := relative(s.root, found.Paths[0])
		if err != nil {
			return err
		}
		s.goTo(rel)
		if found.Guess {
			s.note = fmt.Sprintf("%s is %s", given, s.path)
		}
		return nil
	}

	places := f.Places(given)
	if found.Of != nil && len(places) > 0 {
		rel, err := relative(s.root, filepath.Join(found.Of.Folder, found.Name+names.Extension))
		if err == nil {
			s.goTo(rel)
		}
		return err
	}

	s.path = given
	if isNamed := len(plain)+len(places) > 0; !isNamed || !strings.Contains(filepath.Base(given), ".") {
		s.path = strings.TrimSuffix(given, ".jsonl") + ".jsonl"
	}
	if rel, err := relative(s.root, s.path); err == nil {
		s.rel = rel
	}
	return nil
}

// goTo makes the file at a path the one that is meant.
func (s *subject) goTo(rel string) {
	s.rel, s.path = rel, s.full(rel)
}

// finder returns a finder of what is there, and of what was.
func (p *present) finder(ctx context.Context) *address.Finder {
	f := finderIn(p.root)
	f.Past = p.namesIn
	f.PastOf = func(groupFile string) []string { return p.listedLast(ctx, groupFile, p.namesIn(groupChats)) }
	return f
}

func finderIn(root string) *address.Finder {
	return &address.Finder{Lib: new(library.Library), Data: root}
}

// plainPaths returns the paths, relative to the user's folder, that a chat named as a path may have.
func plainPaths(root, given string) (paths []string) {
	for _, path := range []string{given, given + ".jsonl"} {
		if rel, err := relative(root, path); err == nil {
			paths = append(paths, rel)
		}
	}
	return paths
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}

// ErrNobody means that no file was at a path at a time. The error names the nearest version.
var ErrNobody = error(&ops.Kind{Code: "not-found", Text: "no version is kept from then"})

// identify finds which file is meant by the path: the one that was there at the time asked for,
// else the one that is there now, else the one that was there last.
func (s *subject) identify(ctx context.Context, where Where) (err error) {
	s.asked = s.rel
	if history.KindOf(s.rel) == history.Backup {
		s.id = s.backups[s.rel].Chat
		return nil
	}
	named := s.path
	there := isFile(s.path)
	switch {
	case !where.AsOf.IsZero():
		if s.id, err = s.at(ctx, where.AsOf); err != nil && (!where.Backups || !errors.Is(err, ErrNobody)) {
			return err // else backups may be older
		}
	case there:
		s.id = s.ids[s.rel]
	default:
		s.id = s.last(s.rel)
	}

	if s.id == 0 || there && s.ids[s.rel] == s.id {
		return nil
	}
	to := s.paths[s.id]
	switch {
	case to != "" && to != s.rel:
		s.goTo(to)
		s.note = fmt.Sprintf("%s was what is %s now", named, s.path)
	case there:
		s.note = fmt.Sprintf("%s was another chat then, which is gone", named)
	}
	return nil
}

// at returns the file that was at the path at a time. The error wraps [ErrNobody].
func (s *subject) at(ctx context.Context, at time.Time) (int64, error) {
	run := s.runAt(at)
	for _, p := range s.places {
		if p.Path == s.rel && run > 0 && p.At(run) {
			return p.Chat, nil
		}
	}

	id := cmp.Or(s.ids[s.rel], s.last(s.rel))
	seen := slices.ContainsFunc(s.places, func(p history.Place) bool { return p.Chat == id && p.First <= run })
	var nearest *history.Version
	for _, p := range s.places {
		if p.Path != s.rel {
			continue
		}
		list, err := s.store.Versions(ctx, p.Chat)
		if err != nil {
			return 0, err
		}
		for i := range list {
			v := &list[i]
			if v.Source == history.FromBackup && p.Chat == id && !v.At.After(at) && !seen {
				return id, nil // it is older than the first snapshot
			}
			if nearest == nil || v.At.Sub(at).Abs() < nearest.At.Sub(at).Abs() {
				nearest = v
			}
		}
	}

	if nearest == nil {
		return id, nil
	}
	called := ""
	if full := s.full(nearest.Path); full != s.path {
		called = ", " + full
	}
	return id, fmt.Errorf("%s: %w; the nearest is %d, of %s%s", s.path, ErrNobody, nearest.Rev, nearest.At.Local().Format(time.DateTime), called)
}

// ErrNoVersion means that a chat has no version of that number, or none that old.
var ErrNoVersion = errors.New("there is no such version")

// ErrOthers means that a version is another chat's.
var ErrOthers = error(&ops.Kind{Code: "usage", Text: "is a version of another chat", Hint: "new-chat"})

// openPicked opens the subject of which a version is meant. It must be closed.
func openPicked(ctx context.Context, where Where, newFile bool) (s *subject, v *version, err error) {
	if s, err = openSubject(ctx, where); err == nil {
		v, err = s.pick(ctx, where.Pick, newFile)
	}
	return s, v, err
}

// pick returns a version. One of another chat is only for a new file. The error wraps
// [ErrNoVersion] or [ErrOthers].
func (s *subject) pick(ctx context.Context, p Pick, newFile bool) (*version, error) {
	if p.Rev > 0 {
		return s.rev(ctx, p.Rev, newFile)
	}
	i := 0
	switch n := len(s.versions); {
	case p.Rev < -int64(n):
		return nil, fmt.Errorf("%s: %w: %d; 'log' lists them", s.path, ErrNoVersion, p.Rev)
	case n == 0:
		return nil, ops.AtPath(s.path, ErrUnknown)
	case p.Rev < 0:
		i = int(-p.Rev - 1)
	case !p.AsOf.IsZero():
		if i = slices.IndexFunc(s.versions, func(v version) bool { return !v.At.After(p.AsOf) }); i < 0 {
			return nil, fmt.Errorf("%s: %w: the oldest is of %s", s.path, ErrNoVersion, s.versions[n-1].At.Local().Format(time.DateTime))
		}
	}
	return &s.versions[i], nil
}

// rev returns the version with a number.
func (s *subject) rev(ctx context.Context, rev int64, newFile bool) (*version, error) {
	v, ok, err := s.store.Version(ctx, rev)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w: %d; 'log' lists them", s.path, ErrNoVersion, rev)
	}
	found := &version{Version: v}
	of, to := s.lastPath(v.Chat), s.paths[v.Chat]
	switch {
	case v.Chat == s.id:
	case of == s.asked && !newFile && to == "" && !isFile(s.full(of)): // it was there, and nobody is now
		s.goTo(of)
		s.id = v.Chat
		s.note = ""
	case history.KindOf(of) == history.Backup:
		found.lone = history.KindOf(s.rel) != history.Backup
	case newFile:
		s.goTo(of)
		if to != "" {
			s.id = v.Chat
		}
		s.note = fmt.Sprintf("%d is a version of %s", rev, s.full(of))
	case s.full(of) != s.path:
		return nil, fmt.Errorf("%s: %d %w: %s", s.path, rev, ErrOthers, s.full(of))
	default:
		return nil, fmt.Errorf("%s: %d %w, which had this name and is gone", s.path, rev, ErrOthers)
	}
	return found, nil
}

// sum returns the sum of the file as it is.
func (s *subject) sum(ctx context.Context) (string, error) {
	if sum := s.sums[s.rel]; sum != "" {
		return sum, nil
	}
	w, err := history.NewWriter(ctx, s.store)
	if err != nil {
		return "", err
	}
	defer func() { _ = w.Close(true) }() // nothing was written
	c, _, err := compare(w, s.path)
	if err != nil {
		return "", err
	}
	return string(c.Sum[:]), nil
}

// write writes a version's exact bytes. It may return an error after all is written.
func (s *subject) write(ctx context.Context, v *version, w io.Writer) error {
	if v.file == "" {
		err := s.store.WriteTo(ctx, w, &v.Version)
		if errors.Is(err, history.ErrBroken) {
			return fmt.Errorf("%s, version %d: %w", s.path, v.Rev, err)
		}
		return err
	}

	f, err := chat.OpenRegular(v.file)
	if err != nil {
		return ops.PathError(err)
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// Errors in what a caller names. An error names the path, too.
var (
	// ErrLoose means that chats are in no user's folder, so their store is not known.
	ErrLoose = error(&ops.Kind{Code: "usage", Text: "is not in a SillyTavern user folder, so its history has no place"})
	// ErrUsers means that a SillyTavern has several users, of which one must be named.
	ErrUsers = error(&ops.Kind{Code: "usage", Text: "SillyTavern has several users here; name the folder of one of them"})
	// ErrSeveral means that one store was named for several folders.
	ErrSeveral = error(&ops.Kind{Code: "usage", Text: "one history belongs to one folder"})
	// ErrUnknown means that neither the store nor a backup has a version of a chat.
	ErrUnknown = error(&ops.Kind{Code: "not-found", Text: "no version of this chat is kept"})
)

// StoreOf returns the path of a user folder's store, or named if that is not empty.
func StoreOf(root, named string) string {
	if named != "" {
		return userdir.Follow(named)
	}
	return filepath.Join(root, userdir.Own, "history.db")
}

// openToWrite opens the store of a root, and creates it if there is none. In a dry run it
// creates nothing.
func openToWrite(ctx context.Context, root, named string, now time.Time, dryRun bool) (*history.Store, error) {
	path := StoreOf(root, named)
	if dryRun {
		s, err := history.OpenDry(ctx, path, root, now)
		return s, ops.PathError(err)
	}
	if named == "" {
		if _, err := changeset.MakeFolder(root); err != nil {
			return nil, ops.PathError(err)
		}
	} else if info, err := os.Stat(filepath.Dir(named)); err != nil {
		return nil, ops.PathError(err)
	} else if !info.IsDir() {
		return nil, ops.AtPath(filepath.Dir(named), errors.New("not a folder"))
	}

	s, err := history.OpenWrite(ctx, path, root, now)
	return s, ops.PathError(err)
}

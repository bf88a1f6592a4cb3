package keep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/group"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// Where says which chat is meant, and which store to look in.
type Where struct {
	Chat    string // a path, even of a file that is gone, or OWNER/NAME
	Store   string
	Data    string // the user's folder; empty: found from the path, else the one around the working folder
	Backups bool   // include SillyTavern's own backups
	Now     time.Time
}

// version is a version of a chat: one in the store, or a backup that is not in it.
type version struct {
	history.Version
	file string        // the path of a backup that is not in the store; empty for the store's own
	runs []history.Run // of a backup only
	head bool          // of a backup only: it has a header
}

// subject is a chat and its versions.
type subject struct {
	root     string // the user's folder, or that of loose chats
	path     string // where the file is, or was
	rel      string
	store    *history.Store
	w        *history.Writer // only to read files for comparison
	chats    []history.Chat  // identities that have, or had, the name
	versions []version       // the newest first
}

// openSubject opens the store and finds a chat's versions. The error wraps [ErrUnknown] if there
// are none. The subject must be closed.
func openSubject(ctx context.Context, where Where) (s *subject, err error) {
	s = &subject{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := s.locate(ctx, where); err != nil {
		return s, err
	}
	if s.w, err = history.NewWriter(ctx, s.store); err != nil {
		return s, err
	}
	if len(s.chats) == 0 && s.rel != "" {
		if err := s.moved(ctx); err != nil {
			return s, err
		}
	}
	for i := range s.chats {
		list, err := s.store.Versions(ctx, s.chats[i].ID)
		if err != nil {
			return s, err
		}
		for _, v := range list {
			s.versions = append(s.versions, version{Version: v})
		}
	}
	if where.Backups {
		if err := addBackups(ctx, s); err != nil {
			return s, err
		}
	}
	slices.SortStableFunc(s.versions, func(a, b version) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Rev, a.Rev))
	})
	if len(s.versions) == 0 {
		return s, fmt.Errorf("%s: %w", where.Chat, ErrUnknown)
	}
	return s, nil
}

// close closes the store. It may be called more than once.
func (s *subject) close() {
	if s.w != nil {
		_ = s.w.Close(true) // nothing was written
	}
	if s.store != nil {
		_ = s.store.Close()
	}
	s.w, s.store = nil, nil
}

// locate finds the folder, opens the store, and finds the chat's identities in it.
func (s *subject) locate(ctx context.Context, where Where) error {
	given := where.Chat
	if !userdir.HasExtension(given) {
		given += ".jsonl"
	}
	dir, inUser := userdir.Find(given)
	if inUser {
		s.root = dir.Root
	} else if s.root = where.Data; s.root == "" {
		var users int
		if s.root, users = userdir.UserAround(); users > 1 && where.Store == "" {
			return ErrUsers
		}
	}
	if where.Store == "" && s.root == "" {
		return fmt.Errorf("%s: %w", where.Chat, ErrLoose)
	}
	var err error
	if s.store, err = history.OpenLook(ctx, StoreOf(s.root, where.Store), where.Now); err != nil {
		return ops.PathError(err)
	}
	if !inUser && where.Store != "" {
		if root, err := s.store.Root(ctx); err != nil {
			return err
		} else if _, err := relative(root, given); err == nil || s.root == "" {
			s.root = root
		}
	}
	if s.rel, err = relative(s.root, given); err == nil {
		if s.chats, err = s.store.At(ctx, s.rel); err != nil {
			return err
		}
	}
	s.path = given
	if there := exists(given); len(s.chats) == 0 && (!there || s.rel == "") {
		return s.byLabel(ctx, where.Chat)
	} else if !there {
		s.follow()
	}
	return nil
}

// ErrNoVersion means that a chat has no version of that number, or none that old.
var ErrNoVersion = errors.New("there is no such version")

// Pick says which version is meant.
type Pick struct {
	Rev  int64     // as listed, or below 0 counted from the newest, -1; 0: AsOf decides
	AsOf time.Time // the last version not later than this; zero: the newest
}

// pick returns the place of a version in the list. The error wraps [ErrNoVersion].
func (s *subject) pick(p Pick) (int, error) {
	switch {
	case p.Rev < 0 && -p.Rev <= int64(len(s.versions)):
		return int(-p.Rev) - 1, nil
	case p.Rev != 0:
		i := slices.IndexFunc(s.versions, func(v version) bool { return v.Rev == p.Rev && v.file == "" })
		if p.Rev < 0 || i < 0 {
			return 0, fmt.Errorf("%s: %w: %d; 'log' lists them", s.path, ErrNoVersion, p.Rev)
		}
		return i, nil
	case !p.AsOf.IsZero():
		i := slices.IndexFunc(s.versions, func(v version) bool { return !v.At.After(p.AsOf) })
		if i < 0 {
			last := s.versions[len(s.versions)-1]
			return 0, fmt.Errorf("%s: %w: the oldest is of %s", s.path, ErrNoVersion, last.At.Local().Format(time.DateTime))
		}
		return i, nil
	}
	return 0, nil
}

// label returns the chat's name for documents.
func (s *subject) label() string {
	if len(s.chats) > 0 {
		return s.chats[0].Label()
	}
	kind, owner, name := history.Place(s.rel)
	return (&history.Chat{Kind: kind, Owner: owner, Name: name}).Label()
}

// compare reads a file for comparison with what the store has.
func (s *subject) compare(path string) (*history.Content, error) {
	f, err := chat.OpenRegular(path)
	if err != nil {
		return nil, ops.PathError(err)
	}
	defer f.Close()
	return s.w.Read(f, true)
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

// byLabel finds a chat by its label, OWNER/NAME: the character's folder or the group's name,
// and the name that the chat has, or had.
func (s *subject) byLabel(ctx context.Context, label string) error {
	owner, name, ok := strings.Cut(filepath.ToSlash(strings.TrimSuffix(label, ".jsonl")), "/")
	if !ok || strings.Contains(name, "/") {
		return nil
	}
	all, err := s.store.Chats(ctx)
	if err != nil {
		return err
	}
	ofGroup := s.isGroup(owner)
	for i := range all {
		c := &all[i]
		if c.Kind.IsChat() && c.Name == name && (path.Base(c.Owner) == owner || ofGroup && c.Kind == history.Group) {
			s.chats = append(s.chats, *c)
			s.goTo(c)
		}
	}
	folders := []string{path.Join("chats", owner), owner}
	if ofGroup {
		folders = append(folders, "group chats")
	}
	for _, folder := range folders {
		if len(s.chats) > 0 {
			break
		}
		rel := path.Join(folder, name+".jsonl")
		if s.chats, err = s.store.At(ctx, rel); err != nil { // a former name
			return err
		}
		if p := filepath.Join(s.root, filepath.FromSlash(rel)); exists(p) { // a chat that only has backups
			s.rel, s.path = rel, p
		} else {
			s.follow()
		}
	}
	return nil
}

// isGroup reports whether a group of the user has this name.
func (s *subject) isGroup(name string) bool {
	groups, err := group.LoadAll(userdir.Dir{Root: s.root}.Groups())
	return err == nil && slices.ContainsFunc(groups.Files, func(f *group.File) bool { return f.Name == name })
}

// follow goes to where a chat is now that was found by a former name.
func (s *subject) follow() {
	if len(s.chats) > 0 && s.chats[0].Path() != s.rel {
		s.goTo(&s.chats[0])
	}
}

func (s *subject) goTo(c *history.Chat) {
	s.rel = c.Path()
	s.path = filepath.Join(s.root, filepath.FromSlash(s.rel))
}

// moved finds the identity of a file that no snapshot saw under this name, if it is a chat
// that was renamed or moved.
func (s *subject) moved(ctx context.Context) error {
	all, err := s.store.Chats(ctx)
	if err != nil {
		return err
	}
	lost, _ := newExistingFiles(&scope{root: s.root}).split(all)
	if len(lost) == 0 || !exists(s.path) {
		return nil
	}
	content, err := s.compare(s.path)
	if err != nil {
		return err
	}
	kind, owner, name := history.Place(s.rel)
	known, err := s.w.Identify(history.Candidate{Kind: kind, Owner: owner, Name: name, Missing: &lost}, content)
	if err == nil && known.ID != 0 {
		s.chats = append(s.chats, known)
	}
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Where the store and its word index are in a user's folder.
const (
	storeFolder = userdir.Own
	storeFile   = "history.db"
	indexFile   = "search.db"
)

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
	return filepath.Join(root, storeFolder, storeFile)
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
		return nil, fmt.Errorf("%s: not a folder", filepath.Dir(named))
	}
	s, err := history.OpenWrite(ctx, path, root, now)
	return s, ops.PathError(err)
}

// relative returns a path as the store has it: relative to root, with slashes. It is an
// error if the path is outside of root.
func relative(root, path string) (string, error) {
	for _, of := range []func(string) (string, error){filepath.Abs, func(p string) (string, error) { return userdir.RealPath(p), nil }} {
		dir, err := of(root)
		if err != nil {
			return "", err
		}
		// the folder alone: the file may be a link, or gone
		folder, err := of(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		rel, err := filepath.Rel(dir, filepath.Join(folder, filepath.Base(path)))
		if err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", fmt.Errorf("%s: lies outside of %s", path, root)
}

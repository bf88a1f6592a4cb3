package keep

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/extension/luker"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// scope is what a snapshot takes of one folder.
type scope struct {
	root    string
	whole   bool // a user's whole folder
	part    bool // a shard's part of it
	shard   ops.Shard
	files   []string // in the order in which they are taken: chats first
	bytes   int64
	folders map[string]bool
	below   map[string]bool // folders that are taken with all that is in them, as the store has them
	seen    map[string]bool
	dirs    map[string]string // by folder, its path as the store has it
}

func newScope(root string) *scope {
	return &scope{root: root, folders: map[string]bool{}, below: map[string]bool{}, seen: map[string]bool{}, dirs: map[string]string{}}
}

// scopes groups what PATHs name by the folders whose stores keep it. What has no store is
// in the errors.
func scopes(w ops.Walked, shard ops.Shard, store, root string) ([]*scope, []*ops.SourceError) {
	errs := slices.Clone(w.Errs)
	var list []*scope
	byRoot := map[string]*scope{}
	of := func(root string) *scope {
		real := userdir.RealPath(root)
		s := byRoot[real]
		if s == nil {
			s = newScope(root)
			s.shard = shard
			byRoot[real] = s
			list = append(list, s)
		}
		return s
	}
	for _, dir := range w.Users {
		of(dir.Root).whole = true
	}
	for _, dir := range w.Parts {
		of(dir.Root).part = true
	}
	for _, t := range w.Chats {
		dir, ok := userdir.Find(t.Path)
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
		s.folders[filepath.Dir(t.Path)] = true
		if t.From == "" {
			continue
		}
		if rel, err := s.relative(filepath.Join(t.From, "x")); err == nil {
			s.below[strings.TrimSuffix(rel, "x")] = true
		}
	}
	for _, s := range list {
		s.around()
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
// the group files, the lorebooks and the cards that are in the shard.
func (s *scope) around() {
	for _, folder := range slices.Sorted(maps.Keys(s.folders)) {
		s.addFiles(folder, luker.IsSidecar)
	}
	if !s.whole && !s.part {
		return
	}
	isJSON := func(name string) bool { return strings.EqualFold(filepath.Ext(name), ".json") }
	isCard := func(name string) bool { return isJSON(name) || strings.EqualFold(filepath.Ext(name), ".png") }
	add := func(folder string, wanted func(name string) bool) {
		if s.shard.Has(filepath.Join(folder, "any")) {
			s.addFiles(folder, wanted)
		}
	}
	dir := userdir.Dir{Root: s.root}
	add(dir.Groups(), isJSON)
	add(dir.Worlds(), isJSON)
	add(dir.Characters(), isCard)
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

// see describes a file as the store notes it.
func see(path string, stamp safefile.Stamp) history.Seen {
	_, inode, err := stamp.FileID(path)
	if err != nil {
		inode = 0
	}
	return history.Seen{Size: stamp.Size(), Mtime: stamp.ModTime().UnixNano(), Ctime: stamp.ChangeTime(), Inode: int64(inode)}
}

// relative is the function [relative], but resolves each folder only once.
func (s *scope) relative(path string) (string, error) {
	dir, file := filepath.Split(path)
	rel, ok := s.dirs[dir]
	if !ok {
		full, err := relative(s.root, filepath.Join(dir, "x"))
		if err != nil {
			return "", err
		}
		rel = strings.TrimSuffix(full, "x")
		s.dirs[dir] = rel
	}
	return rel + file, nil
}

// full returns the path of a file that the store names.
func (s *scope) full(rel string) string { return filepath.Join(s.root, filepath.FromSlash(rel)) }

// misses reports whether a file that the store knows is within the scope, and does not exist.
func (s *scope) misses(rel string) bool {
	within := s.part
	for folder := range s.below {
		within = within || strings.HasPrefix(rel, folder)
	}
	if !s.whole && !(within && s.shard.Has(s.full(rel))) {
		return false
	}
	_, err := os.Lstat(s.full(rel))
	return errors.Is(err, fs.ErrNotExist)
}

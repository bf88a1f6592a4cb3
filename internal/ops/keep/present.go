package keep

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/history"
)

// present knows which files of a folder exist.
type present struct {
	scope *scope
	dirs  map[string]string // by folder, its path as the store has it
	found map[string]bool   // paths, as the store has them, that exist
}

func newPresent(sc *scope) *present {
	return &present{sc, map[string]string{}, map[string]bool{}}
}

// gone reports whether a chat's file does not exist.
func (p *present) gone(of *history.Chat) bool {
	if of.Gone() {
		return true
	}
	_, err := os.Lstat(filepath.Join(p.scope.root, filepath.FromSlash(of.Path())))
	return errors.Is(err, fs.ErrNotExist)
}

// compare returns the chats whose files do not exist, and the files to take: those that the
// store does not know come last, since such a file may be a chat whose name another took.
func (p *present) compare(all []history.Chat) (lost []history.Chat, files []string) {
	const unknown, known = 1, 2
	there := map[string]int{}
	for _, path := range p.scope.files {
		if rel, err := p.relative(path); err == nil {
			there[rel] = unknown
		}
	}
	for i := range all {
		c := &all[i]
		path := c.Path()
		found := there[path] > 0
		if found {
			there[path] = known
		}
		if c.Kind.IsChat() && c.Kind != history.Backup && (c.Gone() || !found && p.gone(c)) {
			lost = append(lost, *c)
		}
	}
	var fresh []string
	for _, path := range p.scope.files {
		if rel, err := p.relative(path); err == nil && there[rel] == unknown {
			fresh = append(fresh, path)
		} else {
			files = append(files, path)
		}
	}
	return lost, append(files, fresh...)
}

// relative is the function [relative], but resolves each folder only once.
func (p *present) relative(path string) (string, error) {
	dir, file := filepath.Split(path)
	rel, ok := p.dirs[dir]
	if !ok {
		full, err := relative(p.scope.root, filepath.Join(dir, "x"))
		if err != nil {
			return "", err
		}
		rel = strings.TrimSuffix(full, "x")
		p.dirs[dir] = rel
	}
	return rel + file, nil
}

// missing returns the IDs of the files that no longer exist, among those that a snapshot of
// this scope takes.
func (p *present) missing(all []history.Chat) (ids []int64) {
	folders := map[string]bool{}
	for folder := range p.scope.folders {
		if rel, err := relative(p.scope.root, filepath.Join(folder, "x")); err == nil {
			folders[filepath.ToSlash(filepath.Dir(filepath.FromSlash(rel)))] = true
		}
	}
	for i := range all {
		c := &all[i]
		if c.Gone() || p.found[c.Path()] || c.Kind == history.Backup || !p.scope.whole && !folders[c.Owner] || !p.gone(c) {
			continue
		}
		ids = append(ids, c.ID)
	}
	return ids
}

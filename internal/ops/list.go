// Package ops holds inspect and diff-meta, and what all verbs share: finding the chats that
// PATHs mean, results, and output files. The other verbs are in the packages below it. A verb
// takes its options as plain values and returns a result or an error; none prints, asks or
// exits. What a verb writes, it writes whole or not at all, in an order that never leaves a
// reference to something that does not exist.
package ops

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/safefile"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// List is the chats that a command's arguments name.
type List struct {
	Paths      []string // chats, folders, user folders, SillyTavern's own folder; "-" is standard input, for verbs that read it
	AllowEmpty bool     // a PATH without a chat is not an error
}

// NoChatsError means that there is no chat at a PATH.
type NoChatsError struct {
	Path string
	User bool // it is a user folder, where chats have fixed places
}

func (e *NoChatsError) Error() string {
	if e.User {
		return e.Path + `: no chat in its chats/*/ and "group chats"/`
	}
	return e.Path + ": no chat in this folder"
}

// SourceError is why something that was named, or was found there, could not be read.
type SourceError struct {
	Path string // empty where only Err has it
	Err  error
	At   int // how many chats come before it
}

func (e *SourceError) Error() string { return e.Err.Error() }
func (e *SourceError) Unwrap() error { return e.Err }

// AtPath puts a path in front of an error, and notes it for documents.
func AtPath(path string, err error) error {
	return &SourceError{Path: path, Err: fmt.Errorf("%s: %w", path, err)}
}

// Root is a folder whose chats are looked at together, though not all of them may be meant:
// a user folder, or a folder of loose chats.
type Root struct {
	Path  string
	User  bool
	Whole bool // all of it is meant

	below []string // otherwise the real paths of the chats and, with a trailing separator, the folders that are meant
}

// Roots returns the folders that hold the chats found: the user folders that are meant whole,
// then those of the other chats, in their order.
func Roots(walked Walked) (roots []*Root) {
	byPath := map[string]*Root{}
	at := func(path string, user bool) *Root {
		real := userdir.RealPath(path)
		r := byPath[real]
		if r == nil {
			r = &Root{Path: path, User: user}
			byPath[real] = r
			roots = append(roots, r)
		}
		return r
	}

	for _, dir := range walked.Users {
		at(dir.Root, true).Whole = true
	}
	type place struct{ folder, from string }
	known := map[place]bool{} // of chats found in folders
	for _, t := range walked.Chats {
		p := place{filepath.Dir(t.Path), t.From}
		if t.From != "" && known[p] {
			continue
		}
		dir, ok := userdir.Find(t.Path)
		if !ok {
			dir.Root = p.folder
		}
		r := at(dir.Root, ok)
		switch {
		case r.Whole:
		case t.From != "":
			r.below = append(r.below, userdir.RealPath(t.From)+string(filepath.Separator))
		default:
			r.below = append(r.below, userdir.RealPath(t.Path))
		}

		known[p] = true
	}

	for _, r := range roots {
		slices.Sort(r.below)
		r.below = slices.Compact(r.below)
	}
	return roots
}

// Means reports whether the chat at path, which need not exist, is meant.
func (r *Root) Means(path string) bool {
	if r.Whole {
		return true
	}
	real := userdir.RealPath(path)
	return slices.ContainsFunc(r.below, func(below string) bool {
		return real == below || strings.HasSuffix(below, string(filepath.Separator)) && strings.HasPrefix(real, below)
	})
}

// Walked is what the PATHs of a command mean.
type Walked struct {
	Chats []Target
	Users []userdir.Dir // the user folders that PATHs are or hold
	Errs  []*SourceError
}

// Target is one chat file that a PATH means.
type Target struct {
	Path string
	Size int64
	From string // the folder among the PATHs in which it was found; empty: it is a PATH itself
}

// Folders returns the folders of which all chats were found, each once.
func (w Walked) Folders() (folders []string) {
	seen := map[string]bool{}
	for _, t := range w.Chats {
		folder := filepath.Dir(t.Path)
		if t.From == "" || seen[folder] {
			continue
		}
		seen[folder] = true
		folders = append(folders, folder)
	}
	return folders
}

// LargeChat is the size, in bytes, from which a chat is read with all processors; smaller chats
// are read one per processor.
const LargeChat = 16 << 20

// Errors returns the errors as such.
func (w Walked) Errors() (list []error) {
	for _, err := range w.Errs {
		list = append(list, err)
	}
	return list
}

// Walk finds the chats that PATHs mean. A file means itself; a user folder, the chats in
// chats/*/ and "group chats"/; SillyTavern's own folder, the folders of its users; any other
// folder, every *.jsonl below it except backups and stchat's own records, where a user folder
// again means its chats. Links below a PATH are not followed, but for those to the folders of
// characters in a user folder. Chats come in the order of the PATHs, those of a folder sorted by
// path and those behind links last, each once, by whatever path it is reached.
func Walk(list List) Walked { return walk(list, false) }

// walk is [Walk]; with stdin, "-" is standard input.
func walk(list List, stdin bool) Walked {
	w := &walker{list: list, seen: map[string]bool{}}
	for _, path := range list.Paths {
		switch {
		case path != chat.Stdin:
			w.walkPath(path)
		case stdin:
			w.add(Target{Path: path}, path)
		default:
			w.fail(path, chat.ErrStdin)
		}
	}
	return w.Walked
}

// Distinct returns paths without those that lead to a file named earlier, by whatever path, link
// or letter case. Where case matters, names that differ in it alone are two files.
func Distinct(paths []string) []string {
	var real userdir.Real
	seen := map[string][]fs.FileInfo{} // by folded real path
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		key := names.Fold(real.Path(path))
		info, err := os.Stat(path)
		again := err == nil && slices.ContainsFunc(seen[key], func(other fs.FileInfo) bool { return os.SameFile(info, other) })
		seen[key] = append(seen[key], info)
		return again
	})
}

// walker is the state of one walk.
type walker struct {
	Walked
	list List
	seen map[string]bool // real paths of chats, and of user folders
	real userdir.Real

	foundChat    bool // the current PATH leads to a chat
	isUserFolder bool // the current PATH leads to a user folder
}

// walkPath adds the chats that one PATH means. That there is none is an error, unless another was found.
func (w *walker) walkPath(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		w.fail(path, PathError(err))
		return
	case info.Mode().IsRegular():
		w.add(Target{Path: path, Size: info.Size()}, w.real.Path(path))
		return
	case !info.IsDir():
		w.fail(path, fmt.Errorf("%s: not a regular file", path))
		return
	}

	w.foundChat = false
	w.isUserFolder = false
	errsBefore := len(w.Errs)
	w.walkFolder(path, path)
	hasFailed := len(w.Errs) > errsBefore
	if !w.foundChat && !w.list.AllowEmpty && !hasFailed {
		w.fail(path, &NoChatsError{Path: path, User: w.isUserFolder})
	}
}

func (w *walker) fail(path string, err error) {
	w.Errs = append(w.Errs, &SourceError{Path: path, Err: err, At: len(w.Chats)})
}

// add adds a chat if it was not reached by another path before.
func (w *walker) add(t Target, real string) {
	w.foundChat = true
	if !w.seen[real] {
		w.seen[real] = true
		w.Chats = append(w.Chats, t)
	}
}

// walkFolder finds the chats that a folder means.
func (w *walker) walkFolder(folder, from string) {
	users := userdir.Users(folder)
	for _, user := range users {
		w.walkUser(user, from)
	}
	switch {
	case len(users) > 0:
	case userdir.IsUserDir(folder) && !userdir.IsPart(folder):
		w.walkUser(userdir.Dir{Root: filepath.Clean(folder)}, from)
	default:
		w.walkEntries(folder, from, true)
	}
}

// walkUser finds the chats in a user folder, in the places where SillyTavern keeps them.
func (w *walker) walkUser(dir userdir.Dir, from string) {
	w.isUserFolder = true
	if real := w.real.Path(dir.Root); !w.seen[real] {
		w.seen[real] = true
		w.Users = append(w.Users, dir)
	}
	characters, err := safefile.ReadDir(dir.Chats())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.fail(dir.Chats(), PathError(err))
	}
	for _, c := range linksLast(characters) {
		folder := filepath.Join(dir.Chats(), c.Name())
		if c.IsDir() || w.isLinkToCharacter(c, folder) {
			w.walkEntries(folder, from, false)
		}
	}
	if _, err := os.Stat(dir.GroupChats()); err == nil {
		w.walkEntries(dir.GroupChats(), from, false)
	}
}

// linksLast returns entries with links behind the others, so that a chat is found where it lies.
func linksLast(entries []fs.DirEntry) []fs.DirEntry {
	isLink := func(e fs.DirEntry) bool { return e.Type() == fs.ModeSymlink }
	others := slices.DeleteFunc(slices.Clone(entries), isLink)
	for _, e := range entries {
		if isLink(e) {
			others = append(others, e)
		}
	}
	return others
}

// isLinkToCharacter reports whether an entry of a folder chats, at a path, is a link that leads to a folder with the
// chats of a character. SillyTavern follows such links (readdir of the path that it makes of a character's name,
// chats.js). One that leads to the folder chats, or to one around it, leads to no character.
func (w *walker) isLinkToCharacter(e fs.DirEntry, path string) bool {
	if e.Type() != fs.ModeSymlink {
		return false
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	isAround := userdir.Inside(w.real.Path(path), w.real.Path(filepath.Dir(path)))
	return !isAround
}

// walkEntries finds the chats in a folder and, if deep is set, in the folders below it.
func (w *walker) walkEntries(folder, from string, deep bool) {
	entries, err := safefile.ReadDir(folder)
	if err != nil {
		w.fail(folder, PathError(err))
		return
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return strings.Compare(userdir.ChatName(a.Name()), userdir.ChatName(b.Name()))
	})
	real := w.real.Path(folder)
	isChats := userdir.IsChats(real)
	for _, e := range linksLast(entries) {
		path := filepath.Join(folder, e.Name())
		switch {
		case e.IsDir() && deep && !userdir.IsKept(e.Name()):
			w.walkFolder(path, from)
		case deep && isChats && w.isLinkToCharacter(e, path):
			w.walkEntries(path, from, false)
		case e.Type().IsRegular() && userdir.HasExtension(e.Name()):
			info, err := e.Info()
			if err != nil {
				w.fail(path, PathError(err))
				continue
			}
			w.add(Target{Path: path, Size: info.Size(), From: from}, filepath.Join(real, e.Name()))
		}
	}
}

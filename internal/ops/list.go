package ops

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/userdir"
)

// List is the chats that a command's arguments name.
type List struct {
	Paths      []string // chats, folders, user folders, SillyTavern's own folder; "-" is standard input, for verbs that read it
	Shard      Shard
	AllowEmpty bool // a PATH without a chat is not an error
}

// Shard is one of N parts of a list that are worked on separately. The zero Shard is the whole
// list.
type Shard struct{ K, N int }

// ParseShard reads K/N, with 1 <= K <= N.
func ParseShard(text string) (Shard, error) {
	k, n, ok := strings.Cut(text, "/")
	s := Shard{}
	var errK, errN error
	s.K, errK = strconv.Atoi(k)
	s.N, errN = strconv.Atoi(n)
	if !ok || errK != nil || errN != nil || s.K < 1 || s.K > s.N {
		return Shard{}, fmt.Errorf("not K/N with K from 1 to N: %q", text)
	}
	return s, nil
}

// Whole reports whether s is the whole list.
func (s Shard) Whole() bool { return s.N <= 1 }

// Has reports whether the file at path belongs to the shard. Its folder decides, so that the
// chats of a character stay together, and so do those of the groups, whose files only one shard
// may write. The path is taken as given, with / between folders, so that the mount point need
// not be the same everywhere.
func (s Shard) Has(path string) bool {
	if s.Whole() {
		return true
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(filepath.ToSlash(filepath.Dir(path)))) // never fails
	return h.Sum64()%uint64(s.N) == uint64(s.K-1)
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

// NoMessageError means that a chat has no message with the number At.
type NoMessageError struct{ At, Last int }

func (e *NoMessageError) Error() string {
	return fmt.Sprintf("there is no message %d; the last one is %d", e.At, e.Last)
}

// SourceError is why something that was named, or was found there, could not be read.
type SourceError struct {
	Path string // empty where only Err has it
	Err  error
	At   int // how many chats come before it
}

func (e *SourceError) Error() string { return e.Err.Error() }
func (e *SourceError) Unwrap() error { return e.Err }

// Root is a folder whose chats are looked at together, though not all of them may be meant:
// a user folder, or a folder of loose chats.
type Root struct {
	Path  string
	User  bool
	Whole bool // all of it is meant, within the shard

	below []string // otherwise the real paths of the chats and, with a trailing separator, the folders that are meant
	shard Shard
}

// Roots returns the folders that hold the chats found: the user folders that are meant whole,
// then those of the other chats, in their order.
func Roots(walked Walked, shard Shard) (roots []*Root) {
	byPath := map[string]*Root{}
	at := func(path string, user bool) *Root {
		real := userdir.RealPath(path)
		r := byPath[real]
		if r == nil {
			r = &Root{Path: path, User: user, shard: shard}
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
		return r.shard.Has(path)
	}
	real := userdir.RealPath(path)
	return slices.ContainsFunc(r.below, func(below string) bool {
		return real == below || strings.HasSuffix(below, string(filepath.Separator)) && strings.HasPrefix(real, below) && r.shard.Has(path)
	})
}

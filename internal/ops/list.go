package ops

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strconv"
	"strings"
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

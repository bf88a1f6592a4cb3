package metadiff

import (
	"path"
	"slices"
	"strings"

	"stchat/internal/rawjson"
)

// Selection says which top-level keys of the metadata count. A pattern that is
// itself a key of A or of B means that key and nothing else; every other
// pattern is a glob, with *, ?, [a-z] and \ to take the next character as it
// is. A * also matches a slash.
type Selection struct {
	Ignore []string // these do not count
	Only   []string // where there are any, nothing else counts
}

// resolve returns the function that reports whether a key counts; nil: all do.
func (s Selection) resolve(a, b *rawjson.Object) func(key string) bool {
	if len(s.Ignore) == 0 && len(s.Only) == 0 {
		return nil
	}
	isKey := func(pattern string) bool { return a.Has(pattern) || b.Has(pattern) }
	ignore, only := newMatcher(s.Ignore, isKey), newMatcher(s.Only, isKey)
	return func(key string) bool {
		return !ignore.match(key) && (len(s.Only) == 0 || only.match(key))
	}
}

// matcher is a list of patterns, keys apart from globs.
type matcher struct {
	literal map[string]bool
	globs   []string
}

func newMatcher(patterns []string, isKey func(string) bool) matcher {
	m := matcher{literal: map[string]bool{}}
	for _, p := range patterns {
		if isKey(p) || !strings.ContainsAny(p, `*?[\`) {
			m.literal[p] = true
		} else {
			m.globs = append(m.globs, noSlash(p))
		}
	}
	return m
}

func (m matcher) match(key string) bool {
	if m.literal[key] {
		return true
	}
	return slices.ContainsFunc(m.globs, func(glob string) bool {
		// a glob that is malformed, such as "[", matches nothing
		ok, err := path.Match(glob, noSlash(key))
		return ok && err == nil
	})
}

// noSlash hides slashes, which are special to path.Match.
func noSlash(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

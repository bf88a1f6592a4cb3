// Package lazyregexp compiles regular expressions when they are first asked for: most calls of the
// program need none, and each takes memory and time at its start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled pattern. It panics at its first call if the pattern is
// not valid, as [regexp.MustCompile] does.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

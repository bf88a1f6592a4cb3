package lorebook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"stchat/internal/names"
)

// Shelf knows which names of a worlds folder are taken, those it gave away itself
// included, so that no two clones of one call get one name. It is safe for use by
// several goroutines at once.
type Shelf struct {
	mu    sync.Mutex
	taken map[string]bool // folded, as a disk that ignores letter case compares
}

// OpenShelf reads the names in a worlds folder; one that does not exist is empty.
func OpenShelf(worldsDir string) (*Shelf, error) {
	s := &Shelf{taken: map[string]bool{}}
	entries, err := os.ReadDir(worldsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		name := names.Fold(entry.Name())
		if stem, ok := strings.CutSuffix(name, Extension); ok {
			s.taken[stem] = true
		}
	}
	return s, nil
}

// ForChat gives the name of the clone for a checkpoint or branch of a chat that
// uses book: "<book>__CP_<label>". Where that is too long the longer of the two
// parts gives way. A taken name gets " (1)", " (2)" and so on.
func (s *Shelf) ForChat(book, label string) (string, error) {
	const join = "__CP_"
	if over := len(book) + len(join) + len(label) - MaxBytes; over > 0 {
		half := (MaxBytes - len(join)) / 2
		switch {
		case len(label) <= half:
			book = cutAt(book, len(book)-over)
		case len(book) <= half:
			label = cutAt(label, len(label)-over)
		default:
			book, label = cutAt(book, half), cutAt(label, half)
		}
	}
	return s.free(book+join+label, 0)
}

// Given makes a name that the user gave safe; a taken one gets a number too.
func (s *Shelf) Given(name string) (string, error) { return s.free(name, 0) }

// Duplicate gives the name of a plain copy, as SillyTavern numbers them: "<book>
// (1)", "<book> (2)" and so on, after one such number at the end was taken off.
func (s *Shelf) Duplicate(book string) (string, error) {
	return s.free(withoutNumber(book), 1)
}

// free gives the first free name of base, "base (1)", "base (2)", beginning with
// number from (0 is base itself), and marks it as taken.
func (s *Shelf) free(base string, from int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const tries = 100_000 // more copies than anybody has; it only has to end
	for i := from; i < from+tries; i++ {
		suffix := ""
		if i > 0 {
			suffix = fmt.Sprintf(" (%d)", i)
		}
		name, err := names.SanitizeMax(base, MaxBytes-len(suffix))
		if err != nil {
			return "", fmt.Errorf("name of the lorebook's clone: %w", err)
		}
		name += suffix
		if folded := names.Fold(name); !s.taken[folded] {
			s.taken[folded] = true
			return name, nil
		}
	}
	return "", fmt.Errorf("name of the lorebook's clone: every name like %q is taken", base)
}

// withoutNumber takes one " (n)" off the end of a name.
func withoutNumber(name string) string {
	open := strings.LastIndex(name, " (")
	if open <= 0 || !strings.HasSuffix(name, ")") {
		return name
	}
	digits := name[open+2 : len(name)-1]
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return name
	}
	return name[:open]
}

// cutAt shortens s to at most n bytes; a rune that would break is left to
// names.SanitizeMax's eyes, so it goes here.
func cutAt(s string, n int) string {
	return strings.ToValidUTF8(s[:max(0, n)], "")
}

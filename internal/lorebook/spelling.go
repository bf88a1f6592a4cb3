package lorebook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stchat/internal/place/names"
	"stchat/internal/text/words"
)

// List returns the names of the lorebooks in a worlds folder, none where it cannot be read.
func List(worldsDir string) (list []string) {
	entries, _ := os.ReadDir(worldsDir)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), Extension); ok && name != "" && !e.IsDir() {
			list = append(list, name)
		}
	}
	return list
}

// Spelling returns the name under which its folder lists the lorebook at path, which [Find] returned, and
// whether that is exactly the name in path. On a disk that ignores letter case it may be another:
// SillyTavern's server opens that file all the same, but its page compares names exactly (world_names in
// world-info.js), and shows no such book.
func Spelling(path string) (listed string, exact bool) {
	name := strings.TrimSuffix(filepath.Base(path), Extension)
	listed = spelled(List(filepath.Dir(path)), name)
	return listed, listed == name
}

// CalledText says that a lorebook which is named has another spelling.
func CalledText(name, listed string) string {
	return fmt.Sprintf("the lorebook %q is called %q: SillyTavern's menus tell them apart", name, listed)
}

// spelled returns the name of the list that a disk takes for name: itself, else the one that looks the same but
// for letter case. It returns name if there is none.
func spelled(list []string, name string) string {
	if slices.Contains(list, name) {
		return name
	}
	folded := names.FoldNFC(name)
	at := slices.IndexFunc(list, func(other string) bool { return names.FoldNFC(other) == folded })
	if at < 0 {
		return name
	}
	return list[at]
}

// Like returns the name of the lorebook in a worlds folder that a missing one may be: the one that differs only
// in letter case, else the only one whose name is like it. It returns "" if there is none or more than one.
func Like(worldsDir, missing string) string {
	list := List(worldsDir)
	if same := spelled(list, missing); same != missing {
		return same
	}
	alike := slices.DeleteFunc(list, func(other string) bool { return !likeName(missing, other) })
	if len(alike) != 1 {
		return ""
	}
	return alike[0]
}

// likeName reports whether a name may be another after it was changed: of their letters and digits, one
// contains the other, or they differ by a few letters.
func likeName(was, now string) bool {
	const few = 4 // letters that a name must have for a part of another to mean anything
	a, b := lettersOf(was), lettersOf(now)
	if a == b {
		return a != ""
	}
	shorter := min(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	if shorter < few {
		return false
	}
	isPart := strings.Contains(a, b) || strings.Contains(b, a)
	return isPart || words.Distance(a, b) <= shorter/few
}

// lettersOf returns the letters and digits of a name, folded.
func lettersOf(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, names.Fold(name))
}

package visible

import (
	"runtime"
	"slices"
	"strings"
)

// Args returns paths as the last arguments of a command that is shown: quoted,
// and behind a -- where one could be taken for a flag.
func Args(paths ...string) string {
	var words []string
	if slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, "-") }) {
		words = append(words, "--")
	}
	for _, path := range paths {
		words = append(words, Quote(path))
	}
	return strings.Join(words, " ")
}

// Quote returns s as a shell of this system reads it, and as it is where nothing
// in it needs quoting.
func Quote(s string) string {
	if runtime.GOOS == "windows" {
		return quoteWindows(s)
	}
	return quotePOSIX(s)
}

// quotePOSIX uses single quotes, and $'…' where s has hidden characters.
func quotePOSIX(s string) string {
	switch {
	case !plain(s):
		return "$'" + Text(strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)) + "'"
	case bare(s, "/._-+,:@%=^"):
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quoteWindows uses double quotes, which cmd and PowerShell read alike. Only
// PowerShell takes $ and ` for something else in them, and reads single quotes:
// it is what such a name is quoted for.
func quoteWindows(s string) string {
	switch {
	case plain(s) && bare(s, `\/._-+:`):
		return s
	case strings.ContainsAny(s, "$`"):
		return "'" + strings.ReplaceAll(Text(s), "'", "''") + "'"
	}
	return `"` + Text(s) + `"`
}

// bare reports whether s has nothing but letters, digits and the given characters.
func bare(s, others string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		letter := r >= 0x80 || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune(others, r)
	}) < 0
}

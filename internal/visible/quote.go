package visible

import (
	"runtime"
	"slices"
	"strings"
)

// Args returns paths as the last arguments of a command to be shown: quoted, and after
// a -- if one could be taken for a flag.
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

// Quote returns s quoted for a shell of this system, or s itself if nothing in it needs
// quoting.
func Quote(s string) string {
	if runtime.GOOS == "windows" {
		return quoteWindows(s)
	}
	return quotePOSIX(s)
}

// quotePOSIX uses single quotes, and $'…' if s has hidden characters.
func quotePOSIX(s string) string {
	switch {
	case !plain(s):
		return "$'" + Text(strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)) + "'"
	case bare(s, "/._-+,:@%=^"):
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quoteWindows uses double quotes, which cmd and PowerShell read alike. Only in
// PowerShell do $ and ` mean something in them, and only PowerShell reads single quotes,
// so names with those characters are quoted for PowerShell.
func quoteWindows(s string) string {
	switch {
	case plain(s) && bare(s, `\/._-+:`):
		return s
	case strings.ContainsAny(s, "$`"):
		return "'" + strings.ReplaceAll(Text(s), "'", "''") + "'"
	}
	return `"` + Text(s) + `"`
}

// bare reports whether s is not empty and has only letters, digits and the characters in
// others.
func bare(s, others string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		letter := r >= 0x80 || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune(others, r)
	}) < 0
}

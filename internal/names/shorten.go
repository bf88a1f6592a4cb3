package names

import "unicode/utf8"

// gap replaces what Shorten leaves out.
const gap = "…"

// Shorten returns s, which is valid UTF-8, in at most n bytes: if it is longer, "…"
// replaces its middle, since names differ at their ends. Runes stay whole.
func Shorten(s string, n int) string {
	room := n - len(gap)
	switch {
	case len(s) <= n:
		return s
	case room < 2:
		return cut(s, n)
	}
	end := len(s) - room/2
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	return cut(s, room-room/2) + gap + s[end:]
}

// Derive joins the name of a source and own in at most n bytes. The source's name
// is shortened if need be; own is cut only if it does not fit by itself.
func Derive(source, join, own string, n int) string {
	own = cut(own, n)
	if source = Shorten(source, n-len(join)-len(own)); source == "" {
		return own
	}
	return source + join + own
}

// cut shortens s, which is valid UTF-8, to at most n bytes without breaking a rune.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

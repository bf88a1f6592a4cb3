// Package visible makes text from files safe to show: a chat is a stranger's file
// and must not control the terminal, break a table or reorder what is read.
//
// Control characters (C0, C1, DEL), bidirectional controls, other invisible format
// characters and bytes that are not UTF-8 are shown as escapes; everything else stays
// as it is. Widths count terminal cells, since names are often Chinese or Japanese.
package visible

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"stchat/internal/rawjson"
)

// hidden reports whether a rune must not reach a terminal: controls, the
// bidirectional marks, embeddings, overrides and isolates (UAX #9), the line and
// paragraph separators, the byte order mark, and deprecated format characters and
// language tags, which nobody sees.
func hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029, r == 0xfeff:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x206f, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// plain reports whether s can be shown as it is.
func plain(s string) bool {
	for i, r := range s {
		if hidden(r) || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			return false
		}
	}
	return true
}

// Text returns s on one line, with everything that a terminal would obey or hide
// escaped: \n, \t, \x1b, \u202e, and \xff for a byte that is not UTF-8.
func Text(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case hidden(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// Lines is [Text] for text of several lines: line feeds and tabs stay.
func Lines(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		end := strings.IndexAny(s, "\n\t")
		if end < 0 {
			end = len(s)
		}
		b.WriteString(Text(s[:end]))
		if end < len(s) {
			b.WriteByte(s[end])
			end++
		}
		s = s[end:]
	}
	return b.String()
}

// JSON returns encoded JSON with the hidden characters that it contains unescaped
// written as \uXXXX, and with U+FFFD for what is not UTF-8, as JavaScript would read
// it. Valid JSON has both only in strings.
func JSON(b []byte) []byte {
	b = rawjson.ToUTF8(b)
	if bytes.IndexFunc(b, needsEscape) < 0 {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case !needsEscape(r):
			out = append(out, b[i:i+size]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out
}

// needsEscape leaves out what structures JSON: the white space between values.
func needsEscape(r rune) bool { return hidden(r) && r != '\n' && r != '\t' && r != '\r' }

// Clip returns at most the first n bytes of s, followed by … if something was cut. It
// does not split a character.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Width returns the number of cells that s takes on a terminal. s must be safe to show, as
// [Text] returns it.
func Width(s string) int { return runewidth.StringWidth(s) }

// Truncate cuts s to at most so many cells, including a … at the end if something was
// cut.
func Truncate(s string, cells int) string { return TruncateWith(s, cells, "…") }

// TruncateWith is [Truncate] with another mark at the end; it is left out where there
// is no room for it.
func TruncateWith(s string, cells int, mark string) string {
	if Width(mark) > cells {
		mark = ""
	}
	return runewidth.Truncate(s, cells, mark)
}

// TruncateLeft cuts the beginning of s so that at most so many cells are left, including
// a … in front if something was cut.
func TruncateLeft(s string, cells int) string { return TruncateLeftWith(s, cells, "…") }

// TruncateLeftWith is [TruncateLeft] with another mark in front.
func TruncateLeftWith(s string, cells int, mark string) string {
	if Width(s) <= cells {
		return s
	}
	return runewidth.TruncateLeft(s, Width(s)-cells+Width(mark), mark)
}

// Pad appends spaces to s until it takes so many cells; a wider s stays as it is.
func Pad(s string, cells int) string {
	return s + strings.Repeat(" ", max(0, cells-Width(s)))
}

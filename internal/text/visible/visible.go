// Package visible makes text from files safe to show: a chat is a stranger's file
// and must not control the terminal, break a table or reorder what is read.
//
// Control characters (C0, C1, DEL), bidirectional controls, other invisible format
// characters and bytes that are not UTF-8 are shown as escapes; everything else stays
// as it is. Widths count terminal cells, since names are often Chinese or Japanese.
package visible

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/mattn/go-runewidth"
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
		if ' ' <= r && r < 0x7f { // as most are
			continue
		}
		if hidden(r) || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			return false
		}
	}
	return true
}

// Text returns s on one line, with everything that a terminal would obey or hide
// escaped: \n, \t, \x1b, \u202e, and \xff for a byte that is not UTF-8.
func Text(s string) string { return escape(s, "") }

// Lines is [Text] for text of several lines: line feeds and tabs stay.
func Lines(s string) string { return escape(s, "\n\t") }

// Writer returns a writer that passes on what is written to it as [Lines] shows it. A character may
// be split between two writes: it is held until the next one, so the last write ends with a whole
// character, as a line feed is.
func Writer(w io.Writer) io.Writer { return &writer{to: w} }

type writer struct {
	to   io.Writer
	held []byte // the beginning of a character
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	text := append(w.held, p...)
	whole := len(text) - unfinished(text)

	if _, err := io.WriteString(w.to, Lines(string(text[:whole]))); err != nil {
		return 0, err
	}
	w.held = append([]byte(nil), text[whole:]...)
	return len(p), nil
}

// unfinished returns how many bytes at the end of text begin a character that is not whole.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		end := text[len(text)-n:]
		if utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return n
		}
	}
	return 0
}

// escape is [Text] for a text of which some characters stay as they are.
func escape(s, stay string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case strings.ContainsRune(stay, r):
			b.WriteRune(r)
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

// JSON returns encoded JSON with the hidden characters that it contains unescaped
// written as \uXXXX, and with U+FFFD for what is not UTF-8, as JavaScript would read
// it. Valid JSON has both only in strings.
func JSON(b []byte) []byte {
	b = ToUTF8(b)
	var out []byte
	done := 0 // how much of b is in out, or need not be
	for i := 0; i < len(b); {
		if ' ' <= b[i] && b[i] < 0x7f { // as most is
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if needsEscape(r) {
			out = append(out, b[done:i]...)
			if done = i + size; r > 0xffff {
				r -= 0x10000
				out = fmt.Appendf(out, `\u%04x`, 0xd800+r>>10)
				r = 0xdc00 + r&0x3ff
			}
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
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

// Brief cuts a foreign text for a message off after 120 characters.
func Brief(s string) string {
	const enough = 120
	n := 0
	for i := range s {
		if n++; n > enough {
			return s[:i] + "…"
		}
	}
	return s
}

// measure takes lines, bars and the ellipsis for one cell wide, as terminals show them in every
// locale. By default the library makes them two in a Chinese, Japanese or Korean one.
var measure = &runewidth.Condition{StrictEmojiNeutral: true}

// Width returns the number of cells that s takes on a terminal. s must be safe to show, as
// [Text] returns it.
func Width(s string) int { return measure.StringWidth(s) }

// asciiSigns are the program's own signs, and what stands for them.
var asciiSigns = strings.NewReplacer("…", "...", "‹", "<", "›", ">", "·", "-", "–", "-", "→", "->", "─", "-", "│", "|", "├", "|", "└", "`",
	"◆", "*", "●", "o", "∞", "@", "░", ".", "▒", ":", "▓", "*", "█", "#")

// ASCII returns a text of the program's own as a terminal without UTF-8 shows it. It may be wider,
// so this comes before everything that goes by width.
func ASCII(text string) string { return asciiSigns.Replace(text) }

// Truncate cuts s to at most so many cells, including a mark at the end if something was
// cut; it is left out where there is no room for it.
func Truncate(s string, cells int, mark string) string {
	if Width(mark) > cells {
		mark = ""
	}
	return measure.Truncate(s, cells, mark)
}

// Pad appends spaces to s until it takes so many cells; a wider s stays as it is.
func Pad(s string, cells int) string {
	return s + strings.Repeat(" ", max(0, cells-Width(s)))
}

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

// Signs that no line begins with, and that none ends with (READING.md 1.2).
const (
	closing = "。、，．！？：；」』）】》ー…"
	opening = "「『（【《"
)

// Wrap returns where the lines of s begin and end that take at most so many cells. A line breaks
// at spaces, which are left out there, or between wide characters; only a word that is wider than
// a line is cut, on a grapheme. s must be safe to show and without line feeds.
func Wrap(s string, cells int) [][2]int {
	cells = max(cells, 1)
	lines := make([][2]int, 0, len(s)/cells+2)
	from, width := 0, 0        // of the open line
	end, next, rest := 0, 0, 0 // the last place to break: where the line ends, the next begins, and the width before it
	wide := false              // the last grapheme
	last := ' '                // its letter
	for at := 0; at < len(s); {
		if !wide && last != ' ' { // within a word
			for end := min(len(s)-1, at+cells-width); at < end && s[at] != ' ' && s[at]|s[at+1] < utf8.RuneSelf; at++ {
				width++
			}
		}
		part, w := s[at:at+1], 1
		if s[at] >= utf8.RuneSelf || at+1 < len(s) && s[at+1] >= utf8.RuneSelf { // else nothing combines with it
			g := graphemes.FromString(s[at:])
			g.Next()
			part = g.Value()
			w = Width(part)
		}
		first, _ := utf8.DecodeRuneInString(part)
		switch {
		case part == " ":
		case last == ' ' && at > from && strings.TrimLeft(s[from:at], " ") != "":
			end, next, rest = from+len(strings.TrimRight(s[from:at], " ")), at, width
		case wide && w == 2 && !strings.ContainsRune(closing, first) && !strings.ContainsRune(opening, last):
			end, next, rest = at, at, width
		}
		if width+w > cells && part != " " && at > from {
			if next <= from {
				end, next, rest = at, at, width
			}
			lines = append(lines, [2]int{from, end})
			from, width = next, width-rest
		}
		width += w
		wide, last = w == 2, first
		at += len(part)
	}
	return append(lines, [2]int{from, from + len(strings.TrimRight(s[from:], " "))})
}

// CutLeft and CutRight shorten s to so many cells by whole words, with mark in place of what goes:
// names lose their beginning, texts their end. A word is a run of letters, marks and digits, or
// one character of a script without spaces; only one that is wider than the cells is cut, on a
// grapheme. s must be safe to show.
func CutLeft(s string, cells int, mark string) string {
	if Width(s) <= cells {
		return s
	}
	const bytesOfCell = 32 // more than any cell has but by intent
	if far := len(s) - cells*bytesOfCell; far > 0 {
		for far < len(s) && !utf8.RuneStart(s[far]) {
			far++
		}
		s = s[far-1:]
	}
	for at := range s {
		if at > 0 && wordStart(s, at) && Width(s[at:])+Width(mark) <= cells {
			return mark + s[at:]
		}
	}
	return measure.TruncateLeft(s, Width(s)-cells+Width(mark), mark)
}

// CutRight is described at [CutLeft].
func CutRight(s string, cells int, mark string) string {
	if Width(s) <= cells {
		return s
	}
	best := ""
	for at := range s {
		if at == 0 || !wordStart(s, at) && !wordEnd(s, at) || inNumber(s, at) {
			continue
		}
		part := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(s[:at], " "), mark), " ·")
		if Width(part)+Width(mark) > cells {
			break
		}
		best = part
	}
	if best == "" {
		return Truncate(s, cells, mark)
	}
	return best + mark
}

// inNumber reports whether a place is within a number, a date, such as Mar 1 too, or an #index.
func inNumber(s string, at int) bool {
	digit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	joins := func(i int) bool { return i >= 0 && strings.IndexByte("-:.,", s[i]) >= 0 && digit(i-1) && digit(i+1) }
	head := strings.TrimRight(s[:at], " ")
	month := len(head) > 2 && strings.Contains("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", head[len(head)-3:]) && digit(len(head)+1)
	return month || joins(at) || joins(at-1) || s[at-1] == '#' && digit(at)
}

func wordStart(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	c, _ := utf8.DecodeRuneInString(s[at:])
	return isLetter(c) && (!isLetter(before) || alone(c) || alone(before)) && !unicode.IsMark(c)
}

func wordEnd(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	c, _ := utf8.DecodeRuneInString(s[at:])
	return isLetter(before) && !isLetter(c)
}

func isLetter(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) }

// alone reports whether a script writes no spaces between its words.
func alone(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

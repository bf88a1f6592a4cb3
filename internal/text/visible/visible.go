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
	"unicode/utf16"
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
		notUTF8 := r == utf8.RuneError && size == 1

		switch {
		case notUTF8:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r) && !strings.ContainsRune(stay, r):
			b.WriteString(escapeOf(r))
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// escapeOf returns what stands for a hidden character.
func escapeOf(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}

	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// JSON returns encoded JSON with the hidden characters that it contains unescaped
// written as \uXXXX, and with U+FFFD for what is not UTF-8, as JavaScript would read
// it. Valid JSON has both only in strings.
func JSON(b []byte) []byte {
	b = ToUTF8(b)

	var out []byte
	done := 0 // how much of b is in out
	for i := 0; i < len(b); {
		if ' ' <= b[i] && b[i] < 0x7f { // as most is
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if needsEscape(r) {
			out = append(out, b[done:i]...)
			out = appendEscaped(out, r)
			done = i + size
		}
		i += size
	}

	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}

// appendEscaped appends a character as JSON escapes it: each of its UTF-16 units as \uXXXX.
func appendEscaped(out []byte, r rune) []byte {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(out, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(out, `\u%04x`, r)
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
		n++
		if n > enough {
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
// allowed, so that a shell reads it as it is.
func bare(s, allowed string) bool {
	needsQuotes := func(r rune) bool {
		return !isPlainInShell(r) && !strings.ContainsRune(allowed, r)
	}
	return s != "" && !strings.ContainsFunc(s, needsQuotes)
}

// isPlainInShell reports whether a character means nothing to any shell: ASCII's letters and
// digits, and all that is not ASCII.
func isPlainInShell(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return true
	case '0' <= r && r <= '9':
		return true
	}
	return r >= utf8.RuneSelf
}

// Signs that no line begins with, and that none ends with.
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

	from := 0            // where the open line begins
	width := 0           // its cells so far
	var place breakPlace // the last one; the open line has none yet if next is not behind from

	wide := false // whether the last grapheme takes two cells
	last := ' '   // its first rune

	for at := 0; at < len(s); {
		if inWord := !wide && last != ' '; inWord {
			n := asciiRun(s[at:], cells-width)
			at += n
			width += n
		}

		part, partWidth := graphemeAt(s, at)
		first, _ := utf8.DecodeRuneInString(part)
		isSpace := part == " "
		switch {
		case isSpace: // belongs to the end of a line, so none begins here
		case last == ' ' && !isBlank(s[from:at]):
			place = breakPlace{end: from + len(strings.TrimRight(s[from:at], " ")), next: at, width: width}
		case wide && partWidth == 2 && mayPart(last, first):
			place = breakPlace{end: at, next: at, width: width}
		}

		if width+partWidth > cells && !isSpace && at > from {
			if place.next <= from { // the word is wider than a line
				place = breakPlace{end: at, next: at, width: width}
			}
			lines = append(lines, [2]int{from, place.end})
			from = place.next
			width -= place.width
		}

		width += partWidth
		wide = partWidth == 2
		last = first
		at += len(part)
	}
	return append(lines, [2]int{from, from + len(strings.TrimRight(s[from:], " "))})
}

// breakPlace is a place where a line may end.
type breakPlace struct {
	end   int // where the line ends, without the spaces behind it
	next  int // where the next one begins
	width int // the cells of the line up to next
}

// asciiRun returns how many characters of s can be taken at once, at most so many as there is room
// for: those of ASCII up to a space, but not one with which the next may combine.
func asciiRun(s string, room int) int {
	most := min(len(s)-1, room)
	for n := range most {
		if s[n] == ' ' || s[n]|s[n+1] >= utf8.RuneSelf {
			return n
		}
	}
	return max(most, 0)
}

// graphemeAt returns the grapheme at a place, and its cells.
func graphemeAt(s string, at int) (string, int) {
	combines := at+1 < len(s) && s[at+1] >= utf8.RuneSelf
	if s[at] < utf8.RuneSelf && !combines {
		return s[at : at+1], 1
	}

	g := graphemes.FromString(s[at:])
	g.Next()
	return g.Value(), Width(g.Value())
}

func isBlank(s string) bool { return strings.TrimLeft(s, " ") == "" }

// mayPart reports whether one line may end with a wide character, and the next begin with another.
func mayPart(last, first rune) bool {
	return !strings.ContainsRune(opening, last) && !strings.ContainsRune(closing, first)
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
		if at == 0 || inNumber(s, at) {
			continue
		}
		if !wordStart(s, at) && !wordEnd(s, at) {
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
	isDigit := func(i int) bool {
		return i >= 0 && i < len(s) && '0' <= s[i] && s[i] <= '9'
	}
	joinsDigits := func(i int) bool {
		return i >= 0 && strings.IndexByte("-:.,", s[i]) >= 0 && isDigit(i-1) && isDigit(i+1)
	}
	if joinsDigits(at) || joinsDigits(at-1) {
		return true
	}
	if s[at-1] == '#' && isDigit(at) {
		return true
	}

	const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
	head := strings.TrimRight(s[:at], " ")
	afterMonth := len(head) > 2 && strings.Contains(months, head[len(head)-3:])
	return afterMonth && isDigit(len(head)+1)
}

func wordStart(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	c, _ := utf8.DecodeRuneInString(s[at:])
	if !isLetter(c) || unicode.IsMark(c) {
		return false
	}
	return !isLetter(before) || unspaced(c) || unspaced(before)
}

func wordEnd(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	c, _ := utf8.DecodeRuneInString(s[at:])
	return isLetter(before) && !isLetter(c)
}

func isLetter(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) }

// unspaced reports whether c is of a script that writes no spaces between its words.
func unspaced(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

package names

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"stchat/internal/jsonl/rawjson"
)

// Extension follows a chat's name in its file's name. It counts towards the longest
// file name allowed, and is never cut.
const Extension = ".jsonl"

// MaxFile is the longest file name, in UTF-8 bytes and with its extension, of a
// chat or lorebook that SillyTavern can save: it writes through
// "<file>.<up to 10 digits>". It reads longer ones.
const MaxFile = 244

// MaxBytes is the longest name of a new chat, in bytes and without [Extension].
const MaxBytes = MaxFile - len(Extension)

// longestFile is the longest file name, in bytes, that sanitize-filename leaves whole.
const longestFile = 255

// maxRead is the longest name of a chat that sanitize-filename leaves whole.
const maxRead = longestFile - len(Extension)

// MaxLuker is the longest name, in bytes, that Luker accepts for a new chat
// (assertSafeRepoName).
const MaxLuker = 128

// ErrEmptyName means that nothing is left of a name once it is made safe.
var ErrEmptyName = errors.New("nothing is left of this name once what a file name cannot hold is removed; choose another")

// ErrBlankName means that a name is only white space.
var ErrBlankName = errors.New("a name of only spaces cannot be seen; choose another")

// ErrReserved means that a name is that of a Windows device, with or without an
// extension of its own, so that no such file can exist there.
var ErrReserved = errors.New("this name is reserved for a device on Windows; choose another")

// Sanitize makes name, a chat's name without ".jsonl", safe as SillyTavern does: by
// the rules of npm's sanitize-filename applied to NAME.jsonl. So
// "a:b" becomes "ab" and "dots..." stays, since its dots are not at the end of the
// file's name. A name that is too long is cut on a rune boundary. Bytes that are not
// UTF-8 become U+FFFD, as they do on their way into JavaScript. The errors are
// [ErrEmptyName] and [ErrReserved].
func Sanitize(name string) (string, error) {
	return SanitizeMax(name, maxRead)
}

// OnDisk returns the name of the file that SillyTavern's server makes of a chat's name; a name
// that leads to no file stays as it is.
func OnDisk(name string) string {
	if safe, err := Sanitize(name); err == nil {
		return safe
	}
	return name
}

// LeadsTo reports whether a name that is written in a file means the chat or lorebook whose file has
// a name: SillyTavern notes a name as it was typed, and makes only that of the file safe.
func LeadsTo(written, name string) bool { return written == name || OnDisk(written) == name }

// Renamed returns what a name that is written in a file is now: renamed has the new names by those of the files
// to which names lead, as [LeadsTo] says. ok is false if it stays.
func Renamed(renamed map[string]string, written string) (now string, ok bool) {
	if now, ok = renamed[written]; ok {
		return now, true
	}
	now, ok = renamed[OnDisk(written)]
	return now, ok
}

// New makes the name of a new chat or lorebook safe, in at most maxBytes bytes. The
// errors are those of [Sanitize], and [ErrBlankName] for a name of only white space,
// which SillyTavern would accept.
func New(name string, maxBytes int) (string, error) {
	safe, err := SanitizeMax(name, maxBytes)
	if err == nil && strings.TrimSpace(safe) == "" {
		return "", fmt.Errorf("%q: %w", clip(name), ErrBlankName)
	}
	return safe, err
}

// SanitizeMax is [Sanitize] with a limit of maxBytes bytes on the name without its
// extension. If that is not positive or too large, the limit is that of Sanitize.
func SanitizeMax(name string, maxBytes int) (string, error) {
	safe := strip(name)
	// Before the cut, as sanitize-filename does: "con.<300 bytes>" is a device.
	if reserved(safe) {
		return "", fmt.Errorf("%q: %w", safe, ErrReserved)
	}
	safe = cut(safe, limit(maxBytes))
	if safe == "" {
		return "", fmt.Errorf("%q: %w", clip(name), ErrEmptyName)
	}
	if reserved(safe) { // the cut can produce one
		return "", fmt.Errorf("%q: %w", safe, ErrReserved)
	}
	return safe, nil
}

func limit(maxBytes int) int {
	if maxBytes <= 0 || maxBytes > maxRead {
		return maxRead
	}
	return maxBytes
}

// clip shortens a name for an error's text.
func clip(name string) string {
	const enough = 80
	if len(name) <= enough {
		return name
	}
	return cut(rawjson.WellFormed(name), enough) + "…"
}

// strip removes what sanitize-filename removes: illegalRe /[\/\?<>\\:\*\|"]/ and
// controlRe /[\x00-\x1f\x80-\x9f]/, which are code points, not bytes. The rules on
// trailing dots and spaces, and on names of dots alone, cannot apply to what ends
// in ".jsonl".
func strip(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x20, r >= 0x80 && r <= 0x9f, strings.ContainsRune(`/?<>\:*|"`, r):
			return -1
		}
		return r
	}, rawjson.WellFormed(name))
}

// reserved reports whether sanitize-filename's windowsReservedRe,
// /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i, matches name + ".jsonl".
func reserved(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	is := func(text string, devices ...string) bool {
		return slices.ContainsFunc(devices, func(device string) bool { return strings.EqualFold(text, device) })
	}
	switch len(stem) { // in bytes, so that what EqualFold finds equal is ASCII, without the Kelvin sign
	case len("con"):
		return is(stem, "con", "prn", "aux", "nul")
	case len("com1"):
		isNumbered := stem[3] >= '0' && stem[3] <= '9'
		return isNumbered && is(stem[:3], "com", "lpt")
	}
	return false
}

// Safe reports whether sanitize-filename would leave file, a whole file name with its
// extension, unchanged. Every name that SillyTavern gives to a file of its own is
// safe; a path, a device's name, an empty name and one that is not UTF-8 are not.
func Safe(file string) bool {
	if file == "" || len(file) > longestFile {
		return false
	}
	endsBadly := strings.HasSuffix(file, ".") || strings.HasSuffix(file, " ") // windowsTrailingRe, /[\. ]+$/, and with it reservedRe, /^\.+$/
	return !endsBadly && strip(file) == file && !reserved(file)
}

// File returns what sanitize-filename makes of name, a whole file name: the rules of
// [Safe], in the order in which it applies them. It is empty if nothing is left.
func File(name string) string {
	safe := strip(name)
	if reserved(safe) || strings.Trim(safe, ".") == "" {
		return ""
	}
	return cut(strings.TrimRight(safe, ". "), longestFile)
}

// Fold returns name without distinctions of letter case, by Unicode's simple
// folding: two names with the same fold are one file on a disk that ignores case.
// Bytes that are not UTF-8 stay as they are.
func Fold(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteByte(name[i])
		} else {
			b.WriteRune(foldRune(r))
		}
		i += size
	}
	return b.String()
}

// FoldNFC returns what [Fold] does of the composed name: names that look alike are the same,
// whichever system wrote them.
func FoldNFC(name string) string { return Fold(norm.NFC.String(name)) }

// foldRune returns the one rune that represents all that differ from r only in case:
// the smallest of its orbit, in lower case if it is ASCII.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least < utf8.RuneSelf {
		return unicode.ToLower(least)
	}
	return least
}

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
	short := Shorten(source, n-len(join)-len(own))
	if short == "" {
		return own
	}
	return short + join + own
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

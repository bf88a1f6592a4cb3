package rawjson

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"stchat/internal/text/visible"
)

const hexDigits = "0123456789abcdef"

// Characters that have a short escape, and its letters.
const escaped, escapes = "\n\"\\\t\r\b\f", `n"\trbf`

// Quote returns s as a JSON string, as JSON.stringify writes it: the short escapes
// \b \t \n \f \r \" \\, other control characters as \u00XX, everything else raw,
// even U+2028 and the characters of HTML. A lone surrogate (WTF-8, see the package
// comment) is written \udXXX; anything else that is not UTF-8 becomes U+FFFD.
func Quote(s string) []byte { return AppendQuoted(make([]byte, 0, len(s)+2), s) }

// AppendQuoted appends what [Quote] returns.
func AppendQuoted(out []byte, s string) []byte {
	out = append(out, '"')
	for {
		n := Plain([]byte(s)) // not copied, since nothing changes it
		out = append(out, s[:n]...)
		s = s[n:]
		if s == "" {
			return append(out, '"')
		}
		n = 1
		c := s[0]
		k := strings.IndexByte(escaped, c)
		switch u, alone := surrogateAt(s); {
		case k >= 0:
			out = append(out, '\\', escapes[k])
		case alone:
			out = append(out, '\\', 'u', 'd', hexDigits[u>>8&0xf], hexDigits[u>>4&0xf], hexDigits[u&0xf])
			n = 3
		case c < ' ':
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		default:
			out = utf8.AppendRune(out, utf8.RuneError)
			n = visible.InvalidLen(s)
		}

		s = s[n:]
	}
}

// surrogateAt returns the surrogate whose three WTF-8 bytes s begins with.
func surrogateAt(s string) (u rune, ok bool) {
	if len(s) < 3 || s[0] != 0xED {
		return 0, false
	}
	isSurrogate := s[1] >= 0xA0 && s[1] <= 0xBF
	isContinued := s[2] >= 0x80 && s[2] <= 0xBF
	if !isSurrogate || !isContinued {
		return 0, false
	}
	return 0xD000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}

// Unquote decodes a JSON string. A lone surrogate becomes its three WTF-8 bytes (see
// the package comment), and what is not UTF-8 becomes U+FFFD, as JavaScript reads
// such a file. ok is false for what is not a JSON string.
func Unquote(raw []byte) (s string, ok bool) {
	raw = trim(raw)
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	in := raw[1 : len(raw)-1]
	if Plain(in) == len(in) {
		return string(in), true
	}
	out, ok := AppendUnquoted(make([]byte, 0, len(in)+2*utf8.UTFMax), raw)
	return string(out), ok
}

// TextOrNil returns a decoded JSON string, nil for what is not one.
func TextOrNil(raw []byte) *string {
	if s, ok := Unquote(raw); ok {
		return &s
	}
	return nil
}

// AppendUnquoted appends to out what [Unquote] returns for raw. If ok is false, what
// it appended is meaningless.
func AppendUnquoted(out, raw []byte) (all []byte, ok bool) {
	raw = trim(raw)
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return out, false
	}
	in := raw[1 : len(raw)-1]
	for {
		n := Plain(in)
		out = append(out, in[:n]...)
		in = in[n:]
		switch {
		case len(in) == 0:
			return out, true
		case in[0] == '\\':
			if out, n = AppendEscape(out, in); n == 0 {
				return out, false
			}
			in = in[n:]
		case in[0] < utf8.RuneSelf:
			return out, false // a quote, or a control character
		default:
			out = utf8.AppendRune(out, utf8.RuneError)
			in = in[visible.InvalidLen(in):]
		}
	}
}

// Plain returns how many bytes at the start of a string's content stand for
// themselves: no escape, nothing forbidden, valid UTF-8.
func Plain(in []byte) int {
	for i := 0; i < len(in); {
		for len(in)-i >= 8 && allPlain(binary.LittleEndian.Uint64(in[i:])) {
			i += 8
		}
		if i == len(in) {
			break
		}
		c := in[i]
		if c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				return i
			}
			i++
			continue
		}

		r, size := utf8.DecodeRune(in[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(in)
}

// allPlain reports whether eight bytes are ASCII that stands for itself. A byte is
// below n where subtracting n borrows, and equal to one where their difference is
// below 1; a borrow that carries over into the next byte can only make the result
// false.
func allPlain(w uint64) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^ones*'"', w^ones*'\\'
	return (w|(w-ones*' ')|(quote-ones)|(slash-ones))&highs == 0
}

// AppendEscape appends what the escape at the start of in stands for, and returns
// the escape's length, 0 if it is invalid.
func AppendEscape(out, in []byte) ([]byte, int) {
	if len(in) < 2 {
		return out, 0
	}
	if k := strings.IndexByte(escapes, in[1]); k >= 0 {
		return append(out, escaped[k]), 2
	}
	if in[1] == '/' {
		return append(out, '/'), 2
	}
	r, ok := unitAt(in)
	if !ok {
		return out, 0
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r), 6
	}
	if low, ok := unitAt(in[6:]); ok {
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return utf8.AppendRune(out, both), 12
		}
	}
	return append(out, 0xED, byte(0x80|r>>6&0x3f), byte(0x80|r&0x3f)), 6
}

// unitAt returns the UTF-16 code unit of the \uXXXX at the start of in.
func unitAt(in []byte) (r rune, ok bool) {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return 0, false
	}
	for _, c := range in[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// KeyIs reports whether a raw key (with its quotes), once decoded, is the given key.
// It allocates nothing unless the raw key has an escape or key has U+FFFD.
func KeyIs(rawKey []byte, key string) bool {
	if len(rawKey) < 2 {
		return false
	}
	in := rawKey[1 : len(rawKey)-1]
	if bytes.IndexByte(in, '\\') < 0 {
		if string(in) == key {
			return utf8.Valid(in)
		}
		// Only a byte that is not UTF-8, decoded to U+FFFD, can still be equal.
		if !strings.Contains(key, "\uFFFD") {
			return false
		}
	}
	return decodeKey(rawKey) == key
}

// decodeKey is Unquote for a key; one that is broken stands for its own bytes.
func decodeKey(rawKey []byte) string {
	if s, ok := Unquote(rawKey); ok {
		return s
	}
	return string(rawKey)
}

// WellFormed returns s as UTF-8: lone surrogates (see the package comment) and what
// is not UTF-8 become U+FFFD, as when JavaScript writes them.
func WellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(visible.ReplaceInvalid(s, func(s string) int {
		if _, ok := surrogateAt(s); ok {
			return 3
		}
		return visible.InvalidLen(s)
	}))
}

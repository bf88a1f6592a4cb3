package prose

import (
	"strings"
	"unicode/utf8"

	"stchat/internal/text/lazyregexp"
)

var (
	escape = lazyregexp.New("\\\\[\\\\`*_{}\\[\\]()>#+.!~=|:-]")
	target = lazyregexp.New(`^\([ \t]*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)?)>?(?:[ \t]+["'][^"'\n]*["'])?[ \t]*\)`)
)

// inline sets aside the signs that style pieces of a block.
func (r *reader) inline(s string) string {
	if strings.IndexByte(s, '\\') >= 0 {
		s = escape().ReplaceAllStringFunc(s, func(m string) string {
			return string(r.aside(nil, atom{text: m[1:], mark: `\`}))
		})
	}

	s = r.links(s)
	s = r.speech(s)
	if strings.IndexByte(s, '*') >= 0 {
		s = r.emphasis(s, "***", Bold|Italic)
		s = r.emphasis(s, "**", Bold)
		s = r.emphasis(s, "*", Italic)
	}

	if strings.IndexByte(s, '_') >= 0 {
		s = r.words(s, "___", Underline)
		s = r.words(s, "__", Underline)
		s = r.words(s, "_", Italic)
	}
	return r.emphasis(s, "~~", Strike)
}

// links finds [text](url) and ![alt](url).
func (r *reader) links(s string) string {
	if !strings.Contains(s, "](") {
		return s
	}
	var out []byte
	var open []int // where [ stands in out
	for i := 0; i < len(s); i++ {
		out = append(out, s[i])
		switch s[i] {
		case '[':
			open = append(open, len(out)-1)
		case ']':
			if len(open) == 0 {
				continue
			}
			from := open[len(open)-1]
			open = open[:len(open)-1]
			m := target().FindStringSubmatch(s[i+1:])
			if m == nil {
				continue
			}
			text, url := string(out[from+1:len(out)-1]), m[1]
			i += len(m[0])
			rest := "](" + m[0][1:]
			if from > 0 && out[from-1] == '!' {
				if text == "" {
					text = fileOf(url)
				}
				out = r.aside(out[:from-1], atom{text: r.plain(text), style: Picture, url: url})
				continue
			}
			out = out[:from]
			a := atom{mark: "[", style: Link, turn: 1, url: url}
			isAddress := strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://")
			if !isAddress {
				a.style = 0
				a.url = ""
			}
			out = r.aside(out, a)
			out = append(out, text...)
			a.mark = rest
			a.turn = -1
			out = r.aside(out, a)
		}
	}
	return string(out)
}

// plain returns the letters of a text that holds atoms.
func (r *reader) plain(s string) string {
	var b strings.Builder
	for _, run := range r.runs(s) {
		if !run.Mark {
			b.WriteString(run.Text)
		}
	}
	return b.String()
}

// closer tells by the mark with which a quote begins how it ends.
var closer = map[rune]string{'"': `"`, '“': "”", '«': "»", '「': "」", '『': "』", '＂': "＂"}

// speech finds quotes, which end on their line (SillyTavern public/script.js, messageFormatting).
func (r *reader) speech(s string) string {
	b := r.scratch
	done := 0     // before it all is in b
	line := 0     // where the line ends
	missing := "" // marks of quotes that do not end on it
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf && c != '"' {
			i++ // most letters
			continue
		}
		if i >= line {
			line = lineEnd(s, i)
			missing = ""
		}
		c, n := utf8.DecodeRuneInString(s[i:])
		from := i + n
		mark := closer[c]
		if mark == "" || strings.ContainsRune(missing, c) {
			i = from
			continue
		}
		end := strings.Index(s[from:line], mark)
		if end < 0 {
			missing += string(c)
			i = from
			continue
		}

		end += from + len(mark)
		b = r.pair(append(b, s[done:i]...), "", Quote, s[i:end])
		done = end
		i = end
	}

	if done == 0 {
		return s
	}
	return r.made(append(b, s[done:]...))
}

// emphasis finds pairs of a mark around text that neither begins nor ends with a space. A pair
// around one that does is passed over, as showdown's patterns do.
func (r *reader) emphasis(s, mark string, style Style) string {
	if !strings.Contains(s, mark) {
		return s
	}
	b := r.scratch
	for {
		i := strings.Index(s, mark)
		if i < 0 {
			break
		}
		from := i + len(mark)
		inner := s[from:]
		beginsWithSpace := mark != "~~" && spaceAt(inner)
		isLonger := mark == "*" && strings.HasPrefix(inner, "*")
		if inner == "" || beginsWithSpace || isLonger {
			b = append(b, s[:i+1]...)
			s = s[i+1:]
			continue
		}

		_, first := utf8.DecodeRuneInString(inner)
		end := strings.Index(inner[first:], mark)
		if end < 0 {
			break
		}
		end += first
		if mark != "~~" && spaceBefore(inner[:end]) {
			b = append(b, s[:from+end+len(mark)]...)
		} else {
			b = r.pair(append(b, s[:i]...), mark, style, inner[:end])
		}

		s = inner[end+len(mark):]
	}
	return r.made(append(b, s...))
}

// words finds pairs of underscores at the borders of words.
func (r *reader) words(s, mark string, style Style) string {
	if !strings.Contains(s, mark) {
		return s
	}
	b := r.scratch
	done := 0
	for i := 0; i < len(s); i++ {
		isInWord := i > 0 && isWord(s[i-1])
		if isInWord || !strings.HasPrefix(s[i:], mark) {
			continue
		}
		from := i + len(mark)
		cannotFollow := spaceAt
		if mark == "_" {
			cannotFollow = beginsWithUnderscore
		}
		if cannotFollow(s[from:]) {
			continue
		}
		end := wordEnd(s, from, mark)
		if end < 0 {
			break
		}
		b = r.pair(append(b, s[done:i]...), mark, style, s[from:end])
		done = end + len(mark)
		i = done - 1
	}
	return r.made(append(b, s[done:]...))
}

func beginsWithUnderscore(s string) bool { return strings.HasPrefix(s, "_") }

// wordEnd returns where a mark stands that no word follows; -1: nowhere.
func wordEnd(s string, from int, mark string) int {
	for at := from + 1; at < len(s); at++ {
		i := strings.Index(s[at:], mark)
		if i < 0 {
			return -1
		}
		at += i
		after := at + len(mark)
		endsWord := after == len(s) || !isWord(s[after])
		isLonger := mark == "_" && s[at-1] == '_'
		if endsWord && !isLonger {
			return at
		}
	}
	return -1
}

// pair appends a text between the marks of a style.
func (r *reader) pair(b []byte, mark string, style Style, text string) []byte {
	b = append(r.aside(b, atom{mark: mark, style: style, turn: 1}), text...)
	return r.aside(b, atom{mark: mark, style: style, turn: -1})
}

package edit

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"stchat/internal/message"
	"stchat/internal/rawjson"
)

// Substitution replaces every match of a regular expression in a message's text.
type Substitution struct {
	Match *regexp.Regexp
	With  string // may name groups: $1, ${name}
}

// apply makes the substitution in mes and, if asked to, in all swipes. The chosen swipe gets
// the new text of mes.
func (s *Substitution) apply(line []byte, allSwipes bool) ([]byte, error) {
	if allSwipes {
		swipes, _ := rawjson.Lookup(line, "swipes")
		edited := rawjson.EditList(swipes, func(_ int, swipe []byte) ([]byte, bool) { return s.in(swipe), true })
		if !bytes.Equal(edited, swipes) {
			var err error
			if line, err = rawjson.SetPath(line, edited, "swipes"); err != nil {
				return nil, err
			}
		}
	}
	return rawjson.Splices(line, reworded(line, []Substitution{*s})), nil
}

// reworded returns the splices that substitutions make in the text of a message and in its
// chosen swipe.
func reworded(line []byte, list []Substitution) []rawjson.Splice {
	texts := message.TextsOf(line)
	old := texts.Text(line)
	text := old
	for i := range list {
		text = list[i].in(text)
	}
	if bytes.Equal(text, old) {
		return nil
	}
	return texts.Changes(line, text)
}

// in makes the substitution in one raw text, and returns raw itself if nothing matches. What
// does not match keeps its spelling. Bytes that are not UTF-8, and halves of surrogate pairs,
// match nothing: the text before and the text after them are matched separately.
func (s *Substitution) in(raw []byte) []byte {
	if rawjson.KindOf(raw) != rawjson.String {
		return raw
	}
	text := bytes.TrimSpace(raw)
	body := text[1 : len(text)-1]
	prefix, literal := s.Match.LiteralPrefix()
	// a prefix with only one spelling is found without decoding
	if spelt := prefix != "" && onlySpelling(prefix) && !bytes.Contains(body, []byte(`\u`)); spelt {
		if literal && s.Match.NumSubexp() == 0 {
			return s.inLiteral(text, prefix)
		}
		if !bytes.Contains(body, []byte(prefix)) {
			return raw
		}
	}
	var out []byte
	kept := 0 // offset in body: all before it is in out, or stays

	for at, first := 0, true; first || at < len(body); first = false { // an empty text may match, too
		part := decode(body[at:])
		for _, match := range s.Match.FindAllSubmatchIndex(part.text, -1) {
			if out == nil {
				out = append(make([]byte, 0, len(text)+64), '"')
			}
			out = append(out, body[kept:at+part.raw(match[0])]...)
			kept = at + part.raw(match[1])
			with := rawjson.Quote(string(s.Match.Expand(nil, []byte(s.With), part.text, match)))
			out = append(out, with[1:len(with)-1]...)
		}
		for at += part.size; at < len(body); {
			size, ok := unit(body[at:])
			if ok {
				break
			}
			at += size
		}
	}
	if out == nil {
		return raw
	}
	return append(append(out, body[kept:]...), '"')
}

// onlySpelling reports whether a text can be written in only one way, as long as nothing is
// escaped as \uXXXX.
func onlySpelling(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == '/' })
}

// inLiteral makes the substitution in a raw text in which every match is spelt as the literal,
// which is the whole expression.
func (s *Substitution) inLiteral(raw []byte, literal string) []byte {
	with := rawjson.Quote(string(s.Match.Expand(nil, []byte(s.With), []byte(literal), []int{0, len(literal)})))
	with = with[1 : len(with)-1]
	var out []byte
	kept, rarest := 0, rarest(literal)
	for at := 1; ; {
		n := bytes.IndexByte(raw[min(at+rarest, len(raw)):], literal[rarest])
		if n < 0 {
			break
		}
		if at += n; !bytes.HasPrefix(raw[at:], []byte(literal)) {
			at++
			continue
		}
		before := at
		for raw[before-1] == '\\' {
			before--
		}
		if (at-before)%2 == 1 { // its first letter belongs to an escape
			at++
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(raw)+4*len(with))
		}
		out = append(append(out, raw[kept:at]...), with...)
		at += len(literal)
		kept = at
	}
	if out == nil {
		return raw
	}
	return append(out, raw[kept:]...)
}

// rarest returns the index of the byte to search a text by. Rare bytes cause fewer false stops:
// in most languages every seventh letter is an e.
func rarest(text string) (at int) {
	const common = "zqxjkbvgpywfmculdrhsnioate " // the commonest last
	rank := func(c byte) int {
		if c >= 0xC0 { // lead byte, the same for most letters of a script
			return len(common)
		}
		return strings.IndexByte(common, c|0x20)
	}
	for i := range len(text) {
		if rank(text[i]) < rank(text[at]) {
			at = i
		}
	}
	return at
}

// decoded is the front of a raw text, without quotes, as far as it can be decoded.
type decoded struct {
	body []byte // raw
	text []byte
	size int // of body: how much was decoded

	// the last place that raw was called for, in body and in text
	at, textAt int
}

// decode decodes the front of a raw text.
func decode(body []byte) *decoded {
	d := &decoded{body: body}
	if bytes.IndexByte(body, '\\') < 0 && utf8.Valid(body) {
		d.text, d.size = body, len(body)
		return d
	}
	d.text = make([]byte, 0, len(body))
	for d.size < len(body) {
		rest := body[d.size:]
		n := bytes.IndexByte(rest, '\\')
		if n < 0 {
			n = len(rest)
		}
		if n = valid(rest[:n]); n > 0 {
			d.text, d.size = append(d.text, rest[:n]...), d.size+n
			continue
		}
		size, ok := unit(rest)
		if !ok {
			break
		}
		d.text = appendEscape(d.text, rest[:size])
		d.size += size
	}
	return d
}

// raw returns the offset in the raw text of an offset in the decoded one. Calls must be in
// ascending order.
func (d *decoded) raw(text int) int {
	for d.textAt < text {
		rest := d.body[d.at:d.size]
		n := bytes.IndexByte(rest[:min(len(rest), text-d.textAt)], '\\')
		if n < 0 {
			n = text - d.textAt
		}
		if d.at, d.textAt = d.at+n, d.textAt+n; d.textAt < text {
			var one [utf8.UTFMax]byte
			size, _ := unit(d.body[d.at:])
			d.textAt += len(appendEscape(one[:0], d.body[d.at:d.at+size]))
			d.at += size
		}
	}
	return d.at
}

// appendEscape appends what an escape stands for.
func appendEscape(text, escape []byte) []byte {
	switch c := escape[1]; c {
	case 'b':
		return append(text, '\b')
	case 'f':
		return append(text, '\f')
	case 'n':
		return append(text, '\n')
	case 'r':
		return append(text, '\r')
	case 't':
		return append(text, '\t')
	case 'u':
		r := escaped(escape)
		if len(escape) > 6 {
			r = utf16.DecodeRune(r, escaped(escape[6:]))
		}
		return utf8.AppendRune(text, r)
	default:
		return append(text, c)
	}
}

// valid returns how many bytes at the front are valid UTF-8.
func valid(b []byte) int {
	if utf8.Valid(b) {
		return len(b)
	}
	n := 0
	for {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size < 2 {
			return n
		}
		n += size
	}
}

// unit returns the size in bytes of the first character of a raw text. ok is false for a byte
// that is not UTF-8 and for half a surrogate pair.
func unit(raw []byte) (size int, ok bool) {
	switch {
	case raw[0] != '\\':
		r, n := utf8.DecodeRune(raw)
		return n, r != utf8.RuneError || n > 1
	case raw[1] != 'u':
		return 2, true
	}
	r := escaped(raw)
	if !utf16.IsSurrogate(r) {
		return 6, true
	}
	if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' && utf16.DecodeRune(r, escaped(raw[6:])) != utf8.RuneError {
		return 12, true
	}
	return 6, false
}

// escaped returns the code unit of the \uXXXX at the start of raw.
func escaped(raw []byte) (r rune) {
	for _, c := range raw[2:6] {
		switch {
		case c <= '9':
			r = r<<4 | rune(c-'0')
		default:
			r = r<<4 | rune(c|0x20-'a'+10)
		}
	}
	return r
}

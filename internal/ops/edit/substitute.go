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

// apply makes the substitution in mes, and in all swipes if they are meant. The chosen
// swipe gets the text that mes gets.
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

// reworded returns what substitutions change in the text of a message, which the chosen
// swipe gets, too.
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

// in makes the substitution in one raw text, and returns raw itself where nothing matches.
// What does not match keeps its spelling. Bytes that are no UTF-8, and halves of surrogate
// pairs, are matched by nothing: what stands before and behind them is matched by itself.
func (s *Substitution) in(raw []byte) []byte {
	if rawjson.KindOf(raw) != rawjson.String {
		return raw
	}
	text := bytes.TrimSpace(raw)
	body := text[1 : len(text)-1]
	prefix, literal := s.Match.LiteralPrefix()
	// what has one spelling only is found without decoding
	if spelt := prefix != "" && onlySpelling(prefix) && !bytes.Contains(body, []byte(`\u`)); spelt {
		if literal && s.Match.NumSubexp() == 0 {
			return s.inLiteral(text, prefix)
		}
		if !bytes.Contains(body, []byte(prefix)) {
			return raw
		}
	}
	var out []byte
	kept := 0 // of body: what is in out, or stays

	for at, first := 0, true; first || at < len(body); first = false { // an empty text matches, too
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

// onlySpelling reports whether a text can be written in one way only where nothing is
// spelt as \uXXXX.
func onlySpelling(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == '/' })
}

// inLiteral makes the substitution in a raw text in which every match is spelt as the
// literal, which is all of the expression.
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
		if (at-before)%2 == 1 { // its first letter is that of an escape
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

// rarest returns the place of the byte of a text by which it is found soonest: in most
// languages the search would stop at every seventh letter for an e.
func rarest(text string) (at int) {
	const common = "zqxjkbvgpywfmculdrhsnioate " // the commonest last
	rank := func(c byte) int {
		if c >= 0xC0 { // begins each letter of a script
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

// decoded is the front of a raw text, without quotes, as far as it can be decoded whole.
type decoded struct {
	body []byte // raw
	text []byte
	size int // of body: so much was decoded

	// the last place that was asked for, raw and in text
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

// raw returns where a place in the decoded text is in the raw one. It is asked in order.
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

// valid returns how many bytes at the front are UTF-8.
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

// unit returns how many bytes the first character of a raw text has; ok is false for a byte
// that is no UTF-8 and for half a surrogate pair.
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

// escaped returns the code unit of the \uXXXX that raw begins with.
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

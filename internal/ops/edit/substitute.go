package edit

import (
	"bytes"
	"regexp"
	"unicode/utf16"
	"unicode/utf8"

	"stchat/internal/rawjson"
)

// Substitution replaces every match of a regular expression in a message's text.
type Substitution struct {
	Match *regexp.Regexp
	With  string // may name groups: $1, ${name}
}

// apply makes the substitution in mes, and in all swipes if they are meant.
func (s *Substitution) apply(line []byte, allSwipes bool) ([]byte, error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, err
	}
	if raw, _ := m.Get("mes"); rawjson.KindOf(raw) == rawjson.String {
		if edited := s.in(raw); !bytes.Equal(edited, raw) {
			m.Set("mes", edited)
		}
	}
	if swipes, _ := m.Get("swipes"); allSwipes && rawjson.KindOf(swipes) == rawjson.Array {
		edited := rawjson.EditList(swipes, func(_ int, swipe []byte) ([]byte, bool) { return s.in(swipe), true })
		if !bytes.Equal(edited, swipes) {
			m.Set("swipes", edited)
		}
	}
	return m.Bytes(), nil
}

// in makes the substitution in one raw text. What does not match keeps its spelling. Bytes
// that are no UTF-8, and halves of surrogate pairs, are matched by nothing: what stands
// before and behind them is matched by itself.
func (s *Substitution) in(raw []byte) []byte {
	text, ok := rawjson.Unquote(raw)
	if !ok || !s.Match.MatchString(text) {
		return raw
	}
	raw = bytes.TrimSpace(raw)
	body := raw[1 : len(raw)-1]
	out := []byte{'"'}
	changed := false
	for first := true; first || len(body) > 0; first = false { // an empty text matches, too
		n := sound(body)
		part, did := s.inSound(body[:n])
		out, changed, body = append(out, part...), changed || did, body[n:]
		for len(body) > 0 && sound(body) == 0 {
			size, _, _ := unit(body)
			out, body = append(out, body[:size]...), body[size:]
		}
	}
	if !changed {
		return raw
	}
	return append(out, '"')
}

// inSound makes the substitution in the part of a raw text, without quotes, that can be
// decoded whole.
func (s *Substitution) inSound(raw []byte) (edited []byte, changed bool) {
	text, _ := rawjson.Unquote(bytes.Join([][]byte{{'"'}, raw, {'"'}}, nil))
	at, off := 0, 0 // in raw, and in text
	to := func(end int) (from int) {
		for from = at; off < end; {
			size, decoded, _ := unit(raw[at:])
			at, off = at+size, off+decoded
		}
		return from
	}
	for _, match := range s.Match.FindAllStringSubmatchIndex(text, -1) {
		from := to(match[0])
		edited = append(edited, raw[from:at]...)
		to(match[1])
		with := rawjson.Quote(string(s.Match.ExpandString(nil, s.With, text, match)))
		edited = append(edited, with[1:len(with)-1]...)
		changed = true
	}
	return append(edited, raw[at:]...), changed
}

// sound returns how many bytes at the front of a raw text can be decoded whole.
func sound(raw []byte) int {
	n := 0
	for n < len(raw) {
		size, _, ok := unit(raw[n:])
		if !ok {
			break
		}
		n += size
	}
	return n
}

// unit returns how many bytes the first character of a raw text has, there and decoded; ok
// is false for a byte that is no UTF-8 and for half a surrogate pair.
func unit(raw []byte) (size, decoded int, ok bool) {
	switch {
	case raw[0] < utf8.RuneSelf && raw[0] != '\\':
		return 1, 1, true
	case raw[0] != '\\':
		r, n := utf8.DecodeRune(raw)
		return n, n, r != utf8.RuneError || n > 1
	case raw[1] != 'u':
		return 2, 1, true
	}
	r := escaped(raw)
	if !utf16.IsSurrogate(r) {
		return 6, utf8.RuneLen(r), true
	}
	if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' && utf16.DecodeRune(r, escaped(raw[6:])) != utf8.RuneError {
		return 12, 4, true
	}
	return 6, 3, false
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

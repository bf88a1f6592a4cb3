package edit

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"stchat/internal/message"
	"stchat/internal/rawjson"
)

// Substitution replaces every match of a regular expression in a message's text.
type Substitution struct {
	Match *regexp.Regexp
	With  string // may name groups: $1, ${name}
}

// substituting makes a substitution in many texts, in several goroutines.
type substituting struct {
	match   *regexp.Regexp
	with    string
	prefix  string // what every match begins with, if without \u it has only one spelling; else ""
	literal []byte // what takes its place, raw, if it is the whole match; else nil
	rarest  int    // the index in prefix of the byte to search it by
}

// prepared returns the substitutions as they are made in many texts.
func prepared(list []Substitution) []substituting {
	all := make([]substituting, len(list))
	for i, s := range list {
		all[i] = substituting{match: s.Match, with: s.With}
		prefix, whole := s.Match.LiteralPrefix()
		if prefix == "" || !onlySpelling(prefix) {
			continue
		}
		all[i].prefix, all[i].rarest = prefix, rarest(prefix)
		if whole && s.Match.NumSubexp() == 0 {
			all[i].literal = all[i].replacement([]byte(prefix), []int{0, len(prefix)})
		}
	}
	return all
}

// replacement returns what takes the place of a match, raw, without quotes. It is not nil.
func (s *substituting) replacement(text []byte, match []int) []byte {
	with := rawjson.Quote(string(s.match.Expand(nil, []byte(s.with), text, match)))
	return slices.Clip(with[1 : len(with)-1])
}

// everywhere makes substitutions in all swipes and in mes. The chosen swipe gets the new text of
// mes.
func everywhere(line []byte, list []substituting) ([]byte, error) {
	swipes := rawjson.Value(line, "swipes")
	edited := rawjson.EditList(swipes, func(_ int, swipe []byte) ([]byte, bool) { return in(swipe, list), true })
	if !bytes.Equal(edited, swipes) {
		var err error
		if line, err = rawjson.SetPath(line, edited, "swipes"); err != nil {
			return nil, err
		}
	}
	return rawjson.Splices(line, reworded(line, message.TextsOf(line), list)), nil
}

// in makes substitutions in a raw text, one after the other.
func in(raw []byte, list []substituting) []byte {
	for i := range list {
		raw = rawjson.Splices(raw, list[i].splices(raw))
	}
	return raw
}

// reworded returns the splices that substitutions make in the text of a message and in its
// chosen swipe. They leave valid JSON: whole characters of a string give way to others.
func reworded(line []byte, texts message.Texts, list []substituting) []rawjson.Splice {
	old := texts.Text(line)
	if len(list) > 1 {
		text := in(old, list)
		if bytes.Equal(text, old) {
			return nil
		}
		return texts.Changes(line, text)
	}
	changes := list[0].splices(old)
	grown := int64(0)
	for _, c := range changes {
		grown += int64(len(c.Data)) - c.Len
	}
	if grown == 0 && bytes.Equal(rawjson.Splices(old, changes), old) {
		return nil
	}
	return texts.Edits(line, changes)
}

// splices returns the substitution in one raw text as splices. What does not match keeps its
// spelling. Bytes that are not UTF-8, and halves of surrogate pairs, match nothing: the text
// before and the text after them are matched separately.
func (s *substituting) splices(raw []byte) (list []rawjson.Splice) {
	if rawjson.KindOf(raw) != rawjson.String {
		return nil
	}
	body := raw[1 : len(raw)-1]
	// a prefix with only one spelling is found without decoding
	if s.prefix != "" && !bytes.Contains(body, []byte(`\u`)) {
		if s.literal != nil {
			return s.literals(raw)
		}
		if !bytes.Contains(body, []byte(s.prefix)) {
			return nil
		}
	}
	for at, first := 0, true; first || at < len(body); first = false { // an empty text may match, too
		part := decode(body[at:])
		for _, match := range s.match.FindAllSubmatchIndex(part.text, -1) {
			from := 1 + at + part.raw(match[0])
			to := 1 + at + part.raw(match[1])
			list = appendSplice(list, raw, from, to, s.replacement(part.text, match))
		}
		for at += part.size; at < len(body); {
			size, ok := unit(body[at:])
			if ok {
				break
			}
			at += size
		}
	}
	return list
}

// onlySpelling reports whether a text can be written in only one way, as long as nothing is
// escaped as \uXXXX.
func onlySpelling(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == '/' })
}

// literals is splices for a raw text in which every match is spelt as the prefix, which is the
// whole expression.
func (s *substituting) literals(raw []byte) (list []rawjson.Splice) {
	const few = 4
	for at := 1; ; {
		n := bytes.IndexByte(raw[min(at+s.rarest, len(raw)):], s.prefix[s.rarest])
		if n < 0 {
			return list
		}
		if at += n; !bytes.HasPrefix(raw[at:], []byte(s.prefix)) {
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
		if list == nil {
			list = make([]rawjson.Splice, 0, 2*few) // room for the chosen swipe, too
		}
		list = appendSplice(list, raw, at, at+len(s.prefix), s.literal)
		at += len(s.prefix)
	}
}

// appendSplice appends the replacement of a part of a text. What is near to the one before becomes
// part of it: there may be millions, and a splice takes more memory than the bytes between. data
// must have no spare capacity.
func appendSplice(list []rawjson.Splice, raw []byte, from, to int, data []byte) []rawjson.Splice {
	const near, many = 64, 4 << 10 // bytes
	if n := len(list); n > 0 {
		last := &list[n-1]
		if end := int(last.At + last.Len); from-end < near {
			if len(last.Data) > many && len(last.Data)+near+len(data) > cap(last.Data) {
				last.Data = slices.Grow(last.Data, len(raw)-end+near+len(data)) // more of the same follows
			}
			last.Data = append(append(last.Data, raw[end:from]...), data...)
			last.Len = int64(to) - last.At
			return list
		}
	}
	return append(list, rawjson.Splice{At: int64(from), Len: int64(to - from), Data: data})
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

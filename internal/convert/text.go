package convert

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
)

// readChub reads what Chub exports for SillyTavern: its lines, in which a text may be an object with
// the text in message (SillyTavern src/endpoints/chats.js, flattenChubChat).
func readChub(c *Conversation, v []byte, _ object, _ *Options) error {
	began := false
	for line := range bytes.Lines(v) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if !jsonl.Valid(line) || rawjson.KindOf(line) != rawjson.ObjectKind {
			c.drop("damaged lines", 1)
			continue
		}
		head := !began && meta.IsHeader(line)
		if began = true; head {
			continue
		}
		line = flatten(line)
		m := Message{Line: line, Name: text(line, "name"), Text: text(line, "mes")}
		switch message.Role(rawjson.Value(line, "is_user"), rawjson.Value(line, "is_system")) {
		case message.User:
			m.Role = User
		case message.System:
			m.Role = Narrator
		}
		m.Date, _ = sendate.ParseRaw(rawjson.Value(line, "send_date"))
		if n := rawjson.Len(rawjson.Value(line, "swipes")); n > 1 {
			m.Swipes = make([]Message, n)
		}
		c.Messages = append(c.Messages, m)
	}
	return nil
}

// hasChub reports whether there are lines with a text as Chub writes it.
func hasChub(raw []byte) bool {
	for line := range bytes.Lines(raw) {
		if !jsonl.Valid(line) {
			continue
		}
		swipes := slices.Collect(rawjson.Elements(rawjson.Value(line, "swipes")))
		if isChub(rawjson.Value(line, "mes")) || slices.ContainsFunc(swipes, isChub) {
			return true
		}
	}
	return false
}

// isChub reports whether a text is an object that holds it.
func isChub(raw []byte) bool { return rawjson.KindOf(raw) == rawjson.ObjectKind && has(raw, "message") }

// flatten puts the texts in the places of the objects that hold them; every other byte stays.
// A swipe that is then no text becomes an empty one.
func flatten(line []byte) []byte {
	o, err := rawjson.ParseObject(line)
	if err != nil {
		return line
	}
	inner := func(raw []byte) ([]byte, bool) {
		s := rawjson.Value(raw, "message")
		return s, isChub(raw) && rawjson.KindOf(s) == rawjson.String
	}
	if s, ok := inner(o.Value("mes")); ok {
		o.Set("mes", s)
	}
	o.EditList("swipes", func(_ int, value []byte) ([]byte, bool) {
		if s, ok := inner(value); ok {
			value = s
		}
		if rawjson.KindOf(value) != rawjson.String {
			value = []byte(`""`)
		}
		return value, true
	})
	return o.Bytes()
}

// readText reads SillyTavern's export as text: a paragraph a message, beginning with its speaker's name
// (src/endpoints/chats.js, /export).
func readText(c *Conversation, v []byte, _ object, opt *Options) error {
	speakers := slices.Concat(opt.Users, opt.Characters)
	slices.SortStableFunc(speakers, func(a, b string) int { return len(b) - len(a) }) // one may begin as another does
	free := true                                                                      // the line before is blank
	var m *Message
	var said strings.Builder
	end := func() {
		if m != nil {
			m.Text = strings.TrimRight(said.String(), "\n")
			c.add(*m)
		}
		said.Reset()
	}
	for line := range strings.Lines(strings.ReplaceAll(strings.ToValidUTF8(string(v), "�"), "\r\n", "\n")) {
		i := slices.IndexFunc(speakers, func(name string) bool { return free && strings.HasPrefix(line, name+": ") })
		free = strings.TrimSpace(line) == ""
		switch {
		case i >= 0:
			end()
			if m = (&Message{Name: speakers[i]}); slices.Contains(opt.Users, m.Name) {
				m.Role = User
			}
			said.WriteString(line[len(m.Name)+2:])
		case m != nil:
			said.WriteString(line)
		case !free:
			c.drop("lines before the first speaker", 1)
		}
	}
	if m == nil {
		return errors.New("no paragraph begins with the name of a speaker")
	}
	end()
	return nil
}

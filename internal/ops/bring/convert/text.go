package convert

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/place/sendate"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
)

// readChub reads what Chub exports for SillyTavern: its lines, in which a text may be an object with
// the text in message (SillyTavern src/endpoints/chats.js, flattenChubChat). These lines become those of
// the chat, so they are read and changed as bytes.
func readChub(c *Conversation, raw string, _ *Options) error {
	began := false
	number := 0
	for line := range bytes.Lines([]byte(raw)) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if damage := damageOf(line); damage != nil {
			damage.Line = number
			c.Damage = cmp.Or(c.Damage, damage)
			c.drop(DamagedLines, 1)
			continue
		}

		isHeader := !began && meta.IsHeader(line)
		began = true
		if isHeader {
			c.drop("keys of the metadata", membersOf(rawjson.Value(line, "chat_metadata")))
			continue
		}
		c.Messages = append(c.Messages, c.chubMessage(line))
	}
	return nil
}

// damageOf returns what is wrong with a line that must be an object, nil for nothing.
func damageOf(line []byte) *jsonl.Damage {
	if damage := jsonl.Check(line); damage != nil {
		return damage
	}
	if rawjson.KindOf(line) != rawjson.ObjectKind {
		return &jsonl.Damage{Column: 1, Reason: "this is no object"}
	}
	return nil
}

// membersOf returns how many members an object has.
func membersOf(raw []byte) (n int) {
	for range rawjson.Members(raw) {
		n++
	}
	return n
}

// chubMessage reads a line.
func (c *Conversation) chubMessage(line []byte) Message {
	line, emptied := flatten(line)
	c.drop("swipes without text", emptied)
	m := Message{Line: line}
	m.Name, _ = rawjson.Unquote(rawjson.Value(line, "name"))
	m.Text, _ = rawjson.Unquote(rawjson.Value(line, "mes"))
	role := message.Role(
		rawjson.Value(line, "name"),
		rawjson.Value(line, "is_user"),
		rawjson.Value(line, "is_system"),
		rawjson.Value(line, "extra"),
	)

	switch role {
	case message.Character:
	case message.User:
		m.Role = User
	default:
		m.Role = Narrator
	}

	m.Date, _ = sendate.ParseRaw(rawjson.Value(line, "send_date"))
	if n := rawjson.Len(rawjson.Value(line, "swipes")); n > 1 {
		m.Swipes = make([]Message, n)
	}
	return m
}

// hasChub reports whether there are lines with a text as Chub writes it.
func hasChub(raw string) bool {
	for text := range strings.Lines(raw) {
		line := []byte(text)
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
func isChub(raw []byte) bool {
	_, has := rawjson.Lookup(raw, "message")
	return has && rawjson.KindOf(raw) == rawjson.ObjectKind
}

// flatten puts the texts in the places of the objects that hold them; every other byte stays.
// A swipe that is then no text becomes an empty one; these are counted.
func flatten(line []byte) (flat []byte, emptied int) {
	o, err := rawjson.ParseObject(line)
	if err != nil {
		return line, 0
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
			emptied++
			value = []byte(`""`)
		}
		return value, true
	})
	return o.Bytes(), emptied
}

// readText reads SillyTavern's export as text, a paragraph a message, beginning with its speaker's name
// (src/endpoints/chats.js, /export), or a log in which each message is a line, or begins with one.
func readText(c *Conversation, raw string, opt *Options) error {
	speakers := slices.Concat(opt.Users, opt.Characters)
	slices.SortStableFunc(speakers, func(a, b string) int { return len(b) - len(a) }) // one may begin as another does
	text := strings.ToValidUTF8(raw, "�")
	text = strings.ReplaceAll(text, "\r\n", "\n")

	t := &textReader{Conversation: c, opt: opt, speakers: speakers, strangers: map[string]int{}}
	behindBlank, within := t.countStarts(text)
	t.isLog = within > behindBlank
	t.read(text)
	if t.began {
		t.warnOfStrangers()
		t.warnOfStarts(within)
		return nil
	}

	err := ErrNoSpeaker
	clear(t.strangers)
	t.isLog = true // for the names at the beginning of any line
	t.read(text)
	if names := t.frequentStrangers(1); len(names) > 0 {
		err = fmt.Errorf("%w; lines begin with %s", err, quoted(names))
	}
	return err
}

// ErrNoSpeaker means that no message of a text begins with the name of somebody who is known.
var ErrNoSpeaker = errors.New("no paragraph begins with the name of the user or of a character, and a colon")

// textReader collects the text of one message after the other.
type textReader struct {
	*Conversation
	opt       *Options
	speakers  []string        // the longest first
	isLog     bool            // a speaker needs no blank line before
	next      Message         // the message that is being read
	said      strings.Builder // its text
	began     bool            // a message began
	strangers map[string]int  // how often a paragraph begins as if by somebody of this name
}

// countStarts counts the lines that begin with a speaker's name, but for the first of them: those behind a
// blank line, as in SillyTavern's export, which writes one behind each message, and those within a
// paragraph, as in a log.
func (t *textReader) countStarts(text string) (behindBlank, within int) {
	isFirst := true
	afterBlank := true
	for line := range strings.Lines(text) {
		if t.speaker(line) != "" {
			switch {
			case isFirst:
				isFirst = false
			case afterBlank:
				behindBlank++
			default:
				within++
			}
		}
		afterBlank = isBlank(line)
	}
	return behindBlank, within
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// speaker returns whose name a line begins with, "" for nobody's.
func (t *textReader) speaker(line string) string {
	for _, name := range t.speakers {
		if name != "" && strings.HasPrefix(line, name+": ") {
			return name
		}
	}
	return ""
}

// read reads the messages of a text.
func (t *textReader) read(text string) {
	afterBlank := true
	for line := range strings.Lines(text) {
		mayBegin := afterBlank || t.isLog
		name := ""
		if mayBegin {
			name = t.speaker(line)
		}
		switch {
		case name != "":
			t.endMessage()
			t.beginMessage(name)
			t.said.WriteString(line[len(name)+len(": "):])
		case t.began:
			t.said.WriteString(line)
		case !isBlank(line):
			t.drop("lines before the first speaker", 1)
		}

		if mayBegin && name == "" {
			t.countStranger(line)
		}
		afterBlank = isBlank(line)
	}

	t.endMessage()
}

// beginMessage begins a message.
func (t *textReader) beginMessage(name string) {
	t.began = true
	t.next = Message{Name: name}
	if slices.Contains(t.opt.Users, name) {
		t.next.Role = User
	}
}

// endMessage adds the message that was read, if one began.
func (t *textReader) endMessage() {
	if t.began {
		t.next.Text = strings.TrimRight(t.said.String(), "\n")
		t.add(t.next)
	}
	t.said.Reset()
}

// countStranger counts a line that begins as if somebody spoke.
func (t *textReader) countStranger(line string) {
	const longest = 40
	name, _, ok := strings.Cut(line, ": ")
	isName := ok && name != "" && len(name) <= longest
	if isName {
		t.strangers[name]++
	}
}

// frequentStrangers returns the names that begin so many paragraphs or more, the most frequent first.
// There may be any number, so it returns only some.
func (t *textReader) frequentStrangers(least int) (names []string) {
	const most = 5
	for name, n := range t.strangers {
		if n >= least {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(t.strangers[b]-t.strangers[a], strings.Compare(a, b))
	})
	return names[:min(len(names), most)]
}

// warnOfStrangers names those who begin paragraphs, but are neither the user nor a character: what they say
// is in the text of the message before, or left out if there is none.
func (t *textReader) warnOfStrangers() {
	for _, name := range t.frequentStrangers(2) {
		paragraphs := plural.Many(t.strangers[name], "paragraph")
		warning := fmt.Sprintf("%s begin with %q, who is neither the user nor a character here: they are no messages of their own", paragraphs, name+":")
		t.Warnings = append(t.Warnings, warning)
	}
}

// warnOfStarts tells how many speakers' names within paragraphs begin no message.
func (t *textReader) warnOfStarts(within int) {
	if within == 0 || t.isLog {
		return
	}
	warning := plural.Of(within, "line within the messages begins with a speaker's name: it stays", "lines within the messages begin with a speaker's name: they stay")
	t.Warnings = append(t.Warnings, warning+" there, as most names stand behind a blank line")
}

// quoted lists names.
func quoted(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, strconv.Quote(name+":"))
	}
	return strings.Join(list, ", ")
}

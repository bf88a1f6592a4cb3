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

	t := &textReader{Conversation: c, opt: opt, speakers: speakers, strangers: map[string]*stranger{}}
	behindBlank, within := t.countStarts(text)
	t.isLog = within > behindBlank
	t.read(text)
	if t.began {
		c.Strangers = t.suspects()
		t.warnOfLinesBefore()
		t.warnOfStarts(within)
		return nil
	}

	err := ErrNoSpeaker
	if list := t.suspects(); len(list) > 0 {
		err = fmt.Errorf("%w; lines begin with %s", err, quoted(list))
	}
	return err
}

// LinesBefore is what is counted of lines in front of the first speaker's name.
const LinesBefore = "lines before the first speaker"

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
	userSays  bool            // one of the messages is the user's
	strangers map[string]*stranger
}

// stranger counts the lines that begin as if somebody of one name spoke.
type stranger struct {
	begins   int  // lines where a message may begin
	within   int  // other lines
	isBefore bool // one of them stands before the first message
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
			t.drop(LinesBefore, 1)
		}

		if name == "" {
			t.countStranger(line, mayBegin)
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
		t.userSays = true
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
func (t *textReader) countStranger(line string, mayBegin bool) {
	const longest = 40
	name, _, ok := strings.Cut(line, ": ")
	isName := ok && strings.TrimSpace(name) != "" && len(name) <= longest
	if !isName || t.speaker(line) != "" { // a speaker's name within a paragraph is counted otherwise
		return
	}

	known := t.strangers[name]
	if known == nil {
		known = &stranger{}
		t.strangers[name] = known
	}
	if mayBegin {
		known.begins++
	} else {
		known.within++
	}
	known.isBefore = known.isBefore || !t.began
}

// suspects returns those who may speak although nobody knows them, the most frequent first: what they say is
// in the text of the message before, or left out if there is none. Where the user says nothing, one line is
// enough, since the user may have another name. There may be any number, so it returns only some.
func (t *textReader) suspects() (list []Stranger) {
	const most = 5
	for name, known := range t.strangers {
		lines := known.begins
		if !t.userSays {
			lines += known.within
		}
		isSuspect := lines > 1 || known.isBefore || !t.userSays
		if lines > 0 && isSuspect {
			list = append(list, Stranger{name, lines})
		}
	}
	slices.SortFunc(list, func(a, b Stranger) int {
		return cmp.Or(b.Lines-a.Lines, strings.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), most)]
}

// warnOfLinesBefore warns of what is left out since no speaker's name stands before it.
func (t *textReader) warnOfLinesBefore() {
	at := slices.IndexFunc(t.Dropped, func(d Dropped) bool { return d.What == LinesBefore })
	if at < 0 {
		return
	}
	warning := plural.Of(t.Dropped[at].Count, "line before the first speaker is left out", "lines before the first speaker are left out")
	t.Warnings = append(t.Warnings, warning)
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
func quoted(list []Stranger) string {
	var words []string
	for _, s := range list {
		words = append(words, strconv.Quote(s.Name+":"))
	}
	return strings.Join(words, ", ")
}

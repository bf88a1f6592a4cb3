package family

import (
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
)

// The keys of a message that are looked at, by their place in keyNames.
const (
	keyName = iota
	keyIsUser
	keyText
	keyDate
	keyExtra
	keySwipeInfo
)

func keyNames() []string {
	return []string{"name", "is_user", "mes", "send_date", "extra", "swipe_info"}
}

func lineKeys() *jsonl.Keys { return jsonl.NewKeys(keyNames()...) }

// maxLinks is how many links of a chat are kept.
const maxLinks = 100_000

// tally is what a stretch of a chat says.
type tally struct {
	messages []Message
	links    []Link        // their indexes are those in the stretch
	seen     map[Link]bool // on the line
	ids      *message.Identifier
	become   func(l *jsonl.Line) (message []byte, ok bool) // nil: lines stay as they are
}

func (t *tally) reset() { t.messages, t.links = t.messages[:0], t.links[:0] }

// line reads one line.
func (t *tally) line(l *jsonl.Line) {
	raw, ok := l.Raw, l.Damage == nil
	if t.become != nil {
		raw, ok = t.become(l)
	}
	if !ok {
		return
	}
	value := func(key int) (value []byte) {
		if l.Damage == nil {
			value, _ = l.Value(key)
		} else {
			value = rawjson.Value(raw, keyNames()[key])
		}
		return value
	}
	date := value(keyDate)
	m := Message{ID: t.ids.Identity(value(keyName), value(keyIsUser), value(keyText), date, l.Plain), Off: l.Off}
	if at, ok := sendate.ParseRaw(date); ok {
		m.Date = at.UnixMilli()
	}
	t.messages = append(t.messages, m)
	t.seen = nil
	index := len(t.messages) - 1
	t.linksIn(value(keyExtra), l.Plain, index)
	if infos := value(keySwipeInfo); message.MayLink(infos, l.Plain) {
		for info := range rawjson.Elements(infos) {
			t.linksIn(rawjson.Value(info, "extra"), l.Plain, index)
		}
	}
}

// linksIn collects the links in an extra, each once a message.
func (t *tally) linksIn(extra []byte, plain bool, index int) {
	if !message.MayLink(extra, plain) {
		return
	}
	add := func(kind Kind, raw []byte) {
		name, ok := rawjson.Unquote(raw)
		if !ok || name == "" {
			return
		}
		l := Link{kind, name, index}
		if len(t.links) < maxLinks && !t.seen[l] {
			t.links = append(t.links, l)
			if t.seen == nil {
				t.seen = map[Link]bool{}
			}
			t.seen[l] = true
		}
	}
	add(Checkpoint, rawjson.Value(extra, "bookmark_link"))
	for raw := range rawjson.Elements(rawjson.Value(extra, "branches")) {
		add(Branch, raw)
	}
}

package look

import (
	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/inspect"
	"stchat/internal/message"
	"stchat/internal/rawjson"
)

// Message is one message: the document of message get.
type Message struct {
	Schema     int        `json:"schema"`
	Path       string     `json:"path" is:"path"`
	Index      *int       `json:"index"` // null if it was read from the end
	Role       string     `json:"role"`
	Name       *string    `json:"name"`
	Date       *string    `json:"date"` // RFC 3339 in UTC, or the text as it stands
	Hidden     bool       `json:"hidden"`
	Swipe      *int       `json:"swipe"` // the chosen one, from 1
	Swipes     int        `json:"swipes"`
	SwipeTexts []*string  `json:"swipe_texts"` // filled on demand; null for a swipe that is not a text
	Text       *string    `json:"text"`
	Reasoning  *string    `json:"reasoning"`
	Media      []Media    `json:"media"`
	Files      []Media    `json:"files"`
	Checkpoint *string    `json:"checkpoint"`
	Branches   []string   `json:"branches"`
	Stored     rawMessage `json:"message"`

	Display *string `json:"-"` // extra.display_text
	Line    []byte  `json:"-"` // as it is stored
}

// rawMessage is the stored object, spelled as it is stored.
type rawMessage []byte

// MarshalJSON implements json.Marshaler.
func (r rawMessage) MarshalJSON() ([]byte, error) {
	if r == nil {
		return []byte("null"), nil
	}
	return rawjson.Compact(r), nil
}

// Media is a picture or another file attached to a message.
type Media struct {
	URL    string  `json:"url"`
	Type   *string `json:"type"`
	Exists *bool   `json:"exists"` // null if it is not in the user folder
}

// read returns the document of one line of a chat.
func read(c *chat.Chat, at choose.Place, line []byte, swipeTexts bool) *Message {
	m := &Message{Schema: 1, Path: c.Path, Stored: line, Line: line}
	if at.Index >= 0 {
		m.Index = &at.Index
	}
	o, err := rawjson.ParseObject(line)
	if err != nil {
		return m // cannot happen: such a line is never chosen
	}
	system := o.Value("is_system")
	m.Role = string(message.Role(o.Value("is_user"), system))
	m.Name, m.Text = text(o, "name"), text(o, "mes")
	m.Date = inspect.DateText(o.Value("send_date"))
	m.swipes(o, swipeTexts)
	extra, ok := o.Object("extra")
	if !ok {
		extra = rawjson.NewObject()
	}
	m.Hidden = rawjson.Truthy(system) && !rawjson.Truthy(extra.Value("type"))
	m.Reasoning, m.Display, m.Checkpoint = text(extra, "reasoning"), text(extra, "display_text"), text(extra, "bookmark_link")
	for raw := range rawjson.Elements(extra.Value("branches")) {
		if name, ok := rawjson.Unquote(raw); ok {
			m.Branches = append(m.Branches, name)
		}
	}
	m.Media, m.Files = attached(c, extra, "media"), attached(c, extra, "files")
	return m
}

// swipes fills in how many swipes there are, which is chosen, and their texts if asked for.
func (m *Message) swipes(o *rawjson.Object, texts bool) {
	for raw := range rawjson.Elements(o.Value("swipes")) {
		m.Swipes++
		if texts {
			m.SwipeTexts = append(m.SwipeTexts, rawjson.TextOrNil(raw))
		}
	}
	if n, ok := rawjson.Int(o.Value("swipe_id")); ok && n >= 0 && n < m.Swipes {
		n++
		m.Swipe = &n
	}
}

func text(o *rawjson.Object, key string) *string {
	return rawjson.TextOrNil(o.Value(key))
}

// attached lists the attachments under a key of extra: objects with a url, or plain addresses
// (FORMATS.md E4).
func attached(c *chat.Chat, extra *rawjson.Object, key string) []Media {
	var list []Media
	for element := range rawjson.Elements(extra.Value(key)) {
		address := element
		var kind []byte
		if rawjson.KindOf(element) == rawjson.ObjectKind {
			address = rawjson.Value(element, "url")
			kind = rawjson.Value(element, "type")
		}
		url, ok := rawjson.Unquote(address)
		if !ok {
			continue
		}
		media := Media{URL: url, Type: rawjson.TextOrNil(kind)}
		if c.HasDir {
			if exists, ours := c.Dir.Serves(url); ours {
				media.Exists = &exists
			}
		}
		list = append(list, media)
	}
	return list
}

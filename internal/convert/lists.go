package convert

import (
	"cmp"
	"slices"
	"strings"

	"stchat/internal/rawjson"
)

// shape says where things are in a format that lists messages. A place is keys with dots between;
// of several, with | between, the first that says something counts.
type shape struct {
	id, title                    string // in the conversation
	text                         string // in a message: the key of a text, or of a list of parts
	name, date, model, reasoning string // in a message

	user, hidden string          // true of the user's, and of hidden messages
	role         string          // the place of a word
	roles        map[string]Role // by that word; those of others are left out, unless it has "" or is nil
}

// listed is a format that has messages in a list under a key, the first of which has a mark.
func listed(name, key, mark string, s shape) format {
	return format{
		name: name,
		fits: func(o object) bool { return has(first(o[key]), mark) },
		read: func(c *Conversation, v []byte, o object, _ *Options) error {
			if c.ID, c.Title = o.text(s.id), o.text(s.title); !isList(v) {
				v = o[key]
			}
			c.list(v, s)
			return nil
		},
	}
}

// list reads a list of messages.
func (c *Conversation) list(list []byte, s shape) {
	for raw := range rawjson.Elements(list) {
		m := Message{Name: textAt(raw, s.name), Model: textAt(raw, s.model), Reasoning: textAt(raw, s.reasoning), Hidden: isTrue(raw, s.hidden)}
		for _, date := range values(raw, s.date) {
			m.Date = dateOf(date)
		}
		role, ok := s.roles[textAt(raw, s.role)]
		if _, rest := s.roles[""]; !ok && !rest && s.roles != nil {
			c.drop("messages of another role", 1)
			continue
		}
		if m.Role = role; isTrue(raw, s.user) {
			m.Role = User
		}
		var others int
		m.Text, others = joined(rawjson.Value(raw, s.text))
		c.drop("parts that are not text", others)
		if s.reasoning != "" && m.Role == Character && m.Reasoning == "" {
			m.Reasoning, m.Text = thinking(m.Text)
		}
		c.add(m)
	}
}

// values are what an object has in places.
func values(raw []byte, places string) (list [][]byte) {
	for place := range strings.SplitSeq(places, "|") {
		if v, ok := rawjson.Lookup(raw, strings.Split(place, ".")...); ok && place != "" {
			list = append(list, v)
		}
	}
	return list
}

// textAt returns the text in a place.
func textAt(raw []byte, places string) (s string) {
	for _, v := range values(raw, places) {
		text, _ := rawjson.Unquote(v)
		s = cmp.Or(s, text)
	}
	return s
}

// isTrue reports whether a place has what is true to JavaScript.
func isTrue(raw []byte, places string) bool {
	return slices.ContainsFunc(values(raw, places), rawjson.Truthy)
}

// joined returns a text, or the texts of a list of parts, and how many of these have none.
func joined(content []byte) (s string, others int) {
	if s, ok := rawjson.Unquote(content); ok {
		return s, 0
	}
	var list []string
	for part := range rawjson.Elements(content) {
		if s, ok := rawjson.Unquote(part); ok {
			list = append(list, s)
		} else if s, ok := rawjson.Unquote(rawjson.Value(part, "text")); ok {
			list = append(list, s)
		} else {
			others++
		}
	}
	return strings.Join(list, "\n"), others
}

// openai is a list of messages as chat completion APIs take it, alone or under messages; many
// programs and data sets have it (platform.openai.com, "Chat Completions").
func openai() shape {
	return shape{
		id: "id", title: "title", text: "content", name: "name", reasoning: "reasoning_content", role: "role",
		roles: map[string]Role{"assistant": Character, "user": User, "system": Narrator, "developer": Narrator},
	}
}

// sharegpt is a list of turns as data sets have it: from and value.
func sharegpt() shape {
	return shape{id: "id", text: "value", role: "from", roles: map[string]Role{
		"human": User, "user": User, "gpt": Character, "assistant": Character, "model": Character, "char": Character, "system": Narrator,
	}}
}

// agnai is what Agnaistic exports (agnaistic/agnai, web/pages/Chat/ChatExport.tsx).
func agnai() shape {
	return shape{text: "msg", name: "name|handle", date: "createdAt", hidden: "ooc", user: "userId"}
}

// histories are the chats in what CharacterAI Dumper saves: all with a character in one file
// (its source; SillyTavern's importer reads the same shape).
func histories(o object) []byte { return rawjson.Value(o["histories"], "histories") }

func readCAI(c *Conversation, _ []byte, o object, _ *Options) error {
	c.ID = o.text("external_id")
	list := rawjson.Filter(o["msgs"], func(_ int, m []byte) bool { return !isTrue(m, "is_alternative") })
	c.drop("alternative replies", rawjson.Len(o["msgs"])-rawjson.Len(list))
	c.list(list, shape{text: "text", name: "src.name", user: "src.is_human"})
	if len(c.Messages) > 0 {
		c.Messages[0].Date = dateOf(o["created"])
	}
	return nil
}

// risuChats are the chats in what RisuAI exports, a list if it is all of a character.
func risuChats(o object) []byte { return o["data"] }

// readRisu reads a chat of RisuAI (kwaroran/RisuAI, src/ts/characters.ts, exportChat and exportAllChats).
func readRisu(c *Conversation, _ []byte, o object, _ *Options) error {
	if o["data"] != nil && o["type"] != nil {
		o = fields(o["data"])
	}
	c.ID, c.Title, c.Greeting = o.text("id"), o.text("name"), 0
	if n, ok := rawjson.Int(o["fmIndex"]); ok {
		c.Greeting = n + 1
	}
	c.list(o["message"], shape{
		text: "data", name: "name", date: "time", model: "generationInfo.model", hidden: "disabled|isComment",
		role: "role", roles: map[string]Role{"user": User, "": Character},
	})
	return nil
}

package convert

import "stchat/internal/rawjson"

// cai is what CharacterAI Dumper saves: all chats with a character in one file
// (its source; SillyTavern's importer reads the same shape).
func cai() format {
	return format{
		name:  "cai",
		fits:  func(v []byte) bool { return isList(rawjson.Value(v, "histories", "histories")) },
		parts: func(v []byte) []byte { return rawjson.Value(v, "histories", "histories") },
		read: func(c *Conversation, v []byte, _ *Options) error {
			c.ID = text(v, "external_id")
			created := dateOf(rawjson.Value(v, "created"))
			for raw := range rawjson.Elements(rawjson.Value(v, "msgs")) {
				if rawjson.Truthy(rawjson.Value(raw, "is_alternative")) {
					c.drop("alternative replies", 1)
					continue
				}
				m := Message{Name: text(raw, "src", "name"), Text: text(raw, "text")}
				if rawjson.Truthy(rawjson.Value(raw, "src", "is_human")) {
					m.Role = User
				}
				if len(c.Messages) == 0 {
					m.Date = created
				}
				c.add(m)
			}
			return nil
		},
	}
}

package convert

import "stchat/internal/rawjson"

// cai is what CharacterAI Dumper saves: all chats with a character in one file
// (its source; SillyTavern's importer reads the same shape).
func cai() format {
	return format{
		name:  "cai",
		fits:  func(o object) bool { return isList(rawjson.Value(o["histories"], "histories")) },
		parts: func(o object) []byte { return rawjson.Value(o["histories"], "histories") },
		read: func(c *Conversation, _ []byte, o object, _ *Options) error {
			c.ID = o.text("external_id")
			created := dateOf(o["created"])
			for raw := range rawjson.Elements(o["msgs"]) {
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

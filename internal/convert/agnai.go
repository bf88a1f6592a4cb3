package convert

import (
	"cmp"

	"stchat/internal/rawjson"
)

// agnai is what Agnaistic exports (agnaistic/agnai, web/pages/Chat/ChatExport.tsx).
func agnai() format {
	return format{
		name: "agnai",
		fits: func(v []byte) bool { return has(first(rawjson.Value(v, "messages")), "msg") },
		read: func(c *Conversation, v []byte, _ *Options) error {
			for raw := range rawjson.Elements(rawjson.Value(v, "messages")) {
				m := Message{
					Text: text(raw, "msg"), Name: cmp.Or(text(raw, "name"), text(raw, "handle")), Date: dateOf(rawjson.Value(raw, "createdAt")),
					Hidden: rawjson.Truthy(rawjson.Value(raw, "ooc")),
				}
				if rawjson.Truthy(rawjson.Value(raw, "userId")) {
					m.Role = User
				}
				c.add(m)
			}
			return nil
		},
	}
}

// risu is what RisuAI exports: one chat, or all of a character (kwaroran/RisuAI,
// src/ts/characters.ts, exportChat and exportAllChats).
func risu() format {
	return format{
		name: "risu",
		fits: func(v []byte) bool {
			kind := text(v, "type")
			return kind == "risuChat" || kind == "risuAllChats" && isList(rawjson.Value(v, "data"))
		},
		parts: func(v []byte) []byte {
			if data := rawjson.Value(v, "data"); isList(data) {
				return data
			}
			return nil
		},
		read: func(c *Conversation, v []byte, _ *Options) error {
			if data, ok := rawjson.Lookup(v, "data"); ok && has(v, "type") {
				v = data
			}
			c.ID, c.Title = text(v, "id"), text(v, "name")
			if n, ok := rawjson.Int(rawjson.Value(v, "fmIndex")); ok {
				c.Greeting = n + 1
			} else {
				c.Greeting = 0
			}
			for raw := range rawjson.Elements(rawjson.Value(v, "message")) {
				m := Message{
					Text: text(raw, "data"), Name: text(raw, "name"), Date: dateOf(rawjson.Value(raw, "time")), Model: text(raw, "generationInfo", "model"),
					Hidden: rawjson.Truthy(rawjson.Value(raw, "disabled")) || rawjson.Truthy(rawjson.Value(raw, "isComment")),
				}
				if text(raw, "role") == "user" {
					m.Role = User
				}
				c.add(m)
			}
			return nil
		},
	}
}

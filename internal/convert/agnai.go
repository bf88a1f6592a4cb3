package convert

import (
	"cmp"

	"stchat/internal/rawjson"
)

// agnai is what Agnaistic exports (agnaistic/agnai, web/pages/Chat/ChatExport.tsx).
func agnai() format {
	return format{
		name: "agnai",
		fits: func(o object) bool { return has(first(o["messages"]), "msg") },
		read: func(c *Conversation, _ []byte, o object, _ *Options) error {
			for raw := range rawjson.Elements(o["messages"]) {
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
		fits: func(o object) bool {
			kind := o.text("type")
			return kind == "risuChat" || kind == "risuAllChats" && isList(o["data"])
		},
		parts: func(o object) []byte {
			if data := o["data"]; isList(data) {
				return data
			}
			return nil
		},
		read: func(c *Conversation, _ []byte, o object, _ *Options) error {
			if o["data"] != nil && o["type"] != nil {
				o = fields(o["data"])
			}
			c.ID, c.Title = o.text("id"), o.text("name")
			if n, ok := rawjson.Int(o["fmIndex"]); ok {
				c.Greeting = n + 1
			} else {
				c.Greeting = 0
			}
			for raw := range rawjson.Elements(o["message"]) {
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

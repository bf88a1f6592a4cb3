package convert

import (
	"strings"

	"stchat/internal/rawjson"
)

// openai is a list of messages as chat completion APIs take it, alone or under messages; many
// programs and data sets have it (platform.openai.com, "Chat Completions").
func openai() format {
	return format{
		name: "openai",
		fits: func(o object) bool { return has(first(o["messages"]), "role") },
		read: func(c *Conversation, v []byte, o object, _ *Options) error {
			c.ID, c.Title = o.text("id"), o.text("title")
			list := o["messages"]
			if isList(v) {
				list = v
			}
			for raw := range rawjson.Elements(list) {
				m := Message{Name: text(raw, "name"), Text: parts(rawjson.Value(raw, "content"), "\n"), Reasoning: text(raw, "reasoning_content")}
				switch role := text(raw, "role"); role {
				case "assistant":
				case "user":
					m.Role = User
				case "system", "developer":
					m.Role = Narrator
				default:
					c.drop("messages of another role", 1)
					continue
				}
				if m.Role == Character && m.Reasoning == "" {
					m.Reasoning, m.Text = thinking(m.Text)
				}
				c.add(m)
			}
			return nil
		},
	}
}

// parts returns a text, or the texts of a list of parts.
func parts(content []byte, between string) string {
	if s, ok := rawjson.Unquote(content); ok {
		return s
	}
	var list []string
	for part := range rawjson.Elements(content) {
		if s, ok := rawjson.Unquote(part); ok {
			list = append(list, s)
		} else if s, ok := rawjson.Unquote(rawjson.Value(part, "text")); ok {
			list = append(list, s)
		}
	}
	return strings.Join(list, between)
}

// sharegpt is a list of turns as data sets have it: from and value.
func sharegpt() format {
	return format{
		name: "sharegpt",
		fits: func(o object) bool { return has(first(o["conversations"]), "from") },
		read: func(c *Conversation, _ []byte, o object, _ *Options) error {
			c.ID = o.text("id")
			for raw := range rawjson.Elements(o["conversations"]) {
				m := Message{Text: text(raw, "value")}
				switch text(raw, "from") {
				case "human", "user":
					m.Role = User
				case "gpt", "assistant", "model", "char":
				case "system":
					m.Role = Narrator
				default:
					c.drop("messages of another role", 1)
					continue
				}
				c.add(m)
			}
			return nil
		},
	}
}

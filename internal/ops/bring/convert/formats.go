package convert

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"
)

// format is a way in which conversations are stored. A new one is a row of [formats], and where it lists
// messages or nodes of a tree a [shape].
type format struct {
	name     string
	fits     func(o object) bool                                       // nil: only where it is asked for
	parts    string                                                    // the place of the list of conversations; no list there: it is one
	read     func(c *Conversation, v gjson.Result, opt *Options) error // reads one
	readText func(c *Conversation, raw string, opt *Options) error     // reads one that is no JSON value
}

// formats lists the formats, in the order in which they are tried.
func formats() []format {
	return []format{
		{name: "kobold", read: readKobold, fits: func(o object) bool {
			return o.get("savedsettings").Exists() || o.get("actions").IsArray() && o.get("prompt").Type == gjson.String
		}},
		{name: "cai", read: cai().read, parts: "histories.histories", fits: func(o object) bool {
			return o.at("histories.histories").IsArray()
		}},
		{name: "ooba", read: readOoba, fits: func(o object) bool {
			return o.get("data_visible").IsArray() || o.get("internal").IsArray() && o.get("visible").IsArray()
		}},
		listed("exporter", exporter(), "role", "say"),
		listed("openai", openai(), "role"),
		listed("agnai", agnai(), "msg"),
		{name: "risu", read: readRisu, parts: "data", fits: func(o object) bool {
			kind := o.text("type")
			return kind == "risuChat" || kind == "risuAllChats" && o.get("data").IsArray()
		}},
		{name: "deepseek", read: deepseek().read, fits: func(o object) bool {
			return o.get("mapping").IsObject() && (o.get("inserted_at").Exists() || hasFragments(o.get("mapping")))
		}},
		{name: "chatgpt", read: chatgpt().read, fits: func(o object) bool { return o.get("mapping").IsObject() }},
		{name: "claude", read: claude().read, fits: func(o object) bool { return o.get("chat_messages").IsArray() }},
		listed("sharegpt", sharegpt(), "from"),
		{name: "chub", readText: readChub},
		{name: "txt", readText: readText},
	}
}

// Formats returns the names of the formats.
func Formats() (list []string) {
	for _, f := range formats() {
		list = append(list, f.name)
	}
	return list
}

// formatOf returns the format of a name, or without one the first that fits; nil if there is none.
func formatOf(name string, o object) *format {
	for _, f := range formats() {
		if f.name == name || name == "" && f.fits != nil && f.fits(o) {
			return &f
		}
	}
	return nil
}

// openai is a list of messages as chat completion APIs take it, alone or under messages; many programs and
// data sets have it (platform.openai.com, "Chat Completions").
func openai() shape {
	return shape{
		id: "id", title: "title", messages: "messages",
		text: "content|refusal", join: "\n", name: "name", reasoning: "reasoning_content",
		role: "role", ignored: []string{"tool", "function"},
		omit: []count{{"tool_calls", "tool calls"}, {"function_call", "tool calls"}, {"audio", "sounds"}},
	}
}

// exporter is what the browser extensions "ChatGPT Exporter", "Claude Exporter" and "Gemini Exporter" of one
// maker save as JSON: metadata with powered_by, and messages of a Prompt and a Response (files in public
// repositories; the extensions' source was not read).
func exporter() shape {
	return shape{
		id: "metadata.link", title: "metadata.title", userName: "metadata.user.name", began: "metadata.dates.created",
		messages: "messages",
		text:     "say", date: "time", role: "role",
	}
}

// sharegpt is a list of turns as data sets have it: from and value.
func sharegpt() shape {
	return shape{
		id: "id", messages: "conversations",
		text: "value", join: "\n", role: "from", ignored: []string{"tool", "function", "function_call", "observation"},
	}
}

// agnai is what Agnaistic exports (agnaistic/agnai, web/pages/Chat/ChatExport.tsx).
func agnai() shape {
	return shape{
		messages: "messages",
		text:     "msg", name: "name|handle", date: "createdAt", isUser: "userId", hidden: "ooc",
		omits: []count{{"scenario", "scenario"}, {"sampleChat", "sample dialogue"}},
		omit:  []count{{"retries", "alternative replies"}},
	}
}

// cai is what CharacterAI Dumper saves: all chats with a character in one file (its source; SillyTavern's
// importer reads the same shape).
func cai() shape {
	return shape{
		id: "external_id", began: "created", messages: "msgs",
		text: "text", name: "src.name", isUser: "src.is_human",
		why: func(o object) string {
			if o.isTrue("is_alternative") {
				return "alternative replies"
			}
			return ""
		},
	}
}

// readRisu reads a chat of RisuAI, which does not store the greeting with which it began
// (kwaroran/RisuAI, src/ts/characters.ts, exportChat and exportAllChats).
func readRisu(c *Conversation, v gjson.Result, opt *Options) error {
	s := shape{
		id: "id", title: "name", messages: "message",
		text: "data", name: "name", date: "time", model: "generationInfo.model",
		hidden: "disabled|isComment", role: "role",
		omits: []count{{"note", "author's note"}, {"localLore", "lore entries"}},
	}
	o := objectOf(v)
	if o.get("type").Exists() && o.get("data").IsObject() {
		v = o.get("data")
	}
	c.Greeting = 0
	if chosen := valueOf(v, "fmIndex"); chosen.Type == gjson.Number {
		c.Greeting = int(chosen.Int()) + 1
	}
	return s.read(c, v, opt)
}

// chatgpt is ChatGPT's data export, conversations.json: a tree of messages (pionxzh/chatgpt-exporter and
// others that read it; OpenAI does not describe it).
func chatgpt() shape {
	return shape{
		id: "conversation_id|id", title: "title", messages: "mapping", leaf: "current_node",
		parent: "parent", message: "message",
		text: "content.parts|content.text", join: "\n", date: "create_time", model: "metadata.model_slug",
		role: "author.role", ignored: []string{"system", "tool"},
		omit:     []count{{"metadata.attachments", "files"}},
		why:      notShown,
		thoughts: chatgptThoughts,
	}
}

// notShown says why a message of ChatGPT's is not shown to a person.
func notShown(o object) string {
	recipient, weight := o.get("recipient"), o.get("weight")
	switch {
	case recipient.Type == gjson.String && recipient.Str != "all":
		return "messages to tools"
	case weight.Type == gjson.Number && weight.Num == 0, o.isTrue("metadata.is_visually_hidden_from_conversation"):
		return "messages that were not shown"
	}
	return ""
}

// chatgptThoughts returns what a message of its own holds of the thoughts before a reply: their text, or
// what the model said while it was thinking.
func chatgptThoughts(o object) (thought string, ok bool) {
	switch {
	case o.text("content.content_type") == "thoughts":
		var list []string
		each(o.at("content.thoughts"), func(_, v gjson.Result) {
			one := objectOf(v)
			list = append(list, cmp.Or(one.text("content"), one.text("summary")))
		})
		return strings.Join(list, "\n\n"), true
	case o.isTrue("metadata.is_thinking_preamble_message"):
		said, _ := new(Conversation).parts(o.at("content.parts"))
		return strings.Join(said, "\n"), true
	}
	return "", false
}

// deepseek is DeepSeek's data export, conversations.json: a tree as ChatGPT's, of messages in fragments that
// say whether they are asked, answered or thought (a file of its own making; DeepSeek does not describe it).
func deepseek() shape {
	return shape{
		id: "id", title: "title", messages: "mapping",
		parent: "parent", message: "message",
		text: "fragments", join: "\n\n", date: "inserted_at", model: "model",
		omit: []count{{"files", "files"}},
		roleOf: func(o object) (word string) {
			each(o.get("fragments"), func(_, part gjson.Result) {
				switch objectOf(part).text("type") {
				case "REQUEST":
					word = "user"
				case "RESPONSE", "TEMPLATE_RESPONSE", "THINK":
					word = cmp.Or(word, "assistant")
				}
			})
			return word
		},
	}
}

// hasFragments reports whether the first message of a tree is in DeepSeek's fragments.
func hasFragments(mapping gjson.Result) (has bool) {
	mapping.ForEach(func(_, node gjson.Result) bool {
		message := valueOf(node, "message")
		has = valueOf(message, "fragments").Exists()
		return !message.IsObject()
	})
	return has
}

// claude is Claude's data export, conversations.json (agoramachina and others that read it; Anthropic does
// not describe it).
func claude() shape {
	return shape{
		id: "uuid", title: "name", messages: "chat_messages", leaf: "current_leaf_message_uuid",
		nodeID: "uuid", parent: "parent_message_uuid",
		text: "content|text", join: "\n\n", date: "created_at", role: "sender",
		omits: []count{{"summary", "summary"}},
		omit:  []count{{"files", "files"}},
		more:  pasted,
	}
}

// pasted returns the texts that Claude keeps beside a message: what was pasted into it, or read out of a
// file, which then has its name before it. Attachments without a text are counted.
func pasted(c *Conversation, o object) (texts []string) {
	each(o.get("attachments"), func(_, v gjson.Result) {
		attachment := objectOf(v)
		s := attachment.text("extracted_content")
		if strings.TrimSpace(s) == "" {
			c.drop("files", 1)
			return
		}
		if name := attachment.text("file_name"); name != "" {
			s = name + ":\n" + s
		}
		texts = append(texts, s)
	})
	return texts
}

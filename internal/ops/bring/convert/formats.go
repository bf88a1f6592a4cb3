package convert

import (
	"cmp"
	"iter"
	"strings"

	"github.com/tidwall/gjson"
)

// format is a way in which conversations are stored. A new one is a row of [formats], and where it lists
// messages or nodes of a tree a [shape].
type format struct {
	name     string
	about    string                                                    // whose it is, in a few words
	fits     func(v gjson.Result) bool                                 // nil: only where it is asked for
	parts    string                                                    // the path of the list of conversations; no list there: it is one
	read     func(c *Conversation, v gjson.Result, opt *Options) error // reads one
	readText func(c *Conversation, raw string, opt *Options) error     // reads one that is no JSON value
}

// formats lists the formats, in the order in which they are tried.
func formats() []format {
	return []format{
		{name: "kobold", about: "KoboldAI Lite", read: readKobold, fits: isKobold},
		{name: "cai", about: "CharacterAI Dumper", read: cai().read, fits: hasList("histories.histories"), parts: "histories.histories"},
		{name: "ooba", about: "text-generation-webui", read: readOoba, fits: isOoba},
		{name: "exporter", about: "the extensions ChatGPT, Claude and Gemini Exporter", read: exporter().read, fits: exporter().lists("role", "say")},
		{name: "openai", about: "lists of role, content", read: openai().read, fits: openai().lists("role")},
		{name: "agnai", about: "Agnaistic", read: agnai().read, fits: agnai().lists("msg")},
		{name: "risu", about: "RisuAI, one chat or all", read: readRisu, fits: isRisu, parts: "data"},
		{name: "deepseek", about: "DeepSeek's data export", read: deepseek().read, fits: isDeepseek},
		{name: "chatgpt", about: "ChatGPT's data export", read: chatgpt().read, fits: func(v gjson.Result) bool { return get(v, "mapping").IsObject() }},
		{name: "claude", about: "Claude's data export", read: claude().read, fits: hasList("chat_messages")},
		{name: "sharegpt", about: "lists of from, value", read: sharegpt().read, fits: sharegpt().lists("from")},
		{name: "chub", about: "Chub's chats for SillyTavern", readText: readChub},
		{name: "txt", about: `.txt: SillyTavern's text export, or lines such as "Mira: Hello"`, readText: readText},
	}
}

// hasList returns whether a value has a list at a path.
func hasList(path string) func(v gjson.Result) bool {
	return func(v gjson.Result) bool { return get(v, path).IsArray() }
}

// lists returns whether a value lists messages of a shape, the first of which has some keys.
func (s shape) lists(keys ...string) func(v gjson.Result) bool {
	return func(v gjson.Result) bool {
		messages := get(v, s.messages)
		if !messages.IsArray() {
			return false
		}
		first := messages.Get("0")
		for _, key := range keys {
			if !get(first, key).Exists() {
				return false
			}
		}
		return true
	}
}

// Formats returns the names of the formats.
func Formats() (list []string) {
	for name := range Described() {
		list = append(list, name)
	}
	return list
}

// Described yields the formats in the order in which they are tried: the name, and in a few words whose it is.
func Described() iter.Seq2[string, string] {
	return func(yield func(name, about string) bool) {
		for _, f := range formats() {
			if !yield(f.name, f.about) {
				return
			}
		}
	}
}

// formatNamed returns the format of a name, nil if there is none.
func formatNamed(name string) *format {
	for _, f := range formats() {
		if f.name == name {
			return &f
		}
	}
	return nil
}

// formatOf returns the first format that fits a value, nil if there is none.
func formatOf(v gjson.Result) *format {
	for _, f := range formats() {
		if f.fits != nil && f.fits(v) {
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
		text: "content or refusal", join: "\n", name: "name", reasoning: "reasoning_content", thinks: true,
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
		text: "value", join: "\n", thinks: true,
		role: "from", ignored: []string{"tool", "function", "function_call", "observation"},
	}
}

// agnai is what Agnaistic exports (agnaistic/agnai, web/pages/Chat/ChatExport.tsx).
func agnai() shape {
	return shape{
		messages: "messages",
		text:     "msg", name: "name or handle", date: "createdAt", isUser: "userId", hidden: "ooc",
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
		whyLeftOut: func(message gjson.Result) string {
			if isTrue(message, "is_alternative") {
				return "alternative replies"
			}
			return ""
		},
	}
}

// isRisu reports whether a value is one chat of RisuAI, or all chats of a character.
func isRisu(v gjson.Result) bool {
	kind := text(get(v, "type"))
	return kind == "risuChat" || kind == "risuAllChats" && get(v, "data").IsArray()
}

// readRisu reads a chat of RisuAI, which does not store the greeting with which it began
// (kwaroran/RisuAI, src/ts/characters.ts, exportChat and exportAllChats).
func readRisu(c *Conversation, v gjson.Result, opt *Options) error {
	s := shape{
		id: "id", title: "name", messages: "message",
		text: "data", name: "name", date: "time", model: "generationInfo.model",
		hidden: "disabled or isComment", role: "role",
		omits: []count{{"note", "author's note"}, {"localLore", "lore entries"}},
	}

	chat := v
	isFile := get(v, "type").Exists() && get(v, "data").IsObject()
	if isFile {
		chat = get(v, "data")
	}
	c.Greeting = 0
	if chosen := get(chat, "fmIndex"); chosen.Type == gjson.Number {
		c.Greeting = int(chosen.Int()) + 1
	}
	return s.read(c, chat, opt)
}

// chatgpt is ChatGPT's data export, conversations.json: a tree of messages (pionxzh/chatgpt-exporter and
// others that read it; OpenAI does not describe it).
func chatgpt() shape {
	return shape{
		id: "conversation_id or id", title: "title", messages: "mapping", leaf: "current_node",
		parent: "parent", message: "message",
		text: "content.parts or content.text", join: "\n", date: "create_time", model: "metadata.model_slug",
		role: "author.role", ignored: []string{"system", "tool"},
		omit:       []count{{"metadata.attachments", "files"}},
		whyLeftOut: notShown,
		thought:    chatgptThought,
	}
}

// notShown says why a message of ChatGPT's is not shown to a person.
func notShown(message gjson.Result) string {
	recipient := get(message, "recipient")
	if recipient.Type == gjson.String && recipient.Str != "all" {
		return "messages to tools"
	}
	weight := get(message, "weight")
	hasNoWeight := weight.Type == gjson.Number && weight.Num == 0
	if hasNoWeight || isTrue(message, "metadata.is_visually_hidden_from_conversation") {
		return "messages that were not shown"
	}
	return ""
}

// chatgptThought returns what a message of its own holds of the thoughts before a reply: their text, or
// what the model said while it was thinking.
func chatgptThought(message gjson.Result) (thought string, ok bool) {
	if text(get(message, "content.content_type")) == "thoughts" {
		var list []string
		each(get(message, "content.thoughts"), func(_, v gjson.Result) {
			list = append(list, firstText(v, "content or summary"))
		})
		return strings.Join(list, "\n\n"), true
	}

	if isTrue(message, "metadata.is_thinking_preamble_message") {
		said, _ := new(Conversation).parts(get(message, "content.parts"))
		return strings.Join(said, "\n"), true
	}
	return "", false
}

// isDeepseek reports whether a value is a tree of DeepSeek's, not of ChatGPT's.
func isDeepseek(v gjson.Result) bool {
	mapping := get(v, "mapping")
	return mapping.IsObject() && (get(v, "inserted_at").Exists() || hasFragments(mapping))
}

// hasFragments reports whether the first message of a tree is in DeepSeek's fragments.
func hasFragments(mapping gjson.Result) (has bool) {
	mapping.ForEach(func(_, node gjson.Result) bool {
		message := get(node, "message")
		has = get(message, "fragments").Exists()
		isFirst := message.IsObject()
		return !isFirst
	})
	return has
}

// deepseek is DeepSeek's data export, conversations.json: a tree as ChatGPT's, of messages in fragments that
// say whether they are asked, answered or thought (a file of its own making; DeepSeek does not describe it).
func deepseek() shape {
	return shape{
		id: "id", title: "title", messages: "mapping",
		parent: "parent", message: "message",
		text: "fragments", join: "\n\n", date: "inserted_at", model: "model",
		roleOf: deepseekRole,
		omit:   []count{{"files", "files"}},
	}
}

// deepseekRole returns whose a message is by its fragments.
func deepseekRole(message gjson.Result) (word string) {
	each(get(message, "fragments"), func(_, fragment gjson.Result) {
		switch text(get(fragment, "type")) {
		case "REQUEST":
			word = "user"
		case "RESPONSE", "TEMPLATE_RESPONSE", "THINK":
			word = cmp.Or(word, "assistant")
		}
	})
	return word
}

// claude is Claude's data export, conversations.json (agoramachina and others that read it; Anthropic does
// not describe it).
func claude() shape {
	return shape{
		id: "uuid", title: "name", messages: "chat_messages", leaf: "current_leaf_message_uuid",
		nodeID: "uuid", parent: "parent_message_uuid",
		text: "content or text", join: "\n\n", date: "created_at", role: "sender",
		omits: []count{{"summary", "summary"}},
		omit:  []count{{"files", "files"}},
		more:  pasted,
	}
}

// pasted returns the texts that Claude keeps beside a message: what was pasted into it, or read out of a
// file, which then has its name before it. Attachments without a text are counted.
func pasted(c *Conversation, message gjson.Result) (texts []string) {
	each(get(message, "attachments"), func(_, attachment gjson.Result) {
		s := text(get(attachment, "extracted_content"))
		if strings.TrimSpace(s) == "" {
			c.drop("files", 1)
			return
		}
		if name := text(get(attachment, "file_name")); name != "" {
			s = name + ":\n" + s
		}
		texts = append(texts, s)
	})
	return texts
}

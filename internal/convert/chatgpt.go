package convert

import (
	"cmp"
	"slices"
	"strings"

	"stchat/internal/rawjson"
)

// readChatGPT reads a conversation of ChatGPT's data export, conversations.json: a tree of messages
// (pionxzh/chatgpt-exporter and others that read it; OpenAI does not describe it).
func readChatGPT(c *Conversation, _ []byte, o object, _ *Options) error {
	c.ID, c.Title = cmp.Or(o.text("conversation_id"), o.text("id")), o.text("title")
	var nodes []node
	for key, raw := range rawjson.Members(o["mapping"]) {
		id, _ := rawjson.Unquote(key)
		at := fields(raw)
		n := node{id: id, parent: at.text("parent")}
		if rawjson.KindOf(at["message"]) == rawjson.ObjectKind {
			c.chatgptMessage(&n, fields(at["message"]))
		}
		nodes = append(nodes, n)
	}
	think(nodes)
	c.grow(nodes, o.text("current_node"))
	return nil
}

// think gives each reply what was thought before it, through what is left out.
func think(nodes []node) {
	byID := make(map[string]*node, len(nodes))
	for i := range nodes {
		byID[nodes[i].id] = &nodes[i]
	}
	for i := range nodes {
		n := &nodes[i]
		if !n.kept || n.Role != Character {
			continue
		}
		var list []string
		var seen []*node // there may be a circle
		for up := byID[n.parent]; up != nil && !up.kept && len(seen) < 100 && !slices.Contains(seen, up); up = byID[up.parent] {
			if seen = append(seen, up); up.Reasoning != "" {
				list = append([]string{up.Reasoning}, list...)
			}
		}
		n.Reasoning = strings.Join(list, "\n\n")
	}
}

// chatgptMessage reads a message, or what was thought, into its node, or counts why it is left
// out.
func (c *Conversation) chatgptMessage(n *node, m object) {
	content := fields(m["content"])
	if content.text("content_type") == "thoughts" {
		var list []string
		for t := range rawjson.Elements(content["thoughts"]) {
			list = append(list, text(t, "content"))
		}
		n.Reasoning = strings.Join(list, "\n\n")
		return
	}
	role := text(m["author"], "role")
	recipient, addressed := rawjson.Unquote(m["recipient"])
	weight, weighed := rawjson.Float(m["weight"])
	switch {
	case role != "user" && role != "assistant":
		c.drop("messages of "+cmp.Or(role, "nobody"), 1)
		return
	case addressed && recipient != "all":
		c.drop("messages to tools", 1)
		return
	case weighed && weight == 0, rawjson.Truthy(rawjson.Value(m["metadata"], "is_visually_hidden_from_conversation")):
		c.drop("messages that were not shown", 1)
		return
	}
	said, others := joined(content["parts"]) // what was spoken is a part with a text
	c.drop("pictures and other parts", others)
	n.Message = Message{Text: said, Date: dateOf(m["create_time"]), Model: text(m["metadata"], "model_slug")}
	if role == "user" {
		n.Role = User
	}
	n.kept = c.says(n.Message)
}

// readClaude reads a conversation of Claude's data export, conversations.json (agoramachina and
// others that read it; Anthropic does not describe it).
func readClaude(c *Conversation, _ []byte, o object, _ *Options) error {
	c.ID, c.Title = o.text("uuid"), o.text("name")
	var nodes []node
	isTree := false
	for raw := range rawjson.Elements(o["chat_messages"]) {
		n := node{id: text(raw, "uuid"), parent: text(raw, "parent_message_uuid")}
		isTree = isTree || n.parent != ""
		var said, thought []string
		for part := range rawjson.Elements(rawjson.Value(raw, "content")) {
			switch text(part, "type") {
			case "text":
				said = append(said, text(part, "text"))
			case "thinking":
				thought = append(thought, text(part, "thinking"))
			default:
				c.drop("parts that are not text", 1)
			}
		}
		n.Message = Message{Text: cmp.Or(strings.Join(said, "\n\n"), text(raw, "text")), Reasoning: strings.Join(thought, "\n\n"), Date: dateOf(rawjson.Value(raw, "created_at"))}
		if text(raw, "sender") == "human" {
			n.Role = User
		}
		c.drop("files", rawjson.Len(rawjson.Value(raw, "files"))+rawjson.Len(rawjson.Value(raw, "attachments")))
		n.kept = c.says(n.Message)
		nodes = append(nodes, n)
	}
	if isTree {
		leaf := o.text("current_leaf_message_uuid")
		if leaf == "" && len(nodes) > 0 {
			leaf = nodes[len(nodes)-1].id
		}
		c.grow(nodes, leaf)
		return nil
	}
	for _, n := range nodes {
		if n.kept {
			c.Messages = append(c.Messages, n.Message)
		}
	}
	return nil
}

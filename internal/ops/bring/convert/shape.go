package convert

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// shape says where things are in a format whose conversations are messages in a list or a tree: gjson's
// paths, such as metadata.title. Of several, as in "name or handle", the first that says something counts. A
// path that a format does not have is "".
type shape struct {
	// In a conversation.
	id       string  // what the conversation is recognised by
	title    string  // what it is called
	userName string  // the user's name
	began    string  // the date of its first message, where that has none
	messages string  // a list of messages, or an object of the nodes of a tree by id
	leaf     string  // the id of a tree's last message
	omits    []count // what else there is in it, which is left out

	// In a node of a tree.
	message string // the message; "": the node is itself one
	nodeID  string // its id; "": the key of the node
	parent  string // the id of the message before it

	// In a message.
	text      string // a text, or a list of parts
	join      string // what stands between two parts
	name      string
	date      string
	model     string
	reasoning string
	thinks    bool                              // a reply may begin with what was thought, in <think>
	isUser    string                            // true of the user's
	hidden    string                            // true of hidden ones
	role      string                            // a word that says whose it is; "": isUser says it
	roleOf    func(message gjson.Result) string // reads that word where it is at no path of its own
	ignored   []string                          // words of those that are not shown to a person, and left out
	omit      []count                           // what else there is in a message, which is left out

	whyLeftOut func(message gjson.Result) string                    // says what a message is that is left out, "" if it is not
	thought    func(message gjson.Result) (s string, ok bool)       // what was thought for the next reply, in a message of its own
	more       func(c *Conversation, message gjson.Result) []string // further paragraphs of its text
}

// count is what is left out of a conversation: all that is at a path is counted as what.
type count struct{ path, what string }

// roles returns whom a word means, in any case of letters.
func roles(word string) (role Role, known bool) {
	switch strings.ToLower(word) {
	case "user", "human", "prompt":
		return User, true
	case "assistant", "gpt", "model", "char", "bot", "ai", "response":
		return Character, true
	case "system", "developer":
		return Narrator, true
	}
	return Character, false
}

// read reads a conversation.
func (s shape) read(c *Conversation, v gjson.Result, opt *Options) error {
	c.ID = firstText(v, s.id)
	c.Title = firstText(v, s.title)
	c.User = firstText(v, s.userName)
	c.omit(v, s.omits)

	list := get(v, s.messages)
	if v.IsArray() { // the messages alone
		list = v
	}
	var nodes []node
	each(list, func(key, value gjson.Result) {
		nodes = append(nodes, s.node(c, key, value, opt.zone()))
	})

	isTree := list.IsObject() || slices.ContainsFunc(nodes, func(n node) bool { return n.parent != "" })
	if isTree {
		c.addThoughts(nodes)
		c.setFromTree(nodes, s.leafOf(v, nodes))
	} else {
		c.setFromList(nodes)
	}

	began := get(v, s.began)
	if began.Exists() && len(c.Messages) > 0 && c.Messages[0].Date.IsZero() {
		c.Messages[0].Date = dateOf(began, opt.zone())
	}
	return nil
}

// leafOf returns the id of the last message of a tree, "" if the source does not say which that is. In a
// list it is the last of all.
func (s shape) leafOf(v gjson.Result, nodes []node) string {
	leaf := firstText(v, s.leaf)
	isInList := s.nodeID != "" && len(nodes) > 0
	if leaf == "" && isInList {
		return nodes[len(nodes)-1].id
	}
	return leaf
}

// setFromList makes the conversation of messages that follow one another.
func (c *Conversation) setFromList(nodes []node) {
	for _, n := range nodes {
		if n.kept {
			c.Messages = append(c.Messages, n.Message)
		}
	}
}

// node reads a message with its place in the tree, and counts what is left out of it.
func (s shape) node(c *Conversation, key, value gjson.Result, zone *time.Location) node {
	n := node{id: text(key), parent: firstText(value, s.parent)}
	if s.nodeID != "" {
		n.id = firstText(value, s.nodeID)
	}
	message := value
	if s.message != "" {
		message = get(value, s.message)
		isRoot := message.Type == gjson.Null // or missing
		if isRoot {
			return n
		}
	}

	if !message.IsObject() {
		c.drop(notMessages, 1)
		return n
	}
	c.omit(message, s.omit)

	if s.thought != nil {
		thought, ok := s.thought(message)
		if ok {
			n.Reasoning = thought
			return n
		}
	}

	role, known := s.speaker(c, message)
	if !known {
		return n
	}
	if s.whyLeftOut != nil {
		if why := s.whyLeftOut(message); why != "" {
			c.drop(why, 1)
			return n
		}
	}

	n.Message = s.messageOf(c, message, zone)
	n.Role = role
	if role == User {
		n.Model = "" // of the reply, which some sources name there, too
	}
	if s.thinks && role == Character && n.Reasoning == "" {
		n.Reasoning, n.Text = thinking(n.Text)
	}
	n.kept = !c.dropIfBlank(n.Message)
	return n
}

// notMessages is what is counted in the places of messages.
const notMessages = "entries that are no messages"

// speaker returns whose a message is. It counts one that nobody is known to have written.
func (s shape) speaker(c *Conversation, message gjson.Result) (role Role, known bool) {
	var word string
	switch {
	case s.roleOf != nil:
		word = s.roleOf(message)
	case s.role != "":
		word = firstText(message, s.role)
	case isTrue(message, s.isUser):
		return User, true
	default:
		return Character, true
	}

	if slices.Contains(s.ignored, word) {
		c.drop("messages of "+word, 1)
		return Character, false
	}
	role, known = roles(word)
	if !known {
		c.dropUnknown(word)
	}
	return role, known
}

// messageOf reads what a message says, and what is known of it.
func (s shape) messageOf(c *Conversation, message gjson.Result, zone *time.Location) Message {
	m := Message{
		Name:      firstText(message, s.name),
		Date:      dateOf(get(message, s.date), zone),
		Model:     firstText(message, s.model),
		Reasoning: firstText(message, s.reasoning),
		Hidden:    isTrue(message, s.hidden),
	}

	said, thought := s.textOf(c, message)
	m.Text = strings.Join(said, s.join)
	if s.more != nil {
		m.Text = withParagraphs(m.Text, s.more(c, message))
	}
	if m.Reasoning == "" {
		m.Reasoning = strings.Join(thought, "\n\n")
	}
	return m
}

// textOf returns what a message says, at the first path that has any text, and what is thought up to there.
func (s shape) textOf(c *Conversation, message gjson.Result) (said, thought []string) {
	for path := range strings.SplitSeq(s.text, alternatives) {
		saidHere, thoughtHere := c.parts(get(message, path))
		thought = append(thought, thoughtHere...)
		said = saidHere
		if strings.Join(said, "") != "" {
			break
		}
	}
	return said, thought
}

// withParagraphs returns a text, unless it is blank, and more paragraphs behind it.
func withParagraphs(s string, more []string) string {
	if len(more) > 0 && strings.TrimSpace(s) == "" {
		return strings.Join(more, "\n\n")
	}
	return strings.Join(append([]string{s}, more...), "\n\n")
}

// parts returns what is said and what is thought in a text, or in a list of parts. It counts the parts
// that are neither.
func (c *Conversation) parts(content gjson.Result) (said, thought []string) {
	if content.Type == gjson.String {
		return []string{text(content)}, nil
	}
	if !content.IsArray() {
		return nil, nil
	}
	each(content, func(_, part gjson.Result) {
		switch s, kind := partOf(part); kind {
		case partSaid:
			said = append(said, s)
		case partThought:
			thought = append(thought, s)
		default:
			c.drop("parts that are not text", 1)
		}
	})
	return said, thought
}

type partKind int

// What a part is.
const (
	partOther partKind = iota
	partSaid
	partThought
)

// partOf reads a part of a message: a text, or an object whose type says where its text is. What was
// spoken in ChatGPT has its transcription in text.
func partOf(v gjson.Result) (string, partKind) {
	if v.Type == gjson.String {
		return text(v), partSaid
	}
	path, kind := "text", partSaid
	switch text(get(v, "type")) {
	case "thinking": // Claude
		path, kind = "thinking", partThought
	case "THINK": // DeepSeek, as what follows
		path, kind = "content", partThought
	case "REQUEST", "RESPONSE", "TEMPLATE_RESPONSE":
		path = "content"
	}

	content := get(v, path)
	if content.Type != gjson.String {
		return "", partOther
	}
	return text(content), kind
}

package convert

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// shape says where things are in a format whose conversations are messages in a list or a tree. A place
// is keys with dots between them; of several, with | between them, the first that says something counts.
// A place that a format does not have is "".
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
	isUser    string                      // true of the user's
	hidden    string                      // true of hidden ones
	role      string                      // a word that says whose it is; "": isUser says it
	roleOf    func(message object) string // reads that word where it is in no place of its own
	ignored   []string                    // words of those that are not shown to a person, and left out
	omit      []count                     // what else there is in a message, which is left out

	why      func(message object) string                    // says what a message is that is left out, "" if it is not
	thoughts func(message object) (s string, ok bool)       // what was thought for the next reply, in a message of its own
	more     func(c *Conversation, message object) []string // further paragraphs of its text
}

// count is what is left out of a conversation: all in a place is counted as what is said of it.
type count struct{ place, what string }

// listed is a format that has messages in a list, the first of which has some keys.
func listed(name string, s shape, keys ...string) format {
	return format{
		name: name,
		read: s.read,
		fits: func(o object) bool {
			message := objectOf(firstOf(o.at(s.messages)))
			return !slices.ContainsFunc(keys, func(key string) bool { return !message.get(key).Exists() })
		},
	}
}

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
	o := objectOf(v)
	c.ID, c.Title, c.User = o.text(s.id), o.text(s.title), o.text(s.userName)
	c.omit(o, s.omits)
	list := o.at(s.messages)
	if v.IsArray() { // the messages alone
		list = v
	}
	var nodes []node
	each(list, func(key, value gjson.Result) {
		nodes = append(nodes, s.node(c, key, value, opt.zone()))
	})
	isTree := list.IsObject() || slices.ContainsFunc(nodes, func(n node) bool { return n.parent != "" })
	if isTree {
		c.think(nodes)
		c.grow(nodes, s.leafOf(o, nodes))
	} else {
		c.line(nodes)
	}
	if began := o.at(s.began); len(c.Messages) > 0 && c.Messages[0].Date.IsZero() && began.Exists() {
		c.Messages[0].Date = dateOf(began, opt.zone())
	}
	return nil
}

// leafOf returns the id of the last message of a tree, "" if the source does not say which that is. In a
// list it is the last of all.
func (s shape) leafOf(o object, nodes []node) string {
	leaf := o.text(s.leaf)
	if leaf == "" && s.nodeID != "" && len(nodes) > 0 {
		leaf = nodes[len(nodes)-1].id
	}
	return leaf
}

// line makes the conversation of messages that follow one another.
func (c *Conversation) line(nodes []node) {
	for _, n := range nodes {
		if n.kept {
			c.Messages = append(c.Messages, n.Message)
		}
	}
}

// node reads a message with its place in the tree, and counts what is left out of it.
func (s shape) node(c *Conversation, key, value gjson.Result, zone *time.Location) node {
	n := node{id: text(key)}
	o := objectOf(value)
	if s.nodeID != "" {
		n.id = o.text(s.nodeID)
	}
	n.parent = o.text(s.parent)
	if s.message != "" {
		value = o.at(s.message)
		if !isObjectOrNull(value) {
			c.drop(notMessages, 1)
		}
		if !value.IsObject() { // a root has none
			return n
		}
		o = objectOf(value)
	}
	if !value.IsObject() {
		c.drop(notMessages, 1)
		return n
	}
	c.omit(o, s.omit)
	if s.thoughts != nil {
		thought, ok := s.thoughts(o)
		if ok {
			n.Reasoning = thought
			return n
		}
	}
	role, known := s.speaker(c, o)
	if !known {
		return n
	}
	if s.why != nil {
		if why := s.why(o); why != "" {
			c.drop(why, 1)
			return n
		}
	}
	n.Message = s.said(c, o, zone)
	n.Role = role
	if role == User {
		n.Model = "" // of the reply, which some sources name there, too
	}
	if s.reasoning != "" && role == Character && n.Reasoning == "" {
		n.Reasoning, n.Text = thinking(n.Text)
	}
	n.kept = c.says(n.Message)
	return n
}

// notMessages is what is counted in the places of messages.
const notMessages = "entries that are no messages"

// speaker returns whose a message is. It counts one that nobody is known to have written.
func (s shape) speaker(c *Conversation, o object) (role Role, known bool) {
	if s.role == "" && s.roleOf == nil {
		if o.isTrue(s.isUser) {
			return User, true
		}
		return Character, true
	}
	word := o.text(s.role)
	if s.roleOf != nil {
		word = s.roleOf(o)
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

// said reads what a message says, and what is known of it.
func (s shape) said(c *Conversation, o object, zone *time.Location) Message {
	m := Message{
		Name:      o.text(s.name),
		Model:     o.text(s.model),
		Reasoning: o.text(s.reasoning),
		Hidden:    o.isTrue(s.hidden),
	}
	for place := range strings.SplitSeq(s.date, "|") {
		if m.Date.IsZero() {
			m.Date = dateOf(o.at(place), zone)
		}
	}
	var said, thought []string
	for place := range strings.SplitSeq(s.text, "|") {
		saidThere, thoughtThere := c.parts(o.at(place))
		thought = append(thought, thoughtThere...)
		said = saidThere
		if strings.Join(said, "") != "" {
			break
		}
	}
	m.Text = strings.Join(said, s.join)
	if s.more != nil {
		m.Text = withParagraphs(m.Text, s.more(c, o))
	}
	if m.Reasoning == "" {
		m.Reasoning = strings.Join(thought, "\n\n")
	}
	return m
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
	o := objectOf(v)
	key, kind := "text", partSaid
	switch o.text("type") {
	case "thinking": // Claude
		key, kind = "thinking", partThought
	case "THINK": // DeepSeek, as what follows
		key, kind = "content", partThought
	case "REQUEST", "RESPONSE", "TEMPLATE_RESPONSE":
		key = "content"
	}
	if o.get(key).Type != gjson.String {
		return "", partOther
	}
	return text(o.get(key)), kind
}

package bring

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/ops/bring/convert"
	"stchat/internal/place/sendate"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/group"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/lazyregexp"
	"stchat/internal/text/visible"
)

// complete is a conversation with what the source does not say.
type complete struct {
	*convert.Conversation
	user, character string
	fromUser        string // who becomes user: the source's user
	fromCharacter   string // who becomes character
	greeting        *convert.Message
	dates           []time.Time
	undated         int
	written         time.Time
}

// completed adds names, the greeting, and dates.
func (c *call) completed(conversation *convert.Conversation, written time.Time) *complete {
	full := &complete{
		Conversation: conversation, written: written,
		user:          cmp.Or(c.User, conversation.User, c.user, unnamedUser),
		character:     cmp.Or(c.Character, conversation.Character, c.owner.Name),
		fromUser:      conversation.User,
		fromCharacter: conversation.Character,
	}
	if speaks(conversation.Messages, convert.User, c.User) { // beside others, who keep theirs
		full.fromUser = c.User
	}
	if speaks(conversation.Messages, convert.Character, c.Character) {
		full.fromCharacter = c.Character
	}
	if c.greets(full) {
		full.greeting = c.greet(full)
	}
	full.Messages = full.all(full.Messages)
	full.dates, full.undated = dates(full.Messages, written)
	return full
}

// speaks reports whether somebody of that name speaks in a role; "" is nobody.
func speaks(list []convert.Message, role convert.Role, name string) bool {
	return name != "" && slices.ContainsFunc(list, func(m convert.Message) bool { return m.Role == role && m.Name == name })
}

// all returns messages behind the greeting.
func (full *complete) all(list []convert.Message) []convert.Message {
	if full.greeting != nil {
		return append([]convert.Message{*full.greeting}, list...)
	}
	return list
}

// at returns the last message that a branch shares, -1 if there is none.
func (full *complete) at(b convert.Branch) int { return len(full.all(nil)) + b.At }

// greets reports whether a chat begins with the card's greeting.
func (c *call) greets(full *complete) bool {
	return c.Greeting == GreetingCard || c.Greeting == "" && full.Format == "risu"
}

// readGreetings reads the greetings of the owner's card, if there is one.
func (c *call) readGreetings() []string {
	known, err := card.Open(c.owner.Card)
	if err != nil {
		return nil
	}
	return known.Greetings()
}

// macros are what a greeting says for the names.
var macros = lazyregexp.New(`(?i)\{\{(?:char|user)\}\}|<(?:bot|user)>`)

// isGreeting reports whether the hash of a text is that of one of the card's greetings.
func (c *call) isGreeting(full *complete, hash uint64) bool {
	m := c.greet(full)
	return m != nil && slices.ContainsFunc(append(m.Swipes, *m), func(m convert.Message) bool { return c.hash(m.Text) == hash })
}

// greet returns the card's greeting with which the chat began, nil if there is none.
func (c *call) greet(full *complete) *convert.Message {
	m := &convert.Message{}
	list, chosen := c.greetings(), full.Greeting
	if len(list) > 0 && list[0] == "" { // left out, as SillyTavern does (getFirstMessage in public/script.js)
		list, chosen = list[1:], chosen-1
	}
	for _, text := range list {
		text = macros().ReplaceAllStringFunc(text, func(macro string) string {
			if strings.EqualFold(macro[len(macro)-5:], "user>") || strings.EqualFold(macro, "{{user}}") {
				return full.user
			}
			return full.character
		})
		m.Swipes = append(m.Swipes, convert.Message{Text: text})
	}

	if len(m.Swipes) == 0 {
		return nil
	}
	if chosen >= 0 && chosen < len(m.Swipes) {
		m.Swipe = chosen
	}
	if m.Text = m.Swipes[m.Swipe].Text; len(m.Swipes) == 1 {
		m.Swipes = nil
	}
	return m
}

// compose drafts the chats of a conversation.
func (c *call) compose(j *job, full *complete, s *changeset.Set) error {
	d := &j.Doc
	d.Path, d.Name = c.path(j.name), j.name
	for _, note := range full.Notes {
		j.WarnOf(ops.Fact{Kind: ops.FactConverted, Path: d.Path, Name: note}, "%s: %s", d.Path, note)
	}
	if c.name != c.Name {
		j.WarnSafeName(d.Path, c.Name, c.name)
	}
	c.warnOfReading(j, full)
	isFromChats := c.User == "" && c.user == "" && full.Format == formatText
	if isFromChats && full.Speaks(convert.User) {
		j.Tell(ops.Fact{Kind: ops.FactChatUser, Path: d.Path, Name: full.user})
	}
	d.Branches = len(full.Branches) - len(j.branches)
	if c.greets(full) && full.greeting == nil {
		j.Warn("%s: there is no card with a greeting, so the chat begins without one", d.Path)
	}
	if c.owner.Group != nil {
		c.warnOfOutsiders(j, full)
	}
	noted := map[int][]string{}       // branches, by the message that they part at
	for i, name := range j.branches { // what is named comes before what names it
		b := full.Branches[i]
		branch := &complete{Conversation: &convert.Conversation{}, user: full.user, character: full.character}
		branch.Messages = full.all(b.Messages())
		branch.dates, branch.undated = dates(branch.Messages, full.written)
		at := full.at(b)
		copy(branch.dates, full.dates[:at+1]) // the same messages
		if at >= 0 {
			noted[at] = append(noted[at], name)
		}
		more := Document{Schema: 1, Source: d.Source, Format: d.Format, ID: d.ID, Path: c.path(name), Name: name, MainChat: &j.name, Group: d.Group}
		if err := c.create(s, branch, &more, "", nil); err != nil {
			return err
		}
		j.More = append(j.More, more)
	}
	if err := c.create(s, full, d, d.ID, noted); err != nil {
		return err
	}
	return c.open(s, append([]string{j.name}, j.branches...)...)
}

// open drafts that a group lists chats, and, if that is asked for, that the owner opens with the first.
func (c *call) open(s *changeset.Set, chats ...string) error {
	if c.owner.Group != nil {
		return group.List(s, c.owner.Group.Path, fmt.Sprintf("lists %q", chats), c.Open, chats...)
	}
	if !c.Open {
		return nil
	}
	_, err := ops.OpenInCard(s, c.owner.Dir, filepath.Base(c.owner.Folder), chats[0])
	return err
}

// warnOfReading warns of what may have been understood wrongly.
func (c *call) warnOfReading(j *job, full *complete) {
	for _, warning := range full.Warnings {
		j.Warn("%s: %s", j.Doc.Path, warning)
	}
	c.warnOfStrangers(j, full)
}

// warnOfStrangers names those who may speak in a text although nobody knows them. For the first of them, the
// most frequent, it says which flag makes their lines messages, unless that flag is used already.
func (c *call) warnOfStrangers(j *job, full *complete) {
	flag, value := "--user", c.User
	if full.Speaks(convert.User) {
		flag, value = "--character", c.Character
	}
	for i, s := range full.Strangers {
		begin, no := "lines begin", "they are no messages of their own"
		if s.Lines == 1 {
			begin, no = "line begins", "it is no message of its own"
		}
		text := fmt.Sprintf("%d %s with %q, who is neither the user nor a character here: %s", s.Lines, begin, s.Name+":", no)
		if i == 0 && value == "" {
			text += "; " + c.remedy(j, flag, s.Name)
		}
		j.Warn("%s: %s", j.Doc.Path, text)
	}
}

// remedy says how a stranger becomes a speaker.
func (c *call) remedy(j *job, flag, name string) string {
	who := "the user"
	if flag == "--character" {
		who = "another character"
	}
	text := fmt.Sprintf("if that is %s, import it with %s %s", who, flag, visible.Quote(name))
	isWritten := !c.Changes.DryRun && !j.Doc.Existed
	if isWritten {
		text += ", after 'stchat undo'"
	}
	return text
}

// warnOfOutsiders warns of speakers who are not members of the group.
func (c *call) warnOfOutsiders(j *job, full *complete) {
	var list []string
	for i := range full.Messages {
		m := &full.Messages[i]
		if name := full.name(m); m.Role == convert.Character && c.faces[name] == "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if len(list) > 0 {
		j.Warn("%s: not a member of the group: %s; their messages have no picture", j.Doc.Path, strings.Join(list, ", "))
	}
}

// create drafts a chat. id is by which it is recognised, "" for a branch; noted are the
// branches that its messages name.
func (c *call) create(s *changeset.Set, full *complete, d *Document, id string, noted map[int][]string) error {
	h := meta.New()
	h.Metadata().Set("integrity", rawjson.Quote(c.Changes.NewUUID()))
	if id != "" {
		h.Metadata().Set(meta.KeyImport, fmt.Appendf(nil, `{"format":%s,"id":%s}`, rawjson.Quote(d.Format), rawjson.Quote(id)))
	} else {
		h.Metadata().Set("main_chat", rawjson.Quote(*d.MainChat))
	}

	draft, err := s.Create(d.Path, "the chat of "+d.Source, changeset.InFolder())
	if err != nil {
		return err
	}
	room := 4 << 10 // most chats are short, and there may be many
	for i := range full.Messages {
		room = min(room+2*len(full.Messages[i].Text), 64<<10)
	}
	w := bufio.NewWriterSize(draft, room)
	_, _ = w.Write(h.Bytes()) // an error stays until Flush
	d.Messages, d.Undated = len(full.Messages), full.undated
	for i := range full.Messages {
		m := &full.Messages[i]
		d.Swipes += len(m.Swipes)
		_ = w.WriteByte('\n')
		parts := [][]byte{c.faced(m)}
		if m.Line == nil {
			parts = c.line(full, m, full.dates[i])
		}
		if names := noted[i]; names != nil {
			line := bytes.Join(parts, nil)
			splice, err := message.BranchSplice(line, names...)
			if err != nil {
				return err
			}
			parts = [][]byte{splice.Apply(line)}
		}

		for _, part := range parts {
			_, _ = w.Write(part)
		}
	}

	d.FirstDate, d.LastDate = new(sendate.Format(full.dates[0])), new(sendate.Format(full.dates[len(full.dates)-1]))
	return w.Flush()
}

// name returns the name of a message's speaker. The flags give the names of the user and of
// the one character; other characters keep theirs.
func (full *complete) name(m *convert.Message) string {
	switch {
	case m.Line != nil:
		return m.Name
	case m.Role == convert.Narrator:
		return cmp.Or(m.Name, "System")
	case m.Role == convert.User && (m.Name == "" || m.Name == full.fromUser):
		return full.user
	case m.Role == convert.Character && (m.Name == "" || m.Name == full.fromCharacter):
		return full.character
	}
	return m.Name
}

// line returns a message as SillyTavern stores it, in parts: a text may be long, and is copied
// once.
func (c *call) line(full *complete, m *convert.Message, date time.Time) [][]byte {
	name := full.name(m)
	head := fmt.Appendf(nil, `{"name":%s,"is_user":%t,"is_system":%t,"send_date":%s,"mes":`, rawjson.Quote(name), m.Role == convert.User, m.Hidden, rawjson.Quote(sendate.Format(date)))
	o := rawjson.NewObject()
	o.Set("extra", extra(m))
	if m.Role == convert.Character {
		c.setFace(o, name)
	}
	var texts, infos [][]byte
	for _, swipe := range m.Swipes {
		at := date
		if !swipe.Date.IsZero() {
			at = swipe.Date
		}
		texts = append(texts, rawjson.Quote(swipe.Text))
		infos = append(infos, fmt.Appendf(nil, `{"send_date":%s,"extra":%s}`, rawjson.Quote(sendate.Format(at)), extra(&swipe)))
	}

	if texts != nil {
		o.Set("swipe_id", strconv.AppendInt(nil, int64(m.Swipe), 10))
		o.Set("swipes", rawjson.Append(nil, bytes.Join(texts, []byte{','})))
		o.Set("swipe_info", rawjson.Append(nil, bytes.Join(infos, []byte{','})))
	}
	return [][]byte{head, rawjson.Quote(m.Text), []byte(","), o.Bytes()[1:]}
}

// setFace sets the pictures of a member of the group.
func (c *call) setFace(o *rawjson.Object, name string) {
	if avatar := c.faces[name]; avatar != "" {
		o.Set("original_avatar", rawjson.Quote(avatar))
		o.Set("force_avatar", rawjson.Quote("/thumbnail?type=avatar&file="+userdir.Component(avatar)))
	}
}

// faced returns a line of SillyTavern's own with the pictures of a member of the group, unless it
// has some: without them a group shows none.
func (c *call) faced(m *convert.Message) []byte {
	if c.faces[m.Name] == "" || m.Role != convert.Character || m.Line == nil {
		return m.Line
	}
	o, err := rawjson.ParseObject(m.Line)
	if err != nil || o.Has("force_avatar") || o.Has("original_avatar") {
		return m.Line
	}
	c.setFace(o, m.Name)
	return o.Bytes()
}

// extra returns the extra of a message.
func extra(m *convert.Message) []byte {
	o := rawjson.NewObject()
	if m.Role == convert.Narrator {
		o.Set("type", []byte(`"narrator"`))
	}
	if m.Model != "" {
		o.Set("model", rawjson.Quote(m.Model))
	}
	if m.Reasoning != "" {
		o.Set("reasoning", rawjson.Quote(m.Reasoning))
	}
	return o.Bytes()
}

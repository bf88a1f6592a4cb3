package edit

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	"stchat/internal/choose"
	"stchat/internal/follow"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

// cast records who has spoken in a chat so far.
type cast struct {
	last  map[message.Who][]byte       // the last name used in each role, raw
	faces map[string]map[string]string // for a group: the raw avatar keys by name
	genID []byte                       // of the last message
	owner string                       // the character whose chat it is, "" in a group
}

// said is what one batch of lines adds to a cast.
type said struct {
	cast
	facts []follow.Fact
}

// castKeys returns the keys of a message that say who speaks.
func castKeys() []string {
	return append([]string{"name", "is_user", "is_system", "extra"}, avatarKeys()...)
}

// castOf reads a chat and returns who has spoken. It also counts the messages.
func castOf(ctx context.Context, o *open) (*cast, error) { return castFor(ctx, o, nil) }

// castFor is castOf before messages are inserted at a place as in [AddOptions], unless it is
// nil: then it also reads what state may refer to, and locates the message before that place,
// so that the chat is read once.
func castFor(ctx context.Context, o *open, at *int) (*cast, error) {
	c := &cast{last: map[message.Who][]byte{}, faces: map[string]map[string]string{}}
	if o.chat.Kind == userdir.Solo {
		c.owner = o.chat.Owner
	}
	choice := choose.Choice{Whole: true, Only: func(int) bool { return false }}
	const near = 4096 // places that are held to find one that counts from the end
	switch {
	case at == nil:
	case *at >= 0:
		choice.Only = func(index int) bool { return index == *at-1 }
	case *at >= -near:
		choice.Only, choice.Last = nil, 1-*at
	}
	own := len(castKeys())
	reader, facts := follow.NewReader(o.chat.Metadata(), o.hasLog()), follow.NewFacts()
	scanned, err := choose.ScanBeside(ctx, &choice, o.sparing(), func(place choose.Place) error {
		if o.anchor.Len == 0 {
			o.anchor = place
		}
		return nil
	}, choose.Beside[said]{
		Keys: append(castKeys(), follow.Keys()...),
		Read: func(l *jsonl.Line, keys []int, batch *said) {
			batch.take(l, keys, o.chat.Kind == userdir.Group)
			if at != nil {
				batch.facts = append(batch.facts, reader.Read(l, keys[own:]))
			}
		},
		Fold: func(batch *said) {
			for who, name := range batch.last {
				if len(name) > 0 {
					c.last[who] = bytes.Clone(name)
				}
			}
			maps.Copy(c.faces, batch.faces)
			facts.Add(reader, batch.facts)
		},
		Reset: (*said).reset,
	})
	if err := o.scanned(&scanned, err); err != nil {
		return nil, err
	}
	if at != nil {
		o.facts = facts
	}
	line, err := o.chat.Source.Section(o.last.Off, o.last.Len)
	if err != nil {
		return nil, o.errorf("%w", err)
	}
	c.genID = bytes.Clone(rawjson.Value(line, "extra", "gen_id"))
	return c, nil
}

// take records who speaks in a line; keys are the numbers of castKeys in it.
func (s *said) take(l *jsonl.Line, keys []int, group bool) {
	if s.last == nil {
		s.last, s.faces = map[message.Who][]byte{}, map[string]map[string]string{}
	}
	raw, _ := l.Value(keys[0])
	user, _ := l.Value(keys[1])
	system, _ := l.Value(keys[2])
	extra, _ := l.Value(keys[3])
	if rawjson.KindOf(raw) == rawjson.String && string(raw) != `""` && !isOwnRole(rawjson.Value(extra, "type")) {
		who := message.Role(user, system)
		s.last[who] = append(s.last[who][:0], raw...)
	}
	if !group {
		return
	}
	faces := map[string]string{}
	for k, key := range avatarKeys() {
		if raw, ok := l.Value(keys[4+k]); ok {
			faces[key] = string(raw)
		}
	}
	if name, _ := rawjson.Unquote(raw); len(faces) > 0 {
		s.faces[name] = faces
	}
}

// isOwnRole reports whether extra.type marks a narrator message or a comment, whose name is
// neither that of a character nor that of a user who hid something.
func isOwnRole(kind []byte) bool {
	text, _ := rawjson.Unquote(kind)
	return text == RoleNarrator || text == RoleComment
}

// reset clears s but keeps its memory.
func (s *said) reset() {
	clear(s.facts)
	s.facts = s.facts[:0]
	for who := range s.last {
		s.last[who] = s.last[who][:0]
	}
	clear(s.faces)
}

// avatarKeys returns the keys that determine, in a group, whose picture a message shows.
func avatarKeys() []string { return []string{"force_avatar", "original_avatar"} }

// name returns the name of the last speaker in a role, else for a character that of the chat's
// folder; "" if neither is known.
func (c *cast) name(who message.Who) string {
	name, _ := rawjson.Unquote(c.last[who])
	if name == "" && who == message.Character {
		return c.owner
	}
	return name
}

// hasFace reports whether a message of that name, a raw value, says whose picture is shown.
func (c *cast) hasFace(name []byte) bool {
	text, _ := rawjson.Unquote(name)
	return len(c.faces[text]) > 0
}

// made makes a message from a text, with the keys that SillyTavern writes for its role
// (CONTENT.md 2.2).
func (c *cast) made(o *open, opt *AddOptions) ([]byte, error) {
	name, err := c.speaker(o, opt)
	if err != nil {
		return nil, err
	}
	date, text := sendDate(opt.Changes.Now), rawjson.Quote(opt.Text)
	m := rawjson.NewObject()
	m.Set("name", rawjson.Quote(name))
	m.Set("is_user", strconv.AppendBool(nil, opt.Role == RoleUser))
	m.Set("is_system", strconv.AppendBool(nil, opt.Role == RoleSystem || opt.Role == RoleComment))
	m.Set("send_date", date)
	m.Set("mes", text)
	switch opt.Role {
	case RoleNarrator, RoleComment:
		m.Set("extra", []byte(`{"type":"`+opt.Role+`"}`))
	case RoleCharacter:
		m.Set("extra", []byte(message.ManualExtra))
		m.Set("swipe_id", []byte("0"))
		m.Set("swipes", rawjson.Append(nil, text))
		m.Set("swipe_info", rawjson.Append(nil, message.NewSwipeInfo(date)))
		if o.chat.Kind == userdir.Group {
			for _, key := range avatarKeys() {
				if raw, ok := c.faces[name][key]; ok {
					m.Set(key, []byte(raw))
				}
			}
		}
	default:
		m.Set("extra", []byte(`{"isSmallSys":false}`))
	}
	return m.Bytes(), nil
}

// speaker returns the speaker's name: that of the options, else that of the last speaker in the
// role.
func (c *cast) speaker(o *open, opt *AddOptions) (string, error) {
	if opt.Name != "" {
		return opt.Name, nil
	}
	switch opt.Role {
	case RoleNarrator:
		if name, ok := rawjson.Unquote(o.chat.Metadata().Value("narrator_name")); ok && name != "" {
			return name, nil
		}
		return "System", nil
	case RoleComment:
		return "Note", nil
	}
	if name := c.name(message.Who(opt.Role)); name != "" {
		return name, nil
	}
	return "", o.errorf("%w: %s", ErrNoSpeaker, opt.Role)
}

// completed returns an object as the line of a message; an object on one line keeps every byte,
// apart from the keys added. again reports that the chat's last message, or the object
// completed before, has the same extra.gen_id: then it was added already (Luker's append).
func (c *cast) completed(object []byte, now time.Time) (line []byte, again bool, err error) {
	if d := jsonl.Check(object); d != nil {
		return nil, false, d
	}
	if bytes.ContainsAny(object, "\r\n") {
		object = rawjson.Compact(object)
	}
	m, err := rawjson.ParseObject(object)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %s", ErrNotMessage, rawjson.KindOf(object))
	}
	if m.Has("chat_metadata") {
		return nil, false, fmt.Errorf("%w: it is a header", ErrNotMessage)
	}
	if rawjson.KindOf(m.Value("mes")) != rawjson.String {
		return nil, false, fmt.Errorf("%w: mes is missing or not text", ErrNotMessage)
	}
	if name, ok := m.Get("name"); ok && rawjson.KindOf(name) != rawjson.String {
		return nil, false, fmt.Errorf("%w: name is %s, not text", ErrNotMessage, rawjson.KindOf(name))
	}
	defaults := []struct {
		key   string
		value []byte
	}{
		{"name", rawjson.Quote(c.name(message.Role(m.Value("is_user"), m.Value("is_system"))))},
		{"is_user", []byte("false")},
		{"is_system", []byte("false")},
		{"send_date", sendDate(now)},
	}
	for _, d := range defaults {
		if !m.Has(d.key) {
			m.Set(d.key, d.value)
		}
	}
	id := rawjson.Value(m.Value("extra"), "gen_id")
	if again = rawjson.KindOf(id) == rawjson.String && string(id) == string(c.genID); !again {
		c.genID = append([]byte(nil), id...)
	}
	return m.Bytes(), again, nil
}

package edit

import (
	"bytes"
	"fmt"
	"maps"
	"strconv"
	"time"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
)

// speakers records who has spoken in a chat so far.
type speakers struct {
	last  map[message.Who][]byte       // the last name used in each role, raw
	faces map[string]map[string]string // for a group: the raw avatar keys by name
	owner string                       // the character whose chat it is, "" in a group
}

func newSpeakers(c *chat.Chat) *speakers {
	s := &speakers{last: map[message.Who][]byte{}, faces: map[string]map[string]string{}}
	if c.Kind == userdir.Solo {
		s.owner = c.Owner
	}
	return s
}

// speakerKeys returns the keys of a message that say who speaks.
func speakerKeys() []string {
	return append([]string{"name", "is_user", "is_system", "extra"}, avatarKeys()...)
}

// record records who speaks in a line; keys are the numbers of speakerKeys in it.
func (s *speakers) record(l *jsonl.Line, keys []int, group bool) {
	if s.last == nil {
		s.last, s.faces = map[message.Who][]byte{}, map[string]map[string]string{}
	}
	raw, _ := l.Value(keys[0])
	user, _ := l.Value(keys[1])
	system, _ := l.Value(keys[2])
	extra, _ := l.Value(keys[3])
	if rawjson.KindOf(raw) == rawjson.String && string(raw) != `""` {
		who := message.Role(raw, user, system, extra)
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

// join adds those who spoke later.
func (s *speakers) join(later *speakers) {
	maps.Copy(s.last, later.last)
	maps.Copy(s.faces, later.faces)
}

// avatarKeys returns the keys that determine, in a group, whose picture a message shows.
func avatarKeys() []string { return []string{"force_avatar", "original_avatar"} }

// name returns the name of the last speaker in a role, else for a character that of the chat's
// folder; "" if neither is known.
func (s *speakers) name(who message.Who) string {
	name, _ := rawjson.Unquote(s.last[who])
	if name == "" && who == message.Character {
		return s.owner
	}
	return name
}

// hasFace reports whether a message of that name, a raw value, says whose picture is shown.
func (s *speakers) hasFace(name []byte) bool {
	text, _ := rawjson.Unquote(name)
	return len(s.faces[text]) > 0
}

// made makes a message from a text, with the keys that SillyTavern writes for its role.
func (s *speakers) made(o *open, opt *AddOptions) ([]byte, error) {
	name, err := s.speaker(o, opt)
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
				if raw, ok := s.faces[name][key]; ok {
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
func (s *speakers) speaker(o *open, opt *AddOptions) (string, error) {
	if opt.Name != "" {
		return opt.Name, nil
	}
	switch opt.Role {
	case RoleNarrator:
		if name, ok := rawjson.Unquote(o.chat.Metadata().Value("narrator_name")); ok && name != "" {
			return name, nil
		}
		return message.SystemName, nil
	case RoleSystem:
		return message.SystemName, nil
	case RoleComment:
		return "Note", nil
	}

	if name := s.name(message.Who(opt.Role)); name != "" {
		return name, nil
	}
	return "", o.chat.Errorf("%w: %s", ErrNoSpeaker, opt.Role)
}

// completed returns an object as the line of a message; an object on one line keeps every byte,
// apart from the keys added.
func (s *speakers) completed(object []byte, now time.Time) ([]byte, error) {
	if d := jsonl.Check(object); d != nil {
		return nil, d
	}
	if bytes.ContainsAny(object, "\r\n") {
		object = rawjson.Compact(object)
	}
	m, err := rawjson.ParseObject(object)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrNotMessage, rawjson.KindOf(object))
	}
	if m.Has("chat_metadata") {
		return nil, fmt.Errorf("%w: it is a header", ErrNotMessage)
	}
	if rawjson.KindOf(m.Value("mes")) != rawjson.String {
		return nil, fmt.Errorf("%w: mes is missing or not text", ErrNotMessage)
	}
	if name, ok := m.Get("name"); ok && rawjson.KindOf(name) != rawjson.String {
		return nil, fmt.Errorf("%w: name is %s, not text", ErrNotMessage, rawjson.KindOf(name))
	}
	defaults := []struct {
		key   string
		value []byte
	}{
		{"name", rawjson.Quote(s.name(message.Role(m.Value("name"), m.Value("is_user"), m.Value("is_system"), m.Value("extra"))))},
		{"is_user", []byte("false")},
		{"is_system", []byte("false")},
		{"send_date", sendDate(now)},
	}

	for _, d := range defaults {
		if !m.Has(d.key) {
			m.Set(d.key, d.value)
		}
	}
	return m.Bytes(), nil
}

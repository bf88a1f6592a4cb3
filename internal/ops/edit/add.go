package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

// Roles of a message that is made of a text.
const (
	RoleUser      = "user"
	RoleCharacter = "character"
	RoleSystem    = "system"
	RoleNarrator  = "narrator"
	RoleComment   = "comment"
)

// AddOptions says which messages come, and where.
type AddOptions struct {
	Options
	At *int // before this message, below 0 counted from the end; nil: at the end

	Objects [][]byte // messages as JSON objects, one line each
	Role    string   // or one message with this role
	Name    string   // who speaks; "": as the last message of that role
	Text    string
}

var (
	// ErrNotMessage means that an object is no message.
	ErrNotMessage = errors.New("not a message")
	// ErrNoSpeaker means that nobody knows who speaks.
	ErrNoSpeaker = errors.New("nobody has spoken in this role yet")
)

// Add puts messages into a chat. Objects keep their keys, order and spelling; name,
// is_user, is_system and send_date are added where they are missing.
func Add(ctx context.Context, opt AddOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		cast, err := castOf(ctx, o)
		if err != nil {
			return nil, err
		}
		messages, err := o.count(ctx)
		if err != nil {
			return nil, err
		}
		at := messages
		if opt.At != nil {
			if at = *opt.At; at < 0 {
				at += messages
			}
			if at < 0 || at > messages {
				return nil, o.errorf("%w", &choose.OutOfRangeError{At: *opt.At, Messages: messages})
			}
		}
		p := &Plan{Taints: true}
		if opt.Role != "" {
			line, err := cast.made(o, &opt)
			if err != nil {
				return nil, err
			}
			p.Add = append(p.Add, Insertion{at, line})
			return p, nil
		}
		for i, object := range opt.Objects {
			line, again, err := cast.completed(object, opt.Now.Add(time.Duration(i)*time.Millisecond))
			if err != nil {
				return nil, fmt.Errorf("object %d: %w", i+1, err)
			}
			if !again {
				p.Add = append(p.Add, Insertion{at, line})
			}
		}
		return p, nil
	})
}

// dateForm is how SillyTavern writes send_date since 1.13.
const dateForm = "2006-01-02T15:04:05.000Z"

func sendDate(t time.Time) []byte { return rawjson.Quote(t.UTC().Format(dateForm)) }

// made makes a message of a text, with the keys that SillyTavern writes for its role
// (CONTENT.md 2.2).
func (c *cast) made(o *open, opt *AddOptions) ([]byte, error) {
	name, err := c.speaker(o, opt)
	if err != nil {
		return nil, err
	}
	date, text := sendDate(opt.Now), rawjson.Quote(opt.Text)
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

// speaker returns who speaks: whom the options name, else who spoke last in the role.
func (c *cast) speaker(o *open, opt *AddOptions) (string, error) {
	if opt.Name != "" {
		return opt.Name, nil
	}
	switch opt.Role {
	case RoleNarrator:
		raw, _ := o.chat.Metadata().Get("narrator_name")
		if name, ok := rawjson.Unquote(raw); ok && name != "" {
			return name, nil
		}
		return "System", nil
	case RoleComment:
		return "Note", nil
	}
	if name := c.name(message.Who(opt.Role)); name != "" {
		return name, nil
	}
	if opt.Role == RoleCharacter && o.chat.Kind == userdir.Solo {
		return o.chat.Owner, nil
	}
	return "", o.errorf("%w: %s", ErrNoSpeaker, opt.Role)
}

// completed returns an object as the line of a message; one that is on one line keeps every
// byte. again reports that the chat's last
// message has its extra.gen_id: then it was added before (Luker's append).
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
	if text, _ := m.Get("mes"); rawjson.KindOf(text) != rawjson.String {
		return nil, false, fmt.Errorf("%w: it has no text mes", ErrNotMessage)
	}
	user, _ := m.Get("is_user")
	system, _ := m.Get("is_system")
	defaults := []struct {
		key   string
		value []byte
	}{
		{"name", rawjson.Quote(c.name(message.Role(user, system)))},
		{"is_user", []byte("false")},
		{"is_system", []byte("false")},
		{"send_date", sendDate(now)},
	}
	for _, d := range defaults {
		if !m.Has(d.key) {
			m.Set(d.key, d.value)
		}
	}
	extra, _ := m.Get("extra")
	id, _ := rawjson.Lookup(extra, "gen_id")
	if again = rawjson.KindOf(id) == rawjson.String && string(id) == string(c.genID); !again {
		c.genID = append([]byte(nil), id...)
	}
	return m.Bytes(), again, nil
}

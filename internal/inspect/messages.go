package inspect

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
)

// Message is one message of a chat. It is also a JSON document of inspect.
type Message struct {
	Schema     int      `json:"schema"`
	Path       string   `json:"path" is:"path"`
	Index      int      `json:"index"`
	Role       string   `json:"role"` // user, character or system
	Name       *string  `json:"name"`
	Date       *string  `json:"date"`       // RFC 3339 in UTC, or the text as it stands
	Swipe      *int     `json:"swipe"`      // the chosen swipe, from 1
	Swipes     int      `json:"swipes"`     // how many are stored
	Checkpoint *string  `json:"checkpoint"` // extra.bookmark_link
	Branches   []string `json:"branches"`   // extra.branches
	SceneBreak bool     `json:"scene_break"`
	Hidden     bool     `json:"hidden"`
	Text       *string  `json:"text"` // mes
}

// MessagesOptions says how messages are listed.
type MessagesOptions struct {
	Workers  int
	Progress func(int64)

	// FirstLine limits a text to its first line that says something and, if Head is
	// above 0, to about Head bytes.
	FirstLine bool
	Head      int
}

// Messages reads an open chat and calls each for its messages in order. A message is
// only valid during the call. damaged is called with the damage of the header, and
// then, before its messages, with that of each batch of about a megabyte.
func Messages(ctx context.Context, c *chat.Chat, opt MessagesOptions, each func(*Message) error, damaged func(jsonl.Damages)) error {
	damaged(c.Damage)
	var failed error
	work := func(l *jsonl.Line, list *[]Message) {
		if l.Damage != nil {
			return
		}
		n := len(*list)
		if n < cap(*list) {
			*list = (*list)[:n+1]
		} else {
			*list = append(*list, Message{})
		}
		(*list)[n].read(l, &opt)
	}
	fold := func(list *[]Message, base jsonl.Base, damage jsonl.Damages) error {
		damaged(damage)
		for i := range *list {
			m := &(*list)[i]
			m.Schema, m.Path, m.Index = Schema, c.Path, base.Index+i
			if failed = each(m); failed != nil {
				return failed
			}
		}
		return nil
	}
	err := jsonl.Map(ctx, c.Source, jsonl.MapOptions{
		From: c.Body, Line: c.BodyLine, Limit: -1, Keys: lineKeys(), Workers: opt.Workers, Progress: opt.Progress,
	}, work, fold, func(list *[]Message) { *list = (*list)[:0] })
	if err != nil && failed == nil {
		return c.Errorf("%w", err)
	}
	return err
}

// read reads one line.
func (m *Message) read(l *jsonl.Line, opt *MessagesOptions) {
	who := role(l)
	*m = Message{Role: string(who), Branches: m.Branches[:0]}
	if name, ok := l.Value(keyName); ok {
		m.Name = rawjson.TextOrNil(name)
	}
	if date, ok := l.Value(keyDate); ok && isDate(date) {
		m.Date = DateText(date)
	}
	if raw, ok := l.Value(keySwipeID); ok {
		if id, ok := rawjson.Int(raw); ok && id >= 0 && id < math.MaxInt {
			number := id + 1
			m.Swipe = &number
		}
	}
	if raw, ok := l.Value(keySwipes); ok {
		m.Swipes = swipeCount(l, raw)
	}
	if raw, ok := l.Value(keyText); ok {
		m.Text = rawjson.TextOrNil(raw)
		if m.Text != nil && opt.FirstLine {
			*m.Text = beginning(*m.Text, opt.Head)
		}
	}
	var e extra
	e.read(l, nil)
	if link, ok := linkName(e.bookmark); ok {
		m.Checkpoint = &link
	}
	if e.branches != nil {
		for raw := range rawjson.Elements(e.branches) {
			if link, ok := linkName(raw); ok {
				m.Branches = append(m.Branches, link)
			}
		}
	}
	s := e.scene()
	m.SceneBreak = s.Break && !s.Hidden
	m.Hidden = who == message.System && e.hidden()
}

// beginning returns a text's first line that says something, cut to about head bytes, but not
// inside a character.
func beginning(text string, head int) string {
	line, _, _ := strings.Cut(strings.TrimLeft(text, " \n\r\t"), "\n")
	line = strings.TrimSuffix(line, "\r")
	if head > 0 && len(line) > head {
		for head < len(line) && !utf8.RuneStart(line[head]) {
			head++
		}
		line = line[:head]
	}
	return strings.Clone(line) // the text may be long
}

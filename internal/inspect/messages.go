package inspect

import (
	"bytes"
	"context"
	"math"
	"slices"

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
		if opt.FirstLine {
			raw = beginning(firstLine(raw), opt.Head)
		}
		m.Text = rawjson.TextOrNil(raw)
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

// firstLine returns a raw string's first line that says something.
func firstLine(raw []byte) []byte {
	if len(raw) < len(`""`) || raw[0] != '"' {
		return raw
	}
	start := 1
	for start < len(raw)-2 && (raw[start] == ' ' || raw[start] == '\\' && bytes.IndexByte([]byte("nrt"), raw[start+1]) >= 0) {
		if raw[start] == '\\' {
			start++
		}
		start++
	}
	for i := start; i < len(raw)-1; i++ {
		if raw[i] != '\\' {
			continue
		}
		if raw[i+1] == 'n' || raw[i+1] == 'r' && bytes.HasPrefix(raw[i+2:], []byte(`\n`)) {
			return slices.Concat([]byte{'"'}, raw[start:i], []byte{'"'})
		}
		i++
	}
	return raw
}

// beginning returns a raw string cut to about head bytes: after an escape, not
// inside one, nor inside a character or a surrogate pair.
func beginning(raw []byte, head int) []byte {
	if head <= 0 || len(raw) <= head+len(`""`) || raw[0] != '"' {
		return raw
	}
	i := 1
	for i < len(raw)-1 && (i <= head || raw[i]&0xC0 == 0x80 || raw[i] == '\\') {
		if raw[i] != '\\' {
			i++
			continue
		}
		if raw[i+1] == 'u' {
			i += len(`\uXXXX`)
		} else {
			i += len(`\n`)
		}
	}
	return slices.Concat(raw[:i], []byte{'"'})
}

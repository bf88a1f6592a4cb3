package inspect

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"stchat/internal/extension/autorecap"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
)

// extra is what is wanted of a message's extra, as raw values.
type extra struct {
	kind              []byte // type
	small             []byte // isSmallSys
	tools             []byte // tool_invocations
	bookmark          []byte
	branches          []byte
	recap, documented []byte // Auto-Recap's mark
}

// extraOf finds the wanted keys in a line's extra, and adds every key's bytes to sizes
// unless that is nil.
func extraOf(l *jsonl.Line, sizes *sizes) (e extra) {
	if sizes != nil {
		sizes.next = 0
	}
	l.Inside(keyExtra, func(key, value []byte) {
		if sizes != nil {
			sizes.add(key, len(value))
		}
		switch string(inside(key)) {
		case "type":
			e.kind = value
		case "isSmallSys":
			e.small = value
		case "tool_invocations":
			e.tools = value
		case "bookmark_link":
			e.bookmark = value
		case "branches":
			e.branches = value
		case autorecap.Module:
			e.recap = value
		case autorecap.DocumentedModule:
			e.documented = value
		}
	})
	return e
}

// role returns whose message it is that has this extra.
func (e *extra) role(l *jsonl.Line) message.Who {
	s := message.Speaker{Type: e.kind, Small: e.small, Tools: e.tools}
	s.Name, _ = l.Value(keyName)
	s.User, _ = l.Value(keyIsUser)
	s.System, _ = l.Value(keyIsSystem)
	return s.Role()
}

// hidden reports whether a message with this extra is one that the user has hidden: the program's own
// have a type, and calls of tools are visible.
func (e *extra) hidden(l *jsonl.Line) bool {
	system, _ := l.Value(keyIsSystem)
	return rawjson.Truthy(system) && !rawjson.Truthy(e.kind) && rawjson.KindOf(e.tools) != rawjson.Array
}

// scene returns what Auto-Recap's mark says.
func (e *extra) scene() autorecap.Scene {
	mark := autorecap.ReadMark(e.recap, e.documented)
	return mark.Scene()
}

// inside returns a raw key decoded, without its quotes. It only allocates for
// one that has escapes.
func inside(rawKey []byte) []byte {
	if bytes.IndexByte(rawKey, '\\') >= 0 {
		if s, ok := rawjson.Unquote(rawKey); ok {
			return []byte(s)
		}
	}
	return rawKey[1 : len(rawKey)-1]
}

// Limits of the table of sizes: a hostile chat has a million keys, or keys of
// a megabyte.
const (
	maxKeys = 4096
	maxKey  = 200 // bytes; a longer one counts as its beginning
)

// sizes adds up bytes by key. Messages of one chat have much the same keys in
// the same order, so the place after the last one found is tried first.
type sizes struct {
	keys   [][]byte // decoded
	bytes  []int64
	places map[string]int
	next   int
}

// add counts bytes for a raw key.
func (s *sizes) add(rawKey []byte, n int) {
	key := inside(rawKey)
	if len(key) > maxKey {
		key = key[:maxKey]
	}
	if s.next < len(s.keys) && bytes.Equal(s.keys[s.next], key) {
		s.bytes[s.next] += int64(n)
		s.next++
		return
	}

	i := s.indexOf(key)
	s.bytes[i] += int64(n)
	s.next = i + 1
}

func (s *sizes) indexOf(key []byte) int {
	i, ok := s.places[string(key)]
	if ok {
		return i
	}
	if len(s.keys) >= maxKeys {
		s.shrink()
	}
	if s.places == nil {
		s.places = map[string]int{}
	}
	i = len(s.keys)
	s.keys = append(s.keys, bytes.Clone(key))
	s.bytes = append(s.bytes, 0)
	s.places[string(key)] = i
	return i
}

// shrink forgets the smaller half of the keys, which are not among the
// largest of a chat with so many.
func (s *sizes) shrink() {
	order := s.order()
	keys, bytesOf := s.keys, s.bytes

	s.keys = nil
	s.bytes = nil
	clear(s.places)
	for _, i := range order[:maxKeys/2] {
		s.places[string(keys[i])] = len(s.keys)
		s.keys = append(s.keys, keys[i])
		s.bytes = append(s.bytes, bytesOf[i])
	}
}

// order returns the places of the keys, the largest first.
func (s *sizes) order() []int {
	order := make([]int, len(s.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(s.bytes[j], s.bytes[i]), bytes.Compare(s.keys[i], s.keys[j]))
	})
	return order
}

// merge adds what another table counted.
func (s *sizes) merge(other *sizes) {
	for i, key := range other.keys {
		if n := other.bytes[i]; n > 0 {
			s.bytes[s.indexOf(key)] += n
		}
	}
}

// zero resets the counts, and keeps the keys for the next lines unless there are many.
func (s *sizes) zero() {
	clear(s.bytes)
	if len(s.keys) > maxKeys/4 {
		*s = sizes{}
	}
}

// largest returns up to n keys, decoded, with their bytes.
func (s *sizes) largest(n int) []Size {
	var list []Size
	for _, i := range s.order() {
		if len(list) == n || s.bytes[i] == 0 {
			break
		}
		key := string(s.keys[i])
		if len(key) == maxKey {
			key = strings.ToValidUTF8(key, "") + "…" // it may be cut inside a letter
		}
		list = append(list, Size{Key: key, Bytes: s.bytes[i]})
	}
	return list
}

// Message is one message of a chat. It is also a JSON document of inspect.
type Message struct {
	Schema     int      `json:"schema"`
	Path       string   `json:"path" is:"path"`
	Index      int      `json:"index"`
	Role       string   `json:"role"`
	Name       *string  `json:"name"`
	Date       *string  `json:"date"`       // RFC 3339 in UTC, or the text as it stands
	Swipe      *int     `json:"swipe"`      // the chosen swipe, from 1
	Swipes     int      `json:"swipes"`     // how many are stored
	Checkpoint *string  `json:"checkpoint"` // extra.bookmark_link
	Branches   []string `json:"branches"`   // extra.branches
	SceneBreak bool     `json:"scene_break"`
	Hidden     bool     `json:"hidden"`
	Bytes      int      `json:"bytes"` // of its line
	Text       *string  `json:"text"`  // mes
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

	work := func(l *jsonl.Line, list *[]Message) {
		if l.Damage != nil {
			return
		}
		n := len(*list)
		if n < cap(*list) { // a message of an earlier batch, whose memory is used again
			*list = (*list)[:n+1]
		} else {
			*list = append(*list, Message{})
		}
		(*list)[n].fill(l, &opt)
	}

	var failed error
	fold := func(list *[]Message, base jsonl.Base, damage jsonl.Damages) error {
		damaged(damage)
		for i := range *list {
			m := &(*list)[i]
			m.Schema = Schema
			m.Path = c.Path
			m.Index = base.Index + i
			if failed = each(m); failed != nil {
				return failed
			}
		}
		return nil
	}

	reset := func(list *[]Message) { *list = (*list)[:0] }

	lines := jsonl.MapOptions{
		From:     c.Body,
		Line:     c.BodyLine,
		Limit:    -1,
		Keys:     lineKeys(),
		Workers:  opt.Workers,
		Progress: opt.Progress,
	}

	err := jsonl.Map(ctx, c.Source, lines, work, fold, reset)
	if err != nil && failed == nil {
		return c.Errorf("%w", err)
	}
	return err
}

// fill makes it the message of a line, but for Schema, Path and Index.
func (m *Message) fill(l *jsonl.Line, opt *MessagesOptions) {
	*m = Message{Branches: m.Branches[:0], Bytes: len(l.Raw)}
	value := func(key int) []byte {
		raw, _ := l.Value(key)
		return raw
	}

	m.Name = rawjson.TextOrNil(value(keyName))
	if date := value(keyDate); isDate(date) {
		m.Date = DateText(date)
	}
	if id, ok := rawjson.Int(value(keySwipeID)); ok && id >= 0 && id < math.MaxInt {
		m.Swipe = new(id + 1)
	}
	m.Swipes = swipeCount(l, value(keySwipes))
	m.Text = rawjson.TextOrNil(value(keyText))
	if m.Text != nil && opt.FirstLine {
		*m.Text = beginning(*m.Text, opt.Head)
	}

	e := extraOf(l, nil)
	m.Role = string(e.role(l))
	if link, ok := linkName(e.bookmark); ok {
		m.Checkpoint = &link
	}
	for raw := range rawjson.Elements(e.branches) {
		if link, ok := linkName(raw); ok {
			m.Branches = append(m.Branches, link)
		}
	}

	s := e.scene()
	m.SceneBreak = s.Break && !s.Hidden
	m.Hidden = e.hidden(l)
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

package look

import (
	"context"
	"slices"
	"strings"
	"sync"

	"stchat/internal/family"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/progress"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/treeview"
	"stchat/internal/visible"
)

const (
	ownTexts  = 6 // how many own messages of a chat a page shows: the first and the last
	dateMarks = 9 // for how many messages of a chat a page has dates
)

// texts reads the messages of the chats that are shown.
func texts(ctx context.Context, b *treeBuilder) error {
	if b.Preview <= 0 && !b.Page {
		return nil
	}
	readers := sync.Pool{New: func() any { return newLineReader() }}
	progress.Each(ctx, len(b.order), func(i int) {
		c := b.order[i]
		t := b.shown[c]
		if b.Page {
			t.Dates = marks(c)
		}
		if b.Preview <= 0 || len(c.Messages) == 0 || c.Err != nil {
			return
		}
		r := readers.Get().(*lineReader)
		defer readers.Put(r)
		last := len(c.Messages) - 1
		fork := last + 1 - c.Own()
		wanted := []int{last}
		if fork < last {
			wanted = []int{fork, last}
		}
		if b.Page {
			wanted = endsOf(fork, last, ownTexts)
		}
		found := r.read(c, wanted, b.Preview)
		for k := range found {
			m := &found[k]
			if m.Index == fork {
				t.Preview.Fork = new(line(m))
			}
			if m.Index == last {
				t.Preview.Last = new(line(m))
			}
		}
		if b.Page {
			t.Texts = found
		}
	})
	return ctx.Err()
}

// line returns a message as text, after its name if it has one.
func line(m *treeview.Message) string {
	if m.Name == "" {
		return m.Text
	}
	return m.Name + ": " + m.Text
}

// endsOf returns the first and the last of the numbers from..to, n at most. If there are
// none, it returns to.
func endsOf(from, to, n int) []int {
	if from > to {
		return []int{to}
	}
	var list []int
	for i := from; i <= to; i++ {
		if i-from >= n/2 && to-i >= n-n/2 {
			i = to - (n - n/2) + 1
		}
		list = append(list, i)
	}
	return list
}

// marks returns the dates of some of a chat's own messages, the first and the last among
// them.
func marks(c *family.Chat) []treeview.Date {
	from := len(c.Messages) - c.Own()
	n := len(c.Messages) - from
	var list []treeview.Date
	for k := range min(n, dateMarks) {
		i := from
		if n > 1 {
			i += k * (n - 1) / (min(n, dateMarks) - 1)
		}
		if d := c.Messages[i].Date; d != 0 {
			list = append(list, treeview.Date{Index: i, At: moment(d)})
		}
	}
	return list
}

// lineReader reads single messages from chats, and reuses its memory.
type lineReader struct {
	keys *jsonl.Keys
	buf  jsonl.Buffer
}

const (
	textName = iota
	textIsUser
	textIsSystem
	textMes
	textSwipeID
	textSwipes
)

func newLineReader() *lineReader {
	return &lineReader{keys: jsonl.NewKeys("name", "is_user", "is_system", "mes", "swipe_id", "swipes")}
}

// read returns the messages of a chat at the wanted indexes, their texts cut to a width in
// cells. It returns none if the file has changed since its messages were counted.
func (r *lineReader) read(c *family.Chat, wanted []int, cells int) []treeview.Message {
	f, err := safefile.Open(c.Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if stamp, err := safefile.StampOf(f); err != nil || !stamp.Same(c.Stamp) {
		return nil
	}
	list := make([]treeview.Message, 0, len(wanted))
	for _, i := range slices.Compact(wanted) {
		end := c.Bytes
		if i+1 < len(c.Messages) {
			end = c.Messages[i+1].Off
		}
		found := false
		_, err := r.buf.Each(jsonl.Source{R: f, Size: end}, jsonl.MapOptions{From: c.Messages[i].Off, Limit: -1, Keys: r.keys}, func(l *jsonl.Line) {
			if !found && l.Damage == nil { // damaged lines may follow
				found = true
				list = append(list, shownMessage(l, i, cells))
			}
		})
		if err != nil {
			return list
		}
	}
	return list
}

func shownMessage(l *jsonl.Line, index, cells int) treeview.Message {
	value := func(key int) []byte {
		raw, _ := l.Value(key)
		return raw
	}
	m := treeview.Message{Index: index, Role: string(message.Role(value(textIsUser), value(textIsSystem)))}
	m.Name, _ = rawjson.Unquote(value(textName))
	m.Name = cut(m.Name, 40)
	m.Text, _ = rawjson.Unquote(value(textMes))
	m.Text = cut(m.Text, cells)
	if raw := value(textSwipes); rawjson.KindOf(raw) == rawjson.Array {
		m.Swipes = l.Count(textSwipes)
		if id, ok := rawjson.Int(value(textSwipeID)); ok && m.Swipes > 0 {
			m.Swipe = id + 1
		}
	}
	return m
}

// cut joins text into one line of at most so many cells.
func cut(s string, cells int) string {
	const runes = 4 // per cell, which may have several
	short := s
	n := 0
	for i := range s {
		if n++; n > (cells+1)*runes {
			short = s[:i]
			break
		}
	}
	short = strings.Join(strings.Fields(short), " ")
	if shown := visible.Truncate(short, cells); shown != short {
		return shown
	}
	if len(short) < len(s) && n > (cells+1)*runes {
		return short + "…"
	}
	return short
}

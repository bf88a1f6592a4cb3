package look

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"stchat/internal/change/safefile"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/show/prose"
	"stchat/internal/show/treeview"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/progress"
	"stchat/internal/text/visible"
)

// TreeOptions says which families to show, and what of them.
type TreeOptions struct {
	List ops.List
	By   family.Evidence
	Up   bool // only one chat with its ancestors
	All  bool // also show chats without relatives

	Preview int  // width of a message's text in cells; 0: none
	Page    bool // include texts of own messages, and the dates of some
	Whole   int  // bytes of all own texts up to which they are included whole; 0: they never are
	Read    bool // also tell how texts are read, as for a page

	Meter *progress.Meter
}

// ErrOneChat means that ancestors were asked for, but not those of exactly one chat.
var ErrOneChat = errors.New("ancestors are those of one chat")

// TreeResult is the result of Tree.
type TreeResult struct {
	Tree     *treeview.Tree
	Warnings []string
	Errs     []error // of PATHs, and of chats that cannot be read
}

// Tree reads the folders of the chats in a list, finds out which chat was made from which,
// and returns the families: all of a folder that was named, and that of a chat that was
// named. The error is that ctx ended, [ErrOneChat], or
// that of the PATH whose ancestors are wanted.
func Tree(ctx context.Context, opt TreeOptions) (*TreeResult, error) {
	walked := ops.Walk(opt.List)
	if opt.Up && len(walked.Errs) > 0 {
		return nil, walked.Errs[0]
	}
	if opt.Up && (len(walked.Chats) != 1 || walked.Chats[0].From != "") {
		return nil, ErrOneChat
	}
	res := &TreeResult{Errs: walked.Errors()}
	walked.Chats = slices.DeleteFunc(walked.Chats, func(t ops.Target) bool {
		err := chat.CheckName(t.Path)
		if err != nil {
			res.Errs = append(res.Errs, ops.PathError(err))
		}
		return err != nil
	})

	lib := new(library.Library)
	folders, asked := foldersOf(walked)
	graphs, err := family.Read(ctx, lib, folders, family.Options{By: opt.By, Meter: opt.Meter})
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		res.Errs = append(res.Errs, ops.PathError(err))
		graphs = nil
	}

	b := &treeBuilder{TreeOptions: opt, shown: map[*family.Chat]*treeview.Chat{}}
	for i, g := range graphs {
		b.add(g, asked[i])
		for _, c := range g.Chats {
			if c.Err != nil {
				res.Errs = append(res.Errs, ops.PathError(c.Err))
			}
		}
		for _, w := range g.Warnings {
			res.Warnings = append(res.Warnings, warning(w))
		}
	}

	res.Tree = b.tree()
	err = texts(ctx, b)
	res.Tree.Whole = b.wholeTexts
	return res, err
}

// asked says which chats of a folder were named; all of them if the folder was.
type asked struct {
	all   bool
	paths map[string]bool
}

// foldersOf returns the folders of chats, each once, in the order of the chats, and for each which
// chats were asked for in it.
func foldersOf(walked ops.Walked) (folders []string, list []*asked) {
	var reals userdir.Real
	by := map[string]*asked{} // by the folder's real path
	for _, t := range walked.Chats {
		folder := filepath.Dir(t.Path)
		real := reals.Path(folder)
		a := by[real]
		if a == nil {
			a = &asked{paths: map[string]bool{}}
			by[real] = a
			folders, list = append(folders, folder), append(list, a)
		}
		a.all = a.all || t.From != ""
		a.paths[filepath.Base(t.Path)] = true
	}
	return folders, list
}

// warning returns the text of a warning about kinship.
func warning(w family.Warning) string {
	if w.Kind == family.LetterCase {
		return fmt.Sprintf("%s: names %s, which differs from the chat's name in letter case", w.Chat.Path, visible.Quote(w.Name))
	}
	return fmt.Sprintf("%s: names %s as its parent, but shares no message with it", w.Chat.Path, visible.Quote(w.Name))
}

const (
	ownTexts  = 6 // how many own messages of a chat a page shows: the first and the last
	dateMarks = 9 // for how many messages of a chat a page has dates

	wholeAtOnce = 64 // messages of a chat, after which the texts of all are added up
)

// texts reads the messages of the chats that are shown.
func texts(ctx context.Context, b *treeBuilder) error {
	if b.Preview <= 0 && !b.Page {
		return nil
	}
	readers := sync.Pool{New: func() any {
		return &lineReader{keys: jsonl.NewKeys("name", "is_user", "is_system", "mes", "swipe_id", "swipes", "extra")}
	}}
	if err := b.whole(ctx, &readers); err != nil {
		return err
	}
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
		if b.Page && !b.wholeTexts {
			wanted = endsOf(fork, last, ownTexts)
		}
		found := r.read(c, wanted, b.Preview, b.Read || b.Page)
		for k := range found {
			m := &found[k]
			if m.Index == fork {
				t.Preview.Fork, t.Said = new(line(m)), m.Said
				if m.Name != t.Owner {
					t.Said = line(&treeview.Message{Name: m.Name, Text: m.Said})
				}
			}
			if m.Index == last {
				t.Preview.Last = new(line(m))
			}
		}

		if b.Page && !b.wholeTexts {
			t.Texts = found
		}
	})
	return ctx.Err()
}

// whole reads all own texts of the chats that are shown, unless they are too much for a page.
func (b *treeBuilder) whole(ctx context.Context, readers *sync.Pool) error {
	if !b.Page || b.Preview <= 0 || b.Whole <= 0 {
		return nil
	}
	texts := make([][]treeview.Message, len(b.order))
	var read atomic.Int64
	progress.Each(ctx, len(b.order), func(i int) {
		c := b.order[i]
		if c.Err != nil || len(c.Messages) == 0 {
			return
		}
		r := readers.Get().(*lineReader)
		defer readers.Put(r)
		for k := len(c.Messages) - max(c.Own(), 1); k < len(c.Messages) && read.Load() <= int64(b.Whole); k += wholeAtOnce {
			var wanted []int
			for i := k; i < min(k+wholeAtOnce, len(c.Messages)); i++ {
				wanted = append(wanted, i)
			}
			some := r.read(c, wanted, 0, true)
			for _, m := range some {
				read.Add(int64(len(m.Text)))
			}
			texts[i] = append(texts[i], some...)
		}
	})

	if b.wholeTexts = read.Load() <= int64(b.Whole); b.wholeTexts {
		for i, c := range b.order {
			b.shown[c].Texts = texts[i]
		}
	}
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

// The keys that a lineReader reads, in their order.
const (
	textName = iota
	textIsUser
	textIsSystem
	textMes
	textSwipeID
	textSwipes
	textExtra
)

// read returns the messages of a chat at the wanted indexes, their texts cut to a width in
// cells, or whole if that is 0; said: also as they are read. It returns none if the file has
// changed since its messages were counted.
func (r *lineReader) read(c *family.Chat, wanted []int, cells int, said bool) []treeview.Message {
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
				list = append(list, shownMessage(l, i, cells, said))
			}
		})
		if err != nil {
			return list
		}
	}
	return list
}

func shownMessage(l *jsonl.Line, index, cells int, said bool) treeview.Message {
	value := func(key int) []byte {
		raw, _ := l.Value(key)
		return raw
	}
	m := treeview.Message{Index: index, Role: string(message.Role(value(textName), value(textIsUser), value(textIsSystem), value(textExtra)))}
	m.Name, _ = rawjson.Unquote(value(textName))
	m.Name = cut(m.Name, 40)
	m.Text, _ = rawjson.Unquote(value(textMes))
	if said {
		m.Said = prose.Plain(m.Text)
	}
	if cells > 0 {
		m.Said = visible.CutRight(visible.Text(strings.Join(strings.Fields(m.Said), " ")), cells, "…")
		m.Text = cut(m.Text, cells)
	}
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
	if shown := visible.Truncate(short, cells, "…"); shown != short {
		return shown
	}
	if len(short) < len(s) && n > (cells+1)*runes {
		return short + "…"
	}
	return short
}

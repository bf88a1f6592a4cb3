package inspect

import (
	"slices"

	"stchat/internal/extension/autorecap"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/message"
)

// The keys of a message that are looked at.
const (
	keyIsUser = iota
	keyIsSystem
	keyDate
	keyText
	keySwipes
	keySwipeInfo
	keyExtra
	keySwipeID
	keyName
)

func lineKeys() *jsonl.Keys {
	return jsonl.NewKeys("is_user", "is_system", "send_date", "mes", "swipes", "swipe_info", "extra", "swipe_id", "name").Inside("extra")
}

// totals is what the messages of a stretch of a chat add up to.
type totals struct {
	Counts
	badUTF8               int
	longest               int64
	heaviest              [3]Heavy // the first is the largest; without bytes: there are fewer
	parts                 Parts
	first, last           []byte
	links                 []link // the first maxLinks
	checkpoints, branches int    // links in all
	breaks, hiddenBreaks  int
	recaps                int
	sizes                 sizes
}

// maxLinks is how many links of a chat are kept: more than people make, and few
// enough that a chat that has nothing else cannot fill the memory.
const maxLinks = 100_000

// link is a link whose message's index is counted from the stretch's start.
type link struct {
	at     int
	branch bool
	name   string
}

// reset makes the totals zero and keeps their memory.
func (t *totals) reset() {
	t.sizes.zero()
	*t = totals{first: t.first[:0], last: t.last[:0], links: t.links[:0], sizes: t.sizes}
}

// weigh keeps a message if it is one of the heaviest.
func (t *totals) weigh(m Heavy) {
	for i := range t.heaviest {
		if m.Bytes > t.heaviest[i].Bytes {
			m, t.heaviest[i] = t.heaviest[i], m
		}
	}
}

// line counts one line. It does not allocate, but for the messages that have
// links, and for keys that were not seen before.
func (t *totals) line(l *jsonl.Line) {
	bytes := int64(len(l.Raw))
	t.longest = max(t.longest, bytes)
	if l.Damage != nil {
		return
	}
	value := func(key int) []byte {
		raw, _ := l.Value(key)
		return raw
	}

	if l.BadUTF8 {
		t.badUTF8++
	}
	if date := value(keyDate); isDate(date) {
		if len(t.first) == 0 {
			t.first = append(t.first, date...)
		}
		t.last = append(t.last[:0], date...)
	}

	swipes := value(keySwipes)
	n := swipeCount(l, swipes)
	t.Swipes += n
	if n > 1 {
		t.WithSwipes++
	}

	e := extraOf(l, &t.sizes)
	t.addLinks(&e, l.Index)
	t.addScene(e.scene())
	switch e.role(l) {
	case message.User:
		t.User++
	case message.Character:
		t.Character++
	default:
		t.System++
	}

	if e.hidden(l) {
		t.Hidden++
	}

	p := Parts{
		Text:      int64(len(value(keyText))),
		Swipes:    int64(len(swipes)),
		SwipeInfo: int64(len(value(keySwipeInfo))),
		Extra:     int64(len(value(keyExtra))),
	}

	p.Other = bytes - p.Text - p.Swipes - p.SwipeInfo - p.Extra
	t.parts.add(p)
	t.weigh(Heavy{t.Messages, bytes, p})
	t.Messages++
}

// addLinks counts the links in the extra of the message at an index.
func (t *totals) addLinks(e *extra, at int) {
	if name, ok := linkName(e.bookmark); ok {
		t.checkpoints++
		t.link(link{at, false, name})
	}
	for raw := range rawjson.Elements(e.branches) {
		if name, ok := linkName(raw); ok {
			t.branches++
			t.link(link{at, true, name})
		}
	}
}

// addScene counts what Auto-Recap's mark of a message says.
func (t *totals) addScene(s autorecap.Scene) {
	switch {
	case s.Break && s.Hidden:
		t.hiddenBreaks++
	case s.Break:
		t.breaks++
	}
	if s.Recap {
		t.recaps++
	}
}

func (t *totals) link(l link) {
	if len(t.links) < maxLinks {
		t.links = append(t.links, l)
	}
}

// swipeCount returns the number of swipes, where they are a list.
func swipeCount(l *jsonl.Line, swipes []byte) int {
	if rawjson.KindOf(swipes) != rawjson.Array {
		return 0
	}
	return l.Count(keySwipes)
}

// isDate reports whether a send_date says anything.
func isDate(raw []byte) bool {
	switch rawjson.KindOf(raw) {
	case rawjson.String:
		return len(raw) > len(`""`)
	case rawjson.Number:
		return true
	}
	return false
}

// linkName returns the name in a link that is text and not empty.
func linkName(raw []byte) (string, bool) {
	if len(raw) <= len(`""`) {
		return "", false
	}
	return rawjson.Unquote(raw)
}

// add adds the totals of the stretch that follows this one.
func (t *totals) add(u *totals) {
	for _, l := range u.links {
		l.at += t.Messages
		t.link(l)
	}

	for _, m := range u.heaviest {
		m.Index += t.Messages
		t.weigh(m)
	}

	t.checkpoints += u.checkpoints
	t.branches += u.branches
	t.Counts.add(u.Counts)
	t.badUTF8 += u.badUTF8
	t.longest = max(t.longest, u.longest)
	t.parts.add(u.parts)
	t.breaks += u.breaks
	t.hiddenBreaks += u.hiddenBreaks
	t.recaps += u.recaps

	if len(t.first) == 0 {
		t.first = slices.Clone(u.first)
	}
	if len(u.last) > 0 {
		t.last = append(t.last[:0], u.last...)
	}
	t.sizes.merge(&u.sizes)
}

package inspect

import (
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
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

// tally is what the messages of a stretch of a chat add up to.
type tally struct {
	Counts
	badUTF8               int
	longest               int64
	heaviest              [3]Heavy // the first is the largest; without bytes: there are fewer
	bytes                 int64    // of the messages
	parts                 Parts    // without Other
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

// reset makes the tally zero and keeps its memory.
func (t *tally) reset() {
	t.sizes.zero()
	*t = tally{first: t.first[:0], last: t.last[:0], links: t.links[:0], sizes: t.sizes}
}

// line counts one line. It does not allocate, but for the messages that have
// links, and for keys that were not seen before.
func (t *tally) line(l *jsonl.Line) {
	before, index := t.parts, t.Messages
	t.count(l)
	if l.Damage == nil {
		p := Parts{Text: t.parts.Text - before.Text, Swipes: t.parts.Swipes - before.Swipes, SwipeInfo: t.parts.SwipeInfo - before.SwipeInfo, Extra: t.parts.Extra - before.Extra}
		p.Other = int64(len(l.Raw)) - p.Text - p.Swipes - p.SwipeInfo - p.Extra
		t.weigh(Heavy{index, int64(len(l.Raw)), p})
	}
}

// weigh keeps a message if it is one of the heaviest.
func (t *tally) weigh(m Heavy) {
	for i := range t.heaviest {
		if m.Bytes > t.heaviest[i].Bytes {
			m, t.heaviest[i] = t.heaviest[i], m
		}
	}
}

func (t *tally) count(l *jsonl.Line) {
	t.longest = max(t.longest, int64(len(l.Raw)))
	if l.Damage != nil {
		return
	}
	t.Messages++
	t.bytes += int64(len(l.Raw))
	if l.BadUTF8 {
		t.badUTF8++
	}
	who := role(l)
	switch who {
	case message.System:
		t.System++
	case message.User:
		t.User++
	default:
		t.Character++
	}
	if date, ok := l.Value(keyDate); ok && isDate(date) {
		if len(t.first) == 0 {
			t.first = append(t.first, date...)
		}
		t.last = append(t.last[:0], date...)
	}
	if text, ok := l.Value(keyText); ok {
		t.parts.Text += int64(len(text))
	}
	if swipes, ok := l.Value(keySwipes); ok {
		t.parts.Swipes += int64(len(swipes))
		n := swipeCount(l, swipes)
		t.Swipes += n
		if n > 1 {
			t.WithSwipes++
		}
	}
	if info, ok := l.Value(keySwipeInfo); ok {
		t.parts.SwipeInfo += int64(len(info))
	}
	var e extra
	if raw, ok := l.Value(keyExtra); ok {
		t.parts.Extra += int64(len(raw))
		e.read(l, &t.sizes)
		t.mark(&e, l.Index)
	}
	if who == message.System && e.hidden() {
		t.Hidden++
	}
}

// mark counts what the extra of message at says: links and scenes.
func (t *tally) mark(e *extra, at int) {
	if name, ok := linkName(e.bookmark); ok {
		t.checkpoints++
		t.link(link{at, false, name})
	}
	if e.branches != nil {
		for raw := range rawjson.Elements(e.branches) {
			if name, ok := linkName(raw); ok {
				t.branches++
				t.link(link{at, true, name})
			}
		}
	}
	s := e.scene()
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

func (t *tally) link(l link) {
	if len(t.links) < maxLinks {
		t.links = append(t.links, l)
	}
}

// role returns whose message a line is.
func role(l *jsonl.Line) message.Who {
	user, _ := l.Value(keyIsUser)
	system, _ := l.Value(keyIsSystem)
	return message.Role(user, system)
}

// swipeCount returns the number of swipes, where they are a list.
func swipeCount(l *jsonl.Line, swipes []byte) int {
	if swipes[0] != '[' {
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

// add adds the tally of the stretch that follows this one.
func (t *tally) add(u *tally) {
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
	t.bytes += u.bytes
	t.parts.Text += u.parts.Text
	t.parts.Swipes += u.parts.Swipes
	t.parts.SwipeInfo += u.parts.SwipeInfo
	t.parts.Extra += u.parts.Extra
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

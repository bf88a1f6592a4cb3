package rules

import (
	"bytes"
	"fmt"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// message judges one message.
func (s *scan) message(l *jsonl.Line, b *batch) {
	b.hashes = append(b.hashes, s.hash(l))
	s.shape(l, b)
	s.swipes(l, b)
	s.sendDate(l, b)
	s.repeatedKeys(l, b)
	if extra, ok := l.Value(keyExtra); ok && len(extra) > 2 && extra[0] == '{' {
		s.extra(l, b, extra)
	}
}

// shape judges what every message must have.
func (s *scan) shape(l *jsonl.Line, b *batch) {
	want := func(key int, name string, kind rawjson.Kind, wanted string) {
		raw, ok := l.Value(key)
		switch {
		case !ok:
			b.add(MessageShape, l, nil, name+" is missing")
		case rawjson.KindOf(raw) != kind:
			b.add(MessageShape, l, raw, fmt.Sprintf("%s is %v, not %s", name, rawjson.KindOf(raw), wanted))
		}
	}
	want(keyName, "name", rawjson.String, "text")
	want(keyMes, "mes", rawjson.String, "text")
	want(keyIsUser, "is_user", rawjson.Bool, "true or false")
}

// repeatedKeys judges the message's own keys.
func (s *scan) repeatedKeys(l *jsonl.Line, b *batch) {
	var r repeats
	members := l.Members()
	suspect := false
	for i := range members {
		m := &members[i]
		if m.Escaped {
			suspect = true
			break
		}
		if key := l.Raw[m.Key:m.KeyEnd]; r.next(key) && !suspect {
			suspect = len(members) > 64 || sameKeyBefore(l, members[:i], key)
		}
	}
	if !suspect {
		return
	}
	if keys := duplicates(l.Raw); len(keys) > 0 {
		b.add(DuplicateKey, l, nil, duplicateMessage("", keys))
	}
}

func sameKeyBefore(l *jsonl.Line, members []jsonl.Member, key []byte) bool {
	for i := range members {
		if m := &members[i]; bytes.Equal(l.Raw[m.Key:m.KeyEnd], key) {
			return true
		}
	}
	return false
}

// swipes judges swipe_id, swipes and swipe_info. What is missing or null is
// filled in by SillyTavern when the message is swiped, and is no finding.
func (s *scan) swipes(l *jsonl.Line, b *batch) {
	swipes, ok := l.Value(keySwipes)
	if kind := rawjson.KindOf(swipes); ok && kind != rawjson.Array && kind != rawjson.Null {
		b.addByHand(SwipeText, l, swipes, fmt.Sprintf("swipes is %v, not a list: SillyTavern puts the message's text in its place", kind), "make it a list by hand")
		return
	}
	n := l.Count(keySwipes)
	if rawjson.KindOf(swipes) != rawjson.Array {
		swipes = nil
	}
	s.chosenSwipe(l, b, swipes, n)
	info, _ := l.Value(keySwipeInfo)
	switch kind := rawjson.KindOf(info); {
	case kind == rawjson.Array && swipes != nil:
		switch m, message := l.Count(keySwipeInfo), "swipe_info has %d entries for %d swipes"; {
		case m > n:
			b.addByHand(SwipeInfo, l, info, fmt.Sprintf(message, m, n), "remove the entries that belong to no swipe by hand")
		case m < n:
			b.add(SwipeInfo, l, info, fmt.Sprintf(message, m, n))
		}
	case kind != rawjson.Array && kind != rawjson.Null && kind != rawjson.Invalid:
		b.addByHand(SwipeInfo, l, info, fmt.Sprintf("swipe_info is %v, not a list", kind), "make it a list by hand, or let SillyTavern write a new one")
	}
}

// chosenSwipe judges swipe_id, and the swipe that it chooses of the n in
// swipes, which is nil where there is no list of swipes.
func (s *scan) chosenSwipe(l *jsonl.Line, b *batch, swipes []byte, n int) {
	mes, hasText := l.Value(keyMes)
	hasText = hasText && rawjson.KindOf(mes) == rawjson.String
	bad := func(message string, raw []byte) {
		if !hasText {
			b.addByHand(SwipeID, l, raw, message, "put the message's text right first, by hand")
			return
		}
		b.add(SwipeID, l, raw, message)
	}
	raw, ok := l.Value(keySwipeID)
	absent := !ok || rawjson.KindOf(raw) == rawjson.Null
	id, isInt := swipeID(raw)
	switch {
	case absent && n == 0:
		return
	case absent:
		id = 0 // as SillyTavern takes it
	case rawjson.KindOf(raw) != rawjson.Number:
		bad(fmt.Sprintf("swipe_id is %v, not a number", rawjson.KindOf(raw)), raw)
		return
	case swipes == nil:
		if !isInt || id != 0 {
			bad(fmt.Sprintf("swipe_id is %s, but there are no swipes", clip(string(raw))), raw)
		}
		return
	case !isInt || id < 0 || id >= n:
		bad(fmt.Sprintf("swipe_id is %s, but %s", clip(string(raw)), countOf(n, "swipe")), raw)
		return
	}
	if !hasText || SwipeIs(swipes, n, id, mes) {
		return
	}
	b.add(SwipeText, l, swipes, fmt.Sprintf("swipe %d is chosen, but its text is not the message's", id))
}

func countOf(n int, what string) string {
	switch n {
	case 0:
		return "there are no " + what + "s"
	case 1:
		return "there is 1 " + what
	default:
		return fmt.Sprintf("there are %d %ss", n, what)
	}
}

// swipeID is rawjson.Int, quicker for the numbers that swipe_id has.
func swipeID(raw []byte) (int, bool) {
	if len(raw) == 1 && raw[0] >= '0' && raw[0] <= '9' {
		return int(raw[0] - '0'), true
	}
	return rawjson.Int(raw)
}

// SwipeIs reports whether swipe id of the n in the list swipes is the text mes.
// The first and the last swipe, one of which is nearly always the chosen one,
// are compared where they lie.
func SwipeIs(swipes []byte, n, id int, mes []byte) bool {
	if id == n-1 && lastIs(swipes, mes) || id == 0 && firstIs(swipes, mes) {
		return true
	}
	i := 0
	for swipe := range rawjson.Elements(swipes) {
		if i == id {
			return sameText(swipe, mes)
		}
		i++
	}
	return false
}

func firstIs(swipes, mes []byte) bool {
	return bytes.HasPrefix(swipes[1:], mes)
}

// lastIs reports whether the list certainly ends with the text. What ends in
// the same bytes is the same string, unless its opening quote is an escaped one.
func lastIs(swipes, mes []byte) bool {
	rest, ok := bytes.CutSuffix(swipes[:len(swipes)-1], mes)
	return ok && (rest[len(rest)-1] == ',' || rest[len(rest)-1] == '[')
}

// sameText reports whether two raw strings are the same text, however spelled.
func sameText(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	s, ok := rawjson.Unquote(a)
	t, ok2 := rawjson.Unquote(b)
	return ok && ok2 && s == t
}

// extra judges what hangs on the message, and collects its links.
func (s *scan) extra(l *jsonl.Line, b *batch, extra []byte) {
	var r repeats
	suspect := false
	var bookmark, branches []byte
	var attached [attachmentKeys][]byte
	any := false
	for key, value := range rawjson.Members(extra) {
		if bytes.IndexByte(key, '\\') >= 0 {
			suspect = true
			decoded, _ := rawjson.Unquote(key)
			key = rawjson.Quote(decoded)
		}
		suspect = r.next(key) || suspect
		switch string(key) {
		case `"bookmark_link"`:
			bookmark = value
		case `"branches"`:
			branches = value
		default:
			if i := attachmentKey(key); i >= 0 {
				attached[i], any = value, true
			}
		}
	}
	if suspect {
		if keys := duplicates(extra); len(keys) > 0 {
			b.add(DuplicateKey, l, extra, duplicateMessage("extra", keys))
		}
	}
	s.links(l, b, extra, bookmark, branches)
	if any && s.chat.HasDir {
		s.attachments(l, b, extra, &attached)
	}
}

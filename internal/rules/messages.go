package rules

import (
	"bytes"
	"fmt"
	"time"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
	"stchat/internal/userdir"
)

// judgeShape judges what every message must have.
func judgeShape(l *jsonl.Line, b *batch) {
	text := func(key int, name string) {
		raw, ok := l.Value(key)
		switch {
		case !ok:
			b.add(MessageShape, l, nil, name+" is missing")
		case rawjson.KindOf(raw) != rawjson.String:
			b.add(MessageShape, l, raw, fmt.Sprintf("%s is %v, not text", name, rawjson.KindOf(raw)))
		}
	}
	text(keyName, "name")
	text(keyMes, "mes")
	// any other value counts as true or false, as in JavaScript
	if user, ok := l.Value(keyIsUser); !ok || rawjson.KindOf(user) == rawjson.Null {
		b.note(found{rule: MessageShape, severity: Warning, number: l.Number, index: l.Index, message: "is_user is missing: the message counts as the character's"})
	}
}

// judgeKeys judges the message's own keys.
func judgeKeys(l *jsonl.Line, b *batch) {
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
	if first, n := duplicates(l.Raw); n > 0 {
		b.add(DuplicateKey, l, nil, duplicateMessage("", first, n))
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

// judgeSwipes judges swipe_id, swipes and swipe_info. What is missing or null is no
// finding: SillyTavern fills it in when the message is swiped.
func judgeSwipes(l *jsonl.Line, b *batch) {
	swipes, ok := l.Value(keySwipes)
	if kind := rawjson.KindOf(swipes); ok && kind != rawjson.Array && kind != rawjson.Null {
		b.addByHand(SwipeText, l, swipes, fmt.Sprintf("swipes is %v, not a list: SillyTavern puts the message's text in its place", kind), "make it a list by hand")
		return
	}
	n := l.Count(keySwipes)
	if rawjson.KindOf(swipes) != rawjson.Array {
		swipes = nil
	}
	judgeChoice(l, b, swipes, n)
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

// judgeChoice judges swipe_id, and the swipe that it chooses of the n in swipes. swipes
// is nil if there is no list of swipes.
func judgeChoice(l *jsonl.Line, b *batch, swipes []byte, n int) {
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
	case isInt && id == 0 && n == 0:
		return // SillyTavern turns the text into a swipe
	case !isInt || id < 0 || id >= n:
		bad(fmt.Sprintf("swipe_id is %s, but %s", clip(string(raw)), countOf(n, "swipe")), raw)
		return
	}
	if !hasText || SwipeIs(swipes, n, id, mes) {
		return
	}
	b.add(SwipeText, l, swipes, fmt.Sprintf("swipe %d is chosen, but its text is not the message's", id+1))
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

// swipeID is rawjson.Int with a fast path for one digit.
func swipeID(raw []byte) (int, bool) {
	if len(raw) == 1 && raw[0] >= '0' && raw[0] <= '9' {
		return int(raw[0] - '0'), true
	}
	return rawjson.Int(raw)
}

// SwipeIs reports whether swipe id of the n in the raw list swipes is the same text as
// the raw string mes. The first and the last swipe are compared in place, since one of
// them is nearly always the chosen one.
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

// lastIs reports whether the list certainly ends with the text. An element that ends
// in the same bytes is the same string, unless the first quote of them is escaped.
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

// date is when a message was sent, and where the date stands.
type date struct {
	ms     int64 // since 1970
	local  bool  // written without a time zone
	known  bool
	number int // of the line; this and index are counted in the batch
	index  int
	column int
}

// judgeDate judges the message's date. A missing one is no finding: SillyTavern
// takes the file's.
func judgeDate(l *jsonl.Line, b *batch) {
	raw, ok := l.Value(keyDate)
	if !ok || rawjson.KindOf(raw) == rawjson.Null {
		return
	}
	d := date{known: true, number: l.Number, index: l.Index}
	if d.ms, ok = sendate.Usual(raw); !ok {
		t, ok := sendate.ParseRaw(raw)
		if !ok {
			b.add(BadDate, l, raw, "send_date cannot be read: "+clip(string(raw)))
			return
		}
		d.ms, d.local = t.UnixMilli(), t.Location() == time.Local
	}
	if !b.first.known {
		d.column = column(l, raw)
		b.first = d
	} else if before(d, b.latest) {
		b.add(DateOrder, l, raw, orderMessage(d, b.latest))
	}
	b.latest = d
}

// before reports whether d is certainly earlier than the date in front of it.
// Dates without a zone are in some computer's local time: compared with a date that
// has one they may be off by 26 hours, and the oldest have no seconds.
func before(d, front date) bool {
	const day, minute = 26 * 3600 * 1000, 60 * 1000
	if d.local != front.local {
		return d.ms < front.ms-day
	}
	if d.local && d.ms%minute == 0 {
		return d.ms < front.ms-front.ms%minute
	}
	return d.ms < front.ms
}

func orderMessage(d, front date) string {
	gap := time.Duration(front.ms-d.ms) * time.Millisecond
	if gap < time.Minute {
		return "dated before the message in front of it"
	}
	return fmt.Sprintf("dated %s before the message in front of it", span(gap))
}

// span returns a duration in its largest unit.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	default:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
}

// attachmentKeys is the number of keys of extra that attach files. The last four
// are from versions before media and files (FORMATS.md E4).
const attachmentKeys = 6

func attachmentKey(key []byte) int {
	switch string(key) {
	case `"media"`:
		return 0
	case `"files"`:
		return 1
	case `"image"`:
		return 2
	case `"file"`:
		return 3
	case `"video"`:
		return 4
	case `"image_swipes"`:
		return 5
	}
	return -1
}

// judgeLegacyMedia judges whether the message keeps attachments as before media and files.
// SillyTavern moves them there when it loads the chat, but leaves an image_swipes that is
// not a list (ensureMessageMediaIsArray of 1.19's script.js).
func judgeLegacyMedia(l *jsonl.Line, b *batch, extra []byte, attached *[attachmentKeys][]byte) {
	for i, key := range [...]string{2: "image", "file", "video", "image_swipes"} {
		if raw := attached[i]; key != "" && raw != nil && (key != "image_swipes" || rawjson.KindOf(raw) == rawjson.Array) {
			b.add(LegacyMedia, l, extra, key+" is kept as up to SillyTavern 1.13")
			return
		}
	}
}

// judgeAttachments judges whether the message's images and files exist.
func judgeAttachments(l *jsonl.Line, b *batch, dir userdir.Dir, extra []byte, attached *[attachmentKeys][]byte) {
	for _, raw := range attached {
		switch rawjson.KindOf(raw) {
		case rawjson.String:
			judgeAttachment(l, b, dir, extra, raw)
		case rawjson.ObjectKind:
			judgeAttachmentIn(l, b, dir, extra, raw)
		case rawjson.Array:
			for element := range rawjson.Elements(raw) {
				if rawjson.KindOf(element) == rawjson.String {
					judgeAttachment(l, b, dir, extra, element)
				} else {
					judgeAttachmentIn(l, b, dir, extra, element)
				}
			}
		}
	}
}

func judgeAttachmentIn(l *jsonl.Line, b *batch, dir userdir.Dir, extra, object []byte) {
	if raw, ok := rawjson.Lookup(object, "url"); ok {
		judgeAttachment(l, b, dir, extra, raw)
	}
}

func judgeAttachment(l *jsonl.Line, b *batch, dir userdir.Dir, extra, raw []byte) {
	if bytes.HasPrefix(raw, []byte(`"data:`)) {
		return // in the chat itself, and megabytes long
	}
	address, ok := rawjson.Unquote(raw)
	if !ok || address == "" {
		return
	}
	if exists, ours := dir.Serves(address); exists || !ours {
		return
	}
	b.add(MissingAttachment, l, extra, fmt.Sprintf("%q is not there", clip(address)))
}

package rules

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
)

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
		m := l.Count(keySwipeInfo)
		message := fmt.Sprintf("swipe_info has %s for %s", plural.Of(m, "entry", "entries"), plural.S(n, "swipe"))
		switch {
		case m > n:
			b.addByHand(SwipeInfo, l, info, message, "remove the entries that belong to no swipe by hand")
		case m == 0 && n > 0 && b.mayGreet(l):
			b.addUnlessGreeting(SwipeInfo, l, info, message)
		case m < n:
			b.add(SwipeInfo, l, info, message)
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
	id, isInt := rawjson.Int(raw)
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

	if !hasText || swipeIs(swipes, n, id, mes) {
		return
	}
	message := fmt.Sprintf("swipe %d is chosen, but its text is not the message's", id+1)
	if b.mayGreet(l) && IsGreeted(swipeAt(swipes, id), mes) {
		b.addUnlessGreeting(SwipeText, l, swipes, message)
		return
	}
	b.add(SwipeText, l, swipes, message)
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

// swipeIs reports whether swipe id of the n in the raw list swipes is the same text as
// the raw string mes. The first and the last swipe are compared in place, since one of
// them is nearly always the chosen one.
func swipeIs(swipes []byte, n, id int, mes []byte) bool {
	if id == n-1 && lastIs(swipes, mes) || id == 0 && bytes.HasPrefix(swipes[1:], mes) {
		return true
	}
	return SameText(swipeAt(swipes, id), mes)
}

// swipeAt returns a swipe of the raw list, nil if it has no such swipe.
func swipeAt(swipes []byte, id int) []byte {
	at, ok := rawjson.ElementPlace(swipes, id)
	if !ok {
		return nil
	}
	return swipes[at.At:at.End]
}

// lastIs reports whether the list certainly ends with the text. An element that ends
// in the same bytes is the same string, unless the first quote of them is escaped.
func lastIs(swipes, mes []byte) bool {
	rest, ok := bytes.CutSuffix(swipes[:len(swipes)-1], mes)
	return ok && (rest[len(rest)-1] == ',' || rest[len(rest)-1] == '[')
}

// SameText reports whether two raw strings are the same text, however spelled.
func SameText(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	s, ok := rawjson.Unquote(a)
	t, ok2 := rawjson.Unquote(b)
	return ok && ok2 && s == t
}

// OnSwipes returns the rules about swipes.
func OnSwipes() Set { return SetOf(SwipeID, SwipeText, SwipeInfo) }

// swipeList is the swipes of one message.
type swipeList struct {
	o      *rawjson.Object
	greets bool // it is the chat's greeting
	mes    []byte
	raw    []byte // the list; empty: there is none
	isList bool
	n      int
	id     int
	idOK   bool // id is the number of a swipe, or there are none to choose from
}

func readSwipes(line []byte, first bool) (s swipeList, ok bool) {
	var err error
	if s.o, err = rawjson.ParseObject(line); err != nil {
		return s, false
	}
	s.greets = first && !rawjson.Truthy(s.o.Value("is_user"))
	s.mes = s.o.Value("mes")
	s.raw = s.o.Value("swipes")
	switch rawjson.KindOf(s.raw) {
	case rawjson.Array:
		s.isList, s.n = true, rawjson.Len(s.raw)
	case rawjson.Null, rawjson.Invalid:
	default:
		return s, false // left for a person to judge
	}

	raw := s.o.Value("swipe_id")
	switch rawjson.KindOf(raw) {
	case rawjson.Null, rawjson.Invalid:
		s.idOK = true // SillyTavern takes 0
	case rawjson.Number:
		s.id, s.idOK = rawjson.Int(raw)
		s.idOK = s.idOK && s.id >= 0 && (s.id < s.n || s.n == 0 && s.id == 0)
	}
	return s, true
}

// repairSwipes repairs a message by those of the wanted rules that are about swipes. first reports
// whether it is the chat's first message.
func repairSwipes(want Set, line []byte, first bool) (out []byte, changes []Change) {
	s, ok := readSwipes(line, first)
	if !ok {
		return line, nil
	}
	hasText := rawjson.KindOf(s.mes) == rawjson.String
	switch {
	case !hasText:
	case !s.idOK && want.Has(SwipeID):
		change, ok := s.fillBlank(SwipeID, s.lastWithText())
		if !ok {
			change = Change{Rule: SwipeID, Text: s.choose()}
		}
		changes = append(changes, change)
	case s.idOK && s.n > 0 && want.Has(SwipeText) && !s.hasChosenText():
		change, ok := s.fillBlank(SwipeText, s.id)
		if !ok {
			change = s.overwrite()
		}
		changes = append(changes, change)
	}

	if want.Has(SwipeInfo) {
		if text, ok := s.fill(); ok {
			changes = append(changes, Change{Rule: SwipeInfo, Text: text})
		}
	}
	return s.o.Bytes(), changes
}

// hasChosenText reports whether the chosen swipe is the message's text, or the greeting that it was
// made of.
func (s *swipeList) hasChosenText() bool {
	return swipeIs(s.raw, s.n, s.id, s.mes) || s.greets && IsGreeted(swipeAt(s.raw, s.id), s.mes)
}

// lastWithText returns the last swipe that has text, -1 if none has.
func (s *swipeList) lastWithText() int {
	last, i := -1, 0
	for swipe := range rawjson.Elements(s.raw) {
		if text, ok := rawjson.Unquote(swipe); ok && strings.TrimSpace(text) != "" {
			last = i
		}
		i++
	}
	return last
}

// fillBlank gives a message whose text is empty that of a swipe, and the dates and extra that swipe_info
// has for it, as when somebody swipes to it: a cancelled swipe beyond the last one leaves such a message.
// Its links stay. ok is false if the message has text, or the swipe has none.
func (s *swipeList) fillBlank(id ID, swipe int) (change Change, ok bool) {
	if mes, isText := rawjson.Unquote(s.mes); !isText || mes != "" || swipe < 0 {
		return Change{}, false
	}
	raw := swipeAt(s.raw, swipe)
	if text, isText := rawjson.Unquote(raw); !isText || text == "" {
		return Change{}, false
	}
	change = Change{Rule: id, Text: fmt.Sprintf("chose swipe %d, since the message has no text", swipe+1)}
	s.mes = bytes.Clone(raw)
	s.o.Set("mes", s.mes)
	s.o.Set("swipe_id", strconv.AppendInt(nil, int64(swipe), 10))
	s.id, s.idOK = swipe, true
	info := swipeAt(s.o.Value("swipe_info"), swipe)
	for _, key := range []string{"send_date", "gen_started", "gen_finished"} {
		if value, has := rawjson.Lookup(info, key); has {
			s.o.Set(key, value)
		}
	}

	before := s.o.Value("extra")
	extra, has := rawjson.Lookup(info, "extra")
	if !has || rawjson.KindOf(extra) != rawjson.ObjectKind {
		return change, true
	}
	extra = withLinks(extra, before)
	if bytes.Equal(extra, before) {
		return change, true
	}
	if o, err := rawjson.ParseObject(before); err == nil && o.Len() > 0 {
		change.Lost, change.What = bytes.Clone(before), "extra of the message without text"
	}
	s.o.Set("extra", extra)
	return change, true
}

// withLinks returns a message's extra with the links of another one that it lacks.
func withLinks(extra, from []byte) []byte {
	return rawjson.Edit(extra, func(o *rawjson.Object) {
		for _, key := range []string{"bookmark_link", "branches"} {
			if link, ok := rawjson.Lookup(from, key); ok && !o.Has(key) {
				o.Set(key, link)
			}
		}
	})
}

// choose points swipe_id at the swipe with the message's text, and appends the text as a swipe
// if there is none.
func (s *swipeList) choose() string {
	at, i := -1, 0
	mes, _ := rawjson.Unquote(s.mes)
	for swipe := range rawjson.Elements(s.raw) {
		if text, ok := rawjson.Unquote(swipe); ok && text == mes {
			at = i
			break
		}
		i++
	}

	text := fmt.Sprintf("chose swipe %d, which has the message's text", at+1)
	if at < 0 {
		at = s.n
		text = fmt.Sprintf("added the message's text as swipe %d, and chose it", at+1)
		if !s.isList {
			s.raw = []byte("[]")
		}
		if infos := s.o.Value("swipe_info"); s.isList && rawjson.KindOf(infos) == rawjson.Array && rawjson.Len(infos) == s.n {
			s.o.Set("swipe_info", rawjson.Append(infos, s.info()))
		}
		s.raw = rawjson.Append(s.raw, s.mes)
		s.o.Set("swipes", s.raw)
		s.isList = true
		s.n++
	}

	s.o.Set("swipe_id", strconv.AppendInt(nil, int64(at), 10))
	s.id, s.idOK = at, true
	return text
}

// overwrite replaces the chosen swipe by the message's text, as SillyTavern does at the next
// swipe (syncMesToSwipe).
func (s *swipeList) overwrite() Change {
	var lost []byte
	s.raw = rawjson.EditList(s.raw, func(i int, value []byte) ([]byte, bool) {
		if i != s.id {
			return value, true
		}
		lost = value
		return s.mes, true
	})

	s.o.Set("swipes", s.raw)
	return Change{
		Rule: SwipeText, Text: fmt.Sprintf("swipe %d has the message's text; its own is in the .damaged file", s.id+1),
		Lost: lost, What: fmt.Sprintf("the text of swipe %d", s.id+1),
	}
}

// fill extends a swipe_info that is too short, as SillyTavern does.
func (s *swipeList) fill() (change string, ok bool) {
	infos := s.o.Value("swipe_info")
	have := rawjson.Len(infos)
	if !s.isList || rawjson.KindOf(infos) != rawjson.Array || have >= s.n || have == 0 && s.greets {
		return "", false
	}
	if _, err := message.FillSwipeInfo(s.o); err != nil {
		return "", false
	}
	return fmt.Sprintf("filled swipe_info up from %d to %d entries", have, s.n), true
}

// info returns the swipe_info entry for the message's own text.
func (s *swipeList) info() []byte {
	entry := rawjson.NewObject()
	for _, key := range []string{"send_date", "gen_started", "gen_finished"} {
		if raw, ok := s.o.Get(key); ok {
			entry.Set(key, raw)
		}
	}

	extra := s.o.Value("extra")
	if rawjson.KindOf(extra) != rawjson.ObjectKind {
		extra = []byte("{}")
	}
	entry.Set("extra", extra)
	return entry.Bytes()
}

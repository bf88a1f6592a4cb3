package ops

import (
	"bytes"
	"fmt"
	"strconv"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// lineAction is one change to a line.
type lineAction struct {
	rule   rules.ID
	change string
	lost   []byte // what goes to the quarantine file; nil: nothing
	what   string // what lost is, where it is not the line
}

// messageMender mends messages by the rules wanted.
type messageMender struct {
	want   rules.Set
	target func(name string) (target string, ok bool) // where a link leads
}

// mend gives the message with all that is mended; line itself where there is
// nothing.
func (m *messageMender) mend(line []byte) (out []byte, actions []lineAction) {
	out = line
	if m.want&rules.SetOf(rules.SwipeID, rules.SwipeText, rules.SwipeInfo) != 0 {
		out, actions = m.swipes(out)
	}
	if m.want&rules.SetOf(rules.DanglingCheckpoint, rules.DanglingBranch, rules.UnsafeName) != 0 {
		var more []lineAction
		out, more = m.links(out)
		actions = append(actions, more...)
	}
	return out, actions
}

// swipeList is the swipes of one message.
type swipeList struct {
	o      *rawjson.Object
	mes    []byte
	raw    []byte // the list, or nothing
	isList bool
	n      int
	id     int
	idOK   bool // id is the number of a swipe, or there are none to choose
}

func readSwipes(line []byte) (s swipeList, ok bool) {
	var err error
	if s.o, err = rawjson.ParseObject(line); err != nil {
		return s, false
	}
	s.mes, _ = s.o.Get("mes")
	s.raw, _ = s.o.Get("swipes")
	switch rawjson.KindOf(s.raw) {
	case rawjson.Array:
		s.isList = true
		for range rawjson.Elements(s.raw) {
			s.n++
		}
	case rawjson.Null, rawjson.Invalid:
	default:
		return s, false // for a person
	}
	raw, _ := s.o.Get("swipe_id")
	switch rawjson.KindOf(raw) {
	case rawjson.Null, rawjson.Invalid:
		s.idOK = true // SillyTavern takes 0
	case rawjson.Number:
		s.id, s.idOK = rawjson.Int(raw)
		s.idOK = s.idOK && s.id >= 0 && (s.id < s.n || !s.isList && s.id == 0)
	}
	return s, true
}

// swipes mends swipe_id, swipes and swipe_info.
func (m *messageMender) swipes(line []byte) ([]byte, []lineAction) {
	s, ok := readSwipes(line)
	if !ok {
		return line, nil
	}
	var actions []lineAction
	hasText := rawjson.KindOf(s.mes) == rawjson.String
	if !s.idOK && hasText && m.want.Has(rules.SwipeID) {
		actions = append(actions, lineAction{rule: rules.SwipeID, change: s.choose()})
	} else if s.idOK && s.n > 0 && hasText && m.want.Has(rules.SwipeText) && !rules.SwipeIs(s.raw, s.n, s.id, s.mes) {
		actions = append(actions, s.overwrite())
	}
	if m.want.Has(rules.SwipeInfo) {
		if change, ok := s.fill(); ok {
			actions = append(actions, lineAction{rule: rules.SwipeInfo, change: change})
		}
	}
	return s.o.Bytes(), actions
}

// choose points swipe_id at the swipe that has the message's text, and appends
// the text as a swipe where none has it.
func (s *swipeList) choose() string {
	at, i := -1, 0
	for range rawjson.Elements(s.raw) {
		if at < 0 && rules.SwipeIs(s.raw, s.n, i, s.mes) {
			at = i
		}
		i++
	}
	change := fmt.Sprintf("swipe_id is %d, the swipe with the message's text", at)
	if at < 0 {
		at = s.n
		change = fmt.Sprintf("added the message's text as swipe %d, and chose it", at)
		if !s.isList {
			s.raw = []byte("[]")
		}
		if infos, _ := s.o.Get("swipe_info"); s.isList && rawjson.KindOf(infos) == rawjson.Array && countElements(infos) == s.n {
			s.o.Set("swipe_info", rawjson.Append(infos, s.info(true)))
		}
		s.raw = rawjson.Append(s.raw, s.mes)
		s.o.Set("swipes", s.raw)
		s.isList = true
		s.n++
	}
	s.o.Set("swipe_id", strconv.AppendInt(nil, int64(at), 10))
	s.id, s.idOK = at, true
	return change
}

// overwrite puts the message's text over the chosen swipe, as SillyTavern does
// at the next swipe (syncMesToSwipe).
func (s *swipeList) overwrite() lineAction {
	var lost []byte
	s.raw = rawjson.EditList(s.raw, func(i int, value []byte) ([]byte, bool) {
		if i != s.id {
			return value, true
		}
		lost = value
		return s.mes, true
	})
	s.o.Set("swipes", s.raw)
	return lineAction{
		rule: rules.SwipeText, change: fmt.Sprintf("swipe %d has the message's text; its own is in the quarantine file", s.id),
		lost: lost, what: fmt.Sprintf("the text of swipe %d", s.id),
	}
}

// maxFill is how many bytes a swipe_info may be filled up by: a hostile
// send_date times its swipes could fill memory.
const maxFill = 64 << 20

// fill fills swipe_info up to the number of swipes, as SillyTavern does where
// it is missing (FORMATS.md E4.2).
func (s *swipeList) fill() (change string, ok bool) {
	infos, _ := s.o.Get("swipe_info")
	if !s.isList || rawjson.KindOf(infos) != rawjson.Array {
		return "", false
	}
	have := countElements(infos)
	entry := s.info(false)
	if have >= s.n || int64(s.n-have)*int64(len(entry)+1) > maxFill {
		return "", false
	}
	entries := bytes.Repeat(append([]byte{','}, entry...), s.n-have)
	s.o.Set("swipe_info", rawjson.Append(infos, entries[1:]))
	return fmt.Sprintf("filled swipe_info up from %d to %d entries", have, s.n), true
}

// info makes an entry of swipe_info: the message's date and no extra, or whole
// all that an entry has of its message.
func (s *swipeList) info(whole bool) []byte {
	entry := rawjson.NewObject()
	keys := []string{"send_date"}
	if whole {
		keys = append(keys, "gen_started", "gen_finished")
	}
	for _, key := range keys {
		if raw, ok := s.o.Get(key); ok {
			entry.Set(key, raw)
		}
	}
	extra := []byte("{}")
	if raw, ok := s.o.Get("extra"); whole && ok && rawjson.KindOf(raw) == rawjson.ObjectKind {
		extra = raw
	}
	entry.Set("extra", extra)
	return entry.Bytes()
}

func countElements(list []byte) int {
	n := 0
	for range rawjson.Elements(list) {
		n++
	}
	return n
}

// links mends where the message's links lead.
func (m *messageMender) links(line []byte) (out []byte, actions []lineAction) {
	out = line
	if raw, ok := rawjson.Lookup(line, "extra", "bookmark_link"); ok {
		edited, action, keep := m.link(raw, rules.DanglingCheckpoint, "checkpoint")
		switch {
		case !keep:
			out = rawjson.DeletePath(out, "extra", "bookmark_link")
		case action != nil:
			out, _ = rawjson.SetPath(out, edited, "extra", "bookmark_link")
		}
		actions = appendAction(actions, action)
	}
	raw, ok := rawjson.Lookup(out, "extra", "branches")
	if !ok || rawjson.KindOf(raw) != rawjson.Array {
		return out, actions
	}
	kept, changed := 0, false
	list := rawjson.EditList(raw, func(_ int, value []byte) ([]byte, bool) {
		edited, action, keep := m.link(value, rules.DanglingBranch, "branch")
		actions = appendAction(actions, action)
		changed = changed || action != nil
		if keep {
			kept++
		}
		return edited, keep
	})
	switch {
	case !changed:
	case kept == 0:
		out = rawjson.DeletePath(out, "extra", "branches")
	default:
		out, _ = rawjson.SetPath(out, list, "extra", "branches")
	}
	return out, actions
}

func appendAction(list []lineAction, a *lineAction) []lineAction {
	if a != nil {
		list = append(list, *a)
	}
	return list
}

// link judges one link: dead ones go, a name that is not the file's is put right.
func (m *messageMender) link(raw []byte, dead rules.ID, what string) (edited []byte, action *lineAction, keep bool) {
	name, ok := rawjson.Unquote(raw)
	if !ok || name == "" {
		return raw, nil, true
	}
	target, alive := m.target(name)
	switch {
	case !alive && m.want.Has(dead):
		return nil, &lineAction{rule: dead, change: fmt.Sprintf("removed the link to the %s %q, which is not there", what, clipName(name))}, false
	case alive && target != name && m.want.Has(rules.UnsafeName):
		return rawjson.Quote(target), &lineAction{rule: rules.UnsafeName, change: fmt.Sprintf("the link to the %s names the file as it is called", what)}, true
	}
	return raw, nil, true
}

func clipName(s string) string {
	const enough = 120
	if len(s) <= enough {
		return s
	}
	return s[:enough] + "…"
}

// withoutNUL gives a line without the NUL bytes around it, where what is left
// is a message.
func withoutNUL(line []byte) (rest []byte, ok bool) {
	rest = bytes.Trim(line, "\x00 \t\r")
	if rawjson.KindOf(rest) != rawjson.ObjectKind || jsonl.Check(rest) != nil {
		return nil, false
	}
	return rest, true
}

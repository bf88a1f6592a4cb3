package repair

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"stchat/internal/extension"
	"stchat/internal/message"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// messageRepairer repairs messages by the wanted rules.
type messageRepairer struct {
	want   rules.Set
	links  *links
	follow func(line []byte) ([]byte, extension.Repaired) // what follows from the repaired metadata; nil: nothing
}

// repair returns the message with everything repaired, or line itself if there is nothing to repair.
func (m *messageRepairer) repair(line []byte) (out []byte, changes []change) {
	out = line
	if m.want&onSwipes() != 0 {
		out, changes = m.swipes(out)
	}
	if m.want&onLinks() != 0 {
		var more []change
		out, more = m.links.repair(m.want, out)
		changes = append(changes, more...)
	}
	if m.want.Has(rules.LegacyMedia) {
		var more []change
		out, more = media(out)
		changes = append(changes, more...)
	}
	if m.follow != nil {
		if edited, did := m.follow(out); !bytes.Equal(edited, out) {
			out = edited
			changes = append(changes, changeOf(did))
		}
	}
	return out, changes
}

func onSwipes() rules.Set { return rules.SetOf(rules.SwipeID, rules.SwipeText, rules.SwipeInfo) }

// swipeList is the swipes of one message.
type swipeList struct {
	o      *rawjson.Object
	mes    []byte
	raw    []byte // the list; empty: there is none
	isList bool
	n      int
	id     int
	idOK   bool // id is the number of a swipe, or there are none to choose from
}

func readSwipes(line []byte) (s swipeList, ok bool) {
	var err error
	if s.o, err = rawjson.ParseObject(line); err != nil {
		return s, false
	}
	s.mes = s.o.Value("mes")
	s.raw = s.o.Value("swipes")
	switch rawjson.KindOf(s.raw) {
	case rawjson.Array:
		s.isList = true
		for range rawjson.Elements(s.raw) {
			s.n++
		}
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

// swipes repairs swipe_id, swipes and swipe_info.
func (m *messageRepairer) swipes(line []byte) (out []byte, changes []change) {
	s, ok := readSwipes(line)
	if !ok {
		return line, nil
	}
	hasText := rawjson.KindOf(s.mes) == rawjson.String
	if !s.idOK && hasText && m.want.Has(rules.SwipeID) {
		changes = append(changes, change{rule: rules.SwipeID, text: s.choose()})
	} else if s.idOK && s.n > 0 && hasText && m.want.Has(rules.SwipeText) && !rules.SwipeIs(s.raw, s.n, s.id, s.mes) {
		changes = append(changes, s.overwrite())
	}
	if m.want.Has(rules.SwipeInfo) {
		if text, ok := s.fill(); ok {
			changes = append(changes, change{rule: rules.SwipeInfo, text: text})
		}
	}
	return s.o.Bytes(), changes
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
func (s *swipeList) overwrite() change {
	var lost []byte
	s.raw = rawjson.EditList(s.raw, func(i int, value []byte) ([]byte, bool) {
		if i != s.id {
			return value, true
		}
		lost = value
		return s.mes, true
	})
	s.o.Set("swipes", s.raw)
	return change{
		rule: rules.SwipeText, text: fmt.Sprintf("swipe %d has the message's text; its own is in the quarantine file", s.id+1),
		lost: lost, what: fmt.Sprintf("the text of swipe %d", s.id+1),
	}
}

// fill extends a swipe_info that is too short, as SillyTavern does.
func (s *swipeList) fill() (change string, ok bool) {
	infos := s.o.Value("swipe_info")
	have := rawjson.Len(infos)
	if !s.isList || rawjson.KindOf(infos) != rawjson.Array || have >= s.n {
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

// links repairs the links of messages.
type links struct {
	target  func(name string) (target string, ok bool)
	renamed func(name string) (now string, ok bool) // the current name of a missing chat; now is empty if it is not clear
	failed  error                                   // why renamed could not tell; the chat stays as it is
	remove  rules.Set                               // rules by which links that lead nowhere are removed
}

func onLinks() rules.Set {
	return rules.SetOf(rules.DanglingCheckpoint, rules.DanglingBranch, rules.UnsafeName)
}

// dangling returns the rules about names that lead nowhere.
func dangling() rules.Set {
	return rules.SetOf(rules.DanglingMainChat, rules.DanglingCheckpoint, rules.DanglingBranch)
}

// repair returns the message with its links repaired. Swipes repeat the links of the message, so
// each change is listed once.
func (l *links) repair(want rules.Set, line []byte) (out []byte, changes []change) {
	out = message.EditLinks(line, func(checkpoint bool, name string) (to string, keep bool) {
		dead, what := rules.DanglingBranch, "branch"
		if checkpoint {
			dead, what = rules.DanglingCheckpoint, "checkpoint"
		}
		to, one := l.link(want, name, dead, what)
		if one.text == "" {
			return name, true
		}
		if !slices.ContainsFunc(changes, func(c change) bool { return c.text == one.text }) {
			changes = append(changes, one)
		}
		return to, to != ""
	})
	return out, changes
}

// link judges one link: a link to a renamed or differently spelled chat is corrected, and one
// to a missing chat is removed if that was asked for; then to is empty. The change has no text
// if the link stays.
func (l *links) link(want rules.Set, name string, dead rules.ID, what string) (to string, one change) {
	target, alive := l.target(name)
	switch {
	case alive && target != name && want.Has(rules.UnsafeName):
		return target, change{rule: rules.UnsafeName, text: fmt.Sprintf("the link to the %s names the file as it is called", what)}
	case alive || !want.Has(dead):
		return "", change{}
	}
	switch now, renamed := l.renamed(name); {
	case renamed && now == "":
	case renamed:
		return now, change{rule: dead, text: fmt.Sprintf("the link to the %s %q names %q, as it is called now", what, clip(name), clip(now))}
	case l.remove.Has(dead):
		return "", change{rule: dead, text: fmt.Sprintf("removed the link to the %s %q, which is not there", what, clip(name))}
	}
	return "", change{}
}

// onLines returns the rules that are repaired line by line.
func onLines() rules.Set {
	return rules.SetOf(rules.BOM, rules.CRLF, rules.NUL, rules.InvalidJSON, rules.TornTail, rules.NotAnObject, rules.TooDeep, rules.MisplacedHeader) |
		rules.SetOf(rules.LegacyMedia) | onSwipes() | onLinks()
}

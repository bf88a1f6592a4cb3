package wordindex

import (
	"iter"

	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
)

// The keys of a message that [Texts] and [SaidIn] read.
const (
	keyText = iota
	keySwipes
	keySwipeID
	keyIsUser
	keyIsSystem
	keyDate

	MoreKeys // the number of the first of the others that were given to [Keys]
)

// Keys returns the keys to read messages with, and others.
func Keys(others ...string) *jsonl.Keys {
	return jsonl.NewKeys(append([]string{"mes", "swipes", "swipe_id", "is_user", "is_system", "send_date"}, others...)...)
}

// Said is who says a message, and when.
type Said struct {
	Role  message.Who
	At    int64 // milliseconds since 1970
	Dated bool
}

// SaidIn reads who says the message of a line, and when.
func SaidIn(l *jsonl.Line) (s Said) {
	isUser, _ := l.Value(keyIsUser)
	isSystem, _ := l.Value(keyIsSystem)
	s.Role = message.Role(isUser, isSystem)
	raw, _ := l.Value(keyDate)
	if date, ok := sendate.ParseRaw(raw); ok {
		s.At, s.Dated = date.UnixMilli(), true
	}
	return s
}

// Text is one text of a message.
type Text struct {
	Raw    []byte // a JSON string
	Swipe  int    // its number, from 1; 0: it is none
	Chosen bool   // it is shown
}

// Texts yields the shown text of a message, and then the swipes that differ from it.
func Texts(l *jsonl.Line) iter.Seq[Text] {
	return func(yield func(Text) bool) {
		mes, _ := l.Value(keyText)
		chosen := 0
		if id, ok := l.Value(keySwipeID); ok {
			if n, ok := rawjson.Int(id); ok && n >= 0 && n < l.Count(keySwipes) {
				chosen = n + 1
			}
		}
		if rawjson.KindOf(mes) == rawjson.String && !yield(Text{mes, chosen, true}) {
			return
		}
		swipes, _ := l.Value(keySwipes)
		n := 0
		for raw := range rawjson.Elements(swipes) {
			if n++; rawjson.KindOf(raw) != rawjson.String || string(raw) == string(mes) || n == chosen && sameString(raw, mes) {
				continue
			}
			if !yield(Text{raw, n, false}) {
				return
			}
		}
	}
}

// sameString reports whether two JSON strings have the same value, however they are escaped.
func sameString(a, b []byte) bool {
	x, okX := rawjson.Unquote(a)
	y, okY := rawjson.Unquote(b)
	return okX && okY && x == y
}

package message

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/tidwall/sjson"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/plural"
)

// SwipeError means that a message does not have the swipe asked for, or that this
// is not text.
type SwipeError struct {
	Swipe  int // the one asked for, from 1
	Swipes int // how many the message has
}

// Error describes which swipes there are.
func (e *SwipeError) Error() string {
	switch {
	case e.Swipes == 0:
		return fmt.Sprintf("swipe %d: the message has no swipes", e.Swipe)
	case e.Swipe >= 1 && e.Swipe <= e.Swipes:
		return fmt.Sprintf("swipe %d is not text", e.Swipe)
	default:
		return fmt.Sprintf("swipe %d: the message has %s", e.Swipe, plural.Of(e.Swipes, "swipe", "swipes"))
	}
}

// ChooseSwipe returns the message with one of its swipes chosen, as SillyTavern
// 1.17 and later puts it into a branch from that swipe. The
// number counts from 1, as on the screen.
//
//   - A message for which the page offers swipes, neither the user's nor a small
//     system message, is first changed as the page does it (ensureSwipes in
//     public/script.js): without a list of swipes its text becomes its only one, a
//     swipe_id that is no number becomes 0, a swipe that is not text becomes "", and
//     swipe_info is filled ([FillSwipeInfo]). If any of that changed it, its dates and
//     extra, and unless it is a greeting its text, are copied into its chosen swipe
//     (syncMesToSwipe).
//   - In any other message, only a swipe_info that is no list is replaced by one, with
//     the message's send_date in an entry for each swipe.
//   - swipe_id becomes the swipe's, mes its text (syncSwipeToMes); send_date,
//     gen_started and gen_finished become those of its swipe_info, and are removed
//     if it lacks them; extra becomes that of its swipe_info, {} if that is missing
//     or null.
//
// All swipes stay, and so does every other byte. greeting says that the message is all of an untouched
// chat. The error is a [*SwipeError] if there is no such swipe or it is not text, and wraps
// [rawjson.ErrNotObject] if the line is not an object.
func ChooseSwipe(line []byte, number int, greeting bool) ([]byte, error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, err
	}
	if offersSwipes(m) {
		err := ensureSwipes(m, greeting)
		if err != nil {
			return nil, err
		}
	}
	return choose(m, number)
}

// choose makes a swipe the chosen one, and returns the message with the swipe's text, dates and extra.
func choose(m *rawjson.Object, number int) ([]byte, error) {
	m.Set(keySwipeID, strconv.AppendInt(nil, int64(number-1), 10))
	err := fillDates(m)
	if err != nil {
		return nil, err
	}
	swipes := m.Value(keySwipes)
	text := element(swipes, number-1)
	if rawjson.KindOf(text) != rawjson.String {
		return nil, &SwipeError{Swipe: number, Swipes: rawjson.Len(swipes)}
	}
	info := element(m.Value(keySwipeInfo), number-1)
	m.Set(keyText, text)
	for _, key := range generated() {
		if value, ok := rawjson.Lookup(info, key); ok {
			m.Set(key, value)
		} else {
			m.Unset(key)
		}
	}

	extra, ok := rawjson.Lookup(info, keyExtra)
	if !ok || rawjson.KindOf(extra) == rawjson.Null {
		extra = []byte("{}")
	}
	m.Set(keyExtra, extra)
	return m.Bytes(), nil
}

// ensureSwipes completes the swipes of a message as the page does when it shows it.
func ensureSwipes(m *rawjson.Object, greeting bool) error {
	updated := ensureTexts(m)
	if rawjson.KindOf(m.Value(keySwipeID)) != rawjson.Number {
		m.Set(keySwipeID, []byte("0"))
		updated = true
	}
	made, err := FillSwipeInfo(m)
	if err != nil {
		return err
	}
	id, ok := chosenSwipe(m)
	if !ok || made == 0 && !updated {
		return nil
	}
	return syncChosen(m, id, greeting)
}

// offersSwipes reports whether the page offers swipes for the message: it is not the user's, nor
// shown as a small line.
func offersSwipes(m *rawjson.Object) bool {
	return !rawjson.Truthy(m.Value(keyIsUser)) && !rawjson.Truthy(rawjson.Value(m.Value(keyExtra), keySmall))
}

// ensureTexts makes the message's swipes a list in which all are text, and reports whether they were not.
func ensureTexts(m *rawjson.Object) (changed bool) {
	swipes := m.Value(keySwipes)
	if rawjson.KindOf(swipes) != rawjson.Array {
		m.Set(keySwipes, rawjson.Append(nil, orEmpty(m.Value(keyText))))
		return true
	}
	for swipe := range rawjson.Elements(swipes) {
		if rawjson.KindOf(swipe) != rawjson.String {
			m.Set(keySwipes, rawjson.EditList(swipes, func(_ int, swipe []byte) ([]byte, bool) { return orEmpty(swipe), true }))
			return true
		}
	}
	return false
}

// orEmpty returns a raw value that is text, "" for any other.
func orEmpty(raw []byte) []byte {
	if rawjson.KindOf(raw) == rawjson.String {
		return raw
	}
	return []byte(`""`)
}

// fillDates adds a list of swipe_info with the message's date where there is none,
// as syncSwipeToMes does by itself.
func fillDates(m *rawjson.Object) error {
	swipes := m.Value(keySwipes)
	if rawjson.KindOf(m.Value(keySwipeInfo)) == rawjson.Array || rawjson.KindOf(swipes) != rawjson.Array {
		return nil
	}
	n := rawjson.Len(swipes)
	entry, err := swipeInfo(m, n, keyDate)
	if err == nil {
		m.Set(keySwipeInfo, slices.Concat([]byte("["), bytes.Repeat(append([]byte{','}, entry...), n)[min(n, 1):], []byte("]")))
	}
	return err
}

// FillSwipeInfo makes sure that each swipe of a message has an entry in swipe_info
// that is an object, as SillyTavern does for every message that it shows with
// swipes (ensureSwipes). A new entry holds the message's own
// send_date, gen_started and gen_finished, and an empty extra, or for the chosen
// swipe the message's (syncMesToSwipe follows). It returns how many entries it
// made. It is an error if they would take more than 64 MiB.
func FillSwipeInfo(m *rawjson.Object) (made int, err error) {
	chosen := chosen(m)
	infos := m.Value(keySwipeInfo)
	n := rawjson.Len(m.Value(keySwipes))
	if rawjson.KindOf(infos) != rawjson.Array {
		infos = []byte("[]")
	}
	have, bad := 0, 0
	for info := range rawjson.Elements(infos) {
		if have < n && rawjson.KindOf(info) != rawjson.ObjectKind {
			bad++
		}
		have++
	}

	missing := max(n-have, 0)
	if bad+missing == 0 {
		return 0, nil
	}
	entry, err := swipeInfo(m, bad+missing, generated()...)
	if err != nil {
		return 0, err
	}
	if bad > 0 {
		infos = rawjson.EditList(infos, func(i int, info []byte) ([]byte, bool) {
			switch {
			case i >= n || rawjson.KindOf(info) == rawjson.ObjectKind:
				return info, true
			case i == chosen:
				return withExtra(entry, m), true
			}
			return entry, true
		})
	}

	if missing > 0 {
		list := make([][]byte, missing)
		for i := range list {
			if list[i] = entry; have+i == chosen {
				list[i] = withExtra(entry, m)
			}
		}
		infos = rawjson.Append(infos, bytes.Join(list, []byte(",")))
	}

	m.Set(keySwipeInfo, infos)
	return bad + missing, nil
}

func chosen(m *rawjson.Object) int { return swipeNumber(m.Value(keySwipeID)) }

// swipeNumber returns the number of the swipe that a swipe_id chooses, from 0: the first if it is
// not a number, as in ensureSwipes, and -1 for a number that can choose none.
func swipeNumber(raw []byte) int {
	if rawjson.KindOf(raw) != rawjson.Number {
		return 0
	}
	if n, ok := rawjson.Int(raw); ok {
		return n
	}
	return -1
}

// generated returns the keys, besides extra, that a message shares with the
// swipe_info of its chosen swipe.
func generated() []string { return []string{keyDate, keyGenStarted, keyGenFinished} }

// maxInfos is how many bytes of swipe_info may be generated. Real ones take a few
// thousand; a huge send_date, repeated for each swipe, could fill memory.
const maxInfos = 64 << 20

// swipeInfo returns an entry of swipe_info with the message's values of keys and an
// empty extra. It is an error if n such entries would be larger than maxInfos.
func swipeInfo(m *rawjson.Object, n int, keys ...string) (entry []byte, err error) {
	entry = []byte("{}")
	for _, key := range keys {
		if raw, ok := m.Get(key); ok && err == nil {
			entry, err = sjson.SetRawBytes(entry, key, raw)
		}
	}
	if err == nil {
		entry, err = sjson.SetRawBytes(entry, keyExtra, []byte("{}"))
	}
	if size := int64(n) * int64(len(entry)+1); err == nil && size > maxInfos {
		err = fmt.Errorf("swipe_info lacks %d entries, which would take %d bytes", n, size)
	}
	return entry, err
}

// withExtra returns an entry that swipeInfo made, with the message's extra. That
// may hold an inlined picture, so it is copied only once.
func withExtra(entry []byte, m *rawjson.Object) []byte {
	extra, ok := m.Get(keyExtra)
	if !ok {
		return entry
	}
	return slices.Concat(entry[:len(entry)-len("{}}")], extra, []byte("}"))
}

// element returns the raw element i of a list, empty if there is none.
func element(list []byte, i int) []byte {
	at, _ := rawjson.ElementPlace(list, i)
	return list[at.At:at.End:at.End]
}

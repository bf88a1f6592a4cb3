package message

import (
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"stchat/internal/rawjson"
)

// SwipeError says that a message does not have the swipe asked for.
type SwipeError struct {
	Swipe  int // the one asked for, from 0
	Swipes int // how many the message has
}

// Error says which swipes there are.
func (e *SwipeError) Error() string {
	switch {
	case e.Swipes == 0:
		return fmt.Sprintf("swipe %d: the message has no swipes", e.Swipe)
	case e.Swipe >= 0 && e.Swipe < e.Swipes:
		return fmt.Sprintf("swipe %d is not text", e.Swipe)
	case e.Swipes == 1:
		return fmt.Sprintf("swipe %d: the message has 1 swipe, number 0", e.Swipe)
	default:
		return fmt.Sprintf("swipe %d: the message has %d swipes, 0 to %d", e.Swipe, e.Swipes, e.Swipes-1)
	}
}

// ChooseSwipe returns the message with swipe k (from 0) chosen, as a branch from
// a swipe takes it (FORMATS.md E4.2; syncSwipeToMes in SillyTavern 1.17's
// public/script.js):
//
//   - swipe_id becomes k. A swipe_info that is not a list becomes one, with an
//     entry a swipe that holds the message's send_date and an empty extra.
//   - mes becomes the swipe's text; send_date, gen_started and gen_finished
//     become what swipe_info[k] has. A key that it lacks goes. All three go where
//     there is no swipe_info[k] or it is no object.
//   - extra becomes swipe_info[k].extra, {} where that is missing or null.
//
// All swipes stay, and so does every other byte. The error is a [*SwipeError]
// when there is no such swipe or it is not text, and wraps
// [rawjson.ErrNotObject] when the line is not an object.
func ChooseSwipe(line []byte, k int) ([]byte, error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, err
	}
	swipes, _ := m.Get(keySwipes)
	if rawjson.KindOf(swipes) != rawjson.Array {
		return nil, &SwipeError{Swipe: k}
	}
	// gjson is right for a list: the traps of its paths are in keys.
	count := int(gjson.GetBytes(swipes, "#").Int())
	text := element(swipes, k)
	if rawjson.KindOf(text) != rawjson.String {
		return nil, &SwipeError{Swipe: k, Swipes: count}
	}

	m.Set(keySwipeID, strconv.AppendInt(nil, int64(k), 10))
	infos, _ := m.Get(keySwipeInfo)
	if rawjson.KindOf(infos) != rawjson.Array {
		date, _ := m.Get(keyDate)
		if infos, err = freshInfos(count, date); err != nil {
			return nil, err
		}
		m.Set(keySwipeInfo, infos)
	}
	m.Set(keyText, text)
	info := element(infos, k)
	for _, key := range []string{keyDate, keyGenStarted, keyGenFinished} {
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

// element returns the raw element k of a list, nil where there is none.
func element(list []byte, k int) []byte {
	if k < 0 {
		return nil
	}
	i := 0
	for value := range rawjson.Elements(list) {
		if i == k {
			return value
		}
		i++
	}
	return nil
}

// maxInfos is how many bytes a swipe_info that is made up may take. Real ones
// take some thousand; a hostile send_date times its swipes could fill memory.
const maxInfos = 256 << 20

// freshInfos returns a swipe_info for count swipes, each with the date given
// (raw; nil: none) and an empty extra.
func freshInfos(count int, date []byte) ([]byte, error) {
	entry := []byte("{}")
	var err error
	if date != nil {
		if entry, err = sjson.SetRawBytes(entry, keyDate, date); err != nil {
			return nil, err
		}
	}
	if entry, err = sjson.SetRawBytes(entry, keyExtra, []byte("{}")); err != nil {
		return nil, err
	}
	size := int64(count) * int64(len(entry)+1)
	if size > maxInfos {
		return nil, fmt.Errorf("swipe_info is missing, and one of %d swipes would take %d bytes", count, size)
	}
	out := make([]byte, 0, size+2)
	out = append(out, '[')
	for i := range count {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, entry...)
	}
	return append(out, ']'), nil
}

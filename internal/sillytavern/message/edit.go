package message

import (
	"bytes"
	"errors"
	"strconv"

	"stchat/internal/jsonl/rawjson"
)

// ErrChosenSwipe means that a message's swipe_id chooses no swipe that is text.
var ErrChosenSwipe = errors.New("swipe_id chooses no swipe that is text")

// ErrOnlySwipe means that a message has one swipe, which cannot be deleted.
var ErrOnlySwipe = errors.New("it is the only swipe")

// SetSystem returns the message with is_system set to hidden: true hides it from the
// prompt. A missing is_system is added after is_user. It returns line itself if nothing
// changes.
func SetSystem(line []byte, hidden bool) []byte {
	value := strconv.AppendBool(nil, hidden)
	raw, ok := rawjson.Lookup(line, keyIsSystem)
	if ok && rawjson.Truthy(raw) == hidden || !ok && !hidden {
		return line
	}
	if _, end, hasUser := rawjson.Place(line, keyIsUser); !ok && hasUser {
		member := append([]byte(`,"`+keyIsSystem+`":`), value...)
		return bytes.Join([][]byte{line[:end], member, line[end:]}, nil)
	}
	edited, err := rawjson.SetPath(line, value, keyIsSystem)
	if err != nil {
		return line
	}
	return edited
}

// SyncText returns a message whose mes was edited with the same text in its chosen swipe,
// as SillyTavern's editor leaves it (updateMessage in public/script.js, 1.19). If there is
// no list of swipes, or swipe_id chooses none of them, it returns line itself.
func SyncText(line []byte) []byte {
	var at [3]rawjson.Span
	rawjson.Places(line, at[:], keyText, keySwipes, keySwipeID)
	value := func(i int) []byte { return line[at[i].At:at[i].End] }
	text, swipes := value(0), value(1)
	place, ok := rawjson.ElementPlace(swipes, swipeNumber(value(2)))
	if !ok || len(text) == 0 || bytes.Equal(swipes[place.At:place.End], text) {
		return line
	}
	return (&rawjson.Splice{At: int64(at[1].At + place.At), Len: int64(place.End - place.At), Data: text}).Apply(line)
}

// RepeatsText reports whether a swipe of a message, by its number from 0, is the chosen one, and says what
// the message itself says.
func RepeatsText(line, swipe []byte, number int) bool {
	var at [2]rawjson.Span
	rawjson.Places(line, at[:], keyText, keySwipeID)
	text := line[at[0].At:at[0].End]
	chosen := swipeNumber(line[at[1].At:at[1].End])
	return number == chosen && bytes.Equal(swipe, text)
}

// chosenSwipe returns the number, from 0, of the chosen swipe; ok is false if there is no
// such swipe.
func chosenSwipe(m *rawjson.Object) (id int, ok bool) {
	id = chosen(m)
	return id, id >= 0 && id < rawjson.Len(m.Value(keySwipes))
}

func setElement(list []byte, at int, value []byte) []byte {
	return rawjson.EditList(list, func(i int, old []byte) ([]byte, bool) {
		if i == at {
			return value, true
		}
		return old, true
	})
}

// SyncSwipe returns the message with its current state copied into its chosen swipe: the
// text, and into swipe_info its dates and extra, as SillyTavern does before it swipes
// (syncMesToSwipe in public/script.js, 1.19). The swipe of a greeting keeps its text, so
// that the macros in it can be resolved anew. A message without swipes is returned as it
// is. The error is [ErrChosenSwipe] if swipe_id chooses no text; it wraps
// [rawjson.ErrNotObject] if the line is not an object.
func SyncSwipe(line []byte, greeting bool) ([]byte, error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, err
	}
	swipes := m.Value(keySwipes)
	if rawjson.KindOf(swipes) != rawjson.Array {
		return line, nil
	}
	id, ok := chosenSwipe(m)
	text := m.Value(keyText)
	if !ok || rawjson.KindOf(text) != rawjson.String || rawjson.KindOf(element(swipes, id)) != rawjson.String {
		return nil, ErrChosenSwipe
	}
	if _, err := FillSwipeInfo(m); err != nil {
		return nil, err
	}
	if err := syncChosen(m, id, greeting); err != nil {
		return nil, err
	}
	return m.Bytes(), nil
}

// syncChosen copies the message's text, unless it is a greeting, and its dates and extra into its chosen
// swipe, which has an entry in swipe_info.
func syncChosen(m *rawjson.Object, id int, greeting bool) error {
	text, swipes := m.Value(keyText), m.Value(keySwipes)
	isText := rawjson.KindOf(text) == rawjson.String
	if isText && !greeting && !bytes.Equal(element(swipes, id), text) {
		m.Set(keySwipes, setElement(swipes, id, text))
	}
	infos := m.Value(keySwipeInfo)
	info, err := rawjson.ParseObject(element(infos, id))
	if err != nil {
		return err
	}
	for _, key := range append(generated(), keyExtra) {
		value, ok := m.Get(key)
		old, had := info.Get(key)
		switch {
		case !ok && had:
			info.Unset(key)
		case ok && !bytes.Equal(old, value):
			info.Set(key, value)
		}
	}

	if info.Edited() {
		m.Set(keySwipeInfo, setElement(infos, id, info.Bytes()))
	}
	return nil
}

// AddSwipe returns the message with one more swipe, and its number, from 1. text and info, its
// entry of swipe_info, are raw values. Missing lists are created first. The chosen swipe stays
// chosen (addSwipe of SillyTavern's slash commands). The error is [ErrChosenSwipe] if swipe_id
// chooses none of several swipes.
func AddSwipe(line, text, info []byte) (edited []byte, number int, err error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, 0, err
	}
	if swipes := m.Value(keySwipes); rawjson.KindOf(swipes) != rawjson.Array {
		old := m.Value(keyText)
		m.Set(keySwipeID, []byte("0"))
		m.Set(keySwipes, rawjson.Append(nil, orEmpty(old)))
	} else if _, ok := chosenSwipe(m); !ok && rawjson.Len(swipes) > 0 {
		return nil, 0, ErrChosenSwipe
	}
	if _, err := FillSwipeInfo(m); err != nil {
		return nil, 0, err
	}
	swipes := m.Value(keySwipes)
	infos := m.Value(keySwipeInfo)
	if rawjson.KindOf(infos) != rawjson.Array {
		infos = []byte("[]")
	}
	m.Set(keySwipes, rawjson.Append(swipes, text))
	m.Set(keySwipeInfo, rawjson.Append(infos, info))
	return m.Bytes(), rawjson.Len(swipes) + 1, nil
}

// TakeSwipe returns the text of a swipe, which counts from 0, and its entry of swipe_info, as
// [AddSwipe] takes them; -1 is the text of the message itself. Where nothing is known of a swipe, it
// has the message's date.
func TakeSwipe(line []byte, swipe int) (text, info []byte, err error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, nil, err
	}
	swipes, infos := m.Value(keySwipes), m.Value(keySwipeInfo)
	if swipe < 0 {
		info, err = swipeInfo(m, 1, generated()...)
		return m.Value(keyText), withExtra(info, m), err
	}
	if rawjson.Len(infos) == rawjson.Len(swipes) {
		info = element(infos, swipe)
	}
	if rawjson.KindOf(info) != rawjson.ObjectKind {
		info, err = swipeInfo(m, 1, keyDate)
	}
	return element(swipes, swipe), info, err
}

// NewSwipeInfo returns the swipe_info entry for a text that stchat writes. date is a raw
// value.
func NewSwipeInfo(date []byte) []byte {
	return bytes.Join([][]byte{[]byte(`{"send_date":`), date, []byte(`,"gen_started":null,"gen_finished":null,"extra":` + ManualExtra + `}`)}, nil)
}

// ManualExtra is the extra of a text that no model wrote.
const ManualExtra = `{"api":"manual","model":"stchat"}`

// DeleteSwipe returns the message without one of its swipes, numbered from 1, and without all that
// is kept for it ([RemoveSwipes], which force is for). If it was the chosen one, the next is chosen,
// or the last (deleteSwipe in public/script.js). The error is a [*SwipeError] if there is no such
// swipe or the next one is not text, [ErrOnlySwipe], [ErrChosenSwipe] if swipe_id chooses none, or
// an [*UnfitError]; it wraps [rawjson.ErrNotObject] if the line is not an object.
func DeleteSwipe(line []byte, number int, force bool) ([]byte, error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, err
	}
	swipes := m.Value(keySwipes)
	count := rawjson.Len(swipes)
	switch {
	case number < 1 || number > count:
		return nil, &SwipeError{Swipe: number, Swipes: count}
	case count == 1:
		return nil, ErrOnlySwipe
	}

	id, ok := chosenSwipe(m)
	if !ok {
		return nil, ErrChosenSwipe
	}
	if id == number-1 {
		next := number + 1
		if number == count {
			next = number - 1
		}
		err := CheckText(line, next)
		if err == nil && offersSwipes(m) { // the page has completed the swipes before anything is deleted
			ensureTexts(m)
			_, err = FillSwipeInfo(m)
		}
		if err != nil {
			return nil, err
		}
	}

	err = RemoveSwipes(m, func(i int) bool { return i != number-1 }, force)
	if err != nil {
		return nil, err
	}
	switch {
	case id > number-1:
		m.Set(keySwipeID, strconv.AppendInt(nil, int64(id-1), 10))
	case id == number-1:
		return choose(m, min(number, count-1))
	}
	return m.Bytes(), nil
}

// CheckText returns a [*SwipeError] if the message has the swipe with that number, from 1, but
// it is not text.
func CheckText(line []byte, number int) error {
	swipes := rawjson.Value(line, keySwipes)
	if n := rawjson.Len(swipes); number <= n && rawjson.KindOf(element(swipes, number-1)) != rawjson.String {
		return &SwipeError{Swipe: number, Swipes: n}
	}
	return nil
}

// CheckChosen returns [ErrChosenSwipe] if the message's swipe_id chooses no swipe that is
// text. Without a list of swipes, the page makes one of the text, so that only the first can
// be chosen.
func CheckChosen(line []byte) error {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return err
	}
	swipes, has := m.Get(keySwipes)
	if rawjson.KindOf(swipes) != rawjson.Array {
		if has || chosen(m) != 0 {
			return ErrChosenSwipe
		}
		return nil
	}

	if id, ok := chosenSwipe(m); !ok || rawjson.KindOf(element(swipes, id)) != rawjson.String {
		return ErrChosenSwipe
	}
	return nil
}

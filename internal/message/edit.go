package message

import (
	"bytes"
	"errors"
	"strconv"

	"stchat/internal/rawjson"
)

// ErrChosenSwipe means that a message's swipe_id chooses no swipe that is text.
var ErrChosenSwipe = errors.New("swipe_id chooses no swipe that is text")

// ErrOnlySwipe means that a message has one swipe, which cannot be deleted.
var ErrOnlySwipe = errors.New("it is the only swipe")

// SetSystem returns the message with is_system set: true hides it from the prompt. A
// missing is_system goes behind is_user. It returns line itself where nothing changes.
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

// SyncText returns a message whose mes was edited with its chosen swipe the same text, as
// SillyTavern's editor leaves it (updateMessage in public/script.js, 1.19). Where there is
// no list of swipes, or swipe_id chooses none of them, it returns line itself.
func SyncText(line []byte) []byte {
	text, ok := rawjson.Lookup(line, keyText)
	if !ok {
		return line
	}
	return SetText(line, text)
}

// SetText returns a message that has a mes with another one, and its chosen swipe with the
// same, as [SyncText] has it. text is raw. Where nothing changes it returns line itself.
func SetText(line, text []byte) []byte {
	var at [3]rawjson.Span // of the text, the swipes and their number
	rawjson.Places(line, at[:], keyText, keySwipes, keySwipeID)
	mes, swipe := at[0], rawjson.Span{}
	if list := at[1]; list.End > 0 {
		id := swipeNumber(line[at[2].At:at[2].End])
		if place, ok := rawjson.ElementPlace(line[list.At:list.End], id); ok {
			swipe = rawjson.Span{At: list.At + place.At, End: list.At + place.End}
		}
	}
	var edits []rawjson.Span
	for _, place := range []rawjson.Span{mes, swipe} {
		if place.End > 0 && !bytes.Equal(line[place.At:place.End], text) {
			edits = append(edits, place)
		}
	}
	if len(edits) == 0 {
		return line
	}
	if len(edits) == 2 && edits[0].At > edits[1].At {
		edits[0], edits[1] = edits[1], edits[0]
	}
	out := make([]byte, 0, len(line)+len(edits)*len(text))
	kept := 0
	for _, place := range edits {
		out = append(append(out, line[kept:place.At]...), text...)
		kept = place.End
	}
	return append(out, line[kept:]...)
}

// chosenSwipe returns the number, from 0, of the swipe that is chosen; ok is false where
// there is no such swipe.
func chosenSwipe(m *rawjson.Object) (id int, ok bool) {
	swipes, _ := m.Get(keySwipes)
	id = chosen(m)
	return id, id >= 0 && id < countElements(swipes)
}

func setElement(list []byte, at int, value []byte) []byte {
	return rawjson.EditList(list, func(i int, old []byte) ([]byte, bool) {
		if i == at {
			return value, true
		}
		return old, true
	})
}

// SyncSwipe returns the message with what it has now put into its chosen swipe: the text,
// and in swipe_info its dates and extra, as SillyTavern does before it swipes
// (syncMesToSwipe in public/script.js, 1.19). The text of a greeting stays as it is in its
// swipe: the macros in it are to be resolved anew. A message without swipes is returned as
// it is. The error is [ErrChosenSwipe].
func SyncSwipe(line []byte, greeting bool) ([]byte, error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, err
	}
	swipes, _ := m.Get(keySwipes)
	if rawjson.KindOf(swipes) != rawjson.Array {
		return line, nil
	}
	id, ok := chosenSwipe(m)
	text, _ := m.Get(keyText)
	if !ok || rawjson.KindOf(text) != rawjson.String || rawjson.KindOf(element(swipes, id)) != rawjson.String {
		return nil, ErrChosenSwipe
	}
	if !greeting && !bytes.Equal(element(swipes, id), text) {
		m.Set(keySwipes, setElement(swipes, id, text))
	}
	if _, err := FillSwipeInfo(m); err != nil {
		return nil, err
	}
	infos, _ := m.Get(keySwipeInfo)
	info, err := rawjson.ParseObject(element(infos, id))
	if err != nil {
		return nil, err
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
	return m.Bytes(), nil
}

// AddSwipe returns the message with one more swipe, and its number, from 1. date is the
// raw send_date of its swipe_info. Lists that are missing are made first. The chosen swipe
// stays (addSwipe of SillyTavern's slash commands).
func AddSwipe(line, text, date []byte) (edited []byte, number int, err error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, 0, err
	}
	if swipes, _ := m.Get(keySwipes); rawjson.KindOf(swipes) != rawjson.Array {
		old, _ := m.Get(keyText)
		m.Set(keySwipeID, []byte("0"))
		m.Set(keySwipes, rawjson.Append(nil, orEmpty(old)))
	}
	if _, err := FillSwipeInfo(m); err != nil {
		return nil, 0, err
	}
	swipes, _ := m.Get(keySwipes)
	infos, _ := m.Get(keySwipeInfo)
	if rawjson.KindOf(infos) != rawjson.Array {
		infos = []byte("[]")
	}
	m.Set(keySwipes, rawjson.Append(swipes, text))
	m.Set(keySwipeInfo, rawjson.Append(infos, NewSwipeInfo(date)))
	return m.Bytes(), countElements(swipes) + 1, nil
}

// NewSwipeInfo returns the swipe_info of a text that stchat writes. date is a raw value.
func NewSwipeInfo(date []byte) []byte {
	return bytes.Join([][]byte{[]byte(`{"send_date":`), date, []byte(`,"gen_started":null,"gen_finished":null,"extra":` + ManualExtra + `}`)}, nil)
}

// ManualExtra is the extra of a text that no model wrote.
const ManualExtra = `{"api":"manual","model":"stchat"}`

// DeleteSwipe returns the message without one of its swipes, numbered from 1, in swipes
// and in swipe_info. Where it was the chosen one the next is chosen, or the last
// (deleteSwipe in public/script.js). The error is [ErrOnlySwipe], or a [*SwipeError].
func DeleteSwipe(line []byte, number int) ([]byte, error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, err
	}
	swipes, _ := m.Get(keySwipes)
	count := countElements(swipes)
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
	without := func(i int, _ []byte) bool { return i != number-1 }
	m.Set(keySwipes, rawjson.Filter(swipes, without))
	if infos, _ := m.Get(keySwipeInfo); rawjson.KindOf(infos) == rawjson.Array {
		m.Set(keySwipeInfo, rawjson.Filter(infos, without))
	}
	switch {
	case id > number-1:
		m.Set(keySwipeID, strconv.AppendInt(nil, int64(id-1), 10))
	case id == number-1:
		return ChooseSwipe(m.Bytes(), min(number, count-1))
	}
	return m.Bytes(), nil
}

// CheckChosen is [ErrChosenSwipe] for a message with a list of swipes of which swipe_id
// chooses none that is text.
func CheckChosen(line []byte) error {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return err
	}
	swipes, _ := m.Get(keySwipes)
	if rawjson.KindOf(swipes) != rawjson.Array {
		return nil
	}
	if id, ok := chosenSwipe(m); !ok || rawjson.KindOf(element(swipes, id)) != rawjson.String {
		return ErrChosenSwipe
	}
	return nil
}

package message

import (
	"fmt"
	"slices"
	"strconv"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/plural"
)

// UnfitError means that swipes cannot be removed from a message, because it is not known what an
// extension keeps for which of them.
type UnfitError struct {
	Key    string // where the extension keeps it
	Swipes int    // how many swipes the message has
}

// Error names the key.
func (e *UnfitError) Error() string {
	return fmt.Sprintf("%q does not fit the message's %s", e.Key, plural.S(e.Swipes, "swipe"))
}

// RemoveSwipes removes swipes from a message, and with them all that is kept for them: their
// swipe_info, and what extensions keep beside swipes. It removes those that keep, called with the
// number of a swipe from 0, rejects; of a swipe_info that is longer than swipes, it judges the rest,
// too. swipe_id is left to the caller.
//
// Extensions keep a value for each swipe in a list or in an object with the keys "0", "1" and so on:
// Tavern Helper and MVU in variables, ST-Prompt-Template in variables_initialized and
// is_ejs_processed. They read message.variables[message.swipe_id]. SillyTavern knows none of these
// keys, and nobody knows all, so they are told by their shape: any list as long as swipes, and any
// object in which each key is the number of a swipe.
//
// The error is an [*UnfitError], and the message is left as it is, if a key has another shape and an
// entry that would have to go or to get another number. With force, such a key stays as it is.
func RemoveSwipes(m *rawjson.Object, keep func(swipe int) bool, force bool) error {
	swipes := m.Value(keySwipes)
	count := rawjson.Len(swipes)
	first := 0 // the first swipe that goes
	for first < count && keep(first) {
		first++
	}
	var beside []string // the keys under which extensions keep something for each swipe
	if first < count {
		for key, value := range m.All() {
			switch kind := shapeOf(key, value, count, first); {
			case kind == perSwipe:
				beside = append(beside, key)
			case kind == unfit && !force:
				return &UnfitError{Key: key, Swipes: count}
			}
		}
	}

	stays := func(i int, value []byte) ([]byte, bool) { return value, keep(i) }
	for _, key := range append(beside, keySwipes, keySwipeInfo) {
		m.EditList(key, stays)
	}
	for _, key := range beside {
		if object := m.Value(key); rawjson.KindOf(object) == rawjson.ObjectKind {
			m.Set(key, removeNumbers(object, count, keep))
		}
	}
	return nil
}

// shape says what a value beside swipes has to do with swipes that go.
type shape int

const (
	other    shape = iota // nothing
	perSwipe              // it has a value for each swipe
	unfit                 // it may have, but not for these swipes
)

// shapeOf judges the value that a message with count swipes has under a key. first is the first swipe
// that goes: of entries before it, none goes and none gets another number.
func shapeOf(key string, value []byte, count, first int) shape {
	if slices.Contains([]string{keySwipes, keySwipeInfo, keyExtra, keyBranches}, key) {
		return other
	}
	switch rawjson.KindOf(value) {
	case rawjson.Array:
		switch entries := rawjson.Len(value); {
		case entries <= first:
			return other
		case entries == count:
			return perSwipe
		default:
			return unfit
		}
	case rawjson.ObjectKind:
		touched, fits := false, true
		for rawKey := range rawjson.Members(value) {
			number, isNumber := swipeKey(rawKey)
			touched = touched || isNumber && number >= first
			fits = fits && isNumber && number < count
		}
		switch {
		case !touched:
			return other
		case fits:
			return perSwipe
		default:
			return unfit
		}
	}
	return other
}

// PerSwipe returns the values that an extension keeps under a key for the swipes of a message, by their
// numbers from 0, nil for a swipe without one. ok is false if the key's value is nothing of that kind.
// A message without swipes counts as one with a single swipe.
func PerSwipe(key string, value []byte, swipes int) (values [][]byte, ok bool) {
	count := max(swipes, 1)
	if shapeOf(key, value, count, 0) != perSwipe {
		return nil, false
	}
	values = make([][]byte, count)
	number := 0
	for entry := range rawjson.Elements(value) {
		values[number] = entry
		number++
	}

	for rawKey, entry := range rawjson.Members(value) {
		number, _ := swipeKey(rawKey)
		values[number] = entry
	}
	return values, true
}

// swipeKey returns the number for which a raw key of an object stands, from 0, as JavaScript numbers
// elements: "1", but not "01".
func swipeKey(rawKey []byte) (number int, ok bool) {
	key, _ := rawjson.Unquote(rawKey)
	number, err := strconv.Atoi(key)
	return number, err == nil && number >= 0 && strconv.Itoa(number) == key
}

// removeNumbers removes from an object, in which each key is a number below count, those that keep
// rejects, and numbers the others anew, as elements of a list.
func removeNumbers(object []byte, count int, keep func(number int) bool) []byte {
	return rawjson.Edit(object, func(o *rawjson.Object) {
		next := 0 // the new number of the next that stays
		for number := range count {
			stays, renamed := keep(number), next
			if stays {
				next++
			}
			key := strconv.Itoa(number)
			value, has := o.Get(key)
			if !has || stays && renamed == number {
				continue
			}
			o.Unset(key)
			if stays {
				o.Set(strconv.Itoa(renamed), value)
			}
		}
	})
}

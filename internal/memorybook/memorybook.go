// Package memorybook knows what STMemoryBooks keeps in a chat's metadata: the messages
// that begin and end the scene which is marked, and the last message that a memory
// covers. All three are raw message indexes (sceneManager.js of SillyTavern-MemoryBooks;
// FORMATS.md, additions).
package memorybook

import (
	"fmt"
	"math"
	"strconv"

	"stchat/internal/rawjson"
)

// Key is the extension's key in chat_metadata.
const Key = "STMemoryBooks"

// Names of the indexes below [Key].
const (
	sceneStart = "sceneStart"
	sceneEnd   = "sceneEnd"
	highest    = "highestMemoryProcessed"
)

// Marks is what a chat's metadata says, as raw numbers; nil where it says nothing.
type Marks struct{ Start, End, Highest []byte }

// Read reads the value of [Key].
func Read(raw []byte) Marks {
	number := func(key string) []byte {
		value, _ := rawjson.Lookup(raw, key)
		if rawjson.KindOf(value) != rawjson.Number {
			return nil
		}
		return value
	}
	return Marks{number(sceneStart), number(sceneEnd), number(highest)}
}

// Beyond lists the marks that lie at or beyond a number of messages, for people.
func (m Marks) Beyond(messages int) (list []string) {
	for _, mark := range [...]struct {
		key string
		raw []byte
	}{{sceneStart, m.Start}, {sceneEnd, m.End}, {highest, m.Highest}} {
		if at, ok := rawjson.Float(mark.raw); ok && at >= float64(messages) {
			list = append(list, fmt.Sprintf("%s %s", mark.key, mark.raw))
		}
	}
	return list
}

// Change is one mark that became another.
type Change struct {
	Key string
	Was []byte // raw
	Now string // raw; empty: removed
}

// String says it for people.
func (c Change) String() string {
	if c.Now == "" {
		return fmt.Sprintf("%s %s removed", c.Key, rawjson.Compact(c.Was))
	}
	return fmt.Sprintf("%s %s → %s", c.Key, rawjson.Compact(c.Was), c.Now)
}

// Move gives the marks the new indexes of their messages, of which there were so many:
// those of the scene by to, the highest by down. A scene mark whose message is not there
// afterwards becomes null, and both do where the scene would end before it begins; a
// highest one is removed where no message is left at or before it. What is no message
// index stays.
func Move(metadata *rawjson.Object, messages int, to, down func(index int) (int, bool)) (changes []Change) {
	book, ok := metadata.Object(Key)
	if !ok {
		return nil
	}
	set := func(key string, value string) {
		was, _ := book.Get(key)
		switch {
		case value == string(was):
			return
		case value == "":
			book.Unset(key)
		default:
			book.Set(key, []byte(value))
		}
		changes = append(changes, Change{key, was, value})
	}
	ends := [2]float64{math.Inf(-1), math.Inf(1)}
	for i, key := range [...]string{sceneStart, sceneEnd} {
		raw, _ := book.Get(key)
		number, isNumber := rawjson.Float(raw)
		at, isIndex := rawjson.Int(raw)
		isIndex = isIndex && at >= 0 && at < messages
		switch {
		case !isNumber:
			continue
		case !isIndex && number < float64(messages):
			ends[i] = number
			continue
		}
		if isIndex {
			at, isIndex = to(at)
		}
		if !isIndex {
			set(key, "null")
			continue
		}
		ends[i] = float64(at)
		if value := strconv.Itoa(at); !sameInt(raw, at) {
			set(key, value)
		}
	}
	if ends[0] > ends[1] {
		set(sceneStart, "null")
		set(sceneEnd, "null")
	}
	raw, _ := book.Get(highest)
	if number, ok := rawjson.Float(raw); ok && number >= 0 {
		at, isIndex := rawjson.Int(raw)
		if number >= float64(messages) {
			at, isIndex = messages-1, true
		}
		if isIndex {
			if at, ok = down(at); !ok {
				set(highest, "")
			} else if !sameInt(raw, at) {
				set(highest, strconv.Itoa(at))
			}
		}
	}
	if book.Edited() {
		metadata.Set(Key, book.Bytes())
	}
	return changes
}

func sameInt(raw []byte, n int) bool {
	was, ok := rawjson.Int(raw)
	return ok && was == n
}

// Trim leaves the marks that a chat of so many messages can have.
func Trim(metadata *rawjson.Object, messages int) []Change {
	same := func(index int) (int, bool) { return index, index >= 0 && index < messages }
	return Move(metadata, messages, same, same)
}

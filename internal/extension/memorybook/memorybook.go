// Package memorybook knows what STMemoryBooks keeps in a chat's metadata: the messages that
// begin and end the marked scene, and the last message that a memory covers, which a row says all of.
// All three are plain message indexes (sceneManager.js of SillyTavern-MemoryBooks).
package memorybook

import (
	"fmt"
	"math"
	"strconv"

	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
)

// Extension is STMemoryBooks: a mark on a message that a branch does not have, or that goes,
// becomes null, or moves to the last message. The rules are from sceneManager.js of
// SillyTavern-MemoryBooks at 0275d5a.
type Extension struct{ extension.None }

// About returns the extension's key, and the keys that name lorebooks outside the chat-bound mode,
// and those of memories.
func (*Extension) About() extension.About {
	return extension.About{Name: Key, Keys: []string{Key}, Rows: extension.Table{
		{Path: Key + "/" + highest, Holds: extension.Last, Rule: rule},
		extension.Key(extension.Metadata, extension.Book, Key+"/manualLorebook"),
		extension.Key(extension.Metadata, extension.Book, Key+"/manualCharacterLorebooks/*"),
		extension.Key(extension.Metadata, extension.Book, Key+"/narratorMode/members/*/lorebookName"),
		extension.Key(extension.Metadata, extension.Book, Key+"/sidePromptLorebookOverrides/*"),
		extension.Key(extension.Lorebook, extension.OwnChat, "entries/*/STMB_chatId"),
		extension.Key(extension.Lorebook, extension.Book, "entries/*/STMB_canonicalLorebook"),
	}}
}

// Isolate clears or lowers the marks that the branch cannot have.
func (e *Extension) Isolate(b *extension.Branch) {
	for _, change := range trim(b.Metadata, b.Messages()) {
		b.Add(e, "%s", change)
	}
	e.About().Rows.Isolate(e, b)
}

// Follow moves the marks with their messages.
func (e *Extension) Follow(f *extension.Following) {
	if !f.Moves() {
		return
	}
	for _, change := range move(f.Metadata, f.Messages, f.Staying, f.Down) {
		f.Add(e, "%s", change)
	}
	e.About().Rows.Follow(e, f)
}

// Judge reports marks beyond the last message.
func (e *Extension) Judge(j *extension.Judging) {
	for _, mark := range beyond(j.Metadata, j.Messages) {
		j.Report(rule, mark+" of STMemoryBooks is beyond the last message")
	}
	e.About().Rows.Judge(e, j)
}

// Repair clears or lowers such marks.
func (e *Extension) Repair(m *extension.Repairing) {
	if !m.Wants(rule) {
		return
	}
	for _, c := range trim(m.Metadata, m.Messages) {
		m.Note(extension.Repaired{Rule: rule, Text: c.String(), What: c.Key, Lost: c.Was})
	}
	e.About().Rows.Repair(e, m)
}

// rule is the rule about marks beyond the last message.
const rule = "memory-book"

// Key is the extension's key in chat_metadata.
const Key = "STMemoryBooks"

// Names of the indexes in [Key].
const (
	sceneStart = "sceneStart"
	sceneEnd   = "sceneEnd"
	highest    = "highestMemoryProcessed"
)

// beyond returns the marks of the scene that have an index of messages or more, as text such as
// "sceneEnd 12".
func beyond(metadata *rawjson.Object, messages int) (list []string) {
	for _, key := range [...]string{sceneStart, sceneEnd} {
		raw := rawjson.Value(metadata.Value(Key), key)
		if at, ok := rawjson.Float(raw); ok && at >= float64(messages) {
			list = append(list, fmt.Sprintf("%s %s", key, raw))
		}
	}
	return list
}

// change is one mark that changed.
type change struct {
	Key string
	Was []byte // raw
	Now string // raw
}

// String describes the change, as "sceneEnd 12 → 10".
func (c change) String() string {
	return fmt.Sprintf("%s %s → %s", c.Key, rawjson.Compact(c.Was), c.Now)
}

// move moves the marks of the scene in a chat that had so many messages, and returns what it
// changed: to returns false for a message that goes, and down if no message is left at or before
// it. A mark whose message goes becomes null, but an end after all messages that are left is put on
// the last of them, as the extension does (validateSceneMarkers); both become null if the scene
// would end before it begins. A number that is not an index, such as -1, stays.
func move(metadata *rawjson.Object, messages int, to, down func(index int) (int, bool)) (changes []change) {
	metadata.Edit(func(book *rawjson.Object) {
		set := func(key string, value string) {
			was := book.Value(key)
			if value == string(was) {
				return
			}
			book.Set(key, []byte(value))
			changes = append(changes, change{key, was, value})
		}

		ends := [2]float64{math.Inf(-1), math.Inf(1)}
		for i, key := range [...]string{sceneStart, sceneEnd} {
			raw := book.Value(key)
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

			was := messages - 1
			if isIndex {
				was = at
				at, isIndex = to(at)
			}
			if !isIndex && key == sceneEnd {
				at, isIndex = down(was)
				last, _ := down(messages - 1)
				isIndex = isIndex && at == last
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
	}, Key)
	return changes
}

func sameInt(raw []byte, n int) bool {
	was, ok := rawjson.Int(raw)
	return ok && was == n
}

// trim clears or lowers the marks of the scene that a chat of so many messages cannot have, and returns
// what it changed.
func trim(metadata *rawjson.Object, messages int) []change {
	same := func(index int) (int, bool) { return index, index >= 0 && index < messages }
	return move(metadata, messages, same, same)
}

// View is what STMemoryBooks keeps in a chat: messages, null where none is noted.
type View struct {
	Name       string `json:"name"`  // "memory-books"
	Known      bool   `json:"known"` // true
	Bytes      int64  `json:"bytes"`
	SceneStart *int   `json:"scene_start"`
	SceneEnd   *int   `json:"scene_end"`
	Highest    *int   `json:"highest_memory"` // the last message that a memory covers
}

// View describes the marks.
func (*Extension) View(metadata *rawjson.Object, bytes int64) extension.View {
	raw, ok := metadata.Get(Key)
	if !ok {
		return nil
	}
	mark := func(key string) *int { return rawjson.IntOrNil(rawjson.Value(raw, key)) }
	return &View{Name: "memory-books", Known: true, Bytes: bytes, SceneStart: mark(sceneStart), SceneEnd: mark(sceneEnd), Highest: mark(highest)}
}

// Entries counts the marks.
func (v *View) Entries() (n int) {
	for _, mark := range []*int{v.SceneStart, v.SceneEnd, v.Highest} {
		if mark != nil {
			n++
		}
	}
	return n
}

// Cells returns which scene is marked, and how far memories go.
func (v *View) Cells() (label string, cells []string) {
	scene := "no scene marked"
	switch {
	case v.SceneStart != nil && v.SceneEnd != nil:
		scene = fmt.Sprintf("scene #%d to #%d", *v.SceneStart, *v.SceneEnd)
	case v.SceneStart != nil:
		scene = fmt.Sprintf("scene from #%d", *v.SceneStart)
	case v.SceneEnd != nil:
		scene = fmt.Sprintf("scene up to #%d", *v.SceneEnd)
	}

	memories := "no memories"
	if v.Highest != nil {
		memories = fmt.Sprintf("memories up to #%d", *v.Highest)
	}
	return "MemoryBooks", []string{scene, memories}
}

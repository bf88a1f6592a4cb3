// Package message reads and edits one message, a line of a chat:
//
//	{"name":"Mira","is_user":false,"is_system":false,"send_date":"…","mes":"…","extra":{…},"swipe_id":0,"swipes":["…"],"swipe_info":[{…}]}
//
// A message is somebody's writing and carries the state of extensions that are unknown here. So
// every edit is a splice into the line's own bytes: the keys that the edit names get new
// values, all others keep theirs to the byte, known or not, in their order. Values that an edit
// copies keep their spelling. If a key is repeated its last occurrence counts, as JSON.parse
// reads it.
//
// Lines are given without their line end and must be one valid JSON object; what a message
// means to a chat, and its place there, are other packages' business.
package message

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"unicode/utf8"

	"stchat/internal/jsonl/rawjson"
)

// Keys of a message and of its extra.
const (
	keyIsUser      = "is_user"
	keyIsSystem    = "is_system"
	keyText        = "mes"
	keyDate        = "send_date"
	keyGenStarted  = "gen_started"
	keyGenFinished = "gen_finished"
	keyExtra       = "extra"
	keySwipeID     = "swipe_id"
	keySwipes      = "swipes"
	keySwipeInfo   = "swipe_info"

	keySmall    = "isSmallSys"
	keyBookmark = "bookmark_link"
	keyBranches = "branches"
)

// Keys returns the keys that SillyTavern gives a message.
func Keys() []string {
	return []string{
		"name", keyIsUser, keyIsSystem, keyDate, keyText, "title", keyGenStarted, keyGenFinished, "force_avatar", "original_avatar",
		keySwipes, keySwipeID, keySwipeInfo, keyExtra, "is_group",
	}
}

// ExtraKeys returns the keys that SillyTavern gives the extra of a message (1.19; the last of them are
// those of older versions).
func ExtraKeys() []string {
	return []string{
		"api", "model", "reasoning", "reasoning_duration", "reasoning_signature", "reasoning_type", "reasoning_display_text",
		"token_count", "time_to_first_token", "gen_id", "bias", keySmall, "type", "uses_system_ui", "swipeable", "overswipe_behavior",
		"tool_invocations", "display_text", "memory", "files", "media", "media_display", "media_index", "inline_image", "title",
		"append_title", "generationType", "negative", keyBookmark, keyBranches, "from_logprobs",
		"file", "image", "video", "image_swipes",
	}
}

// Who says whose message it is.
type Who string

// The roles. Hidden is none: a message that its user hid keeps the role of who says it.
const (
	User      Who = "user"
	Character Who = "character"
	System    Who = "system"   // a line of the program's own, or the call of a tool
	Narrator  Who = "narrator" // SillyTavern's /sys
	Comment   Who = "comment"  // SillyTavern's /comment
)

// Roles returns all roles.
func Roles() []Who { return []Who{User, Character, System, Narrator, Comment} }

// Speaker has what says whose message it is, as raw values, nil where the message has none.
type Speaker struct {
	Name, User, System []byte // name, is_user, is_system
	Type, Small, Tools []byte // type, isSmallSys and tool_invocations of extra
}

// SpeakerOf returns the Speaker of a message with this name, is_user, is_system and extra.
func SpeakerOf(name, isUser, isSystem, extra []byte) Speaker {
	s := Speaker{Name: name, User: isUser, System: isSystem}
	rawjson.Into(extra, []string{"type", "isSmallSys", "tool_invocations"}, &s.Type, &s.Small, &s.Tools)
	return s
}

// Role returns whose message it is. Truth is JavaScript's ("is_user":"yes" is true). What the program
// says itself has a type or is small (system_message_types in script.js, /sys compact=true), or was
// written under the name System.
func (s *Speaker) Role() Who {
	if rawjson.Truthy(s.Type) {
		switch kind, _ := rawjson.Unquote(s.Type); kind {
		case string(Narrator):
			return Narrator
		case string(Comment):
			return Comment
		}
		return System
	}

	if rawjson.Truthy(s.Small) || HoldsCalls(s.Tools) || rawjson.Truthy(s.System) && s.isNamedSystem() {
		return System
	}
	if rawjson.Truthy(s.User) {
		return User
	}
	return Character
}

// SystemName is the name under which SillyTavern writes for the system.
const SystemName = "System"

func (s *Speaker) isNamedSystem() bool {
	name, _ := rawjson.Unquote(s.Name)
	return name == SystemName
}

// Role returns whose message it is that has this name, is_user, is_system and extra.
func Role(name, isUser, isSystem, extra []byte) Who {
	s := SpeakerOf(name, isUser, isSystem, extra)
	return s.Role()
}

// HoldsCalls reports whether a message holds calls of tools, by the raw value of extra.tool_invocations: only a
// list does.
func HoldsCalls(tools []byte) bool { return rawjson.KindOf(tools) == rawjson.Array }

// Visible reports whether SillyTavern counts the message as one that the model sees: it is no
// system message, or it holds tool calls (a list; coreChat in public/script.js, with tools
// usable). It takes the raw value of is_system, and calls tools for that of
// extra.tool_invocations only if it matters.
func Visible(isSystem []byte, tools func() []byte) bool {
	return !rawjson.Truthy(isSystem) || HoldsCalls(tools())
}

// Hidden reports whether a message was hidden by its user, by its is_system and extra: lines of the
// program's own have a type, and calls of tools are [Visible].
func Hidden(isSystem, extra []byte) bool {
	return !Visible(isSystem, func() []byte { return rawjson.Value(extra, "tool_invocations") }) && !rawjson.Truthy(rawjson.Value(extra, "type"))
}

// ID identifies a message by its content: two messages with one ID have the same name,
// is_user, mes and send_date, however these are spelled. Only IDs of one [Seed] can be
// compared; they mean nothing outside the process.
type ID [16]byte

// Seed makes IDs unpredictable, so that no file can be crafted to hold different messages
// with one ID. Use [NewSeed].
type Seed struct{ high, low maphash.Seed }

// NewSeed returns a new seed.
func NewSeed() Seed { return Seed{maphash.MakeSeed(), maphash.MakeSeed()} }

// Identifier computes the IDs of many messages and reuses its memory. It is for one
// goroutine.
type Identifier struct {
	seed Seed
	buf  []byte
}

// NewIdentifier returns an Identifier that computes the IDs of a seed.
func NewIdentifier(s Seed) *Identifier { return &Identifier{seed: s} }

// Identity returns the ID of a message from the raw values of its name, is_user, mes and send_date,
// nil where it lacks one. Each counts as JavaScript reads it: is_user by its truth, a string
// decoded, a number as a double. plain says that strings in the values are known to be UTF-8 and
// spelled as JSON.stringify spells them, so that this need not be checked again.
func (f *Identifier) Identity(name, isUser, mes, date []byte, plain bool) ID {
	user := byte(0)
	if rawjson.Truthy(isUser) {
		user = 1
	}
	f.buf = append(f.buf[:0], user)
	for _, value := range [...][]byte{name, mes, date} {
		f.add(value, plain)
	}
	var id ID
	binary.BigEndian.PutUint64(id[:8], maphash.Bytes(f.seed.high, f.buf))
	binary.BigEndian.PutUint64(id[8:], maphash.Bytes(f.seed.low, f.buf))
	return id
}

// add adds a value to what is hashed: its kind, its length and what it reads as.
func (f *Identifier) add(raw []byte, plain bool) {
	kind := rawjson.KindOf(raw)
	f.buf = append(f.buf, byte(kind), 0, 0, 0, 0, 0, 0, 0, 0)
	from := len(f.buf)
	switch kind {
	case rawjson.String:
		if raw = bytes.TrimSpace(raw); !plain && (!utf8.Valid(raw) || !isStringified(raw)) {
			text, _ := rawjson.Unquote(raw)
			raw = rawjson.Quote(text)
		}
		f.buf = append(f.buf, raw...)
	case rawjson.Number:
		n, _ := rawjson.Float(raw)
		f.buf = binary.BigEndian.AppendUint64(f.buf, math.Float64bits(n+0)) // -0 is 0
	case rawjson.Array, rawjson.ObjectKind:
		f.buf = append(f.buf, rawjson.Compact(raw)...)
	default:
		f.buf = append(f.buf, raw...)
	}

	binary.BigEndian.PutUint64(f.buf[from-8:], uint64(len(f.buf)-from))
}

// isStringified reports whether a string, which is UTF-8, is spelled as JSON.stringify
// spells it, so that it need not be decoded for comparison. It may return false for one
// that is.
func isStringified(raw []byte) bool {
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 || at+1 == len(raw) {
			return at < 0
		}
		switch raw[at+1] {
		case '"', '\\', 'b', 'f', 'n', 'r', 't':
		default:
			return false
		}
		raw = raw[at+2:]
	}
}

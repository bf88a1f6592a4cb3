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

import "stchat/internal/rawjson"

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

// Who says whose message it is.
type Who string

// The three roles. The model does not see a system message, with the exception in [Visible].
const (
	User      Who = "user"
	Character Who = "character"
	System    Who = "system"
)

// Role returns whose message it is, from the raw values of is_user and is_system, nil if the
// message has none. Truth is JavaScript's ("is_user":"yes" is true), and is_system wins over
// is_user.
func Role(isUser, isSystem []byte) Who {
	switch {
	case rawjson.Truthy(isSystem):
		return System
	case rawjson.Truthy(isUser):
		return User
	default:
		return Character
	}
}

// Visible reports whether SillyTavern counts the message as one that the model sees: it is no
// system message, or it holds tool calls (a list; coreChat in public/script.js, with tools
// usable). It takes the raw value of is_system, and calls tools for that of
// extra.tool_invocations only if it matters.
func Visible(isSystem []byte, tools func() []byte) bool {
	return !rawjson.Truthy(isSystem) || rawjson.KindOf(tools()) == rawjson.Array
}

package chat

import (
	"stchat/internal/rawjson"
)

// HeaderKind is the kind of header that a chat file has.
type HeaderKind string

// The kinds of header.
const (
	Modern  HeaderKind = "modern"  // SillyTavern 1.16 and later, Luker: names are "unused"
	Legacy  HeaderKind = "legacy"  // up to 1.14: create_date, real names
	None    HeaderKind = "none"    // a group chat up to 1.14, or a file that lost its header
	Damaged HeaderKind = "damaged" // the header's line or its chat_metadata cannot be read
)

// isLegacy reports whether a header is one of SillyTavern up to 1.14, by what
// later ones never have: a create_date, or a user's real name.
func isLegacy(line []byte) bool {
	if _, ok := rawjson.Lookup(line, "create_date"); ok {
		return true
	}
	raw, ok := rawjson.Lookup(line, "user_name")
	name, isString := rawjson.Unquote(raw)
	return ok && isString && name != "unused"
}

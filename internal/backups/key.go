package backups

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"stchat/internal/names"
	"stchat/internal/rawjson"
)

// Keys returns the keys under which SillyTavern keeps backups of what is called name:
// a character's avatar without its extension, which is also its folder's name, or a
// group chat's name. The first is that of 1.19, which ends in a hash where the name
// has a character outside 0x20 to 0x7E; then there is a second one, that of 1.18 and
// earlier (getBackupKey in src/endpoints/chats.js).
func Keys(name string) []string {
	name = rawjson.WellFormed(name)
	key := keyOf(names.File(name))
	if !strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return []string{key}
	}
	sum := sha256.Sum256([]byte(name))
	return []string{key + "_" + hex.EncodeToString(sum[:4]), key}
}

// keyOf returns name in lower case, with each UTF-16 unit outside [a-zA-Z0-9] made a _.
func keyOf(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r + 'a' - 'A')
		case r > 0xffff:
			b.WriteString("__")
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

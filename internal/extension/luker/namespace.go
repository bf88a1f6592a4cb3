package luker

import (
	"strings"
	"unicode"

	"stchat/internal/jsvalue"
)

// Normalize returns the namespace that Luker makes of a given one
// (normalizeChatStateNamespace of src/endpoints/chats.js): trimmed, in lower case, with an
// underscore for each UTF-16 unit that is not a-z, 0-9, a point, an underscore or a hyphen,
// and at most 96 characters long. "" means that there is none.
func Normalize(namespace string) string {
	var b strings.Builder
	for _, r := range jsvalue.Trim(namespace) {
		lower := unicode.ToLower(r)
		switch {
		case r == 'İ': // becomes i with a dot above, two units
			b.WriteString("i_")
		case lower >= 'a' && lower <= 'z', lower >= '0' && lower <= '9', lower == '.', lower == '_', lower == '-':
			b.WriteRune(lower)
		case lower > 0xFFFF:
			b.WriteString("__")
		default:
			b.WriteByte('_')
		}
	}
	const most = 96
	return b.String()[:min(b.Len(), most)]
}

// LogOf returns the namespace of the floor log of a namespace.
func LogOf(namespace string) string { return namespace + floorLog }

// DataOf returns the namespace whose changes the floor log with the namespace log holds.
func DataOf(log string) string { return strings.TrimSuffix(log, floorLog) }

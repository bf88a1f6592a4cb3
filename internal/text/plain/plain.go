// Package plain reads texts as other programs write them.
package plain

import (
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// UTF8 returns a text in UTF-8, without a byte order mark. What begins with the mark of UTF-16, as what
// PowerShell writes with >, is decoded; half a surrogate pair becomes U+FFFD. Any other text is returned as it is.
func UTF8(data []byte) []byte {
	decoded, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), data)
	if err != nil {
		return data
	}
	return decoded
}

// Text returns a text without the line end behind it. Where each line ends in CR LF, as on Windows, LF takes
// the place of both.
func Text(data []byte) string {
	text := string(data)
	isFromWindows := strings.Count(text, "\r\n") == strings.Count(text, "\n")
	if isFromWindows {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

package ops

import (
	"errors"
	"path"
	"strings"

	"stchat/internal/extension/core"
	"stchat/internal/json/metadiff"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"
)

// MetaValue returns the value that a text means under a key of the metadata: JSON, or else text; under a
// key that SillyTavern keeps as text always text, which may be written as a JSON string.
func MetaValue(path patch.Path, text string) []byte {
	value := patch.ParseValue(text)
	isText := len(path) == 1 && core.IsText(path[0])
	if isText && rawjson.KindOf(value) != rawjson.String {
		return rawjson.Quote(text)
	}
	return value
}

// ErrCondition means that a text is not a condition.
var ErrCondition = errors.New("a condition is KEY, !KEY, KEY=VALUE, KEY!=VALUE or KEY~GLOB")

// Condition is a condition on a chat's metadata (CONTENT.md 4).
type Condition struct {
	path patch.Path
	op   string // has, lacks, =, != or ~
	want string
}

// ParseCondition parses KEY, !KEY, KEY=VALUE, KEY!=VALUE or KEY~GLOB. A KEY that begins with a
// slash is a JSON pointer.
func ParseCondition(text string) (c Condition, err error) {
	key := text
	switch at := strings.IndexAny(text, "=~"); {
	case at > 0 && text[at] == '=' && text[at-1] == '!':
		c.op, key, c.want = "!=", text[:at-1], text[at+1:]
	case at > 0 && text[at] == '=':
		c.op, key, c.want = "=", text[:at], text[at+1:]
	case at > 0:
		c.op, key, c.want = "~", text[:at], text[at+1:]
		if _, err := path.Match(c.want, ""); err != nil {
			return c, ErrCondition
		}
	case strings.HasPrefix(text, "!"):
		c.op, key = "lacks", text[1:]
	default:
		c.op = "has"
	}
	if key == "" {
		return c, ErrCondition
	}
	c.path, err = patch.ParseKey(key)
	return c, err
}

// Holds reports whether the metadata meets the condition.
func (c *Condition) Holds(metadata []byte) bool {
	raw, ok := patch.Get(metadata, c.path)
	switch c.op {
	case "has":
		return ok
	case "lacks":
		return !ok
	case "~":
		text, isText := rawjson.Unquote(raw)
		// a slash is a character like any other
		hidden := strings.NewReplacer("/", "\x00")
		matches, _ := path.Match(hidden.Replace(c.want), hidden.Replace(text))
		return isText && matches
	}
	return (ok && metadiff.Equal(raw, MetaValue(c.path, c.want))) == (c.op == "=")
}

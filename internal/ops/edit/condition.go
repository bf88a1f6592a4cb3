package edit

import (
	"errors"
	"path"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/metadiff"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

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

// holds reports whether the metadata meets the condition.
func (c *Condition) holds(metadata []byte) bool {
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
	want := []byte(c.want)
	if !jsonl.Valid(want) {
		want = rawjson.Quote(c.want)
	}
	return (ok && metadiff.Equal(raw, want)) == (c.op == "=")
}

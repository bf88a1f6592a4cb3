package ops

import (
	"errors"
	"path"
	"slices"
	"strings"

	"stchat/internal/extension/core"
	"stchat/internal/json/metadiff"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"
)

// MetaValue returns the value that a text means under a key of the metadata: JSON, or else text; under a
// key that SillyTavern keeps as text always text, which may be written as a JSON string.
func MetaValue(path patch.Path, text string) []byte {
	isText := len(path) == 1 && core.IsText(path[0])
	return valueOf(text, isText)
}

// MessageValue is [MetaValue] for a key of a message. Of the texts beside what is said and who says it only a number is
// taken as text: null and false are how SillyTavern clears them.
func MessageValue(path patch.Path, text string) []byte {
	isNumber := rawjson.KindOf(patch.ParseValue(text)) == rawjson.Number
	isSaid := len(path) == 1 && (path[0] == "mes" || path[0] == "name")
	return valueOf(text, isSaid || isNumber && isMessageText(path))
}

// isMessageText reports whether a key of a message holds text (FORMATS.md 2 and Additions).
func isMessageText(path patch.Path) bool {
	switch {
	case len(path) == 1:
		return slices.Contains([]string{"title", "force_avatar", "original_avatar"}, path[0])
	case len(path) == 2 && path[0] == "extra":
		texts := []string{"display_text", "reasoning", "bias", "memory", "bookmark_link", "model", "api", "title", "image"}
		return slices.Contains(texts, path[1])
	}
	return false
}

func valueOf(text string, isText bool) []byte {
	value := patch.ParseValue(text)
	if isText && rawjson.KindOf(value) != rawjson.String {
		return rawjson.Quote(text)
	}
	return value
}

// ErrCondition means that a text is not a condition.
var ErrCondition = errors.New("a condition is KEY, !KEY, KEY=VALUE, KEY!=VALUE or KEY~GLOB")

// Condition is a condition on a chat's metadata.
type Condition struct {
	path patch.Path
	op   string // has, lacks, =, != or ~
	want string
}

// ParseCondition parses KEY, !KEY, KEY=VALUE, KEY!=VALUE or KEY~GLOB. A KEY that begins with a
// slash is a JSON pointer.
func ParseCondition(text string) (Condition, error) {
	key, op, want := splitCondition(text)
	if key == "" {
		return Condition{}, ErrCondition
	}
	if op == "~" {
		_, err := path.Match(want, "")
		if err != nil {
			return Condition{}, ErrCondition
		}
	}

	at, err := patch.ParseKey(key)
	return Condition{path: at, op: op, want: want}, err
}

// splitCondition splits a condition at its operator, which is the first = or ~, or a ! in front.
func splitCondition(text string) (key, op, want string) {
	at := strings.IndexAny(text, "=~")
	if at > 0 {
		key = text[:at]
		op = text[at : at+1]
		want = text[at+1:]
		denied, isDenied := strings.CutSuffix(key, "!")
		if isDenied && op == "=" {
			return denied, "!=", want
		}
		return key, op, want
	}

	lacking, isLacking := strings.CutPrefix(text, "!")
	if isLacking {
		return lacking, "lacks", ""
	}
	return text, "has", ""
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

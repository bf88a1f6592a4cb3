package meta

import (
	"fmt"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// Op is what an [Edit] does.
type Op uint8

// The operations. Set is the zero value.
const (
	Set Op = iota
	Unset
)

// Edit is one change to a key of the metadata.
type Edit struct {
	Op    Op
	Key   string // literal, decoded
	Value []byte // one valid JSON value; for Set only
}

// Apply makes the edits, one after the other. A key that exists keeps its place,
// of a repeated one the last occurrence is set; a new one is appended. Unset
// removes every occurrence.
func Apply(current *rawjson.Object, edits []Edit) {
	for _, e := range edits {
		switch e.Op {
		case Set:
			current.Set(e.Key, rawjson.Compact(e.Value))
		case Unset:
			current.Unset(e.Key)
		}
	}
}

// Merge puts every key of an object into current, as SillyTavern does when it
// saves a copy: {...current, ...with}. Values become one line and keep their
// spelling, as do new keys. current is left alone when with is not one valid
// JSON object; the error says where it breaks, or wraps [rawjson.ErrNotObject].
func Merge(current *rawjson.Object, with []byte) error {
	if _, err := parseObject(with); err != nil {
		return err
	}
	for key, value := range rawjson.Members(with) {
		current.SetRaw(key, rawjson.Compact(value))
	}
	return nil
}

// parseObject validates an object that comes from outside and reads it as one
// line.
func parseObject(raw []byte) (*rawjson.Object, error) {
	if damage := jsonl.Check(raw); damage != nil {
		return nil, damage
	}
	o, err := rawjson.ParseObject(rawjson.Compact(raw))
	if err != nil {
		return nil, fmt.Errorf("%w but %s", err, rawjson.KindOf(raw))
	}
	return o, nil
}

// ParseValue reads the VALUE of --set KEY=VALUE: one line of JSON if it parses
// as JSON, else a JSON string of the text as it stands.
func ParseValue(s string) []byte {
	if raw := []byte(s); jsonl.Valid(raw) {
		return rawjson.Compact(raw)
	}
	return rawjson.Quote(s)
}

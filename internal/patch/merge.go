package patch

import (
	"fmt"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// Merge returns {...raw, ...with}, shallow, as SillyTavern merges metadata: a key that
// exists keeps its place; a new one is appended as it is spelled in with. The error says
// that raw or with is not a valid JSON object.
func Merge(raw, with []byte) ([]byte, error) {
	current, err := object(raw)
	if err != nil {
		return nil, err
	}
	if _, err := object(with); err != nil {
		return nil, fmt.Errorf("what is to be merged: %w", err)
	}
	for key, value := range rawjson.Members(with) {
		current.SetRaw(key, rawjson.Compact(value))
	}
	return current.Bytes(), nil
}

// MergePatch returns raw with an RFC 7386 merge patch applied: null removes a key, objects
// are merged into objects, everything else replaces what is there. The error says that with
// is not valid JSON.
func MergePatch(raw, with []byte) ([]byte, error) {
	if damage := jsonl.Check(with); damage != nil {
		return nil, fmt.Errorf("the merge patch: %w", damage)
	}
	return mergePatch(raw, with), nil
}

func mergePatch(raw, with []byte) []byte {
	if rawjson.KindOf(with) != rawjson.ObjectKind {
		return rawjson.Compact(with)
	}
	current, err := rawjson.ParseObject(raw)
	if err != nil {
		current = rawjson.NewObject()
	}
	patch, err := rawjson.ParseObject(with) // in which the last of a repeated key counts
	if err != nil {
		return raw
	}
	for key, value := range patch.All() {
		if rawjson.KindOf(value) == rawjson.Null {
			current.Unset(key)
			continue
		}
		inner := current.Value(key)
		if merged := mergePatch(inner, value); inner == nil || string(merged) != string(inner) {
			current.Set(key, merged)
		}
	}
	return current.Bytes()
}

// object validates and parses an object.
func object(raw []byte) (*rawjson.Object, error) {
	if damage := jsonl.Check(raw); damage != nil {
		return nil, damage
	}
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, fmt.Errorf("%w but %s", err, rawjson.KindOf(raw))
	}
	return o, nil
}

package look

import (
	"context"

	"stchat/internal/chat"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

// Metadata is a chat's chat_metadata, whole or the values that were asked for: the document
// of meta get.
type Metadata struct {
	Schema   int        `json:"schema"`
	Path     string     `json:"path" is:"path"`
	Metadata rawMessage `json:"metadata"` // null if keys were asked for
	Values   rawMessage `json:"values"`   // null if none were
}

// MetadataOf reads a chat's metadata as SillyTavern would load it: from its header, or from
// the group file that holds it for an old group chat. With keys it returns only their
// values, each under its key as given. It reads no further than the header. A damaged header is
// an error, and so is a chat that Luker keeps in a database.
func MetadataOf(ctx context.Context, path string, open chat.Options, keys []string) (*Metadata, error) {
	open.Any = true
	c, err := ops.Open(ctx, new(library.Library), path, ops.Whole, open)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	m := &Metadata{Schema: 1, Path: path}
	raw := c.Metadata().Bytes()
	if len(keys) == 0 {
		m.Metadata = raw
		return m, nil
	}
	values := rawjson.NewObject()
	for _, key := range keys {
		path, err := patch.ParseKey(key)
		if err != nil {
			return nil, err
		}
		if value, ok := patch.Get(raw, path); ok {
			values.Set(key, rawjson.Compact(value))
		}
	}
	m.Values = values.Bytes()
	return m, nil
}

// Value returns the raw value of a key that was asked for, nil if there is none.
func (m *Metadata) Value(key string) []byte {
	return rawjson.Value(m.Values, key)
}

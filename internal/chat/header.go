package chat

import (
	"context"
	"errors"

	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

// HeaderKind says which header a chat file has (FORMATS.md E5).
type HeaderKind string

// The kinds of header.
const (
	Modern  HeaderKind = "modern"  // SillyTavern 1.16 and later, Luker: names are "unused"
	Legacy  HeaderKind = "legacy"  // up to 1.14: create_date, real names
	None    HeaderKind = "none"    // a group chat up to 1.14, or a file that lost its header
	Damaged HeaderKind = "damaged" // the header's line or its chat_metadata cannot be read
)

// readHead finds the header, or that there is none.
func (c *Chat) readHead(ctx context.Context) error {
	head, err := jsonl.ReadHead(ctx, c.Source)
	if err != nil {
		return c.Errorf("%w", err)
	}
	c.Damage = head.Skipped
	for _, d := range head.Skipped.First {
		if d.Code != jsonl.BOM {
			c.HeaderKind = Damaged // what was the first line is gone
		}
	}
	if head.Line == nil {
		c.Body, c.BodyLine = c.Source.Size, 0
		return nil
	}
	if !meta.IsHeader(head.Line) {
		c.Body, c.BodyLine = head.Off, head.Number-1
		return nil
	}
	c.HeaderPlace = jsonl.Place{Off: head.Off, Len: int64(len(head.Line))}
	c.HeaderLine, c.BadUTF8 = head.Number, head.BadUTF8
	c.Body, c.BodyLine = head.Next, head.Number
	c.Header, err = meta.Parse(head.Line)
	if bad, ok := errors.AsType[*meta.BadMetadataError](err); ok {
		c.HeaderKind = Damaged
		c.Header = meta.ParseLenient(head.Line)
		c.Damage.Add(jsonl.Damage{Line: head.Number, Column: bad.Offset + 1, Code: jsonl.NotObject, Reason: bad.Error()})
		return nil
	}
	if err != nil {
		return c.Errorf("%w", err)
	}
	c.HeaderKind = Modern
	if isLegacy(head.Line) {
		c.HeaderKind = Legacy
	}
	return nil
}

// isLegacy tells SillyTavern's header up to 1.14 by what later ones never have
// (FORMATS.md E5): a create_date, or a user's real name.
func isLegacy(line []byte) bool {
	if _, ok := rawjson.Lookup(line, "create_date"); ok {
		return true
	}
	raw, ok := rawjson.Lookup(line, "user_name")
	name, isString := rawjson.Unquote(raw)
	return ok && isString && name != "unused"
}

// OutputHeader returns a header to edit and write: the chat's own, or, where it
// has none, a whole one with the metadata that an old group file keeps for it.
func (c *Chat) OutputHeader() *meta.Header {
	if c.Header != nil {
		return c.Header
	}
	h := meta.New()
	if old, ok := c.GroupMetadata(); ok {
		// it was read as an object, so it merges
		_ = h.Change(func(metadata []byte) ([]byte, error) { return patch.Merge(metadata, old) })
	}
	return h
}

// Metadata returns the chat's metadata as SillyTavern would load it: the
// header's, else what an old group file keeps for the chat, else {}.
func (c *Chat) Metadata() *rawjson.Object { return c.OutputHeader().Metadata() }

// GroupMetadata returns what the first group that lists the chat keeps for it in
// the layout up to 1.14 (FORMATS.md E1.1).
func (c *Chat) GroupMetadata() (raw []byte, ok bool) {
	for _, g := range c.Groups {
		if raw, ok := g.OldMetadata(c.Name); ok {
			return raw, true
		}
	}
	return nil, false
}

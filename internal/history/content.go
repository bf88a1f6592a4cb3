package history

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
)

// Content is what a file holds, as the store has it.
type Content struct {
	Runs      []Run
	Sum       [sha256.Size]byte
	Size      int64
	Messages  int
	Damaged   int    // lines that are no message
	Head      []byte // the header line, where there is one of reasonable length
	Links     bool   // a message may name a checkpoint or branch
	NewPieces int
	Stored    int64 // bytes on disk, approximately; known after the commit

	empty int64 // the piece that is an empty line; 0: there is none
	share int64 // bytes in the pack that is being filled
}

// lineCounter counts the lines of one chat.
type lineCounter struct {
	c      *Content
	lines  *jsonl.Buffer
	keys   *jsonl.Keys // as linkKeys returns them
	headed bool        // a header, or what stands in its place, was counted
}

// linkKeys returns the keys of a message in whose values links are. Their numbers are 0 and 1.
func linkKeys() *jsonl.Keys { return jsonl.NewKeys("extra", "swipe_info") }

// whole counts whole lines, each with its LF.
func (n *lineCounter) whole(lines []byte) {
	n.lines.Lines(lines, n.keys, func(l *jsonl.Line) {
		if l.Damage != nil {
			n.c.Damaged++
			return
		}
		n.object(l.Raw, meta.IsHeader)
		for k := range 2 {
			value, _ := l.Value(k)
			n.c.Links = n.c.Links || message.MayLink(value, l.Plain)
		}
	})
}

// long counts a line that is stored in parts, by the first of them.
func (n *lineCounter) long(first []byte) {
	line := bytes.TrimLeft(first, " \t\r")
	switch {
	case len(line) == 0:
	case line[0] != '{':
		n.c.Damaged++
	default:
		n.object(line, func([]byte) bool { return true })
		n.c.Links = true
	}
}

// object counts a line that is an object. isHeader judges the first one.
func (n *lineCounter) object(line []byte, isHeader func([]byte) bool) {
	if !n.headed {
		n.headed = true
		if isHeader(line) {
			n.c.Head = slices.Clone(line)
			return
		}
	}
	n.c.Messages++
}

// Slug returns the integrity slug in the header, "" where there is none.
func (c *Content) Slug() string {
	slug, _ := rawjson.Unquote(rawjson.Value(c.Head, "chat_metadata", "integrity"))
	return slug
}

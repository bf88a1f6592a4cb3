package history

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
)

// Content is what a file holds, as the store has it.
type Content struct {
	Runs      []Run
	Sum       [sha256.Size]byte
	Size      int64
	Messages  int
	Head      []byte // the header line, where there is one of reasonable length
	NewPieces int
	Stored    int64 // bytes on disk, approximately; known after the commit

	share int64 // bytes in the pack that is being filled
}

// lineCounter counts the lines of one chat.
type lineCounter struct {
	c      *Content
	lines  *jsonl.Buffer
	headed bool // a header, or what stands in its place, was counted
}

// whole counts whole lines, each with its LF.
func (n *lineCounter) whole(lines []byte) {
	n.lines.Lines(lines, nil, func(l *jsonl.Line) {
		if l.Damage != nil {
			return
		}
		n.object(l.Raw, meta.IsHeader)
	})
}

// long counts a line that is stored in parts, by the first of them.
func (n *lineCounter) long(first []byte) {
	line := bytes.TrimLeft(first, " \t\r")
	switch {
	case len(line) == 0:
	case line[0] == '{':
		n.object(line, func([]byte) bool { return true })
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
func (c *Content) Slug() string { return c.metadata("integrity") }

// Main returns main_chat, the name of the chat that this one was made from; "" for none.
func (c *Content) Main() string { return c.metadata("main_chat") }

func (c *Content) metadata(key string) string {
	text, _ := rawjson.Unquote(rawjson.Value(c.Head, "chat_metadata", key))
	return text
}

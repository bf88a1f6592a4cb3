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
	Damaged   int    // lines that are no message
	Head      []byte // the header line, where there is one of reasonable length
	NewPieces int
	NewBytes  int64 // of new pieces
	Stored    int64 // bytes on disk, approximately; known after the commit

	empty int64 // the piece that is an empty line; 0: there is none
	share int64 // bytes in the pack that is being filled
}

// count counts a line. A line in parts is judged by its first part alone.
func (c *Content) count(data []byte, part Part, header *bool) {
	if part != Whole {
		if n := len(c.Runs); n > 0 && c.Runs[n-1].Part == More {
			return
		}
	}
	line := bytes.Trim(data, " \t\r")
	switch {
	case len(line) == 0:
		return
	case line[0] != '{', part == Whole && !jsonl.Valid(line):
		c.Damaged++
		return
	}
	if !*header {
		*header = true
		if part != Whole || meta.IsHeader(line) {
			c.Head = slices.Clone(line)
			return
		}
	}
	c.Messages++
}

// Slug returns the integrity slug in the header, "" where there is none.
func (c *Content) Slug() string {
	value, _ := rawjson.Lookup(c.Head, "chat_metadata", "integrity")
	slug, _ := rawjson.Unquote(value)
	return slug
}

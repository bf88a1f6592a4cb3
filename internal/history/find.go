package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
)

// finder looks up the numbers of stored pieces. Piece i is most likely followed by i+1, so
// that key is compared first, in the list of its pack; only on a mismatch is the index asked.
type finder struct {
	db    *database
	lists [16]keyList
	used  [16]int
	clock int
}

// keyList holds the keys of a pack.
type keyList struct {
	first int64
	keys  []key
}

// is reports whether the piece with this number has this key.
func (f *finder) is(ctx context.Context, id int64, k key) (bool, error) {
	l, err := f.list(ctx, id)
	if err != nil || l == nil {
		return false, err
	}
	i := id - l.first
	return i < int64(len(l.keys)) && l.keys[i] == k, nil
}

// list returns the keys of the pack that holds a piece, nil where there is none.
func (f *finder) list(ctx context.Context, id int64) (*keyList, error) {
	f.clock++
	oldest := 0
	for i := range f.lists {
		l := &f.lists[i]
		if id >= l.first && id < l.first+int64(len(l.keys)) {
			f.used[i] = f.clock
			return l, nil
		}
		if f.used[i] < f.used[oldest] {
			oldest = i
		}
	}
	var first int64
	var raw []byte
	err := f.db.row(ctx, "SELECT first, "+keysColumn+" FROM pack WHERE first <= ? ORDER BY first DESC LIMIT 1", id).Scan(&first, &raw)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if id >= first+int64(len(raw)/keySize) {
		return nil, nil
	}
	f.lists[oldest], f.used[oldest] = keyList{first, parseKeys(raw)}, f.clock
	return &f.lists[oldest], nil
}

// find looks up a key in the index.
func (f *finder) find(ctx context.Context, k key) (id int64, found bool, err error) {
	err = f.db.row(ctx, "SELECT id FROM key WHERE k = ?", k[:]).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, err
}

// forget drops what may have changed while another run wrote.
func (f *finder) forget() { f.lists = [len(f.lists)]keyList{} }

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

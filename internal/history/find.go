package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"iter"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
)

// isPiece reports whether the piece with this number has this key. Piece i is most likely followed
// by i+1, so that key is compared first, in the list of its pack; only on a mismatch is the index
// asked.
func (s *Store) isPiece(ctx context.Context, id int64, k key) (bool, error) {
	l, err := s.keysOf(ctx, id)
	return l != nil && l.keys[id-l.first] == k, err
}

// keysOf returns the keys of the pack that holds a piece, nil where there is none.
func (s *Store) keysOf(ctx context.Context, id int64) (*pack, error) {
	if l := s.lists.find(id); l != nil {
		return l, nil
	}
	l := &pack{}
	var raw []byte
	_, err := s.db.Find(ctx, "SELECT first, "+keysColumn+" FROM pack WHERE first <= ? ORDER BY first DESC LIMIT 1", id, &l.first, &raw)
	if err != nil {
		return nil, err
	}
	l.keys = parseKeys(raw)
	if !l.has(id) {
		return nil, nil
	}
	s.lists.add(l)
	return l, nil
}

// find returns the number of the piece with a key.
func (s *Store) find(ctx context.Context, k key) (id int64, found bool, err error) {
	found, err = s.db.Find(ctx, "SELECT id FROM key WHERE k = ?", k[:], &id)
	return id, found, err
}

// Content is what a file holds, as the store has it.
type Content struct {
	Runs      []Run
	Sum       [sha256.Size]byte
	Size      int64
	Messages  int
	Slug      string // the integrity slug in the header, "" where there is none
	Main      string // main_chat, the name of the chat that this one was made from; likewise
	NewPieces int
	Stored    int64 // bytes on disk, approximately; known after the commit

	share int64 // bytes in the pack that is being filled
}

// Others returns the numbers of the lines of a chat that are no messages, ascending: its header, blank
// lines, and damaged ones. lines and messages are how many it has, line reads one by its number, and all
// reads all of them: only if there are others than a header and an empty line after the last LF.
func Others(lines, messages int, line func(number int) ([]byte, error), all iter.Seq2[Line, error]) (others []int, err error) {
	first, err := line(0)
	if err != nil {
		return nil, err
	}
	if meta.IsHeader(first) {
		others = []int{0}
	}
	if lines-len(others) == messages+1 {
		last, err := line(lines - 1)
		if err != nil {
			return nil, err
		}
		if len(last) == 0 {
			others = append(others, lines-1)
		}
	}

	if lines-len(others) == messages {
		return others, nil
	}
	others = nil
	number, begun := 0, false
	for l, err := range all {
		if err != nil {
			return nil, err
		}
		object := jsonl.Valid(l.Data) && rawjson.KindOf(l.Data) == rawjson.ObjectKind
		if !object || !begun && meta.IsHeader(l.Data) {
			others = append(others, number)
		}
		begun = begun || object
		number++
	}
	return others, nil
}

// lineCounter counts the lines of one chat.
type lineCounter struct {
	c      *Content
	lines  jsonl.Buffer
	held   []byte // lines that are scanned together, which takes less time
	headed bool   // a header, or what stands in its place, was counted
}

// whole counts a whole line with its LF, now or when the counter is flushed.
func (n *lineCounter) whole(line []byte) {
	n.held = append(n.held, line...)
	if len(n.held) >= longLine {
		n.flush()
	}
}

func (n *lineCounter) flush() {
	n.lines.Lines(n.held, nil, func(l *jsonl.Line) {
		if l.Damage == nil {
			n.object(l.Raw, meta.IsHeader)
		}
	})
	n.held = n.held[:0]
}

// long counts a line that is stored in parts, by the first of them.
func (n *lineCounter) long(first []byte) {
	n.flush()
	line := bytes.TrimLeft(first, " \t\r")
	if len(line) > 0 && line[0] == '{' {
		n.object(line, func([]byte) bool { return true })
	}
}

// object counts a line that is an object. isHeader judges the first one.
func (n *lineCounter) object(line []byte, isHeader func([]byte) bool) {
	if !n.headed {
		n.headed = true
		if isHeader(line) {
			n.c.Slug, n.c.Main = meta.Identity(line)
			return
		}
	}
	n.c.Messages++
}

package rules

import (
	"bytes"
	"context"

	"stchat/internal/jsonl"
)

// headBytes is how much of a chat is read for its header and first message.
// Few are longer; then a whole block is.
const headBytes = 64 << 10

// readHead fills the record of a chat that is not checked with what its first
// two lines tell: header, parent, slug, lorebook and first date.
func (k *Checker) readHead(ctx context.Context, c *Chat) error {
	src, f, _, err := open(c.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if src.Size > headBytes {
		head, err := src.Section(0, headBytes)
		if err != nil {
			return err
		}
		if end := lineEnd(head, 2); end > 0 {
			src = jsonl.Bytes(head[:end])
		}
	}
	s := &scan{Checker: k, chat: c, keys: lineKeys()}
	err = jsonl.Map(ctx, src, jsonl.MapOptions{Limit: 2, Keys: s.keys, Workers: 1}, s.line, s.fold, (*batch).reset)
	if err == nil {
		s.finish(src.Size)
	}
	return err
}

// lineEnd gives where the n-th line that is not empty ends, 0 where it does not.
func lineEnd(data []byte, n int) int {
	at := 0
	for n > 0 {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return 0
		}
		if len(bytes.TrimSpace(data[at:at+i])) > 0 {
			n--
		}
		at += i + 1
	}
	return at
}

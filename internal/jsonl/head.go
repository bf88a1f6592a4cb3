package jsonl

import "context"

// Head is the first surviving line of a chat file, where the header is.
type Head struct {
	Line    []byte   // its bytes, without BOM and line end; nil where no line survives
	Number  int      // its physical line, from 1
	Off     int64    // its first byte in the file
	Next    int64    // where the line after it begins
	Skipped []Damage // damaged lines in front of it, and a BOM
	BadUTF8 bool     // it has invalid UTF-8
}

// headBlock is how much is read at once to find the first line: most headers
// fit, and what is read beyond is read again.
const headBlock = 4 << 10

// ReadHead reads src up to its first surviving line. Damage on the way is
// only reported: what it means is the caller's to say.
func ReadHead(ctx context.Context, src Source) (Head, error) {
	var h Head
	if src.block == 0 {
		src.block = headBlock
	}
	c, err := Copy(ctx, nil, src, CopyOptions{Limit: 1, Last: 1, Skip: true, Workers: 1})
	h.Skipped = c.Skipped
	if err != nil || c.Lines == 0 {
		return h, err
	}
	p := c.Last[0]
	h.Number, h.Off, h.BadUTF8 = p.Line, p.Off, len(c.BadUTF8) > 0
	if h.Line, err = src.Section(p.Off, p.Len); err != nil {
		return h, err
	}
	// behind the line come a CR perhaps and an LF, or the end
	h.Next = p.Off + p.Len
	var end [2]byte
	n, err := src.readAt(end[:], h.Next)
	for _, c := range end[:n] {
		h.Next++
		if c == '\n' {
			break
		}
	}
	return h, err
}

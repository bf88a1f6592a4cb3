package jsonl

import (
	"bytes"
	"context"
)

// Small is the size, in bytes, up to which a source should be read with
// [Buffer.Each].
const Small = 4 << 20

// Buffer is the memory that [Buffer.Each] reads into, reused from one source to the next:
// with thousands of small chats most of the work would be to allocate and free it. It is
// for one goroutine.
type Buffer struct {
	block block
	lineReader
}

// Each calls work with every line of a small source that is not blank, in order, and
// returns the damage: what [Map] does with one worker and one batch. It reads from
// opt.From to the end in one go and ignores opt.Limit and opt.Workers. Lines are
// valid until work returns, the damage until the next call.
func (buf *Buffer) Each(src Source, opt MapOptions, work func(*Line)) (Damages, error) {
	size := int(max(src.Size-opt.From, 0))
	b := &buf.block
	b.reset()
	if cap(b.buf) < size+2 {
		b.makeRoom(size + size/4) // the next one may be a little larger
	}
	b.buf, b.off = b.buf[:size+2], opt.From
	if _, err := src.readAt(b.buf[1:size+1], opt.From); err != nil {
		return Damages{}, err
	}
	b.data = b.buf[1 : size+1]
	if size > 0 && !bytes.HasSuffix(b.data, []byte{'\n'}) {
		b.data = append(b.data, '\n')
	}
	buf.scan(b, opt.Keys, work)
	if opt.Progress != nil {
		opt.Progress(src.Size)
	}
	return b.damageIn(0, false, opt.Line, 0), nil
}

// Lines calls work with every line in data that is not blank, in order. data is whole lines,
// each with its LF, from anywhere in a file: a BOM is damage at its beginning, too. Lines are
// valid until work returns.
func (buf *Buffer) Lines(data []byte, keys *Keys, work func(*Line)) {
	b := &buf.block
	b.reset()
	b.data, b.off = data, 1 // not a file's beginning
	buf.scan(b, keys, work)
}

// scan calls work with every line of a block that is not blank.
func (buf *Buffer) scan(b *block, keys *Keys, work func(*Line)) {
	if buf.sc.keys != keys {
		buf.want(keys)
	}
	buf.each(b, -1, work)
}

// Head is the first surviving line of a chat file, where its header is.
type Head struct {
	Line    []byte  // its bytes, without BOM and line end; nil if no line survives
	Number  int     // its physical line, from 1
	Off     int64   // its first byte in the file
	Next    int64   // where the line after it begins
	Skipped Damages // damaged lines before it, and a BOM
	BadUTF8 bool    // it has invalid UTF-8
}

// headBlock is how many bytes are read first to find the header: most headers fit.
const headBlock = 2 << 10

// ReadHead reads src up to its first surviving line. Damage on the way is only
// reported, not an error.
func ReadHead(ctx context.Context, src Source) (h Head, err error) {
	first := src
	first.block = headBlock
	c, err := Copy(ctx, nil, first, CopyOptions{Limit: 1, Last: 1, Skip: true, Workers: 1})
	h.Skipped = c.Skipped
	if err != nil || c.Lines == 0 {
		return h, err
	}
	p := c.Last[0]
	line := make([]byte, p.Len+2) // it is followed by LF, CR LF or the end
	n, err := src.readAt(line, p.Off)
	h.Line = line[:p.Len:p.Len]
	h.Number = p.Line
	h.Off = p.Off
	h.Next = p.Off + p.Len
	h.BadUTF8 = p.BadUTF8
	for _, c := range line[p.Len:max(n, int(p.Len))] {
		h.Next++
		if c == '\n' {
			break
		}
	}
	return h, err
}

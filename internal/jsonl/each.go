package jsonl

import (
	"bytes"
	"context"
)

// Small is the size, in bytes, up to which a source should be read with
// [Buffer.Each].
const Small = 4 << 20

// Buffer is the memory that [Buffer.Head] and [Buffer.Each] read into, reused from
// one source to the next: with thousands of small chats most of the work would be to
// allocate and free it. It is for one goroutine.
type Buffer struct {
	block block
	lineReader
}

// room returns the block with room for size bytes. If it must allocate, it adds spare
// bytes for later.
func (buf *Buffer) room(size, spare int) *block {
	b := &buf.block
	b.reset()
	if cap(b.buf) < size+2 {
		b.makeRoom(size + spare)
	}
	b.buf = b.buf[:size+2]
	return b
}

// Each calls work with every line of a small source that is not blank, in order, and
// returns the damage: what [Map] does with one worker and one batch. It reads from
// opt.From to the end in one go and ignores opt.Limit and opt.Workers. Lines are
// valid until work returns, the damage until the next call.
func (buf *Buffer) Each(src Source, opt MapOptions, work func(*Line)) (Damages, error) {
	size := int(max(src.Size-opt.From, 0))
	b := buf.room(size, size/4) // the next one may be a little larger
	b.off = opt.From
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
		buf.read(keys)
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
const headBlock = 4 << 10

// ReadHead reads src up to its first surviving line. Damage on the way is only
// reported, not an error.
func ReadHead(ctx context.Context, src Source) (Head, error) { return new(Buffer).Head(ctx, src) }

// Head is [ReadHead] with the buffer's memory; what it returns does not alias that.
func (buf *Buffer) Head(ctx context.Context, src Source) (Head, error) {
	if h, ok, err := buf.shortHead(src); ok || err != nil {
		return h, err
	}
	var h Head
	c, err := Copy(ctx, nil, src, CopyOptions{Limit: 1, Last: 1, Skip: true, Workers: 1})
	h.Skipped = c.Skipped
	if err != nil || c.Lines == 0 {
		return h, err
	}
	p := c.Last[0]
	h.Number, h.Off, h.BadUTF8 = p.Line, p.Off, p.BadUTF8
	if h.Line, err = src.Section(p.Off, p.Len); err != nil {
		return h, err
	}
	// the line is followed by LF, CR LF or the end
	var end [2]byte
	n, err := src.readAt(end[:], h.Off+p.Len)
	h.end(end[:n])
	return h, err
}

// end sets where the next line begins: rest is what follows the line.
func (h *Head) end(rest []byte) {
	h.Next = h.Off + int64(len(h.Line))
	for _, c := range rest {
		h.Next++
		if c == '\n' {
			break
		}
	}
}

// shortHead is Head for a header that ends in the first headBlock bytes; ok is false
// if there is none.
func (buf *Buffer) shortHead(src Source) (h Head, ok bool, err error) {
	b := buf.room(int(min(headBlock, src.Size)), 0)
	b.off = 0
	n, err := src.readAt(b.buf[1:len(b.buf)-1], 0)
	if err != nil {
		return h, false, err
	}
	data := b.buf[1 : n+1]
	if int64(n) == src.Size && n > 0 && data[n-1] != '\n' {
		data = append(data, '\n')
	}
	data = data[:lastLF(data)+1]
	buf.sc.keys = nil
	// Usually it is the first line, unless that is blank or damaged.
	for _, end := range []int{bytes.IndexByte(data, '\n') + 1, len(data)} {
		b.scanned.reset()
		b.data = data[:end]
		if buf.sc.scanLines(b, false, nil); len(b.kept) > 0 {
			break
		}
	}
	if len(b.kept) == 0 {
		return h, false, nil
	}
	k := b.kept[0]
	end := int64(k.at) + k.len
	h.Line = bytes.Clone(data[k.at:end])
	h.Number, h.Off = int(k.number)+1, int64(k.at)
	h.BadUTF8 = len(b.badUTF8) > 0 && b.badUTF8[0] == 0
	h.Skipped = b.damageIn(1, true, 0, 0)
	h.Skipped.First = append([]Damage(nil), h.Skipped.First...)
	h.end(b.buf[1+end : n+1])
	return h, true, nil
}

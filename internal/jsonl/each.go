package jsonl

import "bytes"

// Small is the size, in bytes, up to which a source should be read with
// [Buffer.Each].
const Small = 4 << 20

// Buffer is the memory that [Buffer.Head] and [Buffer.Each] read into, reused from
// one source to the next: with thousands of small chats most of the work would be to
// allocate and free it. It is for one goroutine.
type Buffer struct {
	block block
	sc    scanner
	line  Line
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
	l := &buf.line
	if buf.sc.keys != keys {
		buf.sc.keys = keys
		l.at, l.order = make([]int, len(keys.names)), nil
	}
	l.Index = 0
	buf.sc.scanLines(b, false, func(line []byte, d *Damage, at int64, number int, crlf bool) {
		l.Raw, l.Damage, l.BadUTF8, l.CRLF = line, d, buf.sc.text.bad, crlf
		l.Plain = d == nil && buf.sc.plain
		l.Number, l.Off, l.members = number, b.off+at, nil
		if d == nil {
			l.members, l.inside = buf.sc.found, buf.sc.inside
			l.index(keys)
		}
		work(l)
		if d == nil {
			l.Index++
		}
	})
}

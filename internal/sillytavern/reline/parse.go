package reline

import (
	"bytes"
	"context"

	"stchat/internal/jsonl"
	"stchat/internal/meta"
)

// parser reads a file from front to back and finds its objects.
type parser struct {
	win   window
	size  int64
	value jsonl.Value
	out   builder
	r     *Reading

	pos   int64 // a line begins here, or what is left of it, and all before is dealt with
	start int64 // of that line
	line  int   // its number, from 1
	depth int   // lists around the objects
	any   bool  // an object was read
	found bool  // something is not a line as it stands
	spare int64 // how many bytes may still be read in search of objects behind damage
}

func newParser(ctx context.Context, src jsonl.Source, r *Reading) *parser {
	const atLeast = 1 << 20
	return &parser{win: window{ctx: ctx, src: src, most: readMost}, size: src.Size, r: r, line: 1, spare: 8*src.Size + atLeast}
}

const bom = "\xef\xbb\xbf"

// read reads the file, and reports whether it is not to be read as it stands.
func (p *parser) read() (found bool, err error) {
	if bytes.HasPrefix(p.win.from(0, p.size), []byte(bom)) {
		p.pos = int64(len(bom))
		p.out.add(0, p.pos, p.pos, asIs)
	}
	p.out.end = "\n"
	if first := p.lineEnd(p.pos); first > 0 && first < p.size && p.byte(first-1) == '\r' {
		p.out.end = "\r\n"
	}
	for p.pos < p.size && p.win.err == nil {
		p.readRow()
	}
	return p.found, p.win.err
}

// row is a line while it is read, with the lines over which its objects go on.
type row struct {
	line    int
	begin   int64 // what is not dealt with yet begins here
	last    *object
	objects int  // that begin in it
	depth   int  // lists around its beginning
	spread  bool // one of the objects is on several lines
	bracket bool // a list begins or ends
	comma   bool // there is one between or behind the objects
	damaged bool // it has something else besides
}

// object is what begins with a {.
type object struct {
	off, end int64
	line     int   // where it begins
	more     int   // lines that it goes on for
	start    int64 // of its last line; 0: it has only one
	damage   *jsonl.Damage
}

// readRow reads the line at pos.
func (p *parser) readRow() {
	r := &row{line: p.line, begin: p.pos, depth: p.depth}
	at := p.junk(p.pos)
	switch p.byte(at) {
	case '{', '[', ']', ',':
	default:
		p.keep(r)
		return
	}
	for more := true; more; {
		at, more = p.token(r, p.blanks(at))
	}
}

// token reads what stands at an offset, and returns the place after it; more is false if the row is
// over.
func (p *parser) token(r *row, at int64) (next int64, more bool) {
	if at >= p.size {
		return p.end(r, at)
	}
	switch p.byte(at) {
	case '\n':
		return p.end(r, at)
	case '{':
		o := p.object(at)
		if o.damage != nil {
			return p.broken(r, o)
		}
		p.emit(r)
		r.last = &o
		r.objects++
		r.spread = r.spread || o.more > 0
		p.any = true
		p.line += o.more
		p.start = max(p.start, o.start)
		return o.end, true
	case '[':
		if p.opens(at) {
			r.bracket = true
			p.depth++
			return at + 1, true
		}
	case ']':
		if p.depth > 0 {
			r.bracket = true
			p.depth--
			return at + 1, true
		}
	case ',':
		if p.any || p.depth > 0 {
			r.comma = true
			return at + 1, true
		}
	}
	return p.garbage(r, at)
}

// opens reports whether the [ at an offset begins a list of objects.
func (p *parser) opens(at int64) bool {
	c := p.byte(p.spaces(at + 1))
	return c == '{' || c == '['
}

// isPlain reports whether a row is one object in one line, and nothing else.
func (r *row) isPlain() bool {
	isMore := r.bracket || r.comma || r.damaged
	return r.objects == 1 && !r.spread && !isMore
}

// end ends a row at its line end.
func (p *parser) end(r *row, at int64) (next int64, more bool) {
	if r.isPlain() {
		p.keep(r)
		return p.pos, false
	}
	p.emit(r)
	p.close(r, at)
	return p.pos, false
}

// close notes what the row was, and goes on to the next line. at is the row's line end.
func (p *parser) close(r *row, at int64) {
	p.note(r)
	p.pos = min(at+1, p.size)
	p.start = p.pos
	p.line++
}

// note notes what a row was.
func (p *parser) note(r *row) {
	isInList := r.bracket || r.depth > 0
	isList := r.bracket || r.comma || r.spread || r.objects > 1
	switch {
	case isInList && isList:
		p.r.List = true
		p.first(r)
	case r.spread:
		p.first(r)
	case r.objects > 1, r.objects == 1 && r.damaged:
		p.r.Joined = append(p.r.Joined, Joined{r.line, r.objects})
		p.found = true
	case r.comma:
		p.r.Commas++
		p.first(r)
	}
}

// first notes the first line that has to do with the layout.
func (p *parser) first(r *row) {
	p.found = true
	if p.r.First == 0 {
		p.r.First = r.line
	}
}

// keep keeps the rest of the line as it stands.
func (p *parser) keep(r *row) {
	end := p.lineEnd(r.begin)
	next := min(end+1, p.size)
	p.out.line(r.begin, next-r.begin, p.line, r.begin == p.start || r.begin == int64(len(bom)), end < p.size)
	p.pos = next
	p.start = next
	p.line++
}

// emit puts the row's last object on a line of its own.
func (p *parser) emit(r *row) {
	if r.last == nil {
		return
	}
	o := r.last
	r.last = nil
	p.junkLine(r, o)
	p.r.Whole++
	if o.more == 0 {
		p.out.line(o.off, o.end-o.off, o.line, false, false)
	} else {
		p.r.Spread++
		p.out.spread(&p.win, o.off, o.end, o.line)
	}

	r.begin = o.end
}

// junkLine puts NUL bytes and byte order marks before the row's first object on a line of their own.
func (p *parser) junkLine(r *row, o *object) {
	from := p.blanks(r.begin)
	to := p.junk(from)
	if to > from && r.begin == p.pos {
		r.damaged = true
		p.out.line(from, min(to, o.off)-from, o.line, false, false)
	}
}

// garbage deals with what stands in a row and is neither an object nor around objects.
func (p *parser) garbage(r *row, at int64) (next int64, more bool) {
	end := p.lineEnd(at)
	if p.junk(at) >= end && r.isPlain() {
		p.keep(r) // what is behind the object may be taken off
		return p.pos, false
	}
	if r.objects == 0 {
		p.depth = r.depth // the brackets were none of ours
		r.bracket, r.comma = false, false
	}
	return p.behind(r, at, end)
}

// behind deals with damage from an offset to the line's end: objects may come after it.
func (p *parser) behind(r *row, at, end int64) (next int64, more bool) {
	from := p.settle(r, at)
	q := p.candidate(at+1, end)
	if q < 0 {
		r.damaged = true
		if from == r.begin && r.objects == 0 {
			p.keep(r)
			return p.pos, false
		}
		p.out.line(from, min(end+1, p.size)-from, p.line, false, end < p.size)
		p.close(r, end)
		return p.pos, false
	}

	r.damaged = true
	p.out.line(from, q-from, p.line, false, false)
	r.begin = q
	return q, true
}

// settle deals with the object before damage, and returns where the damage begins: before the object,
// if the object may be a part of what is damaged.
func (p *parser) settle(r *row, at int64) (from int64) {
	switch {
	case r.objects == 0:
		return r.begin
	case r.last == nil:
		return at
	case r.last.more == 0 && !p.isShaped(r.last):
		from = r.last.off
		r.last = nil
		if r.objects--; r.objects == 0 {
			from = r.begin
		}
		return from
	}

	p.emit(r)
	return at
}

// candidate returns where an object begins behind damage, in the same line: one that has the shape
// of a message or a header, and is followed by the line's end or by another object. It returns -1
// if there is none.
func (p *parser) candidate(at, end int64) int64 {
	for at < end && p.spare > 0 {
		part := p.win.from(at, end)
		if len(part) == 0 {
			break
		}
		i := bytes.IndexByte(part, '{')
		if i < 0 {
			at += int64(len(part))
			continue
		}
		at += int64(i)
		o := p.object(at)
		p.spare -= o.end - o.off
		switch {
		case o.damage != nil:
			at++
		case p.isShaped(&o) && p.isLast(o.end, p.depth > 0):
			return at
		default:
			at = o.end
		}
	}
	return -1
}

// isLast reports whether what follows an object is the line's end or another object. inList says that
// brackets and commas may come between.
func (p *parser) isLast(at int64, inList bool) bool {
	for at < p.size {
		switch c := p.byte(at); {
		case c == '\n', c == '{':
			return true
		case isBlank(c), c == 0, inList && (c == ',' || c == ']'):
			at++
		default:
			return false
		}
	}
	return true
}

// broken deals with an object that is not whole.
func (p *parser) broken(r *row, o object) (next int64, more bool) {
	end := p.lineEnd(o.off)
	if !p.goesOn(o.off, end) {
		return p.behind(r, o.off, end) // a line of a chat, and the next may be one too
	}
	indent := p.blanks(p.start) - p.start
	from := p.settle(r, o.off)
	q, lines, start := p.resync(end, indent)
	tornEnd := q
	for isSpace(p.byte(tornEnd - 1)) {
		tornEnd--
	}
	p.r.Torn = append(p.r.Torn, Torn{Line: o.line, Reason: o.damage.Reason, off: from, len: tornEnd - from})
	r.damaged = true
	r.spread = true
	p.note(r)
	p.pos, p.start = q, start
	p.line += lines
	return p.pos, false
}

// goesOn reports whether an object is spread over lines: nothing follows the bracket in its line, and
// a key begins the next one. end is the line's end.
func (p *parser) goesOn(off, end int64) bool {
	at := p.spaces(off + 1)
	return at > end && p.byte(at) == '"'
}

// resync looks for the object that follows one on several lines that is not whole: at the beginning of a
// line that is not further in, and so is no part of the other, and either with the shape of a message
// or a header, or alone in its line. at is a line end. It returns where the object begins, by how many
// lines that is further on, and where its line begins; the file's end if there is none.
func (p *parser) resync(at, indent int64) (q int64, lines int, start int64) {
	for at < p.size && p.spare > 0 && p.win.err == nil {
		start = at + 1
		lines++
		q = p.junk(start)
		in := q - start
		for isCloser(p.byte(q)) {
			q++
		}
		if in <= indent && p.byte(q) == '{' {
			o := p.object(q)
			p.spare -= o.end - o.off
			isAlone := o.more == 0 && o.end-o.off > int64(len("{}")) && p.isLast(o.end, true)
			if o.damage == nil && (isAlone || p.isShaped(&o)) {
				return q, lines, start
			}
		}

		at = p.lineEnd(start)
	}
	return p.size, lines, p.size
}

// isCloser reports whether a byte may come before an object in the line where another ends.
func isCloser(c byte) bool { return c == '}' || c == ']' || c == ',' || isBlank(c) }

// object reads the object at an offset.
func (p *parser) object(off int64) object {
	o := object{off: off, line: p.line}
	step := int64(4 << 10)
	p.value.Begin()
	for at := off; ; step = min(2*step, readMost) {
		part := p.win.from(at, min(p.size, at+step))
		if len(part) == 0 {
			o.end, o.damage = at, p.value.Damage()
			return o
		}
		n, over := p.value.Feed(part)
		o.count(part[:n], at)
		at += int64(n)
		if over {
			o.end, o.damage = at, p.value.Damage()
			return o
		}
	}
}

// count counts the lines in a part of the object.
func (o *object) count(part []byte, at int64) {
	if n := bytes.Count(part, []byte("\n")); n > 0 {
		o.more += n
		o.start = at + int64(bytes.LastIndexByte(part, '\n')) + 1
	}
}

// isShaped reports whether an object is a header or has the shape of a message.
func (p *parser) isShaped(o *object) bool {
	raw, err := p.win.src.Section(o.off, o.end-o.off)
	if err != nil {
		p.win.err = err
		return false
	}
	return meta.IsHeader(raw) || IsMessage(raw)
}

// byte returns the byte at an offset, 0 at the file's end.
func (p *parser) byte(at int64) byte {
	part := p.win.from(at, p.size)
	if len(part) == 0 {
		return 0
	}
	return part[0]
}

// blanks returns the first offset that is not a blank.
func (p *parser) blanks(at int64) int64 {
	for at < p.size && isBlank(p.byte(at)) {
		at++
	}
	return at
}

// spaces returns the first offset that is neither a blank nor a line end.
func (p *parser) spaces(at int64) int64 {
	for at < p.size && isSpace(p.byte(at)) {
		at++
	}
	return at
}

// junk returns the first offset that is neither a blank, nor a NUL byte, nor of a byte order mark:
// what repair takes off a line.
func (p *parser) junk(at int64) int64 {
	for at < p.size && p.win.err == nil {
		c := p.byte(at)
		switch {
		case c == 0, isBlank(c):
			at++
		case c == bom[0] && p.byte(at+1) == bom[1] && p.byte(at+2) == bom[2]:
			at += int64(len(bom))
		default:
			return at
		}
	}
	return at
}

// lineEnd returns the offset of the next LF, or the file's end.
func (p *parser) lineEnd(at int64) int64 {
	for at < p.size {
		part := p.win.from(at, p.size)
		if len(part) == 0 {
			break
		}
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			return at + int64(i)
		}
		at += int64(len(part))
	}
	return p.size
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// isSpace reports whether a byte may be between JSON's values.
func isSpace(c byte) bool { return isBlank(c) || c == '\n' }

package jsonl

import "bytes"

// scanLines scans a block of whole lines. each, unless nil, is called with
// every line that is not blank before the next one is scanned. With join the
// kept lines end up in b.out, an LF before each. If nothing but LFs lies
// between them, they are already there.
func (s *scanner) scanLines(b *block, join bool, each func(line []byte, d *Damage, at int64, number int, crlf bool)) {
	data, out := b.data, 0
	indexed, known := false, 0 // up to known, indexed is valid
	if !canIndex() {
		known = len(data)
	}
	for i := 0; i < len(data); b.lines++ {
		start, number := i, b.lines
		hasBOM := b.off == 0 && i == 0 && bytes.HasPrefix(data, []byte(bom))
		if hasBOM {
			start += len(bom)
		}
		if i >= known {
			indexed = s.index.fill(data, i)
			known = s.index.end
		}
		i = s.line(data, start, indexed)
		end := i - 1
		crlf := end > start && data[end-1] == '\r'
		if crlf {
			end--
		}
		line := data[start:end]
		if s.code != 0 || hasBOM {
			b.note(s, number, hasBOM)
		}
		if each != nil && (s.code != 0 || s.first != 0) {
			each(line, s.lineDamage(hasBOM), int64(start), number, crlf)
		}
		if s.code != 0 || s.first == 0 {
			continue
		}
		// b.buf is an LF and then data, so the line's LF is at b.buf[start]
		if join && out != start {
			b.buf[out] = '\n'
			copy(b.buf[out+1:], line)
		}
		b.keep(keptLine{at: int32(start), out: int32(out) + 1, len: int64(len(line)), number: int32(number)}, s.text.bad)
		out += 1 + len(line)
	}

	if join {
		b.out = b.buf[:out]
	}
}

// line reads the line at start, and returns the place after its LF.
func (s *scanner) line(data []byte, start int, indexed bool) int {
	s.reset()
	if indexed {
		if end, ok := s.walk(data, start); ok {
			return end
		}
		s.reset()
	}

	n, _ := s.feed(data[start:])
	if indexed {
		s.index.skip(start + n)
	}
	return start + n
}

// lineDamage returns the damage because of which the line that was just read
// does not survive, nil if it does. It is valid until the next line.
func (s *scanner) lineDamage(hasBOM bool) *Damage {
	if s.code == 0 {
		return nil
	}
	s.bad = s.damage(hasBOM)
	return &s.bad
}

// scanLong scans the long line at b.off, of which b holds the first n bytes, a
// buffer at a time, and sets b.long to its length.
func (s *scanner) scanLong(src Source, b *block, n int) error {
	room := b.buf[1 : len(b.buf)-1]
	s.reset()
	b.lines = 1
	p := room[:n]
	at := int64(0)
	last := byte(0)
	hasBOM := b.off == 0 && bytes.HasPrefix(p, []byte(bom))
	if hasBOM {
		at = int64(len(bom))
		p = p[at:]
	}
	b.long = at
	for {
		n, ended := s.feed(p)
		b.long += int64(n)
		if ended {
			b.long-- // the LF
			n--
		}
		if n > 0 {
			last = p[n-1]
		}
		if ended {
			break
		}
		if b.off+b.long == src.Size {
			s.feed([]byte{'\n'})
			break
		}
		n, err := src.readAt(room, b.off+b.long)
		if err != nil {
			return err
		}
		p = room[:n]
	}

	if s.code != 0 || hasBOM {
		b.note(s, 0, hasBOM)
	}
	if s.code != 0 || s.first == 0 {
		return nil
	}
	length := b.long - at
	if last == '\r' {
		length--
	}
	b.keep(keptLine{at: int32(at), out: 1, len: length}, s.text.bad)
	return nil
}

package jsonl

import "bytes"

// note adds damage of the line that has number physical lines of the block
// before it.
func (b *block) note(d Damage, number int) {
	d.Line, d.Before = number+1, len(b.kept)
	b.damage = append(b.damage, d)
}

// scanLines scans a block of whole lines. each, where there is one, is called
// with every line that is not blank before the next one is looked at. With
// join the kept lines end up in b.out, an LF before each: where nothing but
// their line ends lies between them, that is the block as it was read.
func (s *scanner) scanLines(b *block, join bool, each func(line []byte, d *Damage, at int64, number int, crlf bool)) {
	data, out := b.data, 0
	for i := 0; i < len(data); b.lines++ {
		start, number := i, b.lines
		hasBOM := b.off == 0 && i == 0 && bytes.HasPrefix(data, []byte(bom))
		if hasBOM {
			start += len(bom)
		}
		s.reset()
		n, _ := s.feed(data[start:])
		i = start + n
		end := i - 1
		crlf := end > start && data[end-1] == '\r'
		if crlf {
			end--
		}
		line := data[start:end]
		d, ok := s.verdict(hasBOM)
		if d != nil {
			b.note(*d, number)
		}
		if each != nil && (ok || d != nil && d.Code != BOM) {
			if ok {
				d = nil
			}
			each(line, d, int64(start), number, crlf)
		}
		if !ok {
			continue
		}
		if s.badUTF8 {
			b.badUTF8 = append(b.badUTF8, len(b.kept))
		}
		// b.buf is an LF and then data, so the line's LF is at b.buf[start]
		if join && out != start {
			b.buf[out] = '\n'
			copy(b.buf[out+1:], line)
		}
		b.kept = append(b.kept, keptLine{int64(start), int64(out) + 1, int64(len(line)), number})
		out += 1 + len(line)
	}
	if join {
		b.out = b.buf[:out]
	}
}

// verdict gives the damage of the line that was just read, if it has any, and
// whether the line survives. A blank line has none and does not survive.
func (s *scanner) verdict(hasBOM bool) (*Damage, bool) {
	switch {
	case s.code != 0 && hasBOM:
		d := s.damage(len(bom))
		return &d, false
	case s.code != 0:
		d := s.damage(0)
		return &d, false
	case hasBOM:
		d := bomDamage()
		return &d, s.first != 0
	default:
		return nil, s.first != 0
	}
}

// scanLong scans the long line at b.off, of which b holds the first n bytes,
// a buffer at a time, and so finds its length.
func (s *scanner) scanLong(src Source, b *block, n int) error {
	room := b.buf[1 : len(b.buf)-1]
	s.reset()
	b.lines = 1
	p, at, last := room[:n], int64(0), byte(0)
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
	d, ok := s.verdict(hasBOM)
	if d != nil {
		b.note(*d, 0)
	}
	if !ok {
		return nil
	}
	if s.badUTF8 {
		b.badUTF8 = append(b.badUTF8, 0)
	}
	length := b.long - at
	if last == '\r' {
		length--
	}
	b.kept = append(b.kept, keptLine{at, 1, length, 0})
	return nil
}

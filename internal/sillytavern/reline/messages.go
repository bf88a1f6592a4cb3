package reline

import (
	"bytes"
	"context"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
)

// IsMessage reports whether an object has the shape of a message: a text, and a name or who says it.
func IsMessage(raw []byte) bool {
	if meta.IsHeader(raw) {
		return false
	}
	var mes, name, user []byte
	rawjson.Into(raw, []string{"mes", "name", "is_user"}, &mes, &name, &user)
	return rawjson.KindOf(mes) == rawjson.String && (name != nil || rawjson.KindOf(user) == rawjson.Bool)
}

// Messages counts the messages that can be read in a file, wherever they stand and whatever stands
// between them. It knows nothing of lines, so it is what a reading by lines is to be measured by.
//
// An object within another is none, unless the other is damaged: then it counts if an object or the
// line's end follows it, since what goes on behind it may be the rest of the damaged one.
//
// UTF-16 is read in both byte orders: where a byte is missing, what comes after it has the other one.
func Messages(ctx context.Context, src jsonl.Source) (most int, err error) {
	encoding, err := EncodingOf(src)
	if err != nil {
		return 0, err
	}
	if encoding == UTF8 {
		return newParser(ctx, src, &Reading{}).messages()
	}
	for _, order := range []Encoding{UTF16LE, UTF16BE} {
		text, err := readText(ctx, src, order)
		if err != nil {
			return 0, err
		}
		n, err := newParser(ctx, text.over(src), &Reading{}).messages()
		if err != nil {
			return 0, err
		}
		most = max(most, n)
	}
	return most, nil
}

// messages counts the messages in the file. It stops where a search for objects within damage has
// taken too long.
func (p *parser) messages() (n int, err error) {
	inDamage := false
	for at := int64(0); at < p.size && p.spare > 0 && p.win.err == nil; {
		part := p.win.from(at, p.size)
		i := bytes.IndexByte(part, '{')
		if i < 0 {
			at += int64(len(part))
			continue
		}
		at += int64(i)
		o := p.object(at)
		if o.damage != nil {
			p.spare -= o.end - o.off
			inDamage = true
			at++
			continue
		}

		at = o.end
		if p.isMessage(&o) && (!inDamage || p.isLast(o.end, true)) {
			n++
			inDamage = false
		}
	}
	return n, p.win.err
}

// isMessage reports whether an object has the shape of a message.
func (p *parser) isMessage(o *object) bool {
	raw, err := p.win.src.Section(o.off, o.end-o.off)
	if err != nil {
		p.win.err = err
		return false
	}
	return IsMessage(raw)
}

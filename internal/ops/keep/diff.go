package keep

import (
	"bytes"
	"context"
	"hash/maphash"

	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
)

// differ compares versions of a chat.
type differ struct {
	s    *subject
	seed maphash.Seed
}

// messages lists the lines of a version without its header and blank ones. Damaged lines
// remain. It reads the first and the last line alone where no other can be damaged or blank.
func (d *differ) messages(ctx context.Context, v *version) ([]lineRef, error) {
	lines, err := d.lines(v)
	if err != nil {
		return nil, err
	}
	header := v.head
	if v.file == "" && len(lines) > 0 {
		header = meta.IsHeader(d.text(ctx, lines[0]))
	}
	if header {
		lines = lines[1:]
	}
	if n := len(lines); n > 0 && n > v.Messages { // usually the empty one after a final LF
		if last := d.text(ctx, lines[n-1]); last != nil && len(last) == 0 {
			lines = lines[:n-1]
		}
	}
	if len(lines) > v.Messages {
		return d.notBlank(ctx, v, lines)
	}
	return lines, nil
}

// notBlank returns those of a version's lines that are not blank.
func (d *differ) notBlank(ctx context.Context, v *version, lines []lineRef) (list []lineRef, err error) {
	i := 0
	for data, err := range d.each(ctx, v, lines) {
		if err != nil {
			return nil, err
		}
		if !isBlank(data) {
			list = append(list, lines[i])
		}
		i++
	}
	return list, nil
}

// isBlank reports whether a line has nothing but space, as SillyTavern skips it.
func isBlank(line []byte) bool { return len(bytes.Trim(line, " \t\r")) == 0 }

// numbered lists a version's lines without its header and blank ones, and their message
// indexes as SillyTavern counts them. A damaged line has the index of the message after it.
func (d *differ) numbered(ctx context.Context, v *version) (lines []lineRef, index []int, err error) {
	all, err := d.lines(v)
	if err != nil {
		return nil, nil, err
	}
	n, i, header := 0, 0, false
	for data, err := range d.each(ctx, v, all) {
		if err != nil {
			return nil, nil, err
		}
		ref := all[i]
		i++
		survives := jsonl.Valid(data) && rawjson.KindOf(data) == rawjson.ObjectKind
		if survives && !header {
			header = true
			if meta.IsHeader(data) {
				continue
			}
		}
		if isBlank(data) {
			continue
		}
		lines, index = append(lines, ref), append(index, n)
		if survives {
			n++
		}
	}
	return lines, index, nil
}

// changes compares two versions of the chat.
func (d *differ) changes(ctx context.Context, older, newer []lineRef) []change {
	return compareLines(older, newer, func(i, j int) bool {
		return sameDate(d.text(ctx, older[i]), d.text(ctx, newer[j]))
	})
}

// change is one message that differs between two versions: from is below 0 if it was added,
// to if it was removed.
type change struct{ from, to int }

// compareLines finds the differences between two versions' messages. Two messages at the
// same place between equal ones count as one that changed if dated reports true for them.
func compareLines(a, b []lineRef, dated func(i, j int) bool) []change {
	var list []change
	i, j := 0, 0
	for _, m := range append(align(a, b), [2]int{len(a), len(b)}) {
		for i < m[0] || j < m[1] {
			switch {
			case i < m[0] && j < m[1] && dated(i, j):
				list = append(list, change{i, j})
				i++
				j++
			case i < m[0] && (j == m[1] || m[0]-i >= m[1]-j):
				list = append(list, change{i, -1})
				i++
			default:
				list = append(list, change{-1, j})
				j++
			}
		}
		i, j = m[0]+1, m[1]+1
	}
	return list
}

// sameDate reports whether two messages were sent at the same time. It is true if one
// cannot be read: then the place alone decides.
func sameDate(a, b []byte) bool {
	if a == nil || b == nil {
		return true
	}
	x, y := field(a, "send_date"), field(b, "send_date")
	if string(x) == string(y) {
		return true
	}
	s, okS := sendate.ParseRaw(x)
	t, okT := sendate.ParseRaw(y)
	return okS && okT && s.Equal(t)
}

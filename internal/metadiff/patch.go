package metadiff

import (
	"fmt"
	"strings"

	"stchat/internal/rawjson"
)

// Patch gives the JSON Patch (RFC 6902) that turns A into B, an operation a
// line.
func (d *Diff) Patch() []byte {
	out := []byte{'['}
	for i, c := range d.Changes {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, "\n  {\"op\":\""...)
		out = append(out, c.Op...)
		out = append(out, "\",\"path\":"...)
		out = append(out, rawjson.Quote(c.Path)...)
		if c.Op != Remove {
			out = append(out, ",\"value\":"...)
			out = append(out, c.To...)
		}
		out = append(out, '}')
	}
	if len(d.Changes) > 0 {
		out = append(out, '\n')
	}
	return append(out, ']')
}

// NullError says that B holds a null that no merge patch can put there: in a
// merge patch null means that the member goes.
type NullError struct {
	Path string // RFC 6901 pointer into the metadata
}

func (e *NullError) Error() string {
	return fmt.Sprintf("B has an explicit null at %s, which a merge patch cannot express", e.Path)
}

// MergePatch gives the JSON Merge Patch (RFC 7386) that turns A into B. The
// error is a [*NullError] where there is none.
func (d *Diff) MergePatch() ([]byte, error) {
	m := merger{out: []byte{'{'}}
	if err := m.members(d.a, d.b, d.use); err != nil {
		return nil, err
	}
	return append(m.out, '}'), nil
}

// merger writes a merge patch in one walk over both sides.
type merger struct {
	out  []byte
	path []string // keys down to where it is
}

// members writes the members of the patch between two objects.
func (m *merger) members(a, b *value, use func(key string) bool) error {
	first := true
	key := func(key string) {
		if !first {
			m.out = append(m.out, ',')
		}
		first = false
		m.out = append(m.out, rawjson.Quote(key)...)
		m.out = append(m.out, ':')
	}
	for _, was := range a.members {
		if b.find(was.key) < 0 && (use == nil || use(was.key)) {
			key(was.key)
			m.out = append(m.out, "null"...)
		}
	}
	for _, is := range b.members {
		if use != nil && !use(is.key) {
			continue
		}
		var was *value
		if i := a.find(is.key); i >= 0 {
			was = a.members[i].val
		}
		start, wasFirst := len(m.out), first
		key(is.key)
		m.path = append(m.path, is.key)
		differs, err := m.value(was, is.val)
		if err != nil {
			return err
		}
		m.path = m.path[:len(m.path)-1]
		if !differs {
			m.out, first = m.out[:start], wasFirst
		}
	}
	return nil
}

// value writes what makes b of a, which is nil where A has nothing there, and
// tells whether they differ.
func (m *merger) value(a, b *value) (differs bool, err error) {
	if b.kind != rawjson.ObjectKind {
		if a != nil && equal(a, b) {
			return false, nil
		}
		if b.kind == rawjson.Null {
			return true, &NullError{Path: pointer(m.path)}
		}
		m.out = b.appendTo(m.out) // a list is replaced whole, nulls in it stay
		return true, nil
	}
	differs = a == nil || a.kind != rawjson.ObjectKind
	if differs {
		a = &value{} // to a merge patch anything else counts as {}
	}
	m.out = append(m.out, '{')
	start := len(m.out)
	err = m.members(a, b, nil)
	differs = differs || len(m.out) > start
	m.out = append(m.out, '}')
	return differs, err
}

// pointer gives the RFC 6901 pointer along the keys.
func pointer(keys []string) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteByte('/')
		b.WriteString(pointerEscaper.Replace(key))
	}
	return b.String()
}

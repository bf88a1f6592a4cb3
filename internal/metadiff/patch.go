package metadiff

import (
	"fmt"
	"strings"

	"stchat/internal/rawjson"
)

// NullError means that B holds a null that no merge patch can put there: in a
// merge patch null removes the member.
type NullError struct {
	Path string // RFC 6901 pointer into the metadata
}

func (e *NullError) Error() string {
	return fmt.Sprintf("B has an explicit null at %s, which a merge patch cannot express", e.Path)
}

// merger writes a merge patch in one walk over both sides.
type merger struct {
	out  []byte
	path []string // keys down to the current value
}

// key begins a member.
func (m *merger) key(key string) {
	if m.out[len(m.out)-1] != '{' {
		m.out = append(m.out, ',')
	}
	m.out = append(m.out, rawjson.Quote(key)...)
	m.out = append(m.out, ':')
}

// members writes the members of the patch between two objects.
func (m *merger) members(a, b *value) error {
	for _, was := range a.members {
		if b.find(was.key) < 0 {
			m.key(was.key)
			m.out = append(m.out, "null"...)
		}
	}
	for _, is := range b.members {
		if err := m.member(is.key, a.at(is.key), is.val); err != nil {
			return err
		}
	}
	return nil
}

// member writes the member that turns was into is; was is nil where A has nothing.
func (m *merger) member(key string, was, is *value) error {
	start := len(m.out)
	m.key(key)
	m.path = append(m.path, key)
	differs, err := m.value(was, is)
	if err != nil {
		return err
	}
	m.path = m.path[:len(m.path)-1]
	if !differs {
		m.out = m.out[:start]
	}
	return nil
}

// value writes what turns a into b, and reports whether they differ. a is nil where
// A has nothing.
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
	err = m.members(a, b)
	differs = differs || len(m.out) > start
	m.out = append(m.out, '}')
	return differs, err
}

// pointer returns the RFC 6901 pointer along the keys.
func pointer(keys []string) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteByte('/')
		b.WriteString(pointerEscaper.Replace(key))
	}
	return b.String()
}

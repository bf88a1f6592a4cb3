package metadiff

import (
	"bytes"
	"fmt"
	"strings"

	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl/rawjson"
)

// NullError means that B holds a null that no merge patch can put there: in a
// merge patch null removes the member.
type NullError struct {
	Path string // RFC 6901 pointer into the metadata
}

func (e *NullError) Error() string {
	return fmt.Sprintf("B has an explicit null at %s, which a merge patch cannot express", e.Path)
}

// MergePatch returns the JSON Merge Patch (RFC 7386) that turns A into B. The
// error is a [*NullError] where there is none.
func (d *Diff) MergePatch() ([]byte, error) {
	m := merger{out: []byte{'{'}}
	for key := range d.a.All() {
		if !d.b.Has(key) && d.counts(key) {
			m.key(key)
			m.out = append(m.out, "null"...)
		}
	}

	for key, raw := range d.b.All() {
		other, ok := d.a.Get(key)
		if !d.counts(key) || bytes.Equal(raw, other) {
			continue
		}
		if err := m.member(key, decode(other), decode(raw), ok); err != nil {
			return nil, err
		}
	}
	return append(m.out, '}'), nil
}

// merger writes a merge patch in one walk over both sides.
type merger struct {
	out  []byte
	path []string // escaped keys down to the current value
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
func (m *merger) members(a, b *jsvalue.Object) error {
	for _, key := range a.Keys() {
		if _, ok := b.Get(key); !ok {
			m.key(key)
			m.out = append(m.out, "null"...)
		}
	}

	for _, key := range b.Keys() {
		was, ok := a.Get(key)
		is, _ := b.Get(key)
		if err := m.member(key, was, is, ok); err != nil {
			return err
		}
	}
	return nil
}

// member writes the member that turns was into is; had is false where A has nothing.
func (m *merger) member(key string, was, is jsvalue.Value, had bool) error {
	start := len(m.out)
	m.key(key)
	m.path = append(m.path, pointerEscaper.Replace(key))
	differs, err := m.value(was, is, had)
	if err != nil {
		return err
	}
	m.path = m.path[:len(m.path)-1]
	if !differs {
		m.out = m.out[:start]
	}
	return nil
}

// value writes what turns a into b, and reports whether they differ.
func (m *merger) value(a, b jsvalue.Value, had bool) (differs bool, err error) {
	inB, ok := b.(*jsvalue.Object)
	if !ok {
		switch {
		case had && equal(a, b):
			return false, nil
		case b == nil:
			return true, &NullError{Path: "/" + strings.Join(m.path, "/")}
		}
		m.out = jsvalue.Append(m.out, b) // a list is replaced whole, nulls in it stay
		return true, nil
	}

	inA, ok := a.(*jsvalue.Object)
	if !ok {
		inA = jsvalue.NewObject() // to a merge patch anything else counts as {}
	}
	m.out = append(m.out, '{')
	start := len(m.out)
	err = m.members(inA, inB)
	differs = !ok || len(m.out) > start
	m.out = append(m.out, '}')
	return differs, err
}

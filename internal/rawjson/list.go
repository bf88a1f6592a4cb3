package rawjson

import (
	"bytes"
	"slices"
)

// List is one JSON list, read from its bytes, that can be edited many times. Every byte that no
// edit names stays. A List is not safe for use by several goroutines at once.
type List struct {
	head  []byte // up to the first element
	lead  []byte // the white space at the end of head
	items []item
	tail  []byte // after the last element
}

// item is an element of a list.
type item struct {
	before []byte // what separates it from the one before, if it is not the first
	value  []byte
}

// ParseList reads the elements of the list in raw, which must not change while the List is in
// use; ok is false for anything but a list.
func ParseList(raw []byte) (l *List, ok bool) {
	l = &List{}
	end := 0
	brackets, ok := walkArray(raw, func(val span) bool {
		if l.items == nil {
			l.head, end = raw[:val.at], val.at
			l.lead = raw[skipSpace(raw, 0)+1 : val.at]
		}
		l.items = append(l.items, item{raw[end:val.at], raw[val.at:val.end:val.end]})
		end = val.end
		return true
	})
	if !ok {
		return nil, false
	}
	if l.items == nil {
		l.head, end = raw[:brackets.at+1], brackets.at+1
	}
	l.tail = raw[end:]
	return l, true
}

// Len returns how many elements the list has.
func (l *List) Len() int { return len(l.items) }

// At returns the raw value of element i.
func (l *List) At(i int) []byte { return l.items[i].value }

// Set gives element i another value.
func (l *List) Set(i int, value []byte) { l.items[i].value = value }

// Insert adds a value before element i, or at the end. In a list with one element per line a
// value at the end gets a line of its own.
func (l *List) Insert(i int, value []byte) {
	fresh := item{[]byte{','}, value}
	switch {
	case i < len(l.items):
		fresh.before, l.items[i].before = l.items[i].before, fresh.before
	case bytes.IndexByte(l.lead, '\n') >= 0:
		fresh.before = slices.Concat(fresh.before, l.lead)
	}
	l.items = slices.Insert(l.items, i, fresh)
}

// Remove removes element i, with one comma and the white space on one side of it.
func (l *List) Remove(i int) {
	if l.items = slices.Delete(l.items, i, i+1); len(l.items) == 0 {
		l.head = l.head[:len(l.head)-len(l.lead)]
		l.tail = l.tail[bytes.IndexByte(l.tail, ']'):]
		l.lead = nil
	}
}

// Bytes returns the list with its edits.
func (l *List) Bytes() []byte {
	size := len(l.head) + len(l.tail)
	for _, e := range l.items {
		size += len(e.before) + len(e.value)
	}
	out := append(make([]byte, 0, size), l.head...)
	for i, e := range l.items {
		if i > 0 {
			out = append(out, e.before...)
		}
		out = append(out, e.value...)
	}
	return append(out, l.tail...)
}

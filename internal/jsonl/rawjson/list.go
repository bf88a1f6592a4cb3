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
	brackets, ok := walk(raw, '[', func(_, val span) bool {
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
	l.items = slices.Delete(l.items, i, i+1)
	if len(l.items) == 0 {
		l.empty()
	}
}

// empty drops the white space around the elements, which are gone.
func (l *List) empty() {
	l.head = l.head[:len(l.head)-len(l.lead)]
	l.tail = l.tail[bytes.IndexByte(l.tail, ']'):]
	l.lead = nil
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

// Edit returns the object in raw as edit leaves it. Anything but an object is returned as
// it is, and so is an object that edit does not change.
func Edit(raw []byte, edit func(o *Object)) []byte {
	o, err := ParseObject(raw)
	if err != nil {
		return raw
	}
	edit(o)
	if !o.Edited() {
		return raw
	}
	return o.Bytes()
}

// Edit calls edit with the object at the end of a path of keys, and sets it in the objects
// around it if it was edited. It does nothing where there is no such object.
func (o *Object) Edit(edit func(inner *Object), path ...string) {
	if len(path) == 0 {
		edit(o)
		return
	}
	inner, ok := o.Object(path[0])
	if !ok {
		return
	}
	inner.Edit(edit, path[1:]...)
	if inner.Edited() {
		o.Set(path[0], inner.Bytes())
	}
}

// EditList edits the list under a key as [EditList] does.
func (o *Object) EditList(key string, edit func(i int, value []byte) (edited []byte, keep bool)) {
	list := o.Value(key)
	if edited := EditList(list, edit); !bytes.Equal(edited, list) {
		o.Set(key, edited)
	}
}

// Filter returns a list with only the elements that keep accepts, removing the
// others as [EditList] does.
func Filter(array []byte, keep func(i int, value []byte) bool) []byte {
	return EditList(array, func(i int, value []byte) ([]byte, bool) { return value, keep(i, value) })
}

// EditList returns a list with each element as edit returns it, or without it; i
// is the element's index, from 0. With a removed element go one comma and the
// white space on one side of it; every other byte stays. Anything but a list is
// returned as it is. To change nothing, edit returns value itself.
func EditList(array []byte, edit func(i int, value []byte) (edited []byte, keep bool)) []byte {
	l, ok := ParseList(array)
	if !ok || l.Len() == 0 {
		return array
	}
	kept := l.items[:0]
	for i, e := range l.items {
		var keep bool
		e.value, keep = edit(i, e.value)
		if keep {
			kept = append(kept, e)
		}
	}

	l.items = kept
	if len(kept) == 0 {
		l.empty()
	}
	return l.Bytes()
}

// Span says where a value begins and ends in the bytes around it.
type Span struct{ At, End int }

// Places finds the values of some literal keys of an object in one pass, the last
// occurrence of each, and stores the place of keys[i] in places[i]: the zero Span if
// the key is missing. places must be at least as long as keys.
func Places(raw []byte, places []Span, keys ...string) {
	clear(places)
	eachOf(raw, keys, func(i int, v span) { places[i] = Span{v.at, v.end} })
}

// Into is [Places] with the values: it stores that of keys[i] in into[i], which stays as it is if
// the key is missing.
func Into(raw []byte, keys []string, into ...*[]byte) {
	eachOf(raw, keys, func(i int, v span) { *into[i] = raw[v.at:v.end:v.end] })
}

// eachOf calls found with each value of some literal keys of an object, and which key it has.
func eachOf(raw []byte, keys []string, found func(i int, value span)) {
	walk(raw, '{', func(k, v span) bool {
		in := raw[k.at+1 : k.end-1]
		escaped := bytes.IndexByte(in, '\\') >= 0
		for i, key := range keys {
			if len(in) == len(key) && string(in) == key || escaped && KeyIs(raw[k.at:k.end], key) {
				found(i, v)
			}
		}
		return true
	})
}

// ElementPlace returns where in a list its element i, from 0, begins and ends; ok is
// false if there is none, and for anything but a list.
func ElementPlace(list []byte, i int) (place Span, ok bool) {
	walk(list, '[', func(_, v span) bool {
		if i == 0 {
			place = Span{v.at, v.end}
			ok = true
			return false
		}
		i--
		return true
	})
	return place, ok
}

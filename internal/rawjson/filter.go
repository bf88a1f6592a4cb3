package rawjson

import "bytes"

// Edit returns the object in raw as edit leaves it. Anything but an object is returned as
// it is, and so is an object that edit does not change.
func Edit(raw []byte, edit func(o *Object)) []byte {
	o, err := ParseObject(raw)
	if err != nil {
		return raw
	}
	if edit(o); !o.Edited() {
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
	if inner.Edit(edit, path[1:]...); inner.Edited() {
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
	out := make([]byte, 0, len(array))
	i, kept := 0, 0
	lead := span{-1, -1} // what comes before the first element
	gap := 0             // where what comes before the next element begins
	brackets, ok := walkArray(array, func(val span) bool {
		if lead.at < 0 {
			lead = span{skipSpace(array, 0) + 1, val.at}
			out = append(out, array[:lead.at]...)
			gap = lead.at
		}
		if value, keep := edit(i, array[val.at:val.end:val.end]); keep {
			if kept == 0 {
				gap, val.at = lead.at, lead.end
			}
			out = append(out, array[gap:val.at]...)
			out = append(out, value...)
			kept++
		}
		gap = val.end
		i++
		return true
	})
	switch {
	case !ok || i == 0:
		return array
	case kept == 0:
		gap = brackets.end
	}
	return append(out, array[gap:]...)
}

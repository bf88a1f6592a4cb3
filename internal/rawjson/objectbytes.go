package rawjson

import "bytes"

// Bytes returns the object with its edits spliced in and every other byte as it
// was read; without edits, the very bytes read. A removed member takes one comma
// and the white space on one side of it along. A new member is written compactly,
// unless the object has a member a line: then it gets a line of its own too.
func (o *Object) Bytes() []byte {
	if !o.edited {
		return o.src
	}
	size := len(o.src)
	for i := range o.edits {
		size += len(o.edits[i].key) + len(o.edits[i].val) + 16
	}
	w := splicer{out: make([]byte, 0, size), lead: []byte{}, gap: []byte{','}, colon: []byte{':'}}
	w.out = append(w.out, o.src[:o.braces.at+1]...)
	tail := o.src[o.braces.at+1 : o.braces.end]
	if o.read > 0 {
		first := o.members[0].key
		tail = o.src[o.valueEnd(o.read-1):o.braces.end]
		w.lead = o.src[o.braces.at+1 : first]
		if bytes.IndexByte(w.lead, '\n') >= 0 {
			w.gap = append(w.gap, w.lead...)
			key := first + len(o.key(0))
			w.colon = o.src[key:valueStart(o.src, key)]
			if bytes.IndexByte(w.colon, '\n') >= 0 {
				w.colon = []byte{':'}
			}
		}
	}
	for i := len(o.members) - 1; i >= o.read; i-- {
		if o.live(i) && o.fronted(i) {
			w.add(o.key(i), o.value(i))
		}
	}
	w.addRead(&o.content)
	for i := o.read; i < len(o.members); i++ {
		if o.live(i) && !o.fronted(i) {
			w.add(o.key(i), o.value(i))
		}
	}
	if w.any {
		w.out = append(w.out, tail...)
	}
	return append(w.out, o.src[o.braces.end:]...)
}

// valueStart returns where the value begins whose key ends at i.
func valueStart(b []byte, i int) int {
	return skipSpace(b, skipSpace(b, i)+1)
}

// splicer writes the members of an edited object.
type splicer struct {
	out   []byte
	lead  []byte // what stands before the first member
	gap   []byte // what stands before a new one
	colon []byte // what stands between its key and its value
	any   bool   // a member has been written
}

// add writes a new member.
func (w *splicer) add(key, val []byte) {
	if w.any {
		w.out = append(w.out, w.gap...)
	} else {
		w.out = append(w.out, w.lead...)
	}
	w.any = true
	w.out = append(w.out, key...)
	w.out = append(w.out, w.colon...)
	w.out = append(w.out, val...)
}

// addRead writes the members that came from src, each with what stood before
// it, the first one written with what stood before the first.
func (w *splicer) addRead(c *content) {
	for i, m := range c.members[:c.read] {
		if m.val == gone {
			continue
		}
		switch {
		case !w.any:
			w.out = append(w.out, w.lead...)
		case i == 0:
			w.out = append(w.out, w.gap...)
		default:
			w.out = append(w.out, c.src[c.valueEnd(i-1):m.key]...)
		}
		w.any = true
		if m.val >= 0 {
			w.out = append(w.out, c.src[m.key:c.valueEnd(i)]...)
			continue
		}
		end := valueStart(c.src, m.key+len(c.key(i)))
		w.out = append(w.out, c.src[m.key:end]...)
		w.out = append(w.out, c.value(i)...)
	}
}

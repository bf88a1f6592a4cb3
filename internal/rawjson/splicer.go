package rawjson

// valueStart returns where the value begins of the member whose key ends at i.
func valueStart(b []byte, i int) int {
	return skipSpace(b, skipSpace(b, i)+1)
}

// splicer writes the members of an edited object.
type splicer struct {
	out   []byte
	lead  []byte // what comes before the first member
	gap   []byte // what comes before a new one
	colon []byte // what comes between its key and its value
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

// addRead writes the members that came from src, each with what came before it
// in src; the first one written gets what came before the first member.
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

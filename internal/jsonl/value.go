package jsonl

// Value checks one object or list that comes in pieces, on any number of lines. The zero Value is
// ready; it is for one goroutine.
type Value struct {
	sc   scanner
	over bool
}

// Begin prepares for another value.
func (v *Value) Begin() {
	v.sc.reset()
	v.sc.multiline, v.sc.single = true, true
	v.over = false
}

// Feed continues the value with p. It returns how many bytes belong to the value, and whether it
// is over: it has ended, or is broken.
func (v *Value) Feed(p []byte) (n int, over bool) {
	n, _ = v.sc.feed(p)
	v.over = v.sc.state == stEnd
	return n, v.over || v.sc.code != 0
}

// Damage returns what is wrong with the value, nil if it has ended. Of the place only Column is
// set: the byte from the value's beginning, from 1.
func (v *Value) Damage() *Damage {
	if v.over {
		return nil
	}
	if v.sc.code == 0 {
		v.sc.fail(InvalidJSON, v.sc.pos, -1, v.sc.state)
	}
	d := v.sc.damage(false)
	if d.Byte == '\n' { // between values it would be white space
		d.Reason = syntax(-1, v.sc.badIn)
	}
	return &d
}

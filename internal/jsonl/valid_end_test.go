package jsonl

import "testing"

// What breaks off is told so, whatever it breaks off in.
func TestCheckBrokenOff(t *testing.T) {
	for in, column := range map[string]int{``: 1, `{`: 2, `{"a`: 4, `"a\`: 4, `"\u00`: 6, `tru`: 4, `-`: 2, `1.`: 3, `1e`: 3, `{"a"`: 5, `[1`: 3} {
		d := Check([]byte(in))
		if d == nil || d.Byte != -1 || d.Line != 1 || d.Column != column {
			t.Errorf("%q: %+v", in, d)
		}
	}
}

package rules

import "testing"

func TestDuplicates(t *testing.T) {
	for _, tc := range []struct {
		raw, first string
		n          int
	}{
		{`{}`, "", 0},
		{`[1]`, "", 0},
		{`{"a":1,"b":{"a":1,"a":2}}`, "", 0},
		{`{"a":1,"b":2,"\u0061":3,"b":4,"b":5}`, "a", 2},
	} {
		if first, n := duplicates([]byte(tc.raw)); first != tc.first || n != tc.n {
			t.Errorf("%.60s: %q and %d in all, want %q and %d", tc.raw, first, n, tc.first, tc.n)
		}
	}
}

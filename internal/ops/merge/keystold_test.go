package merge

import "testing"

// TestKeysTold: keys are listed as a person lists them, the first few of many.
func TestKeysTold(t *testing.T) {
	for _, tt := range []struct {
		keys []string
		want string
	}{
		{[]string{"world_info"}, "world_info"},
		{[]string{"world_info", "note_prompt"}, "world_info, note_prompt"},
		{[]string{"a", "b", "c", "d", "e", "f", "g", "h"}, "a, b, c, d, e, f, 2 more"},
	} {
		if got := keysTold(tt.keys); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.keys, got, tt.want)
		}
	}
}

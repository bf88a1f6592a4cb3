package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a command writes would outlive its own removal in the list of undo.
func TestRecordedCommandLeavesOutWhatWasWritten(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"swipe c.jsonl -a 3 --add secret --choose", "swipe c.jsonl -a 3 --add … --choose"},
		{"swipe c.jsonl -a 3 --add=secret", "swipe c.jsonl -a 3 --add=…"},
		{"add c.jsonl --role user --text secret", "add c.jsonl --role user --text …"},
		{"edit c.jsonl -a 3 --sub=a=secret", "edit c.jsonl -a 3 --sub=…"},
		{"meta set c.jsonl --set k=secret --set=k=secret", "meta set c.jsonl --set … --set=…"},
		{"edit c.jsonl 3 secret-text", "edit c.jsonl 3 …"},
		{"meta set c.jsonl note=secret", "meta set c.jsonl note=…"},
		{"rename c.jsonl name", "rename c.jsonl name"},
	} {
		got := strings.Join(recorded(strings.Fields(tt.in), map[string]string{"note=secret": "note=…", "secret-text": "…"}), " ")
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.in, diff)
		}
	}
}

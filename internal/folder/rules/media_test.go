package rules

import (
	"testing"

	"stchat/internal/jsonl/rawjson"
)

// What is repaired is what is judged: each of the keys has its number.
func TestAttachmentKeys(t *testing.T) {
	for i, name := range attachmentKeys() {
		if got := attachmentKey(rawjson.Quote(name)); got != i {
			t.Errorf("%s has the number %d, want %d", name, got, i)
		}
	}
	if got := attachmentKey([]byte(`"title"`)); got != -1 {
		t.Errorf("a title has the number %d", got)
	}
}

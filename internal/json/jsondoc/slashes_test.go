package jsondoc

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithSlashes(t *testing.T) {
	path := `C:\chats\a.jsonl`
	for _, tt := range []struct{ in, want any }{
		{path, "C:/chats/a.jsonl"},
		{&path, "C:/chats/a.jsonl"},
		{(*string)(nil), (*string)(nil)},
		{[]string{path, "b"}, []string{"C:/chats/a.jsonl", "b"}},
		{[]string(nil), []string(nil)},
	} {
		if diff := cmp.Diff(tt.want, withSlashes(reflect.ValueOf(tt.in), `\`).Interface()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.in, diff)
		}
	}
}

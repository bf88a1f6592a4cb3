package follow

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension"
	"stchat/internal/extension/exttest"
	"stchat/internal/rawjson"
)

// An extension in the list follows in the metadata and in messages.
func TestListedExtension(t *testing.T) {
	fake := &exttest.Fake{}
	lines := []string{`{"extra":{"fake":2}}`, `{"extra":{"fake":0}}`, `{}`, `{"extra":{"fake":2}}`}
	md, err := rawjson.ParseObject([]byte(`{"fake":{"at":3}}`))
	if err != nil {
		t.Fatal(err)
	}
	state, err := lookFor(t.Context(), []extension.Extension{fake}, source(lines), &Change{Messages: 4, Gone: []int{1}}, md, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]extension.Change{{Extension: "fake", Change: "message 3 → 2"}}, state.Metadata(md)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"message 1 names message 0"}, state.Warnings()); diff != "" {
		t.Error(diff)
	}
	var edited []string
	for _, l := range state.Lines() {
		edited = append(edited, string(state.Line(l.Index, []byte(lines[l.Index]))))
	}
	if diff := cmp.Diff([]string{`{"extra":{"fake":1}}`, `{"extra":{"fake":1}}`}, edited); diff != "" || fake.Kept != 2 || fake.Dropped != 1 {
		t.Errorf("%d kept, %d dropped: %s", fake.Kept, fake.Dropped, diff)
	}
}

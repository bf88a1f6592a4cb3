package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/exttest"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/chat"
)

// An extension in the list is shown.
func TestListedExtension(t *testing.T) {
	md, err := rawjson.ParseObject([]byte(`{"fake":{"at":4},"other":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	list := append(all.New(), &exttest.Fake{})
	got := extensions(list, ownersOf(list), &chat.Chat{}, md, &totals{}, nil)
	if diff := cmp.Diff([]any{&exttest.View{Name: "fake", Bytes: 8}, &Unknown{Name: "other", Bytes: 2}}, got); diff != "" {
		t.Error(diff)
	}
	if label, _ := got[0].(extension.View).Cells(); label != "Fake" {
		t.Errorf("it is called %s", label)
	}
}

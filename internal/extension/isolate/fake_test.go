package isolate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension"
	"stchat/internal/extension/exttest"
	"stchat/internal/jsonl"
)

// An extension in the list is asked what it was at a message, and follows a new name.
func TestListedExtension(t *testing.T) {
	fake := &exttest.Fake{}
	list := []extension.Extension{fake}
	src := jsonl.Bytes([]byte(strings.Repeat(`{"mes":"","extra":{"fake":0}}`+"\n", 5)))
	f, err := scanFor(t.Context(), list, src, Options{At: 2})
	if err != nil {
		t.Fatal(err)
	}
	md := object(t, `{"fake":{"at":4,"book":"Old","chat":"A"},"other":{"x":1}}`)
	want := []extension.Change{{Extension: "fake", Change: "message 4 forgotten"}, {Extension: "other", Change: "left as it is at the end of the source: stchat does not know this extension"}}
	if diff := cmp.Diff(want, f.Apply(md, "new")); diff != "" {
		t.Error(diff)
	}
	if fake.Kept != 3 || fake.Dropped != 2 {
		t.Errorf("%d kept, %d dropped", fake.Kept, fake.Dropped)
	}
	const empty = `{"entries":{}}`
	renameFor(list, &extension.Renaming{Metadata: md, From: book(t, "Old", empty), To: book(t, "New", empty)})
	extension.TableOf(list).Replace(md, extension.Metadata, extension.OwnChat, "A", "B")
	if got := string(md.Bytes()); got != `{"fake":{"book":"New","chat":"B"},"other":{"x":1}}` || len(fake.Renamed) != 1 {
		t.Errorf("%s, %q", got, fake.Renamed)
	}
}

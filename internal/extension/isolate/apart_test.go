package isolate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/jsonl"
)

// TestApart: what is of no message stays, and nothing is said of it.
func TestApart(t *testing.T) {
	for _, r := range all.Table() {
		if r.Holds != extension.Apart {
			continue
		}
		text := `{"a":[7]}`
		for _, key := range slices.Backward(strings.Split(r.Path, "/")) {
			text = fmt.Sprintf("{%q:%s}", key, text)
		}
		md := object(t, text)
		if said := factsAt0(t).Apply(md, "new"); said != nil {
			t.Errorf("%s: %v", r.Path, said)
		}
		if got := string(md.Bytes()); got != text {
			t.Errorf("%s: %s → %s", r.Path, text, got)
		}
	}
}

// What extensions share a key for is reported by each one's name, as far as it is not known.
func TestSharedKey(t *testing.T) {
	const left = "left as it is at the end of the source: stchat does not know this extension"
	for text, want := range map[string][]extension.Change{
		`{"extensions":{"LittleWhiteBox":{"x":1},"other":{"x":1}}}`: {{Extension: "extensions/other", Change: left}},
		`{"extensions":{"other":1},"LittleWhiteBox":{"x":1}}`:       {{Extension: "LittleWhiteBox", Change: left}},
		`{"extensions":{}}`:  nil,
		`{"extensions":[1]}`: {{Extension: "extensions", Change: left}},
	} {
		if diff := cmp.Diff(want, factsAt0(t).Apply(object(t, text), "new")); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// factsAt0 returns the facts of a chat of two messages at the first one.
func factsAt0(t *testing.T) *Facts {
	t.Helper()
	f, err := Scan(t.Context(), jsonl.Bytes([]byte("{}\n{}\n")), Options{At: 0})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

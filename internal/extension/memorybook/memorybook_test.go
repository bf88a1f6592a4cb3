package memorybook

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
)

// A mark beyond the end goes, whatever number it is; what is no mark stays, byte for byte.
func TestTrim(t *testing.T) {
	for _, c := range []struct {
		was, want string
		beyond    int
		changes   []string
	}{
		{`{"sceneStart":2,"sceneEnd":4,"highestMemoryProcessed":1}`, `{"sceneStart":2,"sceneEnd":4,"highestMemoryProcessed":1}`, 0, nil},
		{`{"sceneStart":4,"sceneEnd":5,"highestMemoryProcessed":9,"own":1}`, `{"sceneStart":4,"sceneEnd":4,"highestMemoryProcessed":4,"own":1}`, 2, []string{"sceneEnd 5 → 4", "highestMemoryProcessed 9 → 4"}},
		{`{"sceneStart":1e300,"sceneEnd":5.0,"highestMemoryProcessed":1e999}`, `{"sceneStart":null,"sceneEnd":4,"highestMemoryProcessed":4}`, 3, []string{"sceneStart 1e300 → null", "sceneEnd 5.0 → 4", "highestMemoryProcessed 1e999 → 4"}},
		{`{"sceneStart":3,"sceneEnd":1}`, `{"sceneStart":null,"sceneEnd":null}`, 0, []string{"sceneStart 3 → null", "sceneEnd 1 → null"}},
		{`{ "sceneStart" : null, "sceneEnd":"9", "highestMemoryProcessed":[9] }`, `{ "sceneStart" : null, "sceneEnd":"9", "highestMemoryProcessed":[9] }`, 0, nil},
		{`{"sceneStart":-1,"sceneEnd":1.5,"highestMemoryProcessed":-3}`, `{"sceneStart":-1,"sceneEnd":1.5,"highestMemoryProcessed":-3}`, 0, nil},
		{`{"sceneEnd":1,"sceneEnd":8}`, `{"sceneEnd":1,"sceneEnd":4}`, 1, []string{"sceneEnd 8 → 4"}},
		{`[7]`, `[7]`, 0, nil},
		{`{}`, `{}`, 0, nil},
	} {
		metadata, err := rawjson.ParseObject([]byte(`{"STMemoryBooks":` + c.was + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := judged(metadata, 5); len(got) != c.beyond {
			t.Errorf("%s: beyond: %q", c.was, got)
		}
		said := repaired(metadata, 5)
		if diff := cmp.Diff(c.changes, said); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.was, diff)
		}
		got, _ := metadata.Get(Key)
		if string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.was, got, c.want)
		}
		if again := repaired(metadata, 5); len(again) > 0 {
			t.Errorf("%s: a second time: %v", c.was, again)
		}
		if left := judged(metadata, 5); len(left) > 0 {
			t.Errorf("%s: still beyond the end: %q", c.was, left)
		}
	}
	metadata, err := rawjson.ParseObject([]byte(`{"STMemoryBooks":{"sceneStart":0,"highestMemoryProcessed":0}}`))
	if err != nil {
		t.Fatal(err)
	}
	repaired(metadata, 0)
	if got := string(metadata.Bytes()); got != `{"STMemoryBooks":{"sceneStart":null}}` {
		t.Errorf("no message left: %s", got)
	}
}

// judged returns what is said of the marks in a chat of so many messages.
func judged(metadata *rawjson.Object, messages int) (said []string) {
	j := &extension.Judging{Metadata: metadata, Messages: messages, Find: func(f extension.Finding) { said = append(said, f.Message) }}
	new(Extension).Judge(j)
	return said
}

// repaired repairs the marks in a chat of so many messages, and returns what it did.
func repaired(metadata *rawjson.Object, messages int) (said []string) {
	m := &extension.Repairing{
		Metadata: metadata, Messages: messages,
		Wants: func(string) bool { return true },
		Note:  func(m extension.Repaired) { said = append(said, m.Text) },
	}
	new(Extension).Repair(m)
	return said
}

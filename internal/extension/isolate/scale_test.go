package isolate

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"stchat/internal/extension"
	"stchat/internal/extension/illustrator"
	"stchat/internal/jsonl/rawjson"
)

// registry makes a prompt registry of n pairs: a parent of a later message, and its
// child of an earlier one, which becomes a root when the parent goes.
func registry(n int) string {
	var nodes strings.Builder
	for i := range n {
		fmt.Fprintf(&nodes, `,"p%d":{"messageId":9,"parentId":null,"childIds":["c%d"]},"c%d":{"messageId":1,"parentId":"p%d","childIds":[]}`, i, i, i, i)
	}
	return `{"auto_illustrator":{"promptRegistry":{"nodes":{` + nodes.String()[1:] + `},"rootPromptIds":[],"imageToPromptId":{}}}}`
}

// TestManyPrompts holds that promoting many prompts copies their list once, not
// once for each: what is allocated grows as the registry does.
func TestManyPrompts(t *testing.T) {
	allocated := func(n int) uint64 {
		metadata, err := rawjson.ParseObject([]byte(registry(n)))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		new(illustrator.Extension).Isolate(&extension.Branch{Metadata: metadata, At: 5})
		runtime.ReadMemStats(&after)
		roots, _ := rawjson.Lookup(metadata.Bytes(), "auto_illustrator", "promptRegistry", "rootPromptIds")
		if count := strings.Count(string(roots), `"c`); count != n {
			t.Fatalf("%d roots, want %d", count, n)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(500), allocated(8000)
	if many > 3*16*few {
		t.Errorf("%d bytes for 500 prompts, %d for 16 times as many", few, many)
	}
}

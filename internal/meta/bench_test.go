package meta_test

import (
	"fmt"
	"strings"
	"testing"

	"stchat/internal/json/patch"
	"stchat/internal/meta"
)

// BenchmarkMerge edits a header as a checkpoint does: read the line, merge an
// object, set the parent and the slug, write the line.
func BenchmarkMerge(b *testing.B) {
	for _, variables := range []int{10, 1_000, 50_000} {
		var vars strings.Builder
		for i := range variables {
			fmt.Fprintf(&vars, `,"variable %d":"the harbour lies quiet under the fog"`, i)
		}
		line := []byte(`{"chat_metadata":{"integrity":"00000000-0000-4000-8000-000000000000","note_prompt":"","variables":{` +
			vars.String()[1:] + `},"world_info":"Harbour"},"user_name":"unused","character_name":"unused"}`)
		with := []byte(`{"note_prompt":"a storm", "world_info":"Harbour at night", "tainted":true}`)
		edits := []patch.Edit{
			{Path: patch.Path{"main_chat"}, Value: []byte(`"Mira - Harbour"`)},
			{Path: patch.Path{"integrity"}, Value: []byte(`"11111111-0000-4000-8000-000000000000"`)},
		}
		b.Run(fmt.Sprintf("variables=%d", variables), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				h, err := meta.Parse(line)
				if err != nil {
					b.Fatal(err)
				}
				changes := patch.Changes{Merge: with, Edits: edits}
				if err := h.Change(changes.Apply); err != nil {
					b.Fatal(err)
				}
				h.Bytes()
			}
		})
	}
}

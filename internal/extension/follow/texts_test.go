package follow

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/jsonl/rawjson"
)

// TestTexts: whoever deletes a message is told of every text of an extension in it, and of none that
// is empty or in a message that stays.
func TestTexts(t *testing.T) {
	for _, r := range all.Table() {
		if r.Holds != extension.Text {
			continue
		}
		path := strings.Split(r.Path, "/")
		where := strings.Join(path, ".")
		if r.File == extension.Extra {
			path = append([]string{"extra"}, path...)
			where = "extra." + where
		}
		for _, tt := range []struct {
			value string
			told  bool
		}{{`"text"`, true}, {`{"a":1}`, true}, {`""`, false}, {`null`, false}} {
			t.Run(r.Path+"/"+tt.value, func(t *testing.T) {
				line := tt.value
				for _, key := range slices.Backward(path) {
					line = fmt.Sprintf("{%q:%s}", key, line)
				}
				var want []string
				if tt.told {
					want = []string{fmt.Sprintf("%s on message 1 (%s) is deleted with it", r.What, where)}
				}
				state, err := Look(t.Context(), source([]string{line, line, `{}`}), &Change{Messages: 3, Gone: []int{1, 2}}, rawjson.NewObject(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, state.Warnings()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

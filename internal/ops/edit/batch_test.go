package edit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/ops/edit"
)

// Operations of any length do what the same operations do without what makes them long.
func TestApplyLongOperations(t *testing.T) {
	chat := `{"chat_metadata":{"tainted":true}}` + "\n"
	for i := range 40 {
		chat += fmt.Sprintf(`{"name":"N","is_user":false,"mes":"%d","extra":{}}`+"\n", i)
	}
	apply := func(space string) string {
		var ops strings.Builder
		for i := range 60 {
			at := i * 7 % 40
			fmt.Fprintf(&ops, `{"op":"set",%s"at":%d,"set":{"/extra/%c":%d}}`+"\n", space[:i%2*len(space)], at, 'a'+i%3, i)
			fmt.Fprintf(&ops, `{"op":"hide","at":"%d..%d"}`+"\n", at, min(39, at+i%3))
		}
		path := filepath.Join(t.TempDir(), "c.jsonl")
		if err := os.WriteFile(path, []byte(chat), 0o666); err != nil {
			t.Fatal(err)
		}
		list, err := edit.ReadOperations(t.Context(), "ops", []byte(ops.String()))
		if err != nil {
			t.Fatal(err)
		}
		if result := edit.Apply(t.Context(), edit.BatchOptions{Options: options(path), Operations: list})[0]; result.Err != nil {
			t.Fatal(result.Err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	short, long := apply(" "), apply(strings.Repeat(" ", 20<<10))
	if short != long || strings.Count(short, `"is_system":true`) != 40 {
		t.Errorf("%s\nnot\n%s", long, short)
	}
}

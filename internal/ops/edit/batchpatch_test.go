package edit_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stchat/internal/json/patch"
	"stchat/internal/ops/edit"
)

// Many operations of a patch do what they do to a list of objects.
func TestApplyPatchAsTheModel(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(7, seed))
		text := `{"chat_metadata":{"tainted":true}}`
		var want []map[string]any
		fresh := func() map[string]any {
			return map[string]any{"name": "N", "is_user": false, "is_system": false, "send_date": "d", "mes": fmt.Sprint(r.IntN(1000)), "extra": map[string]any{}}
		}
		for range 1000 {
			m := fresh()
			want = append(want, m)
			text += "\n" + string(encoded(t, m))
		}
		var list []map[string]any
		for range 4000 {
			at := r.IntN(len(want))
			switch op := map[string]any{"op": "remove", "path": fmt.Sprintf("/%d", at)}; r.IntN(8) {
			case 0, 1, 2: // the front and the end more often
				at = []int{0, at, at, len(want)}[r.IntN(4)]
				m := fresh()
				op["op"], op["path"], op["value"] = "add", fmt.Sprintf("/%d", at), m
				if at == len(want) && r.IntN(2) == 0 {
					op["path"] = "/-"
				}
				if at == len(want) || !reflect.DeepEqual(want[at], m) {
					want = slices.Insert(want, at, copied(t, m).(map[string]any))
				}
				list = append(list, op)
			case 3, 4:
				want = slices.Delete(want, at, at+1)
				list = append(list, op)
			case 5:
				m := fresh()
				op["op"], op["value"], want[at] = "replace", m, copied(t, m).(map[string]any)
				list = append(list, op)
			case 6:
				op["op"], op["value"] = "test", copied(t, want[at])
				list = append(list, op)
			default:
				op["op"], op["path"], op["value"] = "add", fmt.Sprintf("/%d/extra/x", at), at
				want[at]["extra"].(map[string]any)["x"] = json.Number(fmt.Sprint(at))
				list = append(list, op)
			}
		}
		path := filepath.Join(t.TempDir(), "c.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		operations, err := patch.ParseOperations(encoded(t, list))
		if err != nil {
			t.Fatal(err)
		}
		if result := edit.ApplyPatch(t.Context(), edit.PatchOptions{Options: options(path), Patch: operations})[0]; result.Err != nil {
			t.Fatal(result.Err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(got), "\n")[1:]
		if len(lines) != len(want) {
			t.Fatalf("seed %d: %d messages, want %d", seed, len(lines), len(want))
		}
		for i, line := range lines {
			if is := decode(t, line); !reflect.DeepEqual(is, any(want[i])) {
				t.Fatalf("seed %d: message %d is %s, want %v", seed, i, line, want[i])
			}
		}
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// A new message that later operations turn into something else is refused.
func TestApplyPatchSpoilsNewMessage(t *testing.T) {
	const text = `{"chat_metadata":{}}` + "\n" + `{"name":"N","mes":"x"}`
	for _, op := range []string{`{"op":"replace","path":"/1","value":5}`, `{"op":"remove","path":"/1/mes"}`} {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		list, err := patch.ParseOperations([]byte(`[{"op":"add","path":"/-","value":{"mes":"y"}},` + op + `]`))
		if err != nil {
			t.Fatal(err)
		}
		result := edit.ApplyPatch(t.Context(), edit.PatchOptions{Options: options(path), Patch: list})[0]
		if got, err := os.ReadFile(path); result.Err == nil || err != nil || string(got) != text {
			t.Errorf("%s: error %v, the chat is %s, %v", op, result.Err, got, err)
		}
	}
}

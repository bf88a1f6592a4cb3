package patch

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// Many operations together do what they do one after the other, to the byte.
func TestTogetherAsOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const start = "{\"a\":{\"b\":[1, 2 ,{\"c\":1.0}],\"d\":\"x\"},\n \"l\":[\n  [],\n  {\"k\": []}\n ],\"e\":{},\"n\":[ ]}"
	keys := []string{"a", "b", "c", "d", "e", "k", "l", "n", "0", "1", "2", "-", "x"}
	values := []string{`1`, `{}`, `[]`, `{"b":[{"c":2}]}`, `[[1],{"a":1}]`, `"t"`, `null`}
	pointer := func() string {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString("/" + keys[r.IntN(len(keys))])
		}
		return b.String()
	}
	done := 0
	for range 3000 {
		var list []Operation
		want := []byte(start)
		for range 40 {
			op := []string{"add", "remove", "replace", "move", "copy", "test"}[r.IntN(6)]
			text := fmt.Sprintf(`{"op":%q,"path":%q,"from":%q,"value":%s}`, op, pointer(), pointer(), values[r.IntN(len(values))])
			o, err := ParseOperation([]byte(text))
			if err != nil {
				continue
			}
			if next, err := Apply(want, []Operation{o}); err == nil {
				want, list = next, append(list, o)
			}
		}
		done += len(list)
		got, err := Apply([]byte(start), list)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%+v:\n%s, %v\nnot\n%s", list, got, err, want)
		}
	}
	if done < 10_000 {
		t.Errorf("only %d operations could be applied", done)
	}
}

// A thousand operations on tens of thousands of keys and elements read them once.
func TestManyOperationsOnManyKeys(t *testing.T) {
	const n = 30_000
	var object, list strings.Builder
	for i := range n {
		fmt.Fprintf(&object, `,"k%d":%d`, i, i)
		fmt.Fprintf(&list, `,%d`, i)
	}
	raw := []byte(`{"o":{` + object.String()[1:] + `},"l":[` + list.String()[1:] + `]` + object.String() + `}`)
	var operations []Operation
	for i := range 250 {
		for _, path := range []Path{{fmt.Sprintf("k%d", i)}, {"o", fmt.Sprintf("k%d", i)}, {"l", fmt.Sprint(i)}, {"o", fmt.Sprintf("new%d", i)}} {
			operations = append(operations, Operation{Op: "add", Path: path, Value: []byte(`"x"`)})
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Apply(raw, operations); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if most := uint64(len(raw) * 40); after.TotalAlloc-before.TotalAlloc > most {
		t.Errorf("%d bytes are allocated for %d, want %d at most", after.TotalAlloc-before.TotalAlloc, len(raw), most)
	}
}

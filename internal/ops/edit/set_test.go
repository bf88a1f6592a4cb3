package edit

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"stchat/internal/jsonl"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

// What is set without a look at the whole message is what is set with one: the same bytes, valid,
// and nothing that state refers to.
func TestSettingSplices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	deep := strings.Repeat("[", jsonl.MaxDepth-1) + strings.Repeat("]", jsonl.MaxDepth-1)
	known := 0
	for range 5_000 {
		member := func() string {
			key := pick("mes", "name", "is_user", "is_system", "swipe_id", "swipes", "extra", "ex\\u0074ra", "own", "", "a~b")
			return `"` + key + `":` + pick("1", `"t"`, "true", "false", "null", "[]", `["t","u"]`, "{}", `{ "x" : 1 , "var_ops":[1]}`, `{"var_ops":2,"own":{"x":[]}}`)
		}
		var members []string
		for range r.IntN(7) {
			members = append(members, member())
		}
		line := []byte("{" + strings.Join(members, pick(",", " , ")) + pick("", " ") + "}")
		var path patch.Path
		for range r.IntN(4) {
			path = append(path, pick("mes", "name", "is_user", "is_system", "swipe_id", "swipes", "extra", "own", "", "a~b", "x", "var_ops", "0", "-", "\xff"))
		}
		c := &patch.Changes{Edits: []patch.Edit{{Path: path, Value: []byte(pick("1", `"t"`, "true", "[]", ` { "x" : 1 } `, deep))}}}
		e := setting(c)
		if e.Splices == nil {
			continue
		}
		list, ok := e.Splices(line)
		if !ok {
			continue
		}
		known++
		want, err := e.Line(line)
		if got := rawjson.Splices(line, list); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q in %s: %s, want %.200s, %v", path, line, got, want, err)
		}
		if damage := jsonl.Check(want); damage != nil {
			t.Fatalf("%q in %s: %v", path, line, damage)
		}
		if (len(list) == 0) != bytes.Equal(line, want) {
			t.Fatalf("%q in %s: %d changes", path, line, len(list))
		}
		if c := compared(line, want); c.hidden || c.shown || c.swiped || c.operated {
			t.Fatalf("%q in %s: state refers to it: %+v", path, line, c)
		}
	}
	if known < 1000 {
		t.Errorf("only %d of the edits were known beforehand", known)
	}
}

package luker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func replayed(ops ...string) map[string]string {
	var s Variables
	for _, message := range ops {
		s.Apply([]byte(message))
	}
	got := map[string]string{}
	for _, v := range s.Kept() {
		switch {
		case v.Err != nil:
			got[v.Name] = "error"
		case v.Raw == nil:
			got[v.Name] = "gone"
		default:
			got[v.Name] = string(v.Raw)
		}
	}
	return got
}

// The expectations were read off apply.js and path-ops.js.
func TestVariables(t *testing.T) {
	for _, c := range []struct {
		name, ops string
		want      map[string]string
	}{
		{
			"set", `[{"op":"setvar","key":"a","value":"50"},{"op":"setvar","key":"b","value":1.0},{"op":"setvar","key":"c"},{"op":"setvar","key":"d","value":null},{"op":"setvar","key":"e","value":{"x":[]}}]`,
			map[string]string{"a": `"50"`, "b": "1", "c": `""`, "d": `""`, "e": `{"x":[]}`},
		},
		{
			"add", `[{"op":"setvar","key":"a","value":"5"},{"op":"addvar","key":"a","value":"2.5"},{"op":"addvar","key":"b","value":"x"},{"op":"addvar","key":"b","value":"y"},
			{"op":"setvar","key":"c","value":"5"},{"op":"addvar","key":"c","value":"px"},{"op":"addvar","key":"d","value":"7"},{"op":"addvar","key":"d","value":"1"},{"op":"setvar","key":"e","value":"5"},{"op":"addvar","key":"e"}]`,
			map[string]string{"a": "7.5", "b": `"xy"`, "c": `"5px"`, "d": "8", "e": "5"},
		},
		{
			"add to a list", `[{"op":"setvar","key":"a","value":" [1] "},{"op":"addvar","key":"a","value":"2"},{"op":"incvar","key":"a"},{"op":"setvar","key":"o","value":"{}"},{"op":"addvar","key":"o","value":"!"}]`,
			map[string]string{"a": `"[1,\"2\",1]"`, "o": `"{}!"`},
		},
		{
			"inc and dec", `[{"op":"incvar","key":"a"},{"op":"incvar","key":"a"},{"op":"setvar","key":"b","value":"0x10"},{"op":"decvar","key":"b"},{"op":"decvar","key":"c"},{"op":"setvar","key":"d","value":""},{"op":"incvar","key":"d"},{"op":"setvar","key":"e","value":true},{"op":"incvar","key":"e"}]`,
			map[string]string{"a": "2", "b": "15", "c": `"-1"`, "d": `"1"`, "e": "2"},
		},
		{
			"delete", `[{"op":"setvar","key":"a","value":"1"},{"op":"deletevar","key":"a"},{"op":"deletevar","key":"b"},{"op":"strange","key":"c"}]`,
			map[string]string{"a": "gone", "b": "gone", "c": "gone"},
		},
		{
			"paths", `[{"op":"setvar","key":"a","path":"x.y","value":"5"},{"op":"setvar","key":"a","path":"x.z.1","value":"[]"},{"op":"incvar","key":"a","path":"x.y"},{"op":"decvar","key":"a","path":"n.m"},{"op":"setvar","key":"a","path":"s","value":"five"},{"op":"incvar","key":"a","path":"s"},{"op":"setvar","key":"a","path":"s2","value":"true"}]`,
			map[string]string{"a": `"{\"x\":{\"y\":6,\"z\":[null,[]]},\"n\":{\"m\":-1},\"s\":\"five1\",\"s2\":\"true\"}"`},
		},
		{
			"a path over a scalar", `[{"op":"setvar","key":"a","value":"old"},{"op":"setvar","key":"a","path":"0","value":"x"},{"op":"setvar","key":"a","path":"0.k","value":"y"}]`,
			map[string]string{"a": `"[{\"k\":\"y\"}]"`},
		},
		{
			"a path in a raw object", `[{"op":"setvar","key":"a","value":{"k":{"l":1}}},{"op":"setvar","key":"a","path":"k.l","value":"2"},{"op":"deletevar","key":"a","path":"k.none"}]`,
			map[string]string{"a": `"{\"k\":{\"l\":2}}"`},
		},
		{
			"delete in a path", `[{"op":"setvar","key":"a","value":"{\"l\":[1,2,3],\"m\":{\"n\":1}}"},{"op":"deletevar","key":"a","path":"l.1"},{"op":"deletevar","key":"a","path":"m.n"},{"op":"deletevar","key":"a","path":"l.7"},{"op":"deletevar","key":"b","path":"x"}]`,
			map[string]string{"a": `"{\"l\":[1,3],\"m\":{}}"`, "b": "gone"},
		},
		{
			"push and pop", `[{"op":"pushvar","key":"a","value":"1"},{"op":"pushvar","key":"a","value":"x"},{"op":"popvar","key":"a"},{"op":"pushvar","key":"b","path":"in.bag","value":"{\"k\":1}"},{"op":"pushvar","key":"b","path":"in","value":"no"},{"op":"pushvar","key":"b","path":"in.bag.0.k.z","value":"no"},{"op":"popvar","key":"c"},{"op":"setvar","key":"d","value":"text"},{"op":"popvar","key":"d"},{"op":"pushvar","key":"d","value":"over"}]`,
			map[string]string{"a": `"[1]"`, "b": `"{\"in\":{\"bag\":[{\"k\":1}]}}"`, "c": "gone", "d": `"[\"over\"]"`},
		},
		{
			"forbidden", `[{"op":"setvar","key":"a","path":"__proto__.x","value":"1"},{"op":"setvar","key":"a","path":"...","value":"1"},{"op":"setvar","key":"__proto__","value":"1"},{"op":"incvar","key":"b","path":"constructor"},{"op":"addvar","key":"c","path":"prototype","value":"1"}]`,
			map[string]string{"a": "gone", "b": "gone", "c": `"1"`},
		},
		{
			"lists lose what is no index", `[{"op":"setvar","key":"a","path":"0","value":"1"},{"op":"setvar","key":"a","path":"name.deep","value":"1"},{"op":"incvar","key":"a","path":"01"},{"op":"setvar","key":"a","path":"2","value":"x"}]`,
			map[string]string{"a": `"[1,null,\"x\"]"`},
		},
		{
			"no value", `[{"op":"setvar","key":"a","path":"k","value":"1"},{"op":"setvar","key":"a","path":"k"},{"op":"setvar","key":"a","path":"m"},{"op":"pushvar","key":"b"},{"op":"setvar","key":"b","path":"1"}]`,
			map[string]string{"a": `"{}"`, "b": `"[null,null]"`},
		},
		{"not operations", `[null,5,"x",{"op":"setvar"},{"op":"setvar","key":""},{"op":"setvar","key":7},[]]`, map[string]string{}},
		{"not a list", `{"0":{"op":"setvar","key":"a"}}`, map[string]string{}},
		{
			"bounded", `[{"op":"setvar","key":"a","path":"4294967294","value":"1"},{"op":"setvar","key":"b","path":"0.length","value":"1"},{"op":"setvar","key":"b","path":"length","value":"1"},{"op":"setvar","key":"c","path":"` + strings.Repeat("x.", 1001) + `","value":"1"},{"op":"setvar","key":"d","value":"fine"},{"op":"deletevar","key":"a"}]`,
			map[string]string{"a": "error", "b": "error", "c": "error", "d": `"fine"`},
		},
	} {
		if diff := cmp.Diff(c.want, replayed(c.ops)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Many operations on a large value cost what they change, or are refused; never
// the square.
func TestVariablesCost(t *testing.T) {
	big := `[{"op":"setvar","key":"a","value":"` + strings.Repeat("[1],", 10_000) + `"},{"op":"setvar","key":"l","value":"[` + strings.Repeat("1,", 50_000) + `1]"}]`
	many := `[` + strings.Repeat(`{"op":"addvar","key":"l","value":"x"},{"op":"setvar","key":"l","path":"7","value":"2"},{"op":"addvar","key":"a","value":"]"},`, 12_000) + `0]`
	got := replayed(big, many)
	if got["a"] != "error" || !strings.HasPrefix(got["l"], `"[1,1,1,1,1,1,1,2,1,`) {
		t.Errorf("a: %.40s, l: %.40s", got["a"], got["l"])
	}
}

// What writes behind the ends of lists create is bounded in all, not only for one.
func TestVariablesHoles(t *testing.T) {
	var ops strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&ops, `{"op":"setvar","key":"far","path":"%d","value":"1"},{"op":"setvar","key":"l%d","path":"90","value":"1"},`, 9000*i, i)
	}
	var s Variables
	s.Apply([]byte("[" + ops.String() + `{"op":"setvar","key":"near","path":"0","value":"1"}]`))
	out, failed := 0, 0
	for _, v := range s.Kept() {
		out += len(v.Raw)
		if v.Err != nil {
			failed++
		}
		if v.Name == "far" && v.Err == nil || v.Name == "near" && string(v.Raw) != `"[1]"` {
			t.Errorf("%s: %.40s, %v", v.Name, v.Raw, v.Err)
		}
	}
	if out > 1<<20 || failed < 1000 {
		t.Errorf("%d bytes of variables, %d refused", out, failed)
	}
}

func TestVariablesMention(t *testing.T) {
	var s Variables
	if s.Any() {
		t.Error("any")
	}
	s.Mention([]byte(`[{"op":"setvar","key":"b","value":"2"},{"op":"setvar","key":"__proto__"}]`))
	s.Apply([]byte(`[{"op":"setvar","key":"b","value":"1"},{"op":"setvar","key":"a","value":"1"}]`))
	s.Mention([]byte(`[{"op":"setvar","key":"a","value":"2"},{"op":"incvar","key":"z"},{"key":"y"},{"key":"z"},{"key":""},3]`))
	if diff := cmp.Diff([]string{"z", "y"}, s.Later()); diff != "" {
		t.Error(diff)
	}
	if kept := s.Kept(); len(kept) != 2 || kept[0].Name != "b" || string(kept[1].Raw) != `"1"` {
		t.Errorf("%+v", kept)
	}
}

func FuzzVariables(f *testing.F) {
	f.Add([]byte(`[{"op":"setvar","key":"a","path":"x.0","value":"[1]"},{"op":"pushvar","key":"a","path":"x","value":"2"},{"op":"popvar","key":"a"}]`))
	f.Add([]byte(`[{"op":"incvar","key":"a"},{"op":"addvar","key":"a","value":[1,{"b":2}]},{"op":"deletevar","key":"a","path":"0"}]`))
	f.Fuzz(func(t *testing.T, ops []byte) {
		a, b := replayed(string(ops)), replayed(string(ops))
		if diff := cmp.Diff(a, b); diff != "" {
			t.Error(diff)
		}
	})
}

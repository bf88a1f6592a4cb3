package convert

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

func TestLastOfRepeated(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":1,"b":2}`:                          `{"a":1,"b":2}`,
		`{"a":1,"a":2}`:                          `{      "a":2}`,
		`{"a":1,"b":2,"a":3,"a":4}`:              `{      "b":2,      "a":4}`,
		`{"a":1 , "\u0061":2}`:                   `{        "\u0061":2}`,
		`{"a":{"b":1,"b":2},"a":{"b":3,"b":4}}`:  `{                  "a":{      "b":4}}`,
		`{"a":"a\",\"a\":1","b\\":"a","b\\":""}`: `{"a":"a\",\"a\":1",          "b\\":""}`,
		`[{"a":1},{"a":2},["a","a"],"a","a"]`:    `[{"a":1},{"a":2},["a","a"],"a","a"]`,
		`{"":1,"":2}`:                            `{     "":2}`,
		`"{\"a\":1,\"a\":2}"`:                    `"{\"a\":1,\"a\":2}"`,
		`{"a":1,"a`:                              `{      "a`, // cut short: the file changed while it was read
		`}{"a"]`:                                 `}{"a"]`,
	} {
		if got := lastOfRepeated(raw); got != want {
			t.Errorf("%s is %s, not %s", raw, got, want)
		}
	}
}

// An object with many members repeats the first of them at its end.
func TestManyMembers(t *testing.T) {
	for _, n := range []int{30, 31, 32, 33, 34, 5000} {
		var members []string
		for i := range n {
			members = append(members, fmt.Sprintf(`"k%d":{"x":%d}`, i, i))
		}
		raw := `{"all":{` + strings.Join(members, ",") + `,"k1":"one","k0":"zero"}}`
		all := get(gjson.Parse(lastOfRepeated(raw)), "all")
		if got := len(all.Map()); got != n {
			t.Errorf("%d: %d keys", n, got)
		}
		if text(get(all, "k0")) != "zero" || text(get(all, "k1")) != "one" || get(all, "k2.x").Int() != 2 {
			t.Errorf("%d: %s", n, all.Raw)
		}
	}
}

// gjson's paths find within a value what encoding/json decodes there: of repeated keys the last.
func FuzzPaths(f *testing.F) {
	for _, raw := range []string{
		`{"a":1,"b":{"a":2,"a":[{"c":"d"}]},"a":"x\"y\\"}`,
		`{"a":{"b":1},"\u0061":{"b":[true,null,1.50]}}`,
		`{"a.b":1,"a*":{"":2,"":{"a|b":3}},"#":[{"@this":4}]}`,
		`[[],{},{"a":{}},"{\"a\":1}"]`,
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		// Both read what is not UTF-8 in ways of their own.
		if !utf8.ValidString(raw) || strings.Contains(raw, `\u`) && !strings.Contains(raw, `\u00`) {
			return
		}
		d := json.NewDecoder(strings.NewReader(raw))
		d.UseNumber()
		var want any
		if !json.Valid([]byte(raw)) || d.Decode(&want) != nil {
			return
		}
		last := lastOfRepeated(raw)
		if len(last) != len(raw) {
			t.Errorf("%q is of another length than %q", last, raw)
		}
		if err := sameValue(gjson.Parse(last), want); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	})
}

// sameValue returns how a value differs from what encoding/json made of it.
func sameValue(v gjson.Result, want any) error {
	is := true
	switch want := want.(type) {
	case map[string]any:
		n := 0
		each(v, func(_, _ gjson.Result) { n++ })
		if !v.IsObject() || n != len(want) {
			return fmt.Errorf("%d members, not %d", n, len(want))
		}
		for key, inner := range want {
			if key == "" { // no path names it
				continue
			}
			if err := sameValue(get(v, gjson.Escape(key)), inner); err != nil {
				return fmt.Errorf("%q: %w", key, err)
			}
		}
	case []any:
		list := v.Array()
		if !v.IsArray() || amount(v) != len(want) || len(list) != len(want) {
			return fmt.Errorf("%d elements, not %d", len(list), len(want))
		}
		for i, inner := range want {
			if err := sameValue(list[i], inner); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
	case string:
		is = text(v) == want
	case json.Number:
		is = v.Type == gjson.Number && v.Raw == want.String()
	case bool:
		is = v.IsBool() && v.Bool() == want
	case nil:
		is = v.Exists() && v.Type == gjson.Null
	}
	if !is {
		return fmt.Errorf("%s, not %v", v.Raw, want)
	}
	return nil
}

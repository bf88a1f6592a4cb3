package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"stchat/internal/text/visible"

	"github.com/google/go-cmp/cmp"
)

func TestKindOf(t *testing.T) {
	for raw, want := range map[string]string{
		"": "nothing", " \n": "nothing", "x": "nothing", "null": "null", " true": "a boolean", "false": "a boolean",
		"-1": "a number", "7": "a number", `""`: "a string", "[]": "a list", " {}": "an object",
	} {
		if got := KindOf([]byte(raw)).String(); got != want {
			t.Errorf("KindOf(%q) is %s, want %s", raw, got, want)
		}
	}
}

func TestTruthy(t *testing.T) {
	for _, raw := range []string{"", " ", "false", "null", "0", "-0", "0.0", "-0.00e5", "0e999999999999", "1e-999", `""`, ` "" `} {
		if Truthy([]byte(raw)) {
			t.Errorf("Truthy(%q) = true", raw)
		}
	}
	for _, raw := range []string{"true", " true", "1", "-1", "1e999", "5e-324", `"0"`, `"false"`, `" "`, "[]", "{}"} {
		if !Truthy([]byte(raw)) {
			t.Errorf("Truthy(%q) = false", raw)
		}
	}
}

func TestInt(t *testing.T) {
	for raw, want := range map[string]int{
		"0": 0, "-0": 0, "3": 3, " 3 ": 3, "-12": -12, "3.0": 3, "1e2": 100, "1.50e1": 15, "1500e-2": 15, "0.00e9": 0,
		"0e99999999999999999999": 0, "-2.5E+1": -25, "10e-1": 1, strconv.Itoa(math.MaxInt): math.MaxInt, strconv.Itoa(math.MinInt): math.MinInt,
		strconv.Itoa(math.MaxInt) + ".0": math.MaxInt, "1" + strings.Repeat("0", 50) + "e-50": 1,
	} {
		if got, ok := Int([]byte(raw)); !ok || got != want {
			t.Errorf("Int(%s) = %d, %v; want %d", raw, got, ok, want)
		}
	}
	for _, raw := range []string{"", "null", `"1"`, "1.5", "1e-1", "1e999999999", "1e-999999999", "1e99999999999999999999", "1e-9223372036854775808", "1.5e-9223372036854775808", "9223372036854775808", "1e19", "99e18"} {
		if got, ok := Int([]byte(raw)); ok {
			t.Errorf("Int(%s) = %d, true", raw, got)
		}
	}
}

func TestFloat(t *testing.T) {
	for raw, want := range map[string]float64{"1.5": 1.5, " -2e3": -2000, "1e999": math.Inf(1), "-1e999": math.Inf(-1), "1e-999": 0} {
		if got, ok := Float([]byte(raw)); !ok || got != want {
			t.Errorf("Float(%s) = %v, %v; want %v", raw, got, ok, want)
		}
	}
	for _, raw := range []string{"", "null", `"1"`, "-", "{}"} {
		if got, ok := Float([]byte(raw)); ok {
			t.Errorf("Float(%s) = %v, true", raw, got)
		}
	}
}

func TestQuoteAndUnquote(t *testing.T) {
	for s, want := range map[string]string{
		"":                       `""`,
		"plain <b>&</b> é 😀":     `"plain <b>&</b> é 😀"`,
		"\u2028\x7f":             "\"\u2028\x7f\"",
		"\"\\/\b\t\n\f\r":        `"\"\\/\b\t\n\f\r"`,
		"\x00\x0b\x1f":           `"\u0000\u000b\u001f"`,
		"\xed\xa0\xbd":           `"\ud83d"`,
		"a\xed\xb8\x80b":         `"a\ude00b"`,
		"\xed\xbf\xbf\U0001F600": `"\udfff😀"`,
		"\uFFFD":                 "\"\uFFFD\"",
	} {
		if got := string(Quote(s)); got != want {
			t.Errorf("Quote(%q) = %s, want %s", s, got, want)
		}
		if got, ok := Unquote([]byte(want)); !ok || got != s {
			t.Errorf("Unquote(%s) = %q, %v; want %q", want, got, ok, s)
		}
	}
	if got, want := string(Quote("a\xffb\xed\xa0")), "\"a\uFFFDb\uFFFD\uFFFD\""; got != want {
		t.Errorf("Quote of bytes that are not UTF-8 = %q, want %q", got, want)
	}
	for raw, want := range map[string]string{
		`"\u00e9\/"`:               "é/",
		`"\uD83D\uDE00"`:           "😀",
		`"\ud83d\ud83d\ude00"`:     "\xed\xa0\xbd😀",
		`"\ude00\ud83d"`:           "\xed\xb8\x80\xed\xa0\xbd",
		"\"\xff\xed\xa0\x80 \\n\"": "\uFFFD\uFFFD\uFFFD\uFFFD \n",
		" \"a\"\n":                 "a",
	} {
		if got, ok := Unquote([]byte(raw)); !ok || got != want {
			t.Errorf("Unquote(%q) = %q, %v; want %q", raw, got, ok, want)
		}
	}
	for _, raw := range []string{"", `"`, "a", "1", "null", `"a`, `a"`, `"\"`, `"a"b"`, `"\x"`, `"\u12"`, `"\u12G4"`, "\"\n\"", `"\ud800\"`} {
		if got, ok := Unquote([]byte(raw)); ok {
			t.Errorf("Unquote(%q) = %q, true", raw, got)
		}
	}
}

func TestKeyIs(t *testing.T) {
	tests := []struct {
		raw, key string
		want     bool
	}{
		{`"a"`, "a", true},
		{`"a"`, "b", false},
		{`"a"`, "", false},
		{`""`, "", true},
		{`"\u0061"`, "a", true},
		{`"a.b"`, "a.b", true},
		{`"\\"`, `\`, true},
		{`"\ud800"`, "\xed\xa0\x80", true},
		{"\"\xed\xa0\x80\"", "\xed\xa0\x80", false},
		{"\"\xff\"", "\xff", false},
		{"\"\xff\"", "\uFFFD", true},
		{"", "", false},
		{`"`, "", false},
	}
	for _, tt := range tests {
		if got := KeyIs([]byte(tt.raw), tt.key); got != tt.want {
			t.Errorf("KeyIs(%q, %q) = %v", tt.raw, tt.key, got)
		}
	}
}

func TestPaths(t *testing.T) {
	const raw = `{"a":{"b.c":1},"d":[1],"a":{"b.c":2, "x":3},"n":null}`
	if v, ok := Lookup([]byte(raw), "a", "b.c"); !ok || string(v) != "2" {
		t.Errorf("Lookup = %s, %v", v, ok)
	}
	for _, path := range [][]string{{"z"}, {"a", "b"}, {"d", "0"}, {"a", "x", "y"}, {"n", "a"}} {
		if v, ok := Lookup([]byte(raw), path...); ok {
			t.Errorf("Lookup(%q) = %s, true", path, v)
		}
	}
	if v, ok := Lookup([]byte(raw)); !ok || string(v) != raw {
		t.Errorf("Lookup without a path = %s, %v", v, ok)
	}

	got, err := SetPath([]byte(raw), []byte("9"), "a", "b.c")
	if err != nil || string(got) != `{"a":{"b.c":1},"d":[1],"a":{"b.c":9, "x":3},"n":null}` {
		t.Errorf("SetPath = %s, %v", got, err)
	}
	got, err = SetPath([]byte(`{"k":1}`), []byte("9"), "a", "b", "c")
	if err != nil || string(got) != `{"k":1,"a":{"b":{"c":9}}}` {
		t.Errorf("SetPath over missing objects = %s, %v", got, err)
	}
	if got, err = SetPath([]byte(raw), []byte("9"), "n", "b"); !errors.Is(err, ErrNotObject) || !strings.Contains(err.Error(), `"n"`) {
		t.Errorf("SetPath through null = %s, %v", got, err)
	}
	if got, err = SetPath([]byte("[]"), []byte("9"), "n"); !errors.Is(err, ErrNotObject) {
		t.Errorf("SetPath into a list = %s, %v", got, err)
	}
	if got, err = SetPath([]byte("[]"), []byte("9")); err != nil || string(got) != "9" {
		t.Errorf("SetPath without a path = %s, %v", got, err)
	}

	if got := string(DeletePath([]byte(raw), "a", "b.c")); got != `{"a":{"b.c":1},"d":[1],"a":{"x":3},"n":null}` {
		t.Errorf("DeletePath = %s", got)
	}
	if got := string(DeletePath([]byte(raw), "a")); got != `{"d":[1],"n":null}` {
		t.Errorf("DeletePath of a repeated key = %s", got)
	}
	for _, path := range [][]string{{"z"}, {"d", "0"}, {}} {
		if got := string(DeletePath([]byte(raw), path...)); got != raw {
			t.Errorf("DeletePath(%q) = %s", path, got)
		}
	}
}

func TestAppend(t *testing.T) {
	for in, want := range map[string]string{
		`[]`:                        `["x"]`,
		` [ ] `:                     ` ["x" ] `,
		`[1]`:                       `[1,"x"]`,
		`[ 1, 2 ]`:                  `[ 1, 2,"x" ]`,
		"[\n    1,\n    [2]\n  ]\n": "[\n    1,\n    [2],\n    \"x\"\n  ]\n",
		`null`:                      `["x"]`,
		``:                          `["x"]`,
		`{"a":1}`:                   `["x"]`,
	} {
		if got := string(Append([]byte(in), []byte(`"x"`))); got != want {
			t.Errorf("Append(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMembersAndElements(t *testing.T) {
	var got []string
	for k, v := range Members([]byte(` {"a" : [1, {"b":2}] ,"\u0061":"}\\\"" , "c":-1.5e3}`)) {
		got = append(got, string(k), string(v))
	}
	if diff := cmp.Diff([]string{`"a"`, `[1, {"b":2}]`, `"\u0061"`, `"}\\\""`, `"c"`, `-1.5e3`}, got); diff != "" {
		t.Errorf("Members (-want +got):\n%s", diff)
	}
	got = nil
	for v := range Elements([]byte(` [ 1,"]" ,[[]], {"a":[]} , null ] `)) {
		got = append(got, string(v))
	}
	if diff := cmp.Diff([]string{`1`, `"]"`, `[[]]`, `{"a":[]}`, `null`}, got); diff != "" {
		t.Errorf("Elements (-want +got):\n%s", diff)
	}
}

func TestDeepNesting(t *testing.T) {
	const depth = 2_000_000
	raw := []byte(strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth))
	n := 0
	for v := range Elements(raw) {
		n += len(v)
	}
	if n != 2*depth-2 {
		t.Errorf("%d bytes of elements", n)
	}
	if _, err := ParseObject(bytes.Repeat([]byte(`{"a":`), depth)); !errors.Is(err, ErrNotObject) {
		t.Errorf("an object that never closes: %v", err)
	}
}

func FuzzValue(f *testing.F) {
	for _, s := range []string{`{"a" : [1, "x y", 1.50e+3, "\ud83d\ude00 \ud800"]}`, ` [ ] `, "\"\xff\"", "1e5", "-0", `"\u2028<"`, "[1,2", `{"a":}`, "1.0", "12e-1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		compact := Compact(raw)
		s, isString := Unquote(raw)
		n, isInt := Int(raw)
		fl, isFloat := Float(raw)
		truth := Truthy(raw)
		var elements [][]byte
		for v := range Elements(raw) {
			elements = append(elements, v)
		}
		Append(raw, []byte("1"))
		DeletePath(raw, "a", "b")
		SetPath(raw, []byte("1"), "a", "b")
		if !json.Valid(raw) {
			return
		}

		var want bytes.Buffer
		if err := json.Compact(&want, raw); err != nil || want.String() != string(compact) {
			t.Errorf("Compact(%q) = %q, want %q", raw, compact, &want)
		}
		var v any
		if json.Unmarshal(visible.ToUTF8(raw), &v) != nil {
			v = math.Inf(1) // a number that float64 cannot hold
		}
		switch v := v.(type) {
		case string:
			// encoding/json writes U+FFFD for a lone surrogate.
			if !isString || WellFormed(s) != v {
				t.Errorf("Unquote(%q) = %q, %v; want %q", raw, s, isString, v)
			}
			if again, ok := Unquote(Quote(s)); !ok || again != s || !json.Valid(Quote(s)) {
				t.Errorf("Quote(%q) = %q reads as %q", s, Quote(s), again)
			}
			if truth != (v != "") {
				t.Errorf("Truthy(%q) = %v", raw, truth)
			}
		case float64:
			if !isFloat || (fl != v && !math.IsInf(fl, 0)) || truth != (fl != 0) {
				t.Errorf("Float(%q) = %v, %v, truthy %v; want %v", raw, fl, isFloat, truth, v)
			}
			if isInt && math.Abs(v) < 1<<31 && float64(n) != v {
				t.Errorf("Int(%q) = %d, want %v", raw, n, v)
			}
		case []any:
			var parts []json.RawMessage
			if err := json.Unmarshal(raw, &parts); err != nil || len(parts) != len(elements) {
				t.Fatalf("%d elements in %q, want %d", len(elements), raw, len(parts))
			}
			for i := range parts {
				if string(parts[i]) != string(elements[i]) {
					t.Errorf("element %d of %q is %q", i, raw, elements[i])
				}
			}
		}
	})
}

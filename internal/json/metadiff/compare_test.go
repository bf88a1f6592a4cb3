package metadiff

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl"
)

func diff(t testing.TB, a, b string, sel Selection) *Diff {
	t.Helper()
	d, err := Compare([]byte(a), []byte(b), sel)
	if err != nil {
		t.Fatalf("Compare(%.80s, %.80s): %v", a, b, err)
	}
	return d
}

// change is a Change that is easy to write down.
func change(op Op, path, from, to string) Change {
	c := Change{Path: path, Op: op}
	if from != "" {
		c.From = json.RawMessage(from)
	}
	if to != "" {
		c.To = json.RawMessage(to)
	}
	return c
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name, a, b string
		want       []Change
	}{
		{"same", `{"a":1}`, `{"a":1}`, nil},
		{"empty", `{}`, ` { } `, nil},
		{"order and white space", `{"a":1,"b":{"c":[1,2]}}`, "{ \"b\" : {\"c\":[ 1,\t2 ]}, \"a\":1 }", nil},
		{"spelling of strings", `{"\u0061":"\u00e9\n"}`, `{"a":"é\u000a"}`, nil},
		{"spelling of numbers", `{"a":[1.0,-0,1e3]}`, `{"a":[1,0,1000]}`, nil},
		{"last of repeated keys", `{"a":1,"a":2}`, `{"a":2}`, nil},
		{"last of repeated keys differs", `{"a":1,"a":2}`, `{"a":1}`, []Change{change(Replace, "/a", "2", "1")}},
		{"a number beyond float64", `{"a":9007199254740993}`, `{"a":9007199254740992}`, []Change{change(Replace, "/a", "9007199254740993", "9007199254740992")}},
		{"spelling kept", `{"a":1.50}`, `{"a":1e0}`, []Change{change(Replace, "/a", "1.50", "1e0")}},
		{"huge exponents", `{"a":1e999999999}`, `{"a":1e999999998}`, []Change{change(Replace, "/a", "1e999999999", "1e999999998")}},
		{"kinds", `{"a":1,"b":null,"c":"1","d":[],"e":{}}`, `{"a":"1","b":false,"c":1,"d":{},"e":null}`, []Change{
			change(Replace, "/a", "1", `"1"`), change(Replace, "/b", "null", "false"), change(Replace, "/c", `"1"`, "1"),
			change(Replace, "/d", "[]", "{}"), change(Replace, "/e", "{}", "null"),
		}},
		{"removed and added", `{"a":1,"b":2}`, `{"c":{"d": 1},"b":2}`, []Change{change(Remove, "/a", "1", ""), change(Add, "/c", "", `{"d":1}`)}},
		{"null is not nothing", `{"a":null}`, `{"b":null}`, []Change{change(Remove, "/a", "null", ""), change(Add, "/b", "", "null")}},
		{"deeper", `{"a":{"b":{"c":1,"d":2}}}`, `{"a":{"b":{"c":1,"d":3}}}`, []Change{change(Replace, "/a/b/d", "2", "3")}},
		{"keys that need escaping", `{"":1,"/":1,"~":1,"a.b":1,"0":1,"*":1}`, `{"":2,"/":2,"~":2,"a.b":2,"0":2,"*":2}`, []Change{
			change(Replace, "/", "1", "2"), change(Replace, "/~1", "1", "2"), change(Replace, "/~0", "1", "2"),
			change(Replace, "/a.b", "1", "2"), change(Replace, "/0", "1", "2"), change(Replace, "/*", "1", "2"),
		}},
		{"appended to a list", `{"a":[1,2]}`, `{"a":[1,2,3,4]}`, []Change{change(Add, "/a/2", "", "3"), change(Add, "/a/3", "", "4")}},
		{"taken from a list", `{"a":[1,2,3,4]}`, `{"a":[3,4]}`, []Change{change(Remove, "/a/1", "2", ""), change(Remove, "/a/0", "1", "")}},
		{"put in front", `{"a":[{"x":1},{"x":2}]}`, `{"a":[{"x":0},{"x":1.0},{"x":2}]}`, []Change{change(Add, "/a/0", "", `{"x":0}`)}},
		{"inside a list", `{"a":[{"x":1,"y":1},5]}`, `{"a":[{"x":2,"y":1},6,7]}`, []Change{
			change(Replace, "/a/0/x", "1", "2"), change(Replace, "/a/1", "5", "6"), change(Add, "/a/2", "", "7"),
		}},
		{"lone surrogates differ", `{"a":"\ud800"}`, `{"a":"\ud801"}`, []Change{change(Replace, "/a", `"\ud800"`, `"\ud801"`)}},
		{"not UTF-8", "{\"a\":\"\xff\"}", `{"a":"b"}`, []Change{change(Replace, "/a", "\"\ufffd\"", `"b"`)}},
		{"repeated keys are told once", `{}`, `{"a":{"x":1,"x":2,"y":3}}`, []Change{change(Add, "/a", "", `{"x":2,"y":3}`)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := diff(t, test.a, test.b, Selection{})
			if got := cmp.Diff(test.want, d.Changes); got != "" {
				t.Errorf("(-want +got)\n%s", got)
			}
			if d.Equal() != (len(test.want) == 0) {
				t.Errorf("Equal is %v", d.Equal())
			}
		})
	}
}

func TestCompareRefuses(t *testing.T) {
	for _, bad := range []string{
		``, `[]`, `null`, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":[1,]}`, `{} {}`, `{"a":"`, `{"a":"\`, `{"a" 1}`, `{1:2}`,
		`{"a":` + strings.Repeat("[", jsonl.MaxDepth+1) + strings.Repeat("]", jsonl.MaxDepth+1) + `}`,
	} {
		if _, err := Compare([]byte(bad), []byte(`{}`), Selection{}); err == nil {
			t.Errorf("%.20s was taken as A", bad)
		}
		if _, err := Compare([]byte(`{}`), []byte(bad), Selection{}); err == nil {
			t.Errorf("%.20s was taken as B", bad)
		}
	}
}

func TestSelection(t *testing.T) {
	a := `{"auto_a":1,"auto_b":1,"auto_*":1,"x/y":1,"[":1,"note":1}`
	b := `{"new":1}`
	for _, test := range []struct {
		sel  Selection
		want string
	}{
		{Selection{}, "/auto_a /auto_b /auto_* /x~1y /[ /note /new"},
		{Selection{Ignore: []string{"note", "new"}}, "/auto_a /auto_b /auto_* /x~1y /["},
		{Selection{Ignore: []string{"auto_?"}}, "/x~1y /[ /note /new"},
		{Selection{Ignore: []string{"auto_*"}}, "/auto_a /auto_b /x~1y /[ /note /new"}, // it is a key
		{Selection{Ignore: []string{`aut*`}}, "/x~1y /[ /note /new"},
		{Selection{Ignore: []string{`auto_\*`}}, "/auto_a /auto_b /x~1y /[ /note /new"},
		{Selection{Only: []string{"x*", "n*"}}, "/x~1y /note /new"},
		{Selection{Only: []string{"n*"}, Ignore: []string{"new"}}, "/note"},
		{Selection{Only: []string{"["}}, "/["},
		{Selection{Only: []string{"[a"}}, ""},
		{Selection{Only: []string{"absent"}}, ""},
	} {
		d := diff(t, a, b, test.sel)
		var paths []string
		for _, c := range d.Changes {
			paths = append(paths, c.Path)
		}
		if got := strings.Join(paths, " "); got != test.want {
			t.Errorf("%+v: %s, want %s", test.sel, got, test.want)
		}
	}
}

func TestMergePatchOfNull(t *testing.T) {
	for _, test := range []struct{ a, b, path string }{
		{`{}`, `{"a":null}`, "/a"},
		{`{"a":1}`, `{"a":null}`, "/a"},
		{`{"a":{"b":1}}`, `{"a":{"b":1,"c/d":null}}`, "/a/c~1d"},
		{`{"a":[]}`, `{"a":{"b":{"c":null}}}`, "/a/b/c"},
		{`{"a":null,"b":{"c":null}}`, `{"a":null,"b":{"c":null},"d":1}`, ""},
		{`{}`, `{"a":[null,{"b":null}]}`, ""}, // in a list null is null
	} {
		d := diff(t, test.a, test.b, Selection{})
		_, err := d.MergePatch()
		null, is := errors.AsType[*NullError](err)
		switch {
		case test.path == "" && err != nil:
			t.Errorf("%s to %s: %v", test.a, test.b, err)
		case test.path != "" && (!is || null.Path != test.path):
			t.Errorf("%s to %s: %v, want a null at %s", test.a, test.b, err, test.path)
		}
	}
}

// TestHostile holds that neither width nor depth makes it slow or crashes it.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("builds large documents")
	}
	var a, b strings.Builder
	a.WriteString(`{"first":1`)
	b.WriteString(`{"first":2`)
	for i := range 100_000 {
		key := `,"key` + strings.Repeat("0", i%3) + string(rune('a'+i%26)) + itoa(i) + `":`
		a.WriteString(key + "1")
		b.WriteString(key + "1.0"[:1+i%2*2])
	}
	a.WriteString("}")
	b.WriteString("}")
	start := time.Now()
	if got := len(diff(t, a.String(), b.String(), Selection{}).Changes); got != 1 {
		t.Errorf("many keys: %d changes, want 1", got)
	}
	t.Logf("many keys: %v", time.Since(start))

	// paths of a long key, once for each change below it, would be gigabytes
	long := func(value string) string {
		return `{"` + strings.Repeat("k", 1<<20) + `":{` + strings.Repeat(`"a":0,`, 10) + `"x0":` + value + many(value) + `}}`
	}
	if got := diff(t, long("1"), long("2"), Selection{}).Changes; len(got) != 1 || got[0].Op != Replace {
		t.Errorf("below a long key: %d changes, want 1", len(got))
	}

	deep := func(open, in, end string) string {
		return `{"a":` + strings.Repeat(open, jsonl.MaxDepth-1) + in + strings.Repeat(end, jsonl.MaxDepth-1) + `}`
	}
	filler := `"` + strings.Repeat("x", 1<<20) + `",`
	for _, pair := range [][2]string{
		{deep("[", "1", "]"), deep("[", "2", "]")},
		{deep("[", filler+"1", "]"), deep("[", filler+"2", "]")},
		{deep(`{"k":`, "1", "}"), deep(`{"k":`, "2", "}")},
		{deep(`[1,2,`, "1", "]"), deep(`[1,2,`, "2", "]")},
		{deep(`{"k":0,"j":`, "1", "}"), deep(`{"k":1,"j":`, "2", "}")},
	} {
		start := time.Now()
		d := diff(t, pair[0], pair[1], Selection{})
		if d.Equal() {
			t.Errorf("%.30s: equal", pair[0])
		}
		d.Patch()
		if _, err := d.MergePatch(); err != nil {
			t.Error(err)
		}
		t.Logf("%.30s: %v", pair[0], time.Since(start))
	}
}

// many returns more members with a value.
func many(value string) string {
	var b strings.Builder
	for i := range 20_000 {
		b.WriteString(`,"x` + itoa(i) + `":` + value)
	}
	return b.String()
}

func itoa(i int) string { b, _ := json.Marshal(i); return string(b) }

func TestExcerpts(t *testing.T) {
	long := strings.Repeat("a", 100)
	for _, test := range []struct{ a, b, wantA, wantB string }{
		{"short", "shirt", "short", "shirt"},
		{"", long, "", strings.Repeat("a", 12) + "… (100 characters)"},
		{long + "X" + long, long + "Y" + long, "…aaaXaaaaaaaa… (201 characters)", "…aaaYaaaaaaaa… (201 characters)"},
		{"X" + long, "Y" + long, "Xaaaaaaaaaaa… (101 characters)", "Yaaaaaaaaaaa… (101 characters)"},
		{long, long + "b", "…aaaaaaaaaaaa (100 characters)", "…aaaaaaaaaaab (101 characters)"},
		{strings.Repeat("é", 20), strings.Repeat("é", 10) + "è" + strings.Repeat("é", 9), "…éééééééééééé (20 characters)", "…ééèééééééééé"[:0] + "…éééèéééééééé… (20 characters)"},
		{"many words before lighthouse keepers and after", "many words before lighthouse Xeepers and after", "…lighthouse keepers and… (46 characters)", "…lighthouse Xeepers and… (46 characters)"},
		{strings.Repeat("é", 12), "x", strings.Repeat("é", 12), "x"},
	} {
		a, b := Excerpts(test.a, test.b, 12)
		if test.wantB == "…éééèéééééééé… (20 characters)" {
			// as near the difference as the end allows
			if !strings.Contains(b, "è") || strings.ContainsRune(a+b, '\ufffd') {
				t.Errorf("cut to %q and %q", a, b)
			}
			continue
		}
		if a != test.wantA || b != test.wantB {
			t.Errorf("%.20s, %.20s: %q and %q, want %q and %q", test.a, test.b, a, b, test.wantA, test.wantB)
		}
	}
}

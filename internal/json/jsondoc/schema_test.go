package jsondoc

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

type shaped struct {
	Schema int `json:"schema"`
	inner
	List  []inner        `json:"list"`
	Map   map[string]int `json:"map"`
	Any   any            `json:"any"`
	Raw   raw            `json:"raw"`
	Of    *inner         `json:"of"`
	Left  string         `json:"-"`
	Maybe *bool          `json:"maybe,omitempty"`
}

// The schemas in docs are such by their own standard.
func TestDocs(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "schema", "*.json"))
	if err != nil || len(paths) < 40 {
		t.Fatal(len(paths), err)
	}
	for _, path := range paths {
		if _, err := jsonschema.NewCompiler().Compile(path); err != nil {
			t.Error(err)
		}
	}
}

// What Write writes fits the schema, and what it never writes does not.
func TestSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	var text bytes.Buffer
	if err := Write(&text, Schema(shaped{}), ""); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&text)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	fits := func(text []byte) error {
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(instance)
	}
	yes := true
	for _, d := range []shaped{{Raw: raw("1")}, {Raw: raw("{}"), List: []inner{{}}, Map: map[string]int{"a": 1}, Any: "x", Of: &inner{}, Maybe: &yes}} {
		var out bytes.Buffer
		if err := Write(&out, d, ""); err != nil {
			t.Fatal(err)
		}
		if err := fits(out.Bytes()); err != nil {
			t.Errorf("%s: %v", out.Bytes(), err)
		}
		more := bytes.Replace(out.Bytes(), []byte("{"), []byte(`{"more":1,`), 1)
		if err := fits(more); err != nil {
			t.Errorf("another key: %v", err)
		}
		for from, to := range map[string]string{`"list":[`: `"list":null,"x":[`, `"schema":1`: `"x":1`, `"schema":0`: `"schema":"0"`, `"b":null`: `"b":1`, `"a":0`: `"a":null`} {
			if bad := bytes.Replace(out.Bytes(), []byte(from), []byte(to), 1); !bytes.Equal(bad, out.Bytes()) && fits(bad) == nil {
				t.Errorf("%s fits", bad)
			}
		}
	}
}

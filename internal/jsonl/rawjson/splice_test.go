package rawjson

import (
	"errors"
	"testing"
)

// SetSplice makes of every object what SetPath makes of it.
func TestSetSplice(t *testing.T) {
	objects := []string{
		`{}`, ` { } `, `{"a":1}`, `{ "a" : 1 } `, `{"a":{"b":1,"c":2},"z":0}`, `{"a":{}}`, `{"a":{ }}`,
		`{"a":{"b":1},"a":{"b":2,"\u0062":3}}`, `{"":{"":1}}`, `{"a.b":1,"a":{"b":{"c":{}}}}`,
		"{\n  \"x\": 1,\n  \"y\": 2\n}", "{\"a\":{\n \"x\":1\n}}", `{"a":null}`, `{"a":[1]}`, `[]`, `{"a":1`, ``, "{\"\uFFFD\":1}",
	}
	paths := [][]string{{"a"}, {"a", "b"}, {"a", "b", "c"}, {""}, {"", ""}, {"a.b"}, {"q\"\\"}, {"z", "y", "x"}, {"\xff"}}
	for _, object := range objects {
		for _, path := range paths {
			want, wantErr := SetPath([]byte(object), []byte(`"v"`), path...)
			s, err := SetSplice([]byte(object), []byte(`"v"`), path...)
			if (err == nil) != (wantErr == nil) || err != nil && !errors.Is(err, ErrNotObject) {
				t.Errorf("%s %q: error %v, want %v", object, path, err, wantErr)
			}
			if err != nil {
				continue
			}
			if got := string(s.Apply([]byte(object))); got != string(want) {
				t.Errorf("%s %q: %s, want %s", object, path, got, want)
			}
		}
	}
}

package main

import "testing"

func TestIndented(t *testing.T) {
	got, ok := indented([]byte(`{"a":"\u001b: \"b\": x","l":["s: \"k\": 1",{"k\"y":[]}]}`), true)
	const want = "{\n  \x1b[36m\"a\"\x1b[0m: \"\\u001b: \\\"b\\\": x\",\n  \x1b[36m\"l\"\x1b[0m: [\n    \"s: \\\"k\\\": 1\",\n    {\n      \x1b[36m\"k\\\"y\"\x1b[0m: []\n    }\n  ]\n}"
	if !ok || got != want {
		t.Errorf("%t\n%s\nnot\n%s", ok, got, want)
	}
	for _, value := range []string{`"text"`, `5`, `null`, ``, `{"a":`} {
		if got, ok := indented([]byte(value), false); ok {
			t.Errorf("%s is indented: %s", value, got)
		}
	}
}

package main

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
)

// TestRecipes runs the lines of docs/export.md that go through jq, on the demo.
func TestRecipes(t *testing.T) {
	recipe := regexp.MustCompile(`(?m)^    stchat (export .*) \| jq -(?:c|r)( -s)? '(.*)'$`)
	found := recipe.FindAllStringSubmatch(string(read(t, filepath.Join("..", "..", "docs", "export.md"))), -1)
	if len(found) != 3 {
		t.Fatalf("%d recipes", len(found))
	}
	t.Chdir(filepath.Join("..", "..", "testdata", "demo"))
	for _, m := range found {
		out, errs, code := terminal(t, 0, strings.Fields(m[1])...)
		if code != 0 {
			t.Fatalf("%s: exit %d\n%s", m[1], code, errs)
		}
		var docs []any
		for dec := json.NewDecoder(strings.NewReader(out)); ; {
			var doc any
			if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", m[1], err)
			}
			docs = append(docs, doc)
		}
		if m[2] != "" {
			docs = []any{docs}
		}
		query, err := gojq.Parse(m[3])
		if err != nil {
			t.Fatalf("%s: %v", m[3], err)
		}
		results := 0
		for _, doc := range docs {
			for run := query.Run(doc); ; results++ {
				v, more := run.Next()
				if !more {
					break
				}
				if err, failed := v.(error); failed {
					t.Fatalf("%s: %v", m[3], err)
				}
				if row, ok := v.(map[string]any); ok && (row["chosen"] == row["rejected"] && row["chosen"] != nil || row["output"] == "") {
					t.Errorf("%s gives %v", m[3], v)
				}
			}
		}
		if results == 0 {
			t.Errorf("%s gives nothing", m[3])
		}
	}
}

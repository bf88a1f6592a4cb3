package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDiffSide compares texts side by side: both sides show the same paragraphs, beside each other,
// and leave out the same ones.
func TestDiffSide(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.jsonl": "First.\n\nThe boat is early.\nThird.",
		"b.jsonl": "First.\n\nThe boat is early. She laughs.\nThird.",
	} {
		path := filepath.Join(dir, name)
		line := `{"chat_metadata":{}}` + "\n" + `{"name":"Mira","is_user":false,"send_date":"2026-03-01T18:43:00.000Z","mes":` + string(mustJSON(t, text)) + "}\n"
		if err := os.WriteFile(path, []byte(line), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, code := terminal(t, 120, "diff", "--side", filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl"))
	if code != 1 {
		t.Fatalf("%d: %s", code, errs)
	}
	out = regexp.MustCompile("\x1b\\[[^m]*m").ReplaceAllString(out, "")
	if n := strings.Count(out, "… 1 paragraph …"); n != 4 {
		t.Errorf("%d times paragraphs are left out, want 4 in\n%s", n, out)
	}
	for _, want := range [][2]string{
		{"The boat is early.", "The boat is early. She laughs."},
	} {
		found := false
		for line := range strings.Lines(out) {
			left, right, _ := strings.Cut(line, "│")
			found = found || [2]string{strings.TrimSpace(left), strings.TrimSpace(right)} == want
		}
		if !found {
			t.Errorf("no line shows %q in\n%s", want, out)
		}
	}
}

package visible

import (
	"runtime"
	"testing"
)

func TestQuoteWindows(t *testing.T) {
	for in, want := range map[string]string{
		`C:\chats\a.jsonl`:    `C:\chats\a.jsonl`,
		`C:\My chats\a.jsonl`: `"C:\My chats\a.jsonl"`,
		"it's.jsonl":          `"it's.jsonl"`,
		"a&b.jsonl":           `"a&b.jsonl"`,
		"it's 5$.jsonl":       "'it''s 5$.jsonl'",
		"":                    `""`,
		"日本.jsonl":            "日本.jsonl",
	} {
		if got := quoteWindows(in); got != want {
			t.Errorf("quoteWindows(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	quote := "'"
	if runtime.GOOS == "windows" {
		quote = `"`
	}
	for want, paths := range map[string][]string{
		"a.jsonl " + quote + "b c.jsonl" + quote: {"a.jsonl", "b c.jsonl"},
		"-- a.jsonl -q.jsonl":                    {"a.jsonl", "-q.jsonl"},
	} {
		if got := Args(paths...); got != want {
			t.Errorf("%q: %s, want %s", paths, got, want)
		}
	}
}

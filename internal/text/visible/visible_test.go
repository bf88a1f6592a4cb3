package visible

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"Mira":              "Mira",
		"日本 😀":              "日本 😀",
		"a\x1b[31mb":        `a\x1b[31mb`,
		"a\nb\r\tc":         `a\nb\r\tc`,
		"\u202eevil":        `\u202eevil`,
		"\u0085\u009b2J":    `\x85\x9b2J`,
		"bad\xffbyte":       `bad\xffbyte`,
		"\ufffd is fine":    "\ufffd is fine",
		"x\x7f\u2066\u200f": `x\x7f\u2066\u200f`,
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"chats/Mira/a.jsonl": "chats/Mira/a.jsonl",
		"a b":                "'a b'",
		"it's":               `'it'\''s'`,
		"":                   "''",
		"a\x1bb'":            `$'a\x1bb\''`,
		"日本":                 "日本",
	} {
		if got := quotePOSIX(in); got != want {
			t.Errorf("quotePOSIX(%q) = %s, want %s", in, got, want)
		}
	}
}

func FuzzShown(f *testing.F) {
	f.Add("a\x1b]0;x\x07\u202e\u009b\xff日本\U000e0041")
	f.Fuzz(func(t *testing.T, s string) {
		for _, shown := range []string{Text(s), quotePOSIX(s), quoteWindows(s)} {
			if !utf8.ValidString(shown) {
				t.Fatalf("%q is not UTF-8", shown)
			}
			if strings.IndexFunc(shown, func(r rune) bool { return unicode.IsControl(r) || hidden(r) }) >= 0 {
				t.Fatalf("%q still has a control", shown)
			}
		}
		enc, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := json.Unmarshal(enc, &want); err != nil {
			t.Fatal(err)
		}
		esc := JSON(enc)
		if err := json.Unmarshal(esc, &got); err != nil || got != want {
			t.Fatalf("JSON(%q) = %q reads as %q (%v)", enc, esc, got, err)
		}
		if strings.IndexFunc(string(esc), hidden) >= 0 {
			t.Fatalf("%q still has a control", esc)
		}
	})
}

func TestWidths(t *testing.T) {
	if w := Width("日本"); w != 4 {
		t.Errorf("width %d", w)
	}
	if s := Truncate("日本語の名前", 7, "…"); Width(s) > 7 || !strings.HasSuffix(s, "…") {
		t.Errorf("truncated to %q", s)
	}
	defer func(east bool) { runewidth.DefaultCondition.EastAsianWidth = east }(runewidth.DefaultCondition.EastAsianWidth)
	runewidth.DefaultCondition.EastAsianWidth = true // as where LANG is ja_JP.UTF-8
	if s := "─│█●…·"; Width(s) != 6 || Truncate(s, 4, "…") != "─│█…" || Width(CutLeft(s, 4, "…")) != 4 {
		t.Errorf("width %d, cut to %q and %q", Width(s), Truncate(s, 4, "…"), CutLeft(s, 4, "…"))
	}
	if s := Pad("日", 4); s != "日  " {
		t.Errorf("padded to %q", s)
	}
}

func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a\tb\nc": "a\tb\nc", "\x1b[1m\n\u202e\t\r\n": "\\x1b[1m\n\\u202e\t\\r\n", "\n\xff": "\n\\xff",
	} {
		if got := Lines(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// However a text is cut into writes, it is shown as a whole one.
func TestWriter(t *testing.T) {
	text := "a\x1b]0;b\x07\tc\r\n\u009b31m \u202ed \U000e0041 \xff\xe2\x80 日本\n"
	for size := 1; size <= len(text); size++ {
		var b strings.Builder
		w := Writer(&b)
		for part := range slices.Chunk([]byte(text), size) {
			if n, err := w.Write(part); n != len(part) || err != nil {
				t.Fatalf("%q: %d, %v", part, n, err)
			}
		}
		if got, want := b.String(), Lines(text); got != want {
			t.Errorf("in parts of %d: %q, not %q", size, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"aé", 3, "aé"},
		{"aéb", 2, "a…"},
		{"日本", 5, "日…"},
		{"日本", 2, "…"},
		{"\xff\xff\xff", 2, "\xff\xff…"},
	}
	for _, tt := range tests {
		if got := Clip(tt.in, tt.n); got != tt.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

// TestCutOnce: where a text is cut behind its own ellipsis, there is one; and no number, date or #index is cut.
func TestCutOnce(t *testing.T) {
	for _, test := range []struct{ text, mark, want string }{
		{"2026-03-01 … 03-28", "…", "2026-03-01…"},
		{"2026-03-01 ... 03-28", "...", "2026-03-01..."},
		{"she waits… afterwards", "…", "she waits…"},
		{"it costs 12,345 lamps", "…", "it costs…"},
		{"on 2026-03-01 at 18:42", "…", "on 2026-03-01…"},
		{"up to 2026-03-01, at", "…", "up to…"},
		{"see Branch #12345", "…", "see Branch…"},
		{"opens at Mar 12 … 14", "…", "opens at…"},
		{"not shut · 12,345", "…", "not shut…"},
		{"in 12-34 and 5", "...", "in 12-34 and 5"},
	} {
		if got := CutRight(test.text, 15, test.mark); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

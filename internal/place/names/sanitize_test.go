package names_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/names"
)

func TestSanitize(t *testing.T) {
	long := strings.Repeat("あ", 100) // 300 bytes
	tests := []struct{ in, want string }{
		{"Point1", "Point1"},
		// What SillyTavern 1.19 made of these is in golden/solo-names.
		{`a:b?c*d<e>f|g`, "abcdefg"},
		{"dots...", "dots..."},
		{"日本 😀", "日本 😀"},
		{"space ", "space "},
		{" ", " "},
		{"...", "..."},
		{".", "."},
		{"../../etc/passwd", "....etcpasswd"},
		{`C:\x`, "Cx"},
		{"tab\tnul\x00del\x7fnext\u0085end", "tabnuldel\x7fnextend"},
		{"a\xffb", "a\uFFFDb"},
		{"lone\xed\xa0\x80surrogate", "lone\uFFFDsurrogate"},
		{"console", "console"},
		{"com10", "com10"},
		{"a.con", "a.con"},
		{"\u212Aon", "\u212Aon"}, // the Kelvin sign is no k
		{long, strings.Repeat("あ", 83)},
		{strings.Repeat("x", 248) + "é", strings.Repeat("x", 248)},
		{strings.Repeat("x", 249), strings.Repeat("x", 249)},
		{strings.Repeat("x", 243) + ".jsonl.jsonl", strings.Repeat("x", 243) + ".jsonl"},
	}
	for _, tt := range tests {
		got, err := names.Sanitize(tt.in)
		if err != nil {
			t.Errorf("Sanitize(%q): %v", tt.in, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Sanitize(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestSanitizeRefuses(t *testing.T) {
	tests := []struct {
		in   string
		want error
	}{
		{"", names.ErrEmptyName},
		{`<>:"/\|?*`, names.ErrEmptyName},
		{"\x00\x1f\u009f", names.ErrEmptyName},
		{"con", names.ErrReserved},
		{"CoN", names.ErrReserved},
		{"con.jsonl", names.ErrReserved},
		{"aux.x", names.ErrReserved},
		{"nul.", names.ErrReserved},
		{"c:on", names.ErrReserved},
		{"com0", names.ErrReserved},
		{"LPT9.txt", names.ErrReserved},
		{"con." + strings.Repeat("x", 300), names.ErrReserved},
	}
	for _, tt := range tests {
		if got, err := names.Sanitize(tt.in); !errors.Is(err, tt.want) || got != "" {
			t.Errorf("Sanitize(%q) = %q, %v; want error %v", tt.in, got, err, tt.want)
		}
	}
}

func TestSafe(t *testing.T) {
	for _, file := range []string{"a.json", "dots....jsonl", ".hidden", "...json", "日本 😀.json", strings.Repeat("x", 255)} {
		if !names.Safe(file) {
			t.Errorf("Safe(%q) = false", file)
		}
	}
	for _, file := range []string{
		"", ".", "..", "...", "a.", "a ", "a/b", `a\b`, "C:x", "con", "NUL.json", "a\x00", "a\xff", strings.Repeat("x", 256),
	} {
		if names.Safe(file) {
			t.Errorf("Safe(%q) = true", file)
		}
	}
}

func TestSanitizeMax(t *testing.T) {
	tests := []struct {
		in   string
		max  int
		want string
	}{
		{strings.Repeat("x", 200), names.MaxLuker, strings.Repeat("x", 128)},
		{"abc", 0, "abc"},
		{strings.Repeat("x", 300), 1000, strings.Repeat("x", 249)},
		{"日本", 4, "日"},
	}
	for _, tt := range tests {
		got, err := names.SanitizeMax(tt.in, tt.max)
		if err != nil || got != tt.want {
			t.Errorf("SanitizeMax(%q, %d) = %q, %v; want %q", tt.in, tt.max, got, err, tt.want)
		}
	}
	if _, err := names.SanitizeMax("console", 3); !errors.Is(err, names.ErrReserved) {
		t.Errorf("a cut that leaves a device's name: error %v", err)
	}
	if _, err := names.SanitizeMax("日本", 2); !errors.Is(err, names.ErrEmptyName) {
		t.Errorf("a cut that leaves nothing: error %v", err)
	}
}

// oracle is sanitize-filename's source in Go's regexps, but for the cut.
func oracle(file string) string {
	s := rawjson.WellFormed(file)
	for range 2 {
		for _, re := range []string{
			`[/?<>\\:*|"]`, `[\x00-\x1f\x{80}-\x{9f}]`, `^\.+$`,
			`^(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(?s:\..*)?$`, `[. ]+$`,
		} {
			s = regexp.MustCompile(re).ReplaceAllString(s, "")
		}
	}
	return s
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{
		"", "Point1", "dots...", "con", "c:on.x", "a/b\\c", "..", "日本 😀", "\xff", "\u0085", "CON .x",
		strings.Repeat("あ", 90), strings.Repeat("x", 248) + "😀",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		want := oracle(in + names.Extension)
		if is := in != "" && len(in) <= 255 && oracle(in) == in; names.Safe(in) != is {
			t.Fatalf("Safe(%q) = %v; SillyTavern makes %q", in, !is, oracle(in))
		}
		got, err := names.Sanitize(in)
		if err != nil {
			if got != "" {
				t.Fatalf("%q and an error", got)
			}
			// sanitize-filename has an empty name for devices; ".jsonl" alone is ours.
			if want != "" && want != ".jsonl" {
				t.Fatalf("Sanitize(%q): %v; SillyTavern makes %q", in, err, want)
			}
			return
		}
		switch file := got + names.Extension; {
		case got == "" || !utf8.ValidString(got):
			t.Fatalf("Sanitize(%q) = %q", in, got)
		case strings.ContainsAny(got, "/\\:\x00") || file == "." || file == "..":
			t.Fatalf("Sanitize(%q) = %q, a path", in, got)
		case len(file) > 255:
			t.Fatalf("Sanitize(%q) is %d bytes", in, len(file))
		case len(want) <= 255 && file != want:
			t.Fatalf("Sanitize(%q) = %q; SillyTavern makes %q", in, got, want)
		case !strings.HasPrefix(want, got):
			t.Fatalf("Sanitize(%q) = %q is not the start of %q", in, got, want)
		}
		if again, err := names.Sanitize(got); err != nil || again != got {
			t.Fatalf("Sanitize(%q) = %q, but of that %q, %v", in, got, again, err)
		}
	})
}

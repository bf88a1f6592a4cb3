package plain_test

import (
	"testing"

	"stchat/internal/text/plain"
)

func TestUTF8(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"UTF-8":                    {"Zoë\n", "Zoë\n"},
		"with a mark":              {"\xef\xbb\xbfZoë", "Zoë"},
		"UTF-16LE":                 {"\xff\xfeZ\x00o\x00\xeb\x00\n\x00", "Zoë\n"},
		"UTF-16BE":                 {"\xfe\xff\x00Z\x00o\x00\xeb", "Zoë"},
		"a surrogate pair":         {"\xff\xfe\x3d\xd8\x6f\xdd", "\U0001f56f"},
		"bytes that are no UTF-8":  {"a\xffb", "a\xffb"},
		"NUL between two paths":    {"a\x00b\x00", "a\x00b\x00"},
		"a mark that is not first": {"a\ufeffb", "a\ufeffb"},
		"nothing":                  {"", ""},
	} {
		if got := string(plain.UTF8([]byte(c.data))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	for data, want := range map[string]string{
		"":                 "",
		"one":              "one",
		"one\n":            "one",
		"one\r\n":          "one",
		"one\n\n":          "one\n",
		"one\r\ntwo\r\n":   "one\ntwo",
		"one\r\ntwo\n":     "one\r\ntwo", // an own CR stays where not all lines have one
		"one\ntwo\r\n":     "one\ntwo",
		"one\rtwo":         "one\rtwo",
		"one\r\n\r\ntwo":   "one\n\ntwo",
		" one \t\r\n":      " one \t",
		"one\r\r\ntwo\r\n": "one\r\ntwo",
	} {
		if got := plain.Text([]byte(data)); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}

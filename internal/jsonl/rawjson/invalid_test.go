package rawjson

import (
	"testing"

	"stchat/internal/text/visible"
)

// The expected texts are what Node 22 makes of the bytes with
// Buffer.from(bytes).toString("utf8").
func TestInvalidUTF8(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a\xf0\x9f\x98z", "a\ufffdz"},
		{"\xf0\x9f\x98", "\ufffd"},
		{"\xf0\x9f", "\ufffd"},
		{"\xf0", "\ufffd"},
		{"\xe2\x82", "\ufffd"},
		{"\xe2\x82\xe2\x82\xac", "\ufffd€"},
		{"\xc3z", "\ufffdz"},
		{"\xc0\xaf", "\ufffd\ufffd"},
		{"\xe0\x80\xaf", "\ufffd\ufffd\ufffd"},
		{"\xf0\x80\x80\xaf", "\ufffd\ufffd\ufffd\ufffd"},
		{"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"\xf5\x80\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"\xf1\x80\x80A", "\ufffdA"},
		{"\x80\x80", "\ufffd\ufffd"},
		{"\xff\xfe", "\ufffd\ufffd"},
		{"\xf1\x80\xf1\x80", "\ufffd\ufffd"},
		{"é😀", "é😀"},
	}
	for _, tt := range tests {
		if got, ok := Unquote([]byte(`"` + tt.in + `"`)); !ok || got != tt.want {
			t.Errorf("Unquote(%q) = %q, want %q", tt.in, got, tt.want)
		}
		if got := string(Quote(tt.in)); got != `"`+tt.want+`"` {
			t.Errorf("Quote(%q) = %s, want %q", tt.in, got, tt.want)
		}
		if got := string(visible.ToUTF8([]byte(tt.in))); got != tt.want {
			t.Errorf("ToUTF8(%q) = %q, want %q", tt.in, got, tt.want)
		}
		if got := WellFormed(tt.in); got != tt.want {
			t.Errorf("WellFormed(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	// in a file these are three bytes that are no character; as a Go string, a lone surrogate
	const surrogate = "\xed\xa0\x80"
	if got, _ := Unquote([]byte(`"` + surrogate + `"`)); got != "\ufffd\ufffd\ufffd" {
		t.Errorf("a surrogate's bytes in a file: %q", got)
	}
	if got := WellFormed("a" + surrogate + "b"); got != "a\ufffdb" {
		t.Errorf("a lone surrogate: %q", got)
	}
}

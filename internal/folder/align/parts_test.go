package align

import (
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	for _, test := range []struct{ a, b, want string }{
		{"one\ntwo\n\nthree", "one\ntwo\n\nthree and more", "=2|three -> three and more"},
		{"one\n  two\nthree", "one!\n  two\nthree", "one/ -> one!/|=2"},
		{"a\nb\nc", "a\nX\nY\nb\nc", "=1| -> X/Y/|=2"},
		{"a\nX\nb\nc", "a\nb\nc", "=1|X/ -> |=2"},
		{"a b c d\ne", "a b\nc d\ne", "a b c d/ -> a b/c d/|=1"},
		{"a\nb", "a\nb\n\nc", "=1|b -> b//c"},
		{"a\nold words here\nz", "a\nnew text there\nand on\nz", "=1|old words here/ -> new text there/and on/|=1"},
		{"", "a\nb", " -> a/b"},
		{"", "", ""},
	} {
		var got []string
		for _, part := range Parts(Words(test.a, test.b)) {
			var texts [2]strings.Builder
			for _, piece := range part.Pieces {
				for i := range texts {
					if piece.Op == Same || int(piece.Op-Removed) == i {
						texts[i].WriteString(strings.ReplaceAll(piece.Text, "\n", "/"))
					}
				}
			}
			text := texts[0].String() + " -> " + texts[1].String()
			if part.Same > 0 {
				text = "=" + string(rune('0'+part.Same))
			}
			got = append(got, text)
		}
		if got := strings.Join(got, "|"); got != test.want {
			t.Errorf("%q, %q: got %s, want %s", test.a, test.b, got, test.want)
		}
	}
}

package jsonl

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadHeadOfAnyLength holds that a header is found alike in the first kilobytes and
// beyond them.
func TestReadHeadOfAnyLength(t *testing.T) {
	for _, test := range []struct {
		name, before, line, after string
		skipped                   int
		number                    int
	}{
		{"plain", "", `{"a":1}`, "\n{}", 0, 1},
		{"only a header", "", `{"a":1}`, "", 0, 1},
		{"ended", "", `{"a":1}`, "\n", 0, 1},
		{"CR LF", "", `{"a":1}`, "\r\n{}\r\n", 0, 1},
		{"CR at the end", "", `{"a":1}`, "\r", 0, 1},
		{"blank lines", "\n \t\r\n", `{"a":1}`, "\n", 0, 3},
		{"BOM", bom, `{"a":1}`, "\n{", 1, 1},
		{"damage", "{\nnull\n", `{"a":1}`, "\n{\n", 2, 3},
		{"not UTF-8", "", "{\"a\":\"\xff\"}", "\n", 0, 1},
		{"space around", "\n", ` {"a":1} `, "\n", 0, 2},
	} {
		for _, pad := range []int{0, headBlock - 40, headBlock - len(test.line) - len(test.before) - 5, headBlock, 3 * headBlock, blockSize} {
			line := strings.Replace(test.line, `"a"`, `"`+strings.Repeat("a", max(pad, 1))+`"`, 1)
			src := Bytes([]byte(test.before + line + test.after))
			h, err := ReadHead(context.Background(), src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(line, string(h.Line)); diff != "" {
				t.Errorf("%s, %d (-want +got)\n%.200s", test.name, pad, diff)
			}
			off := int64(strings.LastIndex(test.before, "\n") + 1)
			if strings.HasPrefix(test.before, bom) {
				off = int64(len(bom))
			}
			next := off + int64(len(line)+len(test.after))
			if i := strings.IndexByte(test.after, '\n'); i >= 0 {
				next = off + int64(len(line)+i+1)
			}
			if h.Off != off || h.Next != next || h.Number != test.number || h.Skipped.Total != test.skipped || h.BadUTF8 != (test.name == "not UTF-8") {
				t.Errorf("%s, %d: %d to %d, line %d, %d skipped, bad UTF-8 %v; want %d to %d, line %d, %d skipped", test.name, pad,
					h.Off, h.Next, h.Number, h.Skipped.Total, h.BadUTF8, off, next, test.number, test.skipped)
			}
		}
	}
	for empty, skipped := range map[string]int{"": 0, "\n": 0, " \n\t\r\n": 0, "{\n": 1, "null": 1, "[\nnull\n": 2} {
		h, err := ReadHead(context.Background(), Bytes([]byte(empty)))
		if err != nil || h.Line != nil || h.Skipped.Total != skipped {
			t.Errorf("%q: %+v, %v", empty, h, err)
		}
	}
}

package history

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"stchat/internal/jsonl"
	"stchat/internal/meta"
)

// Each line counts for what it is by itself, wherever buffers end.
func TestCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	kinds := []string{
		`{"mes":"` + strings.Repeat("long ", 300) + `"}`, "", " \t", "\r", "{", "null", "[1]", "7", "\x00\x00",
		`{"chat_metadata":{}}`, "\xef\xbb\xbf{}", `{"mes":"` + "\xff" + `"} ` + "\r", ` {"mes":"\u0061"}`, strings.Repeat("[", jsonl.MaxDepth+1),
		`{"mes":"` + strings.Repeat("x", longLine-10) + `"}`, strings.Repeat("x", longLine+1), `{"mes":"` + strings.Repeat("x", longLine) + `"}`,
	}
	s := openNew(t)
	w, err := NewWriter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close(true)
	for range 20 {
		var lines []string
		many := random.IntN(60)
		for range random.IntN(3) * many {
			lines = append(lines, kinds[random.IntN(len(kinds))])
		}
		want := Content{}
		headed := false
		for _, line := range lines {
			line = strings.Trim(line, " \t\r")
			switch {
			case line == "":
			case line[0] != '{' || len(line) <= longLine && !jsonl.Valid([]byte(line)):
			case !headed && (len(line) > longLine || meta.IsHeader([]byte(line))):
				headed = true
			default:
				headed = true
				want.Messages++
			}
		}
		text := []byte(strings.Join(lines, "\n"))
		got, err := w.Read(bytes.NewReader(text), true)
		if err != nil {
			t.Fatal(err)
		}
		if got.Messages != want.Messages {
			t.Errorf("%d lines: %d messages, want %d", len(lines), got.Messages, want.Messages)
		}
	}
}

package edit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/ops/edit"
	"stchat/internal/sillytavern/choose"
)

// TestReadsOnceWritesOnce holds that an edit reads a chat once to find out what changes, and
// once to write it: a chat may have gigabytes.
func TestReadsOnceWritesOnce(t *testing.T) {
	if readSoFar(t) == 0 {
		t.Skip("the system does not count what is read")
	}
	const messages = 4000
	path := filepath.Join(t.TempDir(), "c.jsonl")
	var text strings.Builder
	text.WriteString(`{"chat_metadata":{"promptRegistry":{"nodes":{}}},"user_name":"unused","character_name":"unused"}`)
	for i := range messages {
		fmt.Fprintf(&text, "\n"+`{"name":"A","is_user":%v,"is_system":false,"send_date":"x","mes":"%d%s","extra":{}}`, i%2 == 0, i, strings.Repeat("x", 3000))
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	some := choose.Choice{Ranges: []choose.Range{{From: 5, To: 9}, {From: -300, To: -300}}}
	one := choose.Choice{Ranges: []choose.Range{{From: 2001, To: 2001}}}
	added := "y"
	for _, test := range []struct {
		name string
		edit func() []*edit.Result
	}{
		{"add", func() []*edit.Result {
			return edit.Add(t.Context(), edit.AddOptions{Options: options(path), Role: edit.RoleUser, Text: "x"})
		}},
		{"hide", func() []*edit.Result {
			return edit.Hide(t.Context(), edit.HideOptions{Options: options(path), Choice: some, Hide: true})
		}},
		{"swipe", func() []*edit.Result {
			return edit.Swipe(t.Context(), edit.SwipeOptions{Options: options(path), Choice: one, SwipeChange: edit.SwipeChange{Add: &added}})
		}},
		{"delete", func() []*edit.Result {
			return edit.Delete(t.Context(), edit.DeleteOptions{Options: options(path), Choice: some})
		}},
		{"add --at", func() []*edit.Result {
			at := 1500
			return edit.Add(t.Context(), edit.AddOptions{Options: options(path), Role: edit.RoleUser, Text: "x", At: &at})
		}},
		{"apply", func() []*edit.Result {
			list, err := edit.ReadOperations(t.Context(), "ops", []byte(`{"op":"delete","at":"5..9"}`+"\n"+`{"op":"hide","at":20}`))
			if err != nil {
				t.Fatal(err)
			}
			return edit.Apply(t.Context(), edit.BatchOptions{Options: options(path), Operations: list})
		}},
		{"add --at, from the end", func() []*edit.Result {
			at := -1
			return edit.Add(t.Context(), edit.AddOptions{Options: options(path), Role: edit.RoleUser, Text: "x", At: &at})
		}},
	} {
		before := readSoFar(t)
		for _, result := range test.edit() {
			if result.Err != nil {
				t.Fatalf("%s: %v", test.name, result.Err)
			}
		}
		if passes := float64(readSoFar(t)-before) / float64(text.Len()); passes > 2.5 {
			t.Errorf("%s reads the chat %.1f times", test.name, passes)
		}
	}
}

// readSoFar returns how many bytes this process has read from files, 0 if that is not known.
func readSoFar(t *testing.T) (n int64) {
	counts, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscanf(string(counts), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

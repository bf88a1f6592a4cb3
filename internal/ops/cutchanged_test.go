package ops_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stchat/internal/jsonl"
	"stchat/internal/names"
	"stchat/internal/ops"
)

// A source that SillyTavern saves while it is read gives no new chat: neither
// half of the one, half of the other, nor one that only looks whole.
func TestSourceChangesMeanwhile(t *testing.T) {
	const before = "{\"chat_metadata\":{}}\n{\"mes\":\"0\"}\n{\"mes\":\"1\"}"
	changes := map[string]func(path string) error{
		"longer":  func(path string) error { return os.WriteFile(path, []byte(before+"\n{\"mes\":\"2\"}"), 0o666) },
		"shorter": func(path string) error { return os.Truncate(path, int64(len(before)-12)) },
		"other text": func(path string) error {
			return os.WriteFile(path, bytes.ReplaceAll([]byte(before), []byte("1"), []byte("x")), 0o666)
		},
	}
	for name, change := range changes {
		for _, kind := range []names.Kind{names.Checkpoint, names.Branch} {
			t.Run(name+" "+kind.String(), func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "c.jsonl")
				if err := os.WriteFile(path, []byte(before), 0o666); err != nil {
					t.Fatal(err)
				}
				old := time.Now().Add(-time.Hour)
				if err := os.Chtimes(path, old, old); err != nil {
					t.Fatal(err)
				}
				results, err := ops.Cut(t.Context(), ops.CutOptions{
					Kind: kind, Sources: []string{path}, At: -1, Swipe: -1, Integrity: ops.IntegrityNew,
					State: ops.StateOptions{Lorebook: ops.LorebookShare}, Now: time.Now(),
					// the header is made once the chat is open and before it is copied
					NewUUID: func() string {
						if err := change(path); err != nil {
							t.Error(err)
						}
						return "99999999-8888-4777-8666-555555555555"
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				if got := results[0].Err; !errors.Is(got, jsonl.ErrChanged) || results[0].Written {
					t.Errorf("error %v, written %v; want %v", got, results[0].Written, jsonl.ErrChanged)
				}
				if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
					t.Errorf("the folder has %v, %v; want the source alone", entries, err)
				}
			})
		}
	}
}

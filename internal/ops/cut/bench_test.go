package cut_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/ops/cut"
	"stchat/internal/place/names"
)

// benchFile writes a chat of so many messages of about 1.2 KB.
func benchFile(b *testing.B, folder string, messages int) (path string, size int64) {
	b.Helper()
	lines := []string{`{"chat_metadata":{"integrity":"11111111-0000-4000-8000-000000000000"},"user_name":"unused","character_name":"unused"}`}
	text := strings.Repeat(`The harbour lies quiet. \"Stay,\" she says.\n\n`, 10)
	for i := range messages {
		lines = append(lines, fmt.Sprintf(`{"name":"Mira","is_user":false,"send_date":"2026-01-02T03:04:%02d.000Z","mes":"%s","extra":{"api":"openai","token_count":%d},"swipe_id":0,"swipes":["%s","%s"]}`, i%60, text, i, text, text))
	}
	data := strings.Join(lines, "\n")
	path = filepath.Join(folder, "Mira - Harbour.jsonl")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		b.Fatal(err)
	}
	return path, int64(len(data))
}

// BenchmarkCheckpoint makes a checkpoint without a sync: whole, and in the
// middle, where half the file is not looked at.
func BenchmarkCheckpoint(b *testing.B) {
	for _, messages := range []int{200, 10_000} {
		for name, at := range map[string]int{"whole": messages - 1, "half": messages / 2} {
			b.Run(fmt.Sprintf("messages=%d/%s", messages, name), func(b *testing.B) {
				path, size := benchFile(b, b.TempDir(), messages)
				out := filepath.Join(filepath.Dir(path), "out.jsonl")
				b.SetBytes(size * int64(at+1) / int64(messages))
				b.ReportAllocs()
				for b.Loop() {
					results := cut.Run(context.Background(), cut.Options{
						Kind: names.Checkpoint, Sources: []string{path}, At: at, Output: out, Lorebook: cut.LorebookShare,
						Integrity: "22222222-0000-4000-8000-000000000000", Changes: changeset.Options{NoSync: true, Now: time.Now()},
					})
					if err := results[0].Err; err != nil {
						b.Fatal(err)
					}
					if err := os.Remove(out); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

package ops_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/folder/inspect"
	"stchat/internal/ops"
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

// BenchmarkInspect inspects one chat, and a folder of small ones.
func BenchmarkInspect(b *testing.B) {
	run := func(b *testing.B, path string, size int64) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			_, err := ops.Inspect(context.Background(), ops.InspectOptions{
				List: ops.List{Paths: []string{path}},
				Each: func(_ *inspect.Report, err error) error { return err },
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("messages=10000", func(b *testing.B) {
		path, size := benchFile(b, b.TempDir(), 10_000)
		run(b, path, size)
	})
	b.Run("chats=200", func(b *testing.B) {
		folder, all := b.TempDir(), int64(0)
		for i := range 200 {
			_, size := benchFile(b, filepath.Join(folder, fmt.Sprintf("Mira %d", i)), 60)
			all += size
		}
		run(b, folder, all)
	})
}

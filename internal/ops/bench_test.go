package ops_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/inspect"
	"stchat/internal/names"
	"stchat/internal/ops"
)

// benchFile writes a chat of so many messages of about 1.2 KB.
func benchFile(b *testing.B, folder string, messages int) (path string, size int64) {
	b.Helper()
	lines := []string{head(1, "")}
	text := strings.Repeat(`The harbour lies quiet. \"Stay,\" she says.\n\n`, 10)
	for i := range messages {
		lines = append(lines, say(i%60, fmt.Sprintf(`"extra":{"api":"openai","token_count":%d},"swipe_id":0,"swipes":["%s","%s"]`, i, text, text)))
	}
	data := chat(lines...)
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
					results, err := ops.Cut(context.Background(), ops.CutOptions{
						Kind: names.Checkpoint, Sources: []string{path}, At: at, Output: out, Swipe: -1,
						Integrity: "22222222-0000-4000-8000-000000000000", NoSync: true, Now: now,
					})
					if err == nil {
						err = results[0].Err
					}
					if err != nil {
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

// BenchmarkInspect inspects one chat, and a folder of small ones.
func BenchmarkInspect(b *testing.B) {
	run := func(b *testing.B, path string, size int64) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			_, err := ops.Inspect(context.Background(), ops.InspectOptions{
				Paths: []string{path},
				Each:  func(_ *inspect.Report, err error) error { return err },
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

// BenchmarkCheck checks one chat.
func BenchmarkCheck(b *testing.B) {
	path, size := benchFile(b, b.TempDir(), 10_000)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ops.Check(context.Background(), ops.CheckOptions{Paths: []string{path}, Now: now}); err != nil {
			b.Fatal(err)
		}
	}
}

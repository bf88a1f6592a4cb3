package look_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stchat/internal/ops"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/text/words"
)

// What a hit costs in a chat with a line that is no message, so that the lines before a hit must be
// looked at to count messages: the same in a long one.
func BenchmarkSearchTorn(b *testing.B) {
	query, err := words.Parse("lamp")
	if err != nil {
		b.Fatal(err)
	}
	for _, messages := range []int{500, 5000} {
		b.Run(fmt.Sprint(messages), func(b *testing.B) {
			root := b.TempDir()
			lines := []string{`{"chat_metadata":{}}`, `{"torn`}
			for i := range messages {
				lines = append(lines, fmt.Sprintf(`{"name":"M","is_user":false,"mes":"lamp %d"}`, i))
			}
			path := filepath.Join(root, "chats", "Mira", "A.jsonl")
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
				b.Fatal(err)
			}
			list := ops.List{Paths: []string{root}}
			_, err := keep.Snapshot(context.Background(), keep.SnapshotOptions{List: list, Now: time.Now().Add(time.Hour), Each: func(keep.Taken) error { return nil }})
			if err != nil {
				b.Fatal(err)
			}
			hits := 0
			opt := look.SearchOptions{List: list, Query: query, Store: func(root string) string { return keep.StoreOf(root, "") }}
			opt.Each = func(*look.SearchHit) error {
				hits++
				return nil
			}
			for b.Loop() {
				if _, err := look.Search(b.Context(), opt); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(hits), "ns/hit")
		})
	}
}

package jsonl

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file of nothing but damage must not become memory: the first lines are
// kept, and the rest is counted exactly, wherever reading stops.
func TestManyDamages(t *testing.T) {
	const messages, each = 50, 7 // damaged lines in front of each message
	var b strings.Builder
	for i := range messages {
		b.WriteString(strings.Repeat("x\n", each) + fmt.Sprintf("{\"mes\":\"%d\"}\n", i))
	}
	b.WriteString(strings.Repeat("x\n", each))
	for _, block := range []int64{16, 64, 1 << 10, 0} {
		for limit := -1; limit <= messages; limit++ {
			src := Bytes([]byte(b.String()))
			src.block = block
			want := limit * each
			if limit < 0 {
				want = (messages + 1) * each
			}
			var read Damages
			opt := MapOptions{Limit: limit, Keys: NewKeys()}
			err := Map(context.Background(), src, opt, func(*Line, *int) {}, func(_ *int, _ Base, d Damages) error {
				read.Append(d)
				return nil
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			copied, err := Copy(context.Background(), nil, src, CopyOptions{Limit: limit, Skip: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(read, copied.Skipped); diff != "" {
				t.Fatalf("block %d, limit %d (-Map +Copy)\n%s", block, limit, diff)
			}
			if read.Total != want || len(read.First) != min(want, MaxDamage) || read.More() != max(0, want-MaxDamage) {
				t.Fatalf("block %d, limit %d: %d damaged lines, %d kept; want %d", block, limit, read.Total, len(read.First), want)
			}
			for i, d := range read.First {
				if line, before := i/each*(each+1)+i%each+1, i/each; d.Line != line || d.Before != before {
					t.Fatalf("block %d: damage %d is in line %d behind %d messages, want %d, %d", block, i, d.Line, d.Before, line, before)
				}
			}
		}
	}
}

func TestBadUTF8IsCounted(t *testing.T) {
	src := Bytes([]byte("{\"a\":\"\xff\"}\n{}\n{\"a\":\"\xff\"}\n{}\n{\"a\":\"\xff\"}"))
	for _, src.block = range []int64{12, 20, 0} {
		for limit, want := range []int{0, 1, 1, 2, 2, 3} {
			c, err := Copy(context.Background(), nil, src, CopyOptions{Limit: limit, Last: 2})
			if err != nil {
				t.Fatal(err)
			}
			marks := ""
			for _, p := range c.Last {
				marks += fmt.Sprint(p.Index, p.BadUTF8, " ")
			}
			wantMarks := []string{"", "0 true ", "0 true 1 false ", "1 false 2 true ", "2 true 3 false ", "3 false 4 true "}[limit]
			if c.BadUTF8 != want || c.BadAt != 0 || marks != wantMarks {
				t.Errorf("block %d, limit %d: %d bad lines from %d on, last %s", src.block, limit, c.BadUTF8, c.BadAt, marks)
			}
		}
	}
}

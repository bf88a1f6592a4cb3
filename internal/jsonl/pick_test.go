package jsonl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Lines come as they are and in their order, whichever are picked and however long.
func TestPick(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		var text strings.Builder
		var all []Picked
		var lines []string
		for i := range random.IntN(3000) {
			line := fmt.Sprintf("%d%s", i, strings.Repeat("x", random.IntN(300)))
			if random.IntN(700) == 0 {
				line += strings.Repeat("long", pickBytes/3)
			}
			all, lines = append(all, Picked{int64(text.Len()), int64(len(line))}), append(lines, line)
			text.WriteString(line + []string{"\n", "\r\n", "\n\n \n"}[random.IntN(3)])
		}
		every := 1 + random.IntN(5)
		var want []string
		jobs := func(yield func(int) bool) {
			for i := 0; i < len(all); i += every {
				if !yield(i) {
					return
				}
			}
		}
		for i := range jobs {
			want = append(want, lines[i])
		}
		var got []string
		err := Pick(t.Context(), Bytes([]byte(text.String())), jobs, func(i int) Picked { return all[i] },
			func(i int, line []byte, batch *[]string) error {
				if string(line) != lines[i] {
					return fmt.Errorf("line %d is another", i)
				}
				*batch = append(*batch, string(line))
				return nil
			},
			func(batch *[]string) error {
				got = append(got, *batch...)
				return nil
			})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d lines of %d, every %dth: %d came, error %v", len(want), len(lines), every, len(got), err)
		}
	}
}

// An error ends it wherever it comes from, and what came before it was folded.
func TestPickEnds(t *testing.T) {
	const n = 20_000
	src := Bytes([]byte(strings.Repeat(strings.Repeat("y", 99)+"\n", n)))
	bad := errors.New("bad")
	jobs := iter.Seq[int](func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	})
	at := func(i int) Picked { return Picked{int64(i) * 100, 99} }
	none := func(int, []byte, *int) error { return nil }
	pick := func(ctx context.Context, src Source, work func(int, []byte, *int) error, fold func(*int) error) error {
		return Pick(ctx, src, jobs, at, work, fold)
	}
	done := 0
	err := pick(t.Context(), src, func(i int, _ []byte, batch *int) error {
		if i == n/2 {
			return bad
		}
		*batch++
		return nil
	}, func(batch *int) error {
		done += *batch
		return nil
	})
	if !errors.Is(err, bad) || done == 0 || done > n/2 {
		t.Errorf("work: error %v after %d", err, done)
	}
	if err := pick(t.Context(), src, none, func(*int) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("fold: error %v", err)
	}
	if err := pick(t.Context(), Bytes([]byte("short")), none, func(*int) error { return nil }); !errors.Is(err, ErrChanged) {
		t.Errorf("a shorter file: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = pick(ctx, src, none, func(*int) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

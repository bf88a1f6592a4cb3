package jsonl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// benchChat makes a chat of about benchSize bytes, shaped as SillyTavern's are: half
// the messages are short, the others have swipes; text has escapes, and one
// sentence in twenty letters beyond ASCII.
func benchChat() []byte {
	r := rand.New(rand.NewPCG(7, 8))
	text := func(n int) string {
		var t strings.Builder
		for t.Len() < n {
			switch r.IntN(20) {
			case 0:
				t.WriteString("Тихо, и лишь 海の音が聞こえる — rien d'autre. ")
			case 1, 2, 3, 4:
				t.WriteString(`Stay, she says.\n\n*The lamp burns low.* `)
			default:
				t.WriteString("The harbour lies quiet under the fog, and nobody comes. "[:30+r.IntN(26)])
			}
		}
		return t.String()
	}
	const date = "2026-01-02T03:04:05.000Z"
	var b strings.Builder
	b.WriteString(`{"chat_metadata":{"integrity":"00000000-0000-4000-8000-000000000000"},"user_name":"unused","character_name":"unused"}`)
	for b.Len() < benchSize {
		fmt.Fprintf(&b, "\n"+`{"name":"Tester","is_user":true,"is_system":false,"send_date":"%s","mes":"%s","extra":{"isSmallSys":false},"force_avatar":"/thumbnail?type=persona&file=user-default.png"}`, date, text(r.IntN(1200)))
		mes, other := text(r.IntN(2000)), text(r.IntN(2000))
		fmt.Fprintf(&b, "\n"+`{"name":"Mira","is_user":false,"is_system":false,"send_date":"%[1]s","mes":"%[2]s","extra":{"api":"openai","model":"saltmarsh-24b-instruct","time_to_first_token":%[4]d,"token_count":%[5]d},"gen_started":"%[1]s","gen_finished":"%[1]s","swipe_id":0,"swipes":["%[2]s","%[3]s"],"swipe_info":[{"send_date":"%[1]s","gen_started":null,"gen_finished":null,"extra":{"api":"openai"}},{"send_date":"%[1]s","extra":{}}]}`,
			date, mes, other, r.IntN(4000), r.IntN(900))
	}
	return []byte(b.String())
}

// longLines makes a chat whose lines hold an inlined picture each.
func longLines(lines, size int) []byte {
	line := `{"name":"Mira","mes":"a picture","extra":{"image":"data:image/png;base64,` + strings.Repeat("iVBORw0KGgoAAAANSUhEUg", size/22) + `"}}`
	return []byte(strings.Repeat(line+"\n", lines))
}

const benchSize = 16 << 20

func BenchmarkScanner(b *testing.B) {
	data := append(benchChat(), '\n')
	for _, keys := range []*Keys{nil, NewKeys("mes")} {
		b.Run(fmt.Sprintf("members=%v", keys != nil), func(b *testing.B) {
			s := scanner{keys: keys}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				for i := 0; i < len(data); {
					s.reset()
					n, _ := s.feed(data[i:])
					i += n
				}
			}
		})
	}
}

func BenchmarkSkip(b *testing.B) {
	for _, size := range []int{4, 12, 24, 60, 400, 100_000} {
		p := []byte(strings.Repeat("a", size) + `"` + strings.Repeat("b", 100))
		for name, skip := range map[string]func([]byte) (int, bool){"portable": skipPlainPortable, "fast": skipPlain} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					skip(p)
				}
			})
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	for _, bench := range []struct {
		name string
		data []byte
	}{{"messages", benchChat()}, {"pictures", longLines(4, 6<<20)}} {
		for _, workers := range []int{1, 0} {
			b.Run(fmt.Sprintf("%s/workers=%d", bench.name, workers), func(b *testing.B) {
				b.SetBytes(int64(len(bench.data)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Copy(context.Background(), io.Discard, Bytes(bench.data), CopyOptions{Limit: -1, Last: 1, Workers: workers}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkMap(b *testing.B) {
	keys := NewKeys("name", "is_user", "is_system", "send_date", "swipes", "extra")
	type counts struct{ user, swipes int }
	for _, bench := range []struct {
		name string
		data []byte
	}{{"messages", benchChat()}, {"pictures", longLines(4, 6<<20)}} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.data)))
			b.ReportAllocs()
			for b.Loop() {
				var all counts
				err := Map(context.Background(), Bytes(bench.data), MapOptions{Limit: -1, Keys: keys},
					func(l *Line, c *counts) {
						if raw, ok := l.Value(1); ok && string(raw) == "true" {
							c.user++
						}
						c.swipes += l.Count(4)
					},
					func(c *counts, _ Base, _ Damages) error {
						all.user += c.user
						all.swipes += c.swipes
						return nil
					}, nil)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBlocks is what a block costs: with the index where the processor has what that takes,
// and byte by byte.
func BenchmarkBlocks(b *testing.B) {
	data := append(benchChat(), '\n')
	b.Run("scanLines", func(b *testing.B) {
		s := scanner{keys: NewKeys("mes")}
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			for i := 0; i < len(data); {
				end := min(len(data), i+blockSize)
				end = i + bytes.LastIndexByte(data[i:end], '\n') + 1
				blk := block{off: 1, data: data[i:end]}
				s.scanLines(&blk, false, nil)
				i = end
			}
		}
	})
	b.Run("fed", func(b *testing.B) {
		s := scanner{keys: NewKeys("mes")}
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			for i := 0; i < len(data); {
				s.reset()
				n, _ := s.feed(data[i:])
				i += n
			}
		}
	})
}

package jsonl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// plainLine is what the naive reading says of a line.
type plainLine struct {
	number int
	text   string
	bad    bool
}

// plainRead reads a chat as the rules say it, in the simplest way.
func plainRead(data string) (lines []plainLine) {
	for i, text := range strings.Split(data, "\n") {
		hasBOM := i == 0 && strings.HasPrefix(text, bom)
		if hasBOM {
			text = text[len(bom):]
		}
		text = strings.TrimSuffix(text, "\r")
		switch {
		case strings.Trim(text, " \t\r") == "":
		case !json.Valid([]byte(text)) || strings.TrimLeft(text, " \t\r")[0] != '{':
			lines = append(lines, plainLine{i + 1, text, true})
		default:
			lines = append(lines, plainLine{i + 1, text, false})
		}
	}
	return lines
}

// randomChat makes a chat with all that can happen to lines.
func randomChat(r *rand.Rand, lines int) string {
	var b strings.Builder
	if r.IntN(5) == 0 {
		b.WriteString(bom)
	}
	for i := range lines {
		if i > 0 {
			b.WriteString([]string{"\n", "\n", "\n", "\r\n", "\n\n", "\n \t\r\n"}[r.IntN(6)])
		}
		text := strings.Repeat("x", r.IntN(70))
		switch r.IntN(12) {
		case 0:
			fmt.Fprintf(&b, `{"mes":"%s`, text)
		case 1:
			b.WriteString("\x00\x00\x00")
		case 2:
			b.WriteString([]string{"5", "null", `"s"`, "[1]", "false"}[r.IntN(5)])
		default:
			fmt.Fprintf(&b, ` {"i":%d,"mes":"%s é","extra":{"a":[1,2]}} `, i, text)
		}
	}
	if r.IntN(2) == 0 {
		b.WriteString("\n")
	}
	return b.String()
}

func TestCopyAgainstPlainReading(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		data := randomChat(r, r.IntN(30))
		lines := plainRead(data)
		src := Bytes([]byte(data))
		src.block = int64(4 + r.IntN(200))
		opt := CopyOptions{Limit: r.IntN(20) - 3, Last: r.IntN(5), Skip: true, Workers: 1 + r.IntN(4)}
		var want strings.Builder
		var skipped []int
		var kept []Place
		for _, l := range lines {
			if opt.Limit >= 0 && len(kept) == opt.Limit {
				break
			}
			if l.bad {
				skipped = append(skipped, l.number)
				continue
			}
			kept = append(kept, Place{Index: len(kept), Line: l.number, Len: int64(len(l.text)), Out: int64(want.Len() + 1)})
			want.WriteString("\n" + l.text)
		}
		var got bytes.Buffer
		c, err := Copy(context.Background(), &got, src, opt)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if got.String() != want.String() || c.Lines != len(kept) || c.Bytes != int64(want.Len()) {
			t.Fatalf("round %d: %q\nlimit %d block %d: got %q\nwant %q", round, data, opt.Limit, src.block, got.String(), want.String())
		}
		var numbers []int
		for _, d := range c.Skipped.First {
			if d.Code != BOM {
				numbers = append(numbers, d.Line)
			}
		}
		if diff := cmp.Diff(skipped, numbers); diff != "" {
			t.Fatalf("round %d: skipped lines (-want +got)\n%s", round, diff)
		}
		last := kept[max(0, len(kept)-opt.Last):]
		if diff := cmp.Diff(last, c.Last, cmpopts.IgnoreFields(Place{}, "Off"), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("round %d: last (-want +got)\n%s", round, diff)
		}
		for _, p := range c.Last {
			if text := data[p.Off : p.Off+p.Len]; "\n"+text != got.String()[p.Out-1:p.Out+p.Len] {
				t.Fatalf("round %d: place %+v holds %q", round, p, text)
			}
		}
	}
}

func TestCopyStopsAtTheFirstDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 500 {
		data := randomChat(r, 1+r.IntN(40))
		src := Bytes([]byte(data))
		src.block = int64(4 + r.IntN(150))
		_, err := Copy(context.Background(), io.Discard, src, CopyOptions{Limit: -1, Workers: 1 + r.IntN(4)})
		want := 0
		if strings.HasPrefix(data, bom) {
			want = 1
		}
		for _, l := range plainRead(data) {
			if l.bad && want == 0 {
				want = l.number
			}
		}
		var d *Damage
		errors.As(err, &d)
		if d != nil {
			if d.Line != want {
				t.Fatalf("round %d: damage at line %d, want %d in %q", round, d.Line, want, data)
			}
		} else if want != 0 || err != nil {
			t.Fatalf("round %d: no damage (%v), want line %d", round, err, want)
		}
	}
}

// A damaged line behind the last one that is needed is nobody's business.
func TestCopyDoesNotLookBehindTheLimit(t *testing.T) {
	data := "{\"i\":0}\n{\"i\":1}\n{\"torn"
	var out bytes.Buffer
	c, err := Copy(context.Background(), &out, Bytes([]byte(data)), CopyOptions{Limit: 2})
	if err != nil || c.Lines != 2 {
		t.Fatalf("%d lines, %v", c.Lines, err)
	}
	if _, err = Copy(context.Background(), &out, Bytes([]byte(data)), CopyOptions{Limit: 3}); err == nil {
		t.Fatal("the torn line was needed, and no error came")
	}
}

func TestMapAgainstPlainReading(t *testing.T) {
	type batch struct {
		texts []string
		bad   []int
	}
	keys := NewKeys("mes", "nothing", "i")
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 1000 {
		data := randomChat(r, r.IntN(30))
		src := Bytes([]byte(data))
		src.block = int64(4 + r.IntN(200))
		limit := r.IntN(20) - 3
		var want, got []string
		var wantBad, gotBad []int
		index := 0
		for _, l := range plainRead(data) {
			if limit >= 0 && index == limit {
				break
			}
			if l.bad {
				wantBad = append(wantBad, l.number)
				continue
			}
			index++
			want = append(want, fmt.Sprintf("%d %s", l.number, l.text))
		}
		err := Map(context.Background(), src, MapOptions{Limit: limit, Keys: keys, Workers: 1 + r.IntN(4)},
			func(l *Line, b *batch) {
				if l.Damage != nil {
					return
				}
				mes, _ := l.Value(0)
				var m struct{ Mes string }
				if json.Unmarshal(l.Raw, &m) != nil || fmt.Sprintf("%q", m.Mes) != string(mes) {
					t.Errorf("value of mes is %s in %s", mes, l.Raw)
				}
				if _, ok := l.Value(1); ok {
					t.Errorf("a value for a key that is not there")
				}
				b.bad = append(b.bad, l.Number)
				b.texts = append(b.texts, string(l.Raw))
			},
			func(b *batch, base Base, damage Damages) error {
				if base.Index != len(got) {
					t.Errorf("round %d: batch at index %d, want %d", round, base.Index, len(got))
				}
				for i, text := range b.texts {
					got = append(got, fmt.Sprintf("%d %s", base.Line+b.bad[i]+1, text))
				}
				for _, d := range damage.First {
					if d.Code != BOM {
						gotBad = append(gotBad, d.Line)
					}
				}
				return nil
			}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d: limit %d (-want +got)\n%s", round, limit, diff)
		}
		if diff := cmp.Diff(wantBad, gotBad); diff != "" {
			t.Fatalf("round %d: damage (-want +got)\n%s", round, diff)
		}
	}
}

func TestReadHead(t *testing.T) {
	for _, tc := range []struct {
		data string
		want Head
	}{
		{"", Head{}},
		{"\n \r\n", Head{}},
		{"{\"a\":1}", Head{Line: []byte(`{"a":1}`), Number: 1, Next: 7}},
		{"\n{\"a\":1}\r\n{}", Head{Line: []byte(`{"a":1}`), Number: 2, Off: 1, Next: 10}},
		{bom + "{}\n{}", Head{Line: []byte(`{}`), Number: 1, Off: 3, Next: 6, Skipped: Damages{Total: 1, First: []Damage{{Line: 1, Column: 1, Code: BOM, Byte: 0xef, Reason: "the file begins with a byte order mark (BOM)"}}}}},
		{"{\"a\n{}", Head{Line: []byte(`{}`), Number: 2, Off: 4, Next: 6, Skipped: Damages{Total: 1, First: []Damage{{Line: 1, Column: 4, Code: InvalidJSON, Byte: -1, Reason: "the line ends inside a string"}}}}},
	} {
		got, err := ReadHead(context.Background(), Bytes([]byte(tc.data)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreUnexported(Damage{})); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tc.data, diff)
		}
	}
}

// The file became shorter: that must never look like a shorter chat.
func TestShrunk(t *testing.T) {
	src := Bytes([]byte("{\"a\":1}\n{\"a\":2}\n"))
	src.Size += 5
	if _, err := Copy(context.Background(), io.Discard, src, CopyOptions{Limit: -1}); !errors.Is(err, ErrChanged) {
		t.Fatalf("got %v", err)
	}
}

type failing struct {
	io.ReaderAt
	at int64
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.at {
		return 0, errors.New("the disk is broken")
	}
	return f.ReaderAt.ReadAt(p, off)
}

func TestReadErrorSurfaces(t *testing.T) {
	data := strings.Repeat("{\"a\":1}\n", 100)
	src := Source{R: failing{strings.NewReader(data), 400}, Size: int64(len(data)), block: 64}
	_, err := Copy(context.Background(), io.Discard, src, CopyOptions{Limit: -1})
	if err == nil || err.Error() != "the disk is broken" {
		t.Fatalf("got %v", err)
	}
	// but not where what is needed could be read
	if c, err := Copy(context.Background(), io.Discard, src, CopyOptions{Limit: 20}); err != nil || c.Lines != 20 {
		t.Fatalf("%d lines, %v", c.Lines, err)
	}
}

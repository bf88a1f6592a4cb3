package jsonl

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEachIsMap holds that Each gives what Map gives, whatever lies in its
// buffer from before.
func TestEachIsMap(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	pieces := []string{`{"a":1,"b":[1,2]}`, `{"b":{"x":1},"a":2,"\u0061":3}`, "", " \t", "{", "null", "[1]", `{"a":"` + strings.Repeat("x", 300) + `"}`, "\xef\xbb\xbf{}", "{\"a\":\"\xff\"}"}
	var buf Buffer
	keys := []*Keys{NewKeys("a", "b"), NewKeys("none", "b", "a")} // the buffer is used with both
	for range 500 {
		var text strings.Builder
		if random.IntN(4) == 0 {
			text.WriteString("\xef\xbb\xbf")
		}
		for range random.IntN(9) {
			text.WriteString(pieces[random.IntN(len(pieces))] + []string{"\n", "\r\n"}[random.IntN(2)])
		}
		if random.IntN(2) == 0 {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		src := Bytes([]byte(text.String()))
		opt := MapOptions{Limit: -1, Keys: keys[random.IntN(2)], Workers: 1, Line: random.IntN(3)}
		var got, want []string
		tell := func(l *Line) string {
			if l.Damage != nil {
				return fmt.Sprintf("%q %v %d %d %d", l.Raw, l.Damage, l.Number, l.Index, l.Off)
			}
			a, _ := l.Value(0)
			b, _ := l.Value(1)
			return fmt.Sprintf("%q %v %v %d %d %d %q %q %d %d", l.Raw, l.BadUTF8, l.CRLF, l.Number, l.Index, l.Off, a, b, l.Count(1), len(l.Members()))
		}
		var wantDamage []Damage
		err := Map(context.Background(), src, opt, func(l *Line, list *[]string) { *list = append(*list, tell(l)) },
			func(list *[]string, _ Base, damage Damages) error {
				want = append(want, *list...)
				wantDamage = append(wantDamage, damage.First...)
				return nil
			}, nil)
		if err != nil {
			t.Fatal(err)
		}
		damage, err := buf.Each(src, opt, func(l *Line) { got = append(got, tell(l)) })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-Map +Each)\n%s", text.String(), diff)
		}
		if diff := cmp.Diff(wantDamage, append([]Damage(nil), damage.First...)); diff != "" {
			t.Fatalf("%q (-Map +Each)\n%s", text.String(), diff)
		}
	}
}

// TestEachInOrder holds that Each counts lines across blocks as Map does, and that an error of
// work ends it.
func TestEachInOrder(t *testing.T) {
	text := strings.Repeat("{\"a\":1}\n\n{\"torn\n", 40) + "{\"a\":2}"
	src := Bytes([]byte(text))
	src.block = 32
	type seen struct {
		number, index int
		damaged       bool
	}
	var want, got []seen
	err := Map(t.Context(), src, MapOptions{Limit: -1, Keys: NewKeys()}, func(l *Line, b *[]seen) {
		*b = append(*b, seen{l.Number, l.Index, l.Damage != nil})
	}, func(b *[]seen, base Base, _ Damages) error {
		for _, s := range *b {
			want = append(want, seen{base.Line + s.number, base.Index + s.index, s.damaged})
		}
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	each := func(most int) error {
		got = nil
		return Each(t.Context(), src, MapOptions{Keys: NewKeys()}, func(l *Line, base Base) error {
			if len(got) == most {
				return context.Canceled
			}
			got = append(got, seen{base.Line + l.Number, base.Index + l.Index, l.Damage != nil})
			return nil
		})
	}
	if err := each(-1); err != nil || len(got) != 81 || !cmp.Equal(want, got, cmp.AllowUnexported(seen{})) {
		t.Errorf("%v; %d lines:\n%s", err, len(got), cmp.Diff(want, got, cmp.AllowUnexported(seen{})))
	}
	if err := each(3); !errors.Is(err, context.Canceled) || len(got) != 3 {
		t.Errorf("stopped after three lines: %v, %d", err, len(got))
	}
}

// TestDamagedValues: a damaged line has no values, whatever stood before it.
func TestDamagedValues(t *testing.T) {
	for _, text := range []string{"{\"a\":1", "{\"a\":1}\n{\"a\":2", "{\"a\":1,\"a\":2}\n\"a\"\x00\n{\"b\":3}"} {
		err := Each(t.Context(), Bytes([]byte(text)), MapOptions{Keys: NewKeys("a")}, func(l *Line, _ Base) error {
			if raw, ok := l.Value(0); l.Damage != nil && (ok || raw != nil) {
				t.Errorf("%q: %q", text, raw)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A line of millions of keys must not become members of many times its size; what
// is asked for is found all the same, and the last one counts.
func TestManyMembers(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"early":1,"mes":0`)
	for i := range 3 * MaxMembers {
		fmt.Fprintf(&b, `,"k%d":0,"mes":%d`, i, i+1)
	}
	b.WriteString(`,"late":"l"}`)
	var buf Buffer
	_, err := buf.Each(Bytes([]byte(b.String())), MapOptions{Keys: NewKeys("mes", "late", "early", "never")}, func(l *Line) {
		got := []string{}
		for k := range 4 {
			raw, _ := l.Value(k)
			got = append(got, string(raw))
		}
		if diff := cmp.Diff([]string{fmt.Sprint(3 * MaxMembers), `"l"`, "1", ""}, got); diff != "" {
			t.Errorf("values (-want +got)\n%s", diff)
		}
		if n := len(l.Members()); n != MaxMembers+2 {
			t.Errorf("%d members are kept", n)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Lines reads what Each reads, but takes no BOM for a file's.
func TestLinesIsEach(t *testing.T) {
	keys := NewKeys("a")
	for _, size := range []int{1, 40_000} { // the longer text is indexed
		text := strings.Repeat(`{"a":"x"}`+"\n \t\r\n{\"a\":\n"+`{"b":"\u0061","a":[1]}`+"\r\n", size)
		var each, lines []string
		tell := func(l *Line) string {
			if l.Damage != nil {
				return fmt.Sprintf("%q %v", l.Raw, l.Damage)
			}
			a, _ := l.Value(0)
			return fmt.Sprintf("%q %v %v %q", l.Raw, l.CRLF, l.Plain, a)
		}
		if _, err := new(Buffer).Each(Bytes([]byte(text)), MapOptions{Limit: -1, Keys: keys}, func(l *Line) { each = append(each, tell(l)) }); err != nil {
			t.Fatal(err)
		}
		var buf Buffer
		buf.Lines([]byte(text), keys, func(l *Line) { lines = append(lines, tell(l)) })
		if diff := cmp.Diff(each, lines); diff != "" {
			t.Errorf("(-Each +Lines)\n%s", diff)
		}
		buf.Lines([]byte("\xef\xbb\xbf{}\n"), keys, func(l *Line) {
			if l.Damage == nil {
				t.Errorf("%q counts as a line", l.Raw)
			}
		})
	}
}

package jsonl

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// All pairs of bytes, and the characters at every border of UTF-8, with ASCII
// before them so that each lies across a step of the wide variant once.
func TestValidUTF8(t *testing.T) {
	check := func(s string) {
		t.Helper()
		for _, before := range []int{0, 29, 30, 31} {
			for _, after := range []int{0, 1} {
				p := []byte(strings.Repeat("a", before) + s + strings.Repeat("b", after))
				if got, want := validUTF8(p), utf8.Valid(p); got != want {
					t.Fatalf("%q: %v, want %v", p, got, want)
				}
			}
		}
	}
	for i := range 1 << 16 {
		check(string([]byte{byte(i >> 8), byte(i)}))
	}
	for _, r := range []rune{0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff} {
		s := string(r)
		check(s)
		for i := range s {
			check(s[:i] + s[i+1:])
			check(s[:i] + "a" + s[i:])
		}
	}
	for _, s := range []string{"\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x8f\xbf\xbf", "\xe0\x9f\xbf", "\xf8\x88\x80\x80\x80", strings.Repeat("\x80", 40)} {
		check(s)
	}
	r := rand.New(rand.NewPCG(9, 9))
	for range 20_000 {
		var p []byte
		for range r.IntN(40) {
			p = utf8.AppendRune(p, []rune{'a', 'é', 'я', '海', '😀', rune(r.IntN(0x110000))}[r.IntN(6)])
		}
		if len(p) > 0 && r.IntN(2) == 0 {
			p[r.IntN(len(p))] = byte(r.IntN(256))
		}
		if got, want := validUTF8(p), utf8.Valid(p); got != want {
			t.Fatalf("%q: %v, want %v", p, got, want)
		}
	}
}

func FuzzValidUTF8(f *testing.F) {
	f.Add([]byte("aé日😀"), 30)
	f.Add(bytes.Repeat([]byte("日"), 40), 0)
	f.Add([]byte("\xf0\x9f\x98"), 31)
	f.Fuzz(func(t *testing.T, p []byte, before int) {
		if before > 0 && before < 70 {
			p = append(bytes.Repeat([]byte("a"), before), p...)
		}
		if got, want := validUTF8(p), utf8.Valid(p); got != want {
			t.Fatalf("%q: %v, want %v", p, got, want)
		}
	})
}

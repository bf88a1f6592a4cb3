package jsonl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// seeds are values of every kind of grammar, right and wrong.
func seeds() []string {
	return []string{
		`{}`, `[]`, `{"a":1}`, ` { "a" : [ 1 , -2.5e+3 , true , null , "x\n\u00e9" ] } `, `""`, `"a`, `"\x"`, `"\u12g4"`, `"\u12`,
		`0`, `-0`, `01`, `1.`, `1.e2`, `1e`, `1e+`, `-`, `.5`, `+1`, `1 2`, `tru`, `true`, `truex`, `nul`, `null`, `falsee`,
		`{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1]`, `[1}`, `}`, `]`, `{1:2}`, `{"a" 1}`,
		"\"\x00\"", "\"\t\"", "\"\x7f\"", "\"\xff\"", "\"\xe2\x82\"", "\"é日😀\"", "\"\xed\xa0\x80\"", "\xef\xbb\xbf{}", "", " ", "\r", "\x00\x00",
		`{"a":{"b":[[],{}]},"a":2}`, `{"\u0061":1}`, `"\"`, `"\\"`, `{"a":"1234567890123456789012345678901234567890\""}`,
		strings.Repeat("[", 9999) + strings.Repeat("]", 9999), strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100),
	}
}

func FuzzValid(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := Valid(b), json.Valid(b); got != want {
			t.Fatalf("Valid(%q) = %v, encoding/json says %v", b, got, want)
		}
	})
}

// FuzzLine holds a line against encoding/json and against itself read a byte
// at a time.
func FuzzLine(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if bytes.IndexByte(b, '\n') >= 0 {
			return
		}
		whole := scanner{keys: NewKeys()}
		line := append(bytes.Clone(b), '\n')
		if n, ended := whole.feed(line); n != len(line) || !ended {
			t.Fatalf("feed took %d of %d bytes, ended %v", n, len(line), ended)
		}
		trimmed := bytes.TrimLeft(b, " \t\r")
		object := json.Valid(b) && trimmed[0] == '{'
		if got := whole.code == 0 && whole.first != 0; got != object {
			t.Fatalf("%q survives: %v, want %v", b, got, object)
		}
		if blank := len(trimmed) == 0; blank != (whole.code == 0 && whole.first == 0) {
			t.Fatalf("%q blank: %v", b, !blank)
		}
		if object {
			if whole.text.bad == utf8.Valid(b) {
				t.Fatalf("%q: badUTF8 %v", b, whole.text.bad)
			}
			checkMembers(t, b, whole.found)
		}
		var single scanner
		for _, c := range line {
			single.feed([]byte{c})
		}
		if single.code != whole.code || whole.code != 0 && single.damage(false) != whole.damage(false) && whole.code != NotObject {
			t.Fatalf("%q: a byte at a time %+v, whole %+v", b, single.damage(false), whole.damage(false))
		}
		if object && single.text.bad != whole.text.bad {
			t.Fatalf("%q: badUTF8 a byte at a time %v, whole %v", b, single.text.bad, whole.text.bad)
		}
	})
}

// checkMembers holds the ranges against encoding/json's reading of the object.
func checkMembers(t *testing.T, b []byte, found []Member) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for i := 0; dec.More(); i++ {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		var val json.RawMessage
		if err := dec.Decode(&val); err != nil {
			t.Fatal(err)
		}
		if i >= len(found) {
			t.Fatalf("%q: member %d is missing", b, i)
		}
		m := found[i]
		var gotKey string
		if err := json.Unmarshal(b[m.Key:m.KeyEnd], &gotKey); err != nil || gotKey != key {
			t.Fatalf("%q: key %d is %q, want %q (%v)", b, i, b[m.Key:m.KeyEnd], key, err)
		}
		if got := string(b[m.Val:m.ValEnd]); got != string(val) {
			t.Fatalf("%q: value %d is %q, want %q", b, i, got, val)
		}
		if m.Escaped != bytes.ContainsRune(b[m.Key:m.KeyEnd], '\\') {
			t.Fatalf("%q: key %d: Escaped %v", b, i, m.Escaped)
		}
		var list []json.RawMessage
		if val[0] == '[' && json.Unmarshal(val, &list) == nil && len(list) != m.Count {
			t.Fatalf("%q: value %d has Count %d, want %d", b, i, m.Count, len(list))
		}
	}
}

func FuzzSkip(f *testing.F) {
	f.Add([]byte("abcdefgh\"ijk"), 3)
	f.Add([]byte("abcdefghijklmnop\\é\x1f"), 0)
	f.Add(bytes.Repeat([]byte("aé日 "), 40), 1)
	f.Fuzz(func(t *testing.T, p []byte, off int) {
		if off > 0 && off < len(p) {
			p = p[off:]
		}
		want, hi := 0, false
		for want < len(p) && p[want] != '"' && p[want] != '\\' && p[want] >= ' ' {
			hi = hi || p[want] >= 0x80
			want++
		}
		for name, skip := range map[string]func([]byte) (int, bool){"portable": skipPlainPortable, "fast": skipPlain} {
			if n, h := skip(p); n != want || h != hi {
				t.Fatalf("%s(%q) = %d %v, want %d %v", name, p, n, h, want, hi)
			}
		}
	})
}

func TestDepth(t *testing.T) {
	for _, tc := range []struct {
		depth int
		want  bool
	}{{MaxDepth - 1, true}, {MaxDepth, true}, {MaxDepth + 1, false}, {20_000_000, false}} {
		b := []byte(strings.Repeat("[", tc.depth))
		if tc.depth <= MaxDepth+1 {
			b = append(b, strings.Repeat("]", tc.depth)...)
		}
		if got := Valid(b); got != tc.want {
			t.Errorf("depth %d: %v, want %v", tc.depth, got, tc.want)
		}
		if tc.depth <= MaxDepth+1 && json.Valid(b) != tc.want {
			t.Errorf("depth %d: encoding/json differs", tc.depth)
		}
	}
}

func TestReasons(t *testing.T) {
	for _, tc := range []struct {
		line string
		want Damage
	}{
		{`{"name":"Mira","mes":"torn lin`, Damage{Column: 31, Code: InvalidJSON, Byte: -1, Reason: "the line ends inside a string"}},
		{`{"a":1`, Damage{Column: 7, Code: InvalidJSON, Byte: -1, Reason: "the line ends after a value, where a comma or the closing bracket must follow"}},
		{"\x00\x00", Damage{Column: 1, Code: InvalidJSON, Reason: "unexpected NUL byte at the start, not JSON"}},
		{"{\"a\":\"\x00\"}", Damage{Column: 7, Code: InvalidJSON, Reason: "NUL byte in a string"}},
		{`{"a":1}}`, Damage{Column: 8, Code: InvalidJSON, Byte: '}', Reason: "unexpected '}' after the line's value"}},
		{`  5`, Damage{Column: 3, Code: NotObject, Byte: '5', Reason: "a number, not an object", SillyTavernKeeps: true}},
		{`0.0e5`, Damage{Column: 1, Code: NotObject, Byte: '0', Reason: "a number, not an object"}},
		{`1e-999`, Damage{Column: 1, Code: NotObject, Byte: '1', Reason: "a number, not an object"}},
		{`""`, Damage{Column: 1, Code: NotObject, Byte: '"', Reason: "a string, not an object"}},
		{`"x"`, Damage{Column: 1, Code: NotObject, Byte: '"', Reason: "a string, not an object", SillyTavernKeeps: true}},
		{`null`, Damage{Column: 1, Code: NotObject, Byte: 'n', Reason: "null, not an object"}},
		{`false`, Damage{Column: 1, Code: NotObject, Byte: 'f', Reason: "true or false, not an object"}},
		{`true`, Damage{Column: 1, Code: NotObject, Byte: 't', Reason: "true or false, not an object", SillyTavernKeeps: true}},
		{`[]`, Damage{Column: 1, Code: NotObject, Byte: '[', Reason: "a list, not an object", SillyTavernKeeps: true}},
	} {
		var s scanner
		s.feed([]byte(tc.line + "\n"))
		if diff := cmp.Diff(tc.want, s.damage(false)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tc.line, diff)
		}
	}
}

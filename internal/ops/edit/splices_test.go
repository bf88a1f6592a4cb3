package edit

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"stchat/internal/rawjson"
)

// What was put in comes out again, whether it is little or much, up to any place.
func TestSplices(t *testing.T) {
	dir := t.TempDir()
	for _, longest := range []int{20, 3000, keptInMemory * 2} {
		r := rand.New(rand.NewPCG(7, uint64(longest)))
		s := &splices{beside: filepath.Join(dir, "chat")}
		defer s.close()
		var want []rawjson.Splice
		at, bytesMore := int64(0), int64(0)
		for range min(1000, 20*keptInMemory/longest) {
			e := rawjson.Splice{At: at, Len: r.Int64N(9), Data: bytes.Repeat([]byte{byte(at)}, r.IntN(longest))}
			want = append(want, e)
			at += 1 + e.Len + r.Int64N(5)
			bytesMore += int64(len(e.Data)) - e.Len
			if err := s.put(e); err != nil {
				t.Fatal(err)
			}
		}
		if s.n != len(want) || s.grown != bytesMore {
			t.Errorf("%d splices, %d bytes more; want %d, %d", s.n, s.grown, len(want), bytesMore)
		}
		if (s.file != nil) != (longest > 20) || len(s.tail) > keptInMemory+64 {
			t.Errorf("with data up to %d bytes: in a file %v, %d bytes in memory", longest, s.file != nil, len(s.tail))
		}
		all := s.read()
		some := &splices{}
		if err := some.take(all, at/2); err != nil {
			t.Fatal(err)
		}
		if e, ok := all.before(at / 2); ok {
			t.Errorf("one at %d is left before %d", e.At, at/2)
		}
		all.skip(at * 2 / 3)
		if err := some.take(all, math.MaxInt64); err != nil {
			t.Fatal(err)
		}
		got := some.read()
		for _, e := range want {
			if e.At >= at/2 && e.At < at*2/3 {
				continue
			}
			if g, ok := got.before(math.MaxInt64); !ok || g.At != e.At || g.Len != e.Len || !bytes.Equal(g.Data, e.Data) {
				t.Fatalf("%d bytes for %d at %d; want %d for %d at %d", len(g.Data), g.Len, g.At, len(e.Data), e.Len, e.At)
			}
		}
		if _, ok := got.before(math.MaxInt64); ok || got.err != nil {
			t.Errorf("more than was put in, or %v", got.err)
		}
		some.close()
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	unmakable := &splices{beside: filepath.Join(dir, "none", "chat")}
	if err := unmakable.put(rawjson.Splice{Data: make([]byte, keptInMemory+1)}); err == nil {
		t.Error("a folder that is not there can be written to")
	}
}

// The change of a line makes the one of the other, and is as short as can be.
func TestChangeOf(t *testing.T) {
	for _, c := range []struct {
		line, edited string
		at, length   int64
		data         string
	}{
		{`{"a":1}`, `{"a":12}`, 6, 0, "2"},
		{`{"a":12}`, `{"a":1}`, 6, 1, ""},
		{`aaa`, `aaaaa`, 3, 0, "aa"},
		{`abcabc`, `abc`, 3, 3, ""},
		{`{}`, `{} `, 2, 0, " "},
		{`same`, `same`, 4, 0, ""},
		{``, `x`, 0, 0, "x"},
		{`left`, `right`, 0, 3, "righ"},
	} {
		s := changeOf([]byte(c.line), []byte(c.edited))
		if s.At != c.at || s.Len != c.length || string(s.Data) != c.data {
			t.Errorf("%s to %s: %d bytes at %d become %q", c.line, c.edited, s.Len, s.At, s.Data)
		}
		if got := string(s.Apply([]byte(c.line))); got != c.edited {
			t.Errorf("%s to %s: %s", c.line, c.edited, got)
		}
	}
}

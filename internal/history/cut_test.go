package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// Files are cut where they always were: else every store would take everything in again.
func TestCutsStay(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	file := make([]byte, 2<<20)
	if _, err := random.Read(file); err != nil {
		t.Fatal(err)
	}
	long := bytes.ReplaceAll(file, []byte("\n"), nil)
	c := newCutter()
	for _, tt := range []struct {
		name string
		data []byte
		chat bool
		n    int
		sum  string
	}{
		{"a file", file, false, 262, "568328eec569fad6"},
		{"a line", long, true, 29, "b2dbdcc245b0f28c"},
	} {
		n, sum := 0, sha256.New()
		if err := c.cut(bytes.NewReader(tt.data), tt.chat, func(data []byte, part Part) error {
			n++
			fmt.Fprintln(sum, len(data), part)
			return nil
		}, func([]byte) {}); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(sum.Sum(nil)[:8]); n != tt.n || got != tt.sum {
			t.Errorf("%s: %d pieces, %s; want %d, %s", tt.name, n, got, tt.n, tt.sum)
		}
	}
}

// A file that cannot be read to its end is not taken in.
func TestReadFails(t *testing.T) {
	for name, begin := range map[string]string{"at once": "", "among lines": "{}\n{", "in a long line": strings.Repeat("x", longLine+readSize)} {
		for _, chat := range []bool{true, false} {
			w, err := NewWriter(t.Context(), openNew(t))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Read(io.MultiReader(strings.NewReader(begin), iotest.ErrReader(io.ErrClosedPipe)), chat); err == nil {
				t.Errorf("%s, chat %v: no error", name, chat)
			}
			if err := w.Close(true); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What a file takes in the store is told of each, by its share of the packs.
func TestStoredShares(t *testing.T) {
	w, err := NewWriter(t.Context(), openNew(t))
	if err != nil {
		t.Fatal(err)
	}
	var all []*Content
	for _, n := range []int{100, 300, 0} {
		c, err := w.Read(bytes.NewReader(chatOf("a", 1000*n, 1001*n)), true)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	if a, b := all[0].Stored, all[1].Stored; a < 1000 || b < 5*a/2 || b > 4*a {
		t.Errorf("%d bytes are of 100 messages, %d of 300", a, b)
	}
}

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestSmoke(t *testing.T) {
	p := filepath.Join(t.TempDir(), "a.jsonl")
	if err := WriteNew(p, []byte("one"), Options{}); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(p, []byte("two"), Options{}); !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	s, err := StampPath(p)
	if err != nil {
		t.Fatal(err)
	}
	if ch, err := Rewrite(p, []byte("three"), s, Options{}); err != nil || !ch {
		t.Fatal(ch, err)
	}
	if ch, err := Rewrite(p, []byte("four"), s, Options{}); !errors.Is(err, ErrChanged) {
		t.Fatal(ch, err)
	}
	b, _ := os.ReadFile(p)
	es, _ := os.ReadDir(filepath.Dir(p))
	if string(b) != "three" || len(es) != 1 {
		t.Fatal(string(b), es)
	}
}
